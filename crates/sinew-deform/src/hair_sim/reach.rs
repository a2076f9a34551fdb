//! How far hair reaches, known before it is simulated: from all roots, no farther than the longest strand.

use super::HairBind;
use super::roots::Roots;
use sinew_geom::{PackedAffine, Pose, bounds};

/// Strands are no longer than at rest. Before a vertex is pulled back it may look farther, at its speed; and followers stand beside their
/// guide, also where the skin is sheared.
const MORE: f32 = 1.5;

/// Boxes around roots at rest, with the joint that moves each.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct RootBoxes {
    boxes: Vec<(Option<usize>, [[f32; 3]; 2])>,
    longest: f32,
}

impl RootBoxes {
    pub(crate) fn new(bind: &HairBind, roots: &Roots) -> Self {
        let places: Vec<[f32; 3]> = (0..bind.strands().len())
            .map(|s| bind.follower_root(s))
            .collect();
        let around = |joint, of: &[[f32; 3]]| bounds(of).map(|(low, high)| (joint, [low, high]));
        let boxes = match roots {
            Roots::Still => around(None, &places).into_iter().collect(),
            Roots::Joint(joint) => around(Some(*joint), &places).into_iter().collect(),
            Roots::Weights { joints, .. } => {
                let mut of_joint = std::collections::BTreeMap::<u32, Vec<[f32; 3]>>::new();
                for (strand, place) in places.iter().enumerate() {
                    for (joint, _) in joints.row(strand).filter(|(_, weight)| *weight != 0.0) {
                        of_joint.entry(joint).or_default().push(*place);
                    }
                }
                let of_joint = of_joint.into_iter();
                let around = |(joint, of): (u32, Vec<_>)| around(Some(joint as usize), &of);
                of_joint.filter_map(around).collect()
            }
        };
        Self {
            boxes,
            longest: bind.longest_strand(),
        }
    }

    /// Points whose hull holds all roots, as the palette moves them; gives how far from it hair may be. `None` where a matrix has no size
    /// to go by.
    pub(crate) fn reach(&self, pose: Option<&Pose>, put: &mut dyn FnMut([f32; 3])) -> Option<f32> {
        let palette = pose.map(|p| p.palette.as_slice()).unwrap_or_default();
        let mut largest = 0.0_f32;
        for (joint, [low, high]) in &self.boxes {
            let matrix: PackedAffine = joint
                .and_then(|j| palette.get(j).copied())
                .unwrap_or_default();
            let matrix = matrix.unpack::<f32>();
            let size = matrix.linear.determinant().abs().cbrt();
            if !(size.is_finite() && size > 1e-6) {
                return None;
            }
            largest = largest.max(size);
            for corner in 0..8 {
                let at = [0, 1, 2].map(|k| [low, high][corner >> k & 1][k]);
                put(matrix.point(at.into()).into());
            }
        }
        Some(MORE * self.longest * largest)
    }
}
