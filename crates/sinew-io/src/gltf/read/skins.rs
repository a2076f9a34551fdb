//! Skins: joint palette and bind space.

use super::document::{Document, Warnings};
use super::nodes::Tree;
use crate::IoError;
use gltf_json::mesh::Semantic;
use gltf_json::validation::Checked;
use sinew_geom::{Affine, Joint, Mat3, Vec3};
use std::collections::BTreeSet;
use std::ops::Range;

/// Relative difference up to which two transforms are equal.
const SAME: f64 = 1e-4;
/// Largest deviation from the identity that is ignored, so that stored positions stay unchanged.
const IDENTITY: f64 = 1e-5;

/// One skin in the palette.
#[derive(Clone, Debug)]
pub(super) struct Skin {
    /// Its range in the palette.
    pub(super) joints: Range<usize>,
    /// Scene space at bind from the space of the stored positions.
    pub(super) bind_from_file: Affine<f64>,
}

/// Reads all skins. Appends their joints to `palette`.
pub(super) fn read(
    doc: &Document,
    tree: &Tree,
    palette: &mut Vec<Joint>,
    warnings: &mut Warnings,
) -> Result<Vec<Skin>, IoError> {
    (0..doc.root.skins.len())
        .map(|index| read_skin(doc, tree, index, palette, warnings))
        .collect()
}

