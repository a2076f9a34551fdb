//! The truth: one vertex after the other, generic over precision.

use super::bind::PoseSpaceBind;
use crate::local_frame::{LaneReal, high};
use crate::pose_driver::Family;
use sinew_geom::Vec3;

/// Influence of a pose at a squared distance.
pub(super) fn influence<R: LaneReal>(family: Family, rate: R, squared: R) -> R {
    match family {
        Family::Squared => (-(rate * squared)).exponential(),
        Family::Exponential => (-(rate * squared.sqrt())).exponential(),
        Family::Power(power) => high(R::one() - (rate * squared.sqrt()).powi(power), R::zero()),
    }
}

/// What is added to position, normal and tangent of the vertex at a place, at full strength. `squares` holds the squared distance of each
/// joint from each pose, joint after joint.
pub(super) fn added<R: LaneReal>(
    bind: &PoseSpaceBind,
    squares: &[R],
    (block, lane): (usize, usize),
) -> [Vec3<R>; 3] {
    let blocks = &bind.blocks;
    let rate = R::from_single(bind.rate);
    let mut sums = [Vec3::zeros(); 3];
    for pose in 0..bind.pose_count {
        let seen = blocks.row(block, lane);
        let squared = seen.fold(R::zero(), |sum, (joint, weight)| {
            sum + R::from_single(weight) * squares[joint * bind.pose_count + pose]
        });
        let influence = influence(bind.family, rate, squared);
        let lists = [&blocks.positions, &blocks.normals, &blocks.tangents];
        for (sum, list) in sums.iter_mut().zip(lists) {
            if let Some(of_pose) = list.get(block * bind.pose_count + pose) {
                *sum += R::vec3(of_pose.map(|of_axis| of_axis[lane])) * influence;
            }
        }
    }
    sums
}

/// `base + added`, normalised; the base where nothing is added or the sum has no length.
pub(super) fn moved_direction<R: LaneReal>(base: [f32; 3], added: Vec3<R>) -> [f32; 3] {
    if added == Vec3::zeros() {
        return base;
    }
    let sum = R::vec3(base) + added;
    sum.try_normalize(R::from_double(1e-12))
        .map_or(base, R::array3)
}
