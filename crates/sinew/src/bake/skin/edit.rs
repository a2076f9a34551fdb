//! Converts a fit to edits of a file.

use super::meshes::Baked;
use super::source::Collected;
use super::{Correctives, Helper, SampleGroup, SkinFit, SkinSamples};
use crate::geom::{Affine, Asset, Decomposition, MorphTarget, Quat, Trs, Vec3};
use crate::io::gltf_write::{ClipKeys, HelperJoint, MeshSkin, SkinEdit};

/// A fit and its source data.
pub(super) struct Edit<'a> {
    pub(super) asset: &'a Asset,
    pub(super) collected: &'a Collected,
    pub(super) fit: &'a SkinFit,
    pub(super) correctives: &'a Correctives,
    /// Names of the targets.
    pub(super) names: &'a [String],
    /// True if helpers and targets get keys in clips.
    pub(super) has_keys: bool,
}

impl Edit<'_> {
    pub(super) fn made(&self) -> SkinEdit {
        let mut first = 0;
        let mut meshes = Vec::new();
        let mut targets_of = Vec::new();
        for baked in &self.collected.baked {
            let range = first..first + baked.count;
            first += baked.count;
            let influences = self.fit.influences.gathered(range.clone());
            let (targets, indices) = self.targets(baked, &range);
            let authored = &self.asset.meshes[baked.mesh].influences;
            // Unchanged meshes stay as they are.
            if targets.is_empty() && authored.as_ref() == Some(&influences) {
                continue;
            }
            targets_of.push(indices);
            meshes.push(MeshSkin {
                mesh: baked.mesh,
                influences,
                targets,
                colors: None,
            });
        }
        let helpers = self.fit.helpers.iter().zip(0..);
        let helpers: Vec<HelperJoint> = helpers.map(|(h, k)| self.helper(h, k)).collect();
        let has_targets = targets_of.iter().any(|t| !t.is_empty());
        let groups = self.collected.samples.groups().iter();
        let needs_keys = self.has_keys && (!helpers.is_empty() || has_targets);
        let clips = groups.filter(|_| needs_keys);
        let clips = clips.filter_map(|g| self.keys(g, &targets_of)).collect();
        SkinEdit {
            meshes,
            helpers,
            clips,
        }
    }

    /// The part of each target in a mesh, and the indices of these targets.
    fn targets(
        &self,
        baked: &Baked,
        range: &std::ops::Range<usize>,
    ) -> (Vec<MorphTarget>, Vec<usize>) {
        let mesh = &self.asset.meshes[baked.mesh];
        let has_normals = mesh.normals.is_some();
        let (mut targets, mut indices) = (Vec::new(), Vec::new());
        for (k, target) in self.correctives.targets.iter().enumerate() {
            let mut own = MorphTarget {
                name: self.names[k].clone(),
                ..MorphTarget::default()
            };
            for (row, &v) in target.vertices.iter().enumerate() {
                let inside = range
                    .contains(&(v as usize))
                    .then(|| v as usize - range.start);
                let Some(v) = inside.and_then(|v| u32::try_from(v).ok()) else {
                    continue;
                };
                own.vertices.push(v);
                own.positions.push(target.positions[row]);
                if has_normals {
                    own.normals.extend(target.normals.get(row));
                }
            }
            if !own.vertices.is_empty() {
                targets.push(own);
                indices.push(k);
            }
        }
        (targets, indices)
    }

    fn helper(&self, helper: &Helper, number: usize) -> HelperJoint {
        let parent = &self.asset.rig.joints()[helper.parent];
        HelperJoint {
            name: format!("helper_{number}"),
            parent: parent.node,
            rest: at_rest(self.asset, helper),
            joint_from_bind: helper.bind.inverse().unwrap_or_default(),
        }
    }

    fn keys(&self, group: &SampleGroup, targets_of: &[Vec<usize>]) -> Option<ClipKeys> {
        let clip = group.clip?;
        let helpers = self.fit.helpers.iter();
        let helpers = helpers.map(|h| self.moments(h, group)).collect();
        let rows = |indices: &Vec<usize>| {
            let row = |s: usize| {
                let weights = &self.correctives.weights[s];
                indices.iter().map(|&k| weights[k]).collect()
            };
            group.samples.clone().map(row).collect()
        };
        Some(ClipKeys {
            clip,
            times_secs: group.times_secs.clone(),
            helpers,
            weights: targets_of.iter().map(rows).collect(),
        })
    }

    fn moments(&self, helper: &Helper, group: &SampleGroup) -> Vec<Trs> {
        let samples = &self.collected.samples;
        let moment = |s: usize| moment(self.asset, samples, helper, s);
        group.samples.clone().map(moment).collect()
    }
}

/// Rest transform of a helper relative to its parent.
pub(super) fn at_rest(asset: &Asset, helper: &Helper) -> Trs {
    let parent = &asset.rig.joints()[helper.parent];
    trs_of(&(parent.joint_from_bind * helper.bind))
}

/// Transform of a helper relative to its parent in a sample: from the parent's bind space, through the inverse of the
/// parent's motion, through the helper's motion.
pub(super) fn moment(asset: &Asset, samples: &SkinSamples, helper: &Helper, sample: usize) -> Trs {
    let parent = &asset.rig.joints()[helper.parent];
    let back = samples.motion(helper.parent)[sample].inverse();
    let back = back.unwrap_or_default();
    trs_of(&(parent.joint_from_bind * back * helper.motion[sample] * helper.bind))
}

/// Names of targets that no mesh has, so that each name is unique in the file.
pub(super) fn target_names(asset: &Asset, count: usize) -> Vec<String> {
    let all = asset.meshes.iter().flat_map(|m| &m.morph_targets);
    let taken: Vec<&str> = all.map(|t| t.name.as_str()).collect();
    let name = |k: usize| free_name(&format!("corrective_{k}"), &taken);
    (0..count).map(name).collect()
}

fn free_name(wanted: &str, taken: &[&str]) -> String {
    let numbered = (2_u64..).map(|n| format!("{wanted}_{n}"));
    let mut names = std::iter::once(wanted.to_owned()).chain(numbered);
    let free = names.find(|n| !taken.contains(&n.as_str()));
    free.unwrap_or_else(|| wanted.to_owned())
}

/// The nearest translation, rotation and scale of a transform, without shear, since nodes have no shear.
pub(super) fn trs_of(affine: &Affine<f64>) -> Trs {
    // Only fails for numbers that are not finite or near 1e308, which no fit gives.
    let parts = affine.decompose(0.0).ok();
    let of = |d: Decomposition| (d.rotation, d.scale);
    let (rotation, scale) = parts.map_or((Quat::identity(), Vec3::repeat(1.0)), of);
    Trs {
        translation: affine.translation,
        rotation,
        scale,
    }
}