fn read_skin(
    doc: &Document,
    tree: &Tree,
    index: usize,
    palette: &mut Vec<Joint>,
    warnings: &mut Warnings,
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
            let location = format!("skins[{index}].joints[{k}]");
            return Err(doc.no_such(&location, "nodes", joint.value(), doc.root.nodes.len()));
        };
        nodes.push(rig);
    }
    let inverse_binds = inverse_binds(doc, index, nodes.len())?;
    let rest: Vec<Affine<f64>> = nodes.iter().map(|&n| tree.scene_from_node[n]).collect();
    let root = root(tree, json.skeleton.map(|s| s.value()), &nodes);
    let space = bind_space(&rest, &inverse_binds, root, || {
        weights_of_joints(doc, tree, index, nodes.len())
    })?;
    if !space.disagreeing.is_empty() {
        let name = |&j: &usize| format!("'{}'", tree.nodes[nodes[j]].name);
        let mut names: Vec<String> = space.disagreeing.iter().take(3).map(name).collect();
        if space.disagreeing.len() > names.len() {
            names.push("...".to_owned());
        }
        let taken = if space.has_majority {
            "Sinew uses the bind pose of the other joints, which carry most of the weight"
                .to_owned()
        } else {
            format!("Sinew uses the bind pose of joint {}", name(&root))
        };
        warnings.push(
            "rest_pose_differs",
            format!(
                "skins[{index}]: the rest pose of {} of {} joints differs from their bind pose ({}); {taken}",
                space.disagreeing.len(),
                nodes.len(),
                names.join(", ")
            ),
        );
    }
    let bind_from_file = space.scene_from_file;
    let file_from_bind = bind_from_file.inverse().unwrap_or_default();
    let start = palette.len();
    let finite = |ibm: &Affine<f64>| (*ibm * file_from_bind).is_finite();
    if let Some(k) = inverse_binds.iter().position(|ibm| !finite(ibm)) {
        return Err(doc.malformed(
            format!("skins[{index}].inverseBindMatrices"),
            format!("matrix {k}, which is not finite in scene space"),
            "finite numbers; reduce the scale of the nodes",
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

/// Identities if the file stores none.
fn inverse_binds(doc: &Document, index: usize, joints: usize) -> Result<Vec<Affine<f64>>, IoError> {
    let Some(accessor) = doc.root.skins[index].inverse_bind_matrices else {
        return Ok(vec![Affine::identity(); joints]);
    };
    let location = format!("skins[{index}].inverseBindMatrices");
    let accessor = doc.accessor(accessor.value(), &location)?;
    if accessor.count < joints {
        return Err(doc.malformed(
            location,
            format!("{} matrices", accessor.count),
            format!("{joints}, one per joint"),
        ));
    }
    Ok(accessor
        .matrices()?
        .iter()
        .take(joints)
        .map(|m| Affine::from_columns(&m.map(f64::from)))
        .collect())
}

/// Space of a skin's mesh at rest.
pub(super) struct BindSpace {
    /// Transform from stored positions to scene space at bind.
    pub(super) scene_from_file: Affine<f64>,
    /// True if more than half of the weight agrees on the transform; else it is that of the root.
    pub(super) has_majority: bool,
    /// Joints with weight whose transform differs.
    pub(super) disagreeing: Vec<usize>,
}

/// Each joint defines where the rest pose puts its vertices: `rest * inverse_bind`. If all joints agree, this is scene
/// space at bind.
///
/// If they differ, vertices vote by weight. Joints without weight and joints with scale zero at rest do not count. The
/// result is the transform that more than half of the weight agrees on. The other joints then have a rest pose that
/// differs from their bind pose. Without a majority, `root` decides.
///
/// `weights` gives the sum of weights of each joint. It is only called if joints differ.
pub(super) fn bind_space<E>(
    rest: &[Affine<f64>],
    inverse_binds: &[Affine<f64>],
    root: usize,
    weights: impl FnOnce() -> Result<Vec<f64>, E>,
) -> Result<BindSpace, E> {
    let all: Vec<Affine<f64>> = rest
        .iter()
        .zip(inverse_binds)
        .map(|(&r, &i)| r * i)
        .collect();
    let Some(first) = all.first() else {
        return Ok(BindSpace {
            scene_from_file: Affine::identity(),
            has_majority: true,
            disagreeing: Vec::new(),
        });
    };
    let reach = rest
        .iter()
        .map(|r| r.translation.norm())
        .fold(first.translation.norm(), f64::max);
    let agree = |x: &Affine<f64>, with: &Affine<f64>| {
        (x.linear - with.linear).norm() <= SAME * with.linear.norm()
            && (x.translation - with.translation).norm() <= SAME * reach
    };
    if all.iter().all(|x| agree(x, first)) {
        return Ok(BindSpace {
            scene_from_file: usable(mean(&all), reach),
            has_majority: true,
            disagreeing: Vec::new(),
        });
    }
    let mut weights = weights()?;
    let is_regular = |x: &Affine<f64>| x.is_finite() && x.inverse().is_some_and(|i| i.is_finite());
    for (weight, x) in weights.iter_mut().zip(&all) {
        if !is_regular(x) {
            *weight = 0.0;
        }
    }
    let voters: Vec<usize> = (0..all.len()).filter(|&j| weights[j] > 0.0).collect();
    let majority = majority(&voters, &weights, |a, b| agree(&all[a], &all[b]));
    let chosen = majority.unwrap_or(root);
    let (with, disagreeing): (Vec<usize>, Vec<usize>) =
        voters.iter().partition(|&&j| agree(&all[j], &all[chosen]));
    let with: Vec<Affine<f64>> = with.iter().map(|&j| all[j]).collect();
    let space = if with.is_empty() {
        all[chosen]
    } else {
        mean(&with)
    };
    Ok(BindSpace {
        scene_from_file: usable(space, reach),
        has_majority: majority.is_some(),
        disagreeing,
    })
}

/// The joint that agrees with joints of more than half of the weight. One pass finds the only candidate, a second one
/// counts (Boyer and Moore, "MJRTY: a fast majority vote algorithm", 1991).
fn majority(
    voters: &[usize],
    weights: &[f64],
    agree: impl Fn(usize, usize) -> bool,
) -> Option<usize> {
    let (mut candidate, mut lead) = (*voters.first()?, 0.0);
    for &j in voters {
        if agree(j, candidate) {
            lead += weights[j];
        } else if weights[j] > lead {
            (candidate, lead) = (j, weights[j] - lead);
        } else {
            lead -= weights[j];
        }
    }
    let with = voters.iter().filter(|&&j| agree(j, candidate));
    let with: f64 = with.map(|&j| weights[j]).sum();
    let total: f64 = voters.iter().map(|&j| weights[j]).sum();
    (2.0 * with > total).then_some(candidate)
}

fn mean(all: &[Affine<f64>]) -> Affine<f64> {
    let n = all.len() as f64;
    Affine {
        linear: all.iter().map(|x| x.linear).sum::<Mat3<f64>>() / n,
        translation: all.iter().map(|x| x.translation).sum::<Vec3<f64>>() / n,
    }
}

/// The root joint: the skin's skeleton if it is a joint of the skin, else the joint nearest to the scene root.
fn root(tree: &Tree, skeleton: Option<usize>, nodes: &[usize]) -> usize {
    let named = skeleton.and_then(|s| tree.rig_from_file.get(s));
    if let Some(k) = named.and_then(|named| nodes.iter().position(|n| n == named)) {
        return k;
    }
    let depth = |&k: &usize| tree.depth[nodes[k]];
    (0..nodes.len()).min_by_key(depth).unwrap_or(0)
}

/// Sum of the weights of each joint, over the vertices of all meshes of a skin.
fn weights_of_joints(
    doc: &Document,
    tree: &Tree,
    skin: usize,
    joints: usize,
) -> Result<Vec<f64>, IoError> {
    let mut sums = vec![0.0; joints];
    let mut seen = BTreeSet::new();
    for (file, node) in doc.root.nodes.iter().enumerate() {
        let (Some(mesh), Some(of)) = (node.mesh, node.skin) else {
            continue;
        };
        let Some(mesh) = doc.root.meshes.get(mesh.value()) else {
            continue;
        };
        if of.value() != skin || !tree.in_scene[tree.rig_from_file[file]] {
            continue;
        }
        for (k, primitive) in mesh.primitives.iter().enumerate() {
            for (semantic, of_joints) in &primitive.attributes {
                let Checked::Valid(Semantic::Joints(set)) = semantic else {
                    continue;
                };
                let of_weights = primitive
                    .attributes
                    .get(&Checked::Valid(Semantic::Weights(*set)));
                let Some(of_weights) = of_weights else {
                    continue;
                };
                // Primitives may share their vertices.
                if !seen.insert((of_joints.value(), of_weights.value())) {
                    continue;
                }
                let location = |name| {
                    let index = node.mesh.map_or(0, |m| m.value());
                    format!("meshes[{index}].primitives[{k}].attributes.{name}_{set}")
                };
                let of_joints = doc
                    .accessor(of_joints.value(), &location("JOINTS"))?
                    .joints()?;
                let accessor = doc.accessor(of_weights.value(), &location("WEIGHTS"))?;
                let of_weights: Vec<[f32; 4]> = accessor.vectors()?;
                let pairs = of_joints
                    .iter()
                    .zip(&of_weights)
                    .flat_map(|(j, w)| j.iter().zip(w));
                for (&joint, &weight) in pairs {
                    if let Some(sum) = sums.get_mut(usize::from(joint)) {
                        *sum += f64::from(weight.max(0.0));
                    }
                }
            }
        }
    }
    Ok(sums)
}

/// The transform if it is invertible and not the identity, else the identity.
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

    fn space(rest: &[Affine<f64>], inverse_binds: &[Affine<f64>], weights: &[f64]) -> BindSpace {
        let given = || Ok::<_, std::convert::Infallible>(weights.to_vec());
        match bind_space(rest, inverse_binds, 0, given) {
            Ok(space) => space,
        }
    }

    fn distance(a: &Affine<f64>, b: &Affine<f64>) -> f64 {
        (a.linear - b.linear).norm() + (a.translation - b.translation).norm()
    }

    #[test]
    fn a_shared_bind_space_is_found_and_noise_is_left_alone() {
        let rest = [at(1.0, 0.4, 0.01), at(2.0, -0.3, 0.01)];
        let shared = at(5.0, 0.2, 0.01);
        let inverse_binds = rest.map(|r| r.inverse().expect("regular") * shared);
        let x = space(&rest, &inverse_binds, &[]);
        assert!(distance(&x.scene_from_file, &shared) < 1e-9);
        assert!(x.disagreeing.is_empty());
        let noisy = rest.map(|r| r.inverse().expect("regular") * at(1e-7, 1e-7, 1.0));
        let x = space(&rest, &noisy, &[]);
        assert_eq!(x.scene_from_file, Affine::identity());
    }

    /// Five joints of one skeleton, bound where `shared` says.
    fn skeleton(shared: Affine<f64>) -> (Vec<Affine<f64>>, Vec<Affine<f64>>) {
        let rest: Vec<Affine<f64>> = (0..5).map(|k| at(f64::from(k), 0.3, 0.01)).collect();
        let bound = |r: &Affine<f64>| r.inverse().expect("regular") * shared;
        let inverse_binds = rest.iter().map(bound).collect();
        (rest, inverse_binds)
    }

    #[test]
    fn joints_without_weight_do_not_vote_and_flat_ones_cannot() {
        let shared = at(5.0, 0.2, 0.01);
        let (mut rest, mut inverse_binds) = skeleton(shared);
        inverse_binds[2] = Affine::identity();
        let x = space(&rest, &inverse_binds, &[1.0, 1.0, 0.0, 1.0, 1.0]);
        assert!(distance(&x.scene_from_file, &shared) < 1e-9);
        assert!(x.disagreeing.is_empty(), "{:?}", x.disagreeing);
        // A prop with half of the vertices, hidden by scale 0.
        rest[4] = at(9.0, 0.0, 0.0);
        let x = space(&rest, &inverse_binds, &[1.0, 1.0, 0.0, 1.0, 4.0]);
        assert!(distance(&x.scene_from_file, &shared) < 1e-9);
        assert!(x.disagreeing.is_empty(), "{:?}", x.disagreeing);
    }

    #[test]
    fn most_of_the_weight_decides_wherever_it_stands() {
        let shared = at(5.0, 0.2, 0.01);
        for posed in 0..5 {
            let (mut rest, inverse_binds) = skeleton(shared);
            rest[posed] = rest[posed] * at(0.1, 0.7, 2.0);
            let mut weights = [1.0; 5];
            weights[posed] = 3.9;
            let x = space(&rest, &inverse_binds, &weights);
            assert!(distance(&x.scene_from_file, &shared) < 1e-9, "{posed}");
            assert_eq!(x.disagreeing, [posed]);
        }
    }

    #[test]
    fn without_a_majority_the_root_decides() {
        let (mut rest, inverse_binds) = skeleton(at(5.0, 0.2, 0.01));
        for (k, rest) in (0..).zip(&mut rest) {
            *rest = *rest * at(0.0, 0.1 * f64::from(k + 1), 1.0);
        }
        let x = space(&rest, &inverse_binds, &[1.0; 5]);
        assert!(distance(&x.scene_from_file, &(rest[0] * inverse_binds[0])) < 1e-9);
        assert_eq!(x.disagreeing, [1, 2, 3, 4]);
    }
}
