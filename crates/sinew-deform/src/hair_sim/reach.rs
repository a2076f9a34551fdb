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

#[cfg(test)]
mod tests {
    use super::*;
    use sinew_geom::{Affine, Influences, Quat, Strands, Vec3};

    /// Roots of two joints that turn, grow and move: all of them, and all that hangs on them, are within the distance of the points' box.
    #[test]
    fn roots_and_their_strands_are_within_reach() {
        let count = 40;
        let at = |s: usize, k: usize| {
            let t = s as f32;
            [(0.7 * t).sin(), 0.02 * t, (0.3 * t).cos() + 0.05 * k as f32]
        };
        let rest: Vec<[f32; 3]> = (0..count)
            .flat_map(|s| (0..4).map(move |k| at(s, k)))
            .collect();
        let strands = Strands::new(vec![4; count]).expect("valid");
        let bind = HairBind::new(&strands, &rest, None).expect("binds");
        let rows: Vec<[(u32, f32); 2]> = (0..count)
            .map(|s| s as f32 / (count - 1) as f32)
            .map(|share| [(0, share), (3, 1.0 - share)])
            .collect();
        let rows = rows.iter().map(|row| row.as_slice());
        let joints = Influences::from_rows(rows, 4, 0).expect("valid").0;
        let places = (0..count).map(|s| at(s, 0)).collect();
        let matrix = |angle: f32, size: f32, x: f32| {
            let turn = Quat::from_axis_angle(&Vec3::z_axis(), angle);
            let size = Vec3::repeat(size);
            PackedAffine::from(Affine::from_trs(Vec3::new(x, 0.5, 0.0), turn, size))
        };
        let still = PackedAffine::default();
        let pose = Pose {
            palette: vec![matrix(2.8, 1.5, 3.0), still, still, matrix(-1.0, 0.4, -2.0)],
            ..Pose::default()
        };
        let roots = Roots::Weights { joints, places };
        let boxes = RootBoxes::new(&bind, &roots);
        let mut points = Vec::new();
        let reach = boxes.reach(Some(&pose), &mut |p| points.push(p));
        let reach = reach.expect("has a size");
        assert_eq!(points.len(), 16, "no points of joints that move nothing");
        let least = 1.5 * 0.15 * 1.5;
        assert!((reach - least).abs() < 1e-5, "{reach} {least}");
        let (low, high) = bounds(&points).expect("points");
        let mut transforms = vec![PackedAffine::default(); count];
        roots.write_transforms(
            Some(&pose),
            super::super::roots::Blend::KeepSize,
            &mut transforms,
        );
        for (s, transform) in transforms.iter().enumerate() {
            for k in 0..4 {
                let p: [f32; 3] = transform.unpack::<f32>().point(at(s, k).into()).into();
                let more = if k == 0 { 1e-5 } else { reach };
                let is_in = (0..3).all(|c| low[c] - more <= p[c] && p[c] <= high[c] + more);
                assert!(is_in, "{s} {k}: {p:?}");
            }
        }
        let flat = Pose {
            palette: vec![matrix(0.0, 0.0, 0.0); 4],
            ..Pose::default()
        };
        assert_eq!(boxes.reach(Some(&flat), &mut |_| ()), None);
    }
}
