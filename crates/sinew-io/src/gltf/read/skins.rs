//! Skins: the palette, and the space in which skinned positions are kept.

use super::document::Document;
use super::nodes::Tree;
use crate::IoError;
use sinew_geom::{Affine, Joint, Mat3};
use std::ops::Range;

/// Relative difference up to which two transforms count as the same.
const SAME: f64 = 1e-4;
/// Largest deviation from the identity that is left alone, so that stored positions stay as they are.
const IDENTITY: f64 = 1e-5;

/// One skin in the palette.
#[derive(Clone, Debug)]
pub(super) struct Skin {
    /// Its entries in the palette.
    pub(super) joints: Range<usize>,
    /// Scene space at bind from the space of the stored positions.
    pub(super) bind_from_file: Affine<f64>,
}

/// All skins; their joints are appended to `palette`.
pub(super) fn read(
    doc: &Document,
    tree: &Tree,
    palette: &mut Vec<Joint>,
) -> Result<Vec<Skin>, IoError> {
    (0..doc.root.skins.len())
        .map(|index| read_skin(doc, tree, index, palette))
        .collect()
}

fn read_skin(
    doc: &Document,
    tree: &Tree,
    index: usize,
    palette: &mut Vec<Joint>,
) -> Result<Skin, IoError> {
    let json = &doc.root.skins[index];
    if json.joints.is_empty() {
        return Err(doc.malformed(
            format!("skins[{index}].joints"),
            "no joints",
            "at least one",
        ));
    }
    let mut nodes = Vec::with_capacity(json.joints.len());
    for (k, joint) in json.joints.iter().enumerate() {
        let Some(&rig) = tree.rig_from_file.get(joint.value()) else {
            let place = format!("skins[{index}].joints[{k}]");
            return Err(doc.no_such(&place, "nodes", joint.value(), doc.root.nodes.len()));
        };
        nodes.push(rig);
    }
    let inverse_binds = inverse_binds(doc, index, nodes.len())?;
    let rest: Vec<Affine<f64>> = nodes.iter().map(|&n| tree.scene_from_node[n]).collect();
    let bind_from_file = bind_space(&rest, &inverse_binds);
    let file_from_bind = bind_from_file.inverse().unwrap_or_default();
    let start = palette.len();
    let finite = |ibm: &Affine<f64>| (*ibm * file_from_bind).is_finite();
    if let Some(k) = inverse_binds.iter().position(|ibm| !finite(ibm)) {
        return Err(doc.malformed(
            format!("skins[{index}].inverseBindMatrices"),
            format!("matrix {k}, which is not finite in the space of the scene"),
            "smaller numbers",
        ));
    }
    palette.extend(nodes.iter().zip(&inverse_binds).map(|(&node, &ibm)| Joint {
        node,
        joint_from_bind: ibm * file_from_bind,
    }));
    Ok(Skin {
        joints: start..palette.len(),
        bind_from_file,
    })
}

/// Identities where the file stores none.
fn inverse_binds(doc: &Document, index: usize, joints: usize) -> Result<Vec<Affine<f64>>, IoError> {
    let Some(accessor) = doc.root.skins[index].inverse_bind_matrices else {
        return Ok(vec![Affine::identity(); joints]);
    };
    let place = format!("skins[{index}].inverseBindMatrices");
    let accessor = doc.accessor(accessor.value(), &place)?;
    if accessor.count < joints {
        return Err(doc.malformed(
            place,
            format!("{} matrices", accessor.count),
            format!("{joints}, one a joint"),
        ));
    }
    Ok(accessor
        .matrices()?
        .iter()
        .take(joints)
        .map(|m| Affine::from_columns(&m.map(f64::from)))
        .collect())
}

/// The transform to bake into positions so that they are in scene space at bind.
///
/// Each joint says where rest puts the vertices it carries: `rest * inverse_bind`. Where all agree, that is the
/// bind pose. Where they differ (the file rests in another pose than it was bound in), only a scale that all
/// share is taken out; else positions stay as stored.
pub(super) fn bind_space(rest: &[Affine<f64>], inverse_binds: &[Affine<f64>]) -> Affine<f64> {
    let all: Vec<Affine<f64>> = rest
        .iter()
        .zip(inverse_binds)
        .map(|(&r, &i)| r * i)
        .collect();
    let Some(&first) = all.first() else {
        return Affine::identity();
    };
    let reach = rest
        .iter()
        .map(|r| r.translation.norm())
        .fold(first.translation.norm(), f64::max);
    let agree = all.iter().all(|x| {
        (x.linear - first.linear).norm() <= SAME * first.linear.norm()
            && (x.translation - first.translation).norm() <= SAME * reach
    });
    if agree {
        let n = all.len() as f64;
        let mean = Affine {
            linear: all.iter().map(|x| x.linear).sum::<Mat3<f64>>() / n,
            translation: all
                .iter()
                .map(|x| x.translation)
                .sum::<sinew_geom::Vec3<f64>>()
                / n,
        };
        return usable(mean, reach);
    }
    let scales: Vec<f64> = all
        .iter()
        .map(|x| x.linear.determinant().abs().cbrt())
        .collect();
    let scale = scales[0];
    if scales.iter().all(|s| (s - scale).abs() <= SAME * scale) {
        return usable(
            Affine {
                linear: Mat3::from_diagonal_element(scale),
                ..Affine::identity()
            },
            reach,
        );
    }
    Affine::identity()
}

/// The transform itself where it can be inverted and does something, else the identity.
fn usable(x: Affine<f64>, reach: f64) -> Affine<f64> {
    let nothing = (x.linear - Mat3::identity()).norm() <= IDENTITY
        && x.translation.norm() <= IDENTITY * reach.max(1e-3);
    let regular = x.is_finite() && x.inverse().is_some_and(|i| i.is_finite());
    if nothing || !regular {
        Affine::identity()
    } else {
        x
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sinew_geom::{Quat, Vec3};

    fn at(x: f64, angle: f64, scale: f64) -> Affine<f64> {
        Affine::from_trs(
            Vec3::new(x, 0.0, 0.0),
            Quat::from_euler_angles(0.0, angle, 0.0),
            Vec3::repeat(scale),
        )
    }

    #[test]
    fn a_shared_bind_space_is_found_and_noise_is_left_alone() {
        let rest = [at(1.0, 0.4, 0.01), at(2.0, -0.3, 0.01)];
        let shared = at(5.0, 0.2, 0.01);
        let inverse_binds = rest.map(|r| r.inverse().expect("regular") * shared);
        let x = bind_space(&rest, &inverse_binds);
        assert!((x.linear - shared.linear).norm() < 1e-9, "{x:?}");
        assert!((x.translation - shared.translation).norm() < 1e-9, "{x:?}");
        let noisy = rest.map(|r| r.inverse().expect("regular") * at(1e-7, 1e-7, 1.0));
        assert_eq!(bind_space(&rest, &noisy), Affine::identity());
    }

    #[test]
    fn another_rest_pose_gives_the_shared_scale_or_nothing() {
        let rest = [at(1.0, 0.4, 1.0), at(2.0, -0.3, 1.0)];
        let x = bind_space(&rest, &[at(0.0, 0.0, 0.01); 2]);
        assert!((x.linear - Mat3::identity() * 0.01).norm() < 1e-12, "{x:?}");
        assert_eq!(x.translation.norm(), 0.0);
        let differ = [at(0.0, 0.0, 0.01), at(0.0, 0.0, 0.02)];
        assert_eq!(bind_space(&rest, &differ), Affine::identity());
    }
}
