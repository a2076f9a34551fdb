//! How far apart: what linear skinning shows, and the samples.

use super::SkinError;
use super::samples::{SkinProblem, SkinSamples};
use rayon::prelude::*;
use sinew_geom::{Affine, Asset, Influences, Mesh, Pose, Real, Vec3};

/// Distances over samples and vertices, metres.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Distance {
    /// Largest.
    pub largest: f64,
    /// Root mean square.
    pub rms: f64,
    /// The sample with the largest, counted over all of them.
    pub sample: usize,
    /// The vertex with the largest.
    pub vertex: usize,
}

/// What was measured: by group of samples and by vertex.
#[derive(Clone, Debug, Default)]
pub struct Measured {
    /// One for each group, in their order.
    pub groups: Vec<Distance>,
    /// Root mean square of each vertex over all samples, metres.
    pub of_vertex: Vec<f64>,
}

/// Squared distances of all vertices of all samples; `shown` gives the places of a sample.
fn measured<E: Send>(
    problem: &SkinProblem<'_>,
    shown: impl Fn(usize) -> Result<Vec<[f32; 3]>, E> + Sync,
) -> Result<Measured, E> {
    let vertices = problem.rest.len();
    let mut out = Measured {
        groups: Vec::new(),
        of_vertex: vec![0.0; vertices],
    };
    for group in problem.samples.groups() {
        let mut found = Distance::default();
        let mut sum = 0.0;
        let squares = |s: usize| -> Result<Vec<f64>, E> {
            let shown = shown(s)?;
            let wanted = problem.samples.positions(s);
            let pairs = shown.iter().zip(wanted);
            let off = |(a, b): (&[f32; 3], &[f32; 3])| f64::vec3(*a) - f64::vec3(*b);
            Ok(pairs.map(|p| off(p).norm_squared()).collect())
        };
        // A few at once, so that memory does not grow with the clip.
        let samples: Vec<usize> = group.samples.clone().collect();
        for part in samples.chunks(16) {
            let all: Vec<Vec<f64>> = part
                .par_iter()
                .map(|&s| squares(s))
                .collect::<Result<_, E>>()?;
            for (&sample, squares) in part.iter().zip(&all) {
                for (vertex, squared) in squares.iter().enumerate() {
                    out.of_vertex[vertex] += squared;
                    sum += squared;
                    if *squared > found.largest {
                        (found.largest, found.sample, found.vertex) = (*squared, sample, vertex);
                    }
                }
            }
        }
        found.largest = found.largest.sqrt();
        found.rms = (sum / (samples.len() * vertices).max(1) as f64).sqrt();
        out.groups.push(found);
    }
    let samples = problem.samples.len().max(1) as f64;
    out.of_vertex
        .iter_mut()
        .for_each(|e| *e = (*e / samples).sqrt());
    Ok(out)
}

/// What weights alone show, those of the source say: joints move as in the samples.
pub fn measure_rows(problem: &SkinProblem<'_>, rows: &Influences) -> Measured {
    let shown = |s: usize| Ok::<_, std::convert::Infallible>(shown_by_rows(problem, rows, s));
    let Ok(found) = measured(problem, shown);
    found
}

/// Where weights on the joints of a sample put all vertices.
pub fn shown_by_rows(problem: &SkinProblem<'_>, rows: &Influences, sample: usize) -> Vec<[f32; 3]> {
    let place = |v: usize| {
        let rest = problem.rest_at(sample, v);
        let parts = rows.row(v).map(|(j, w)| {
            let m = &problem.samples.motion(j as usize)[sample];
            m.point(rest) * f64::from(w)
        });
        f64::array3(parts.sum::<Vec3<f64>>())
    };
    (0..problem.rest.len()).map(place).collect()
}

/// What a file shows, as an engine plays it: its clips at the times of the samples, its morph weights, linear skinning with its weights. Samples of no
/// clip are posed by [`ShownFile::pose_of`]; helpers and morph targets, which have keys in clips only, rest there.
///
/// # Errors
/// [`SkinError::File`] where the file has other clips, meshes or vertices.
pub fn measure_file(
    problem: &SkinProblem<'_>,
    file: &ShownFile<'_>,
) -> Result<Measured, SkinError> {
    measured(problem, |s| file.shown(problem, s))
}

/// What somebody else shows: the same groups and samples, in their order; only positions are looked at.
///
/// # Errors
/// [`SkinError::Counts`] where there are others, or other vertices.
pub fn measure_samples(
    problem: &SkinProblem<'_>,
    shown: &SkinSamples,
) -> Result<Measured, SkinError> {
    let count = |what, found, expected| match found == expected {
        true => Ok(()),
        false => Err(SkinError::Counts {
            what,
            found,
            expected,
        }),
    };
    count("samples", shown.len(), problem.samples.len())?;
    measured(problem, |s| {
        let positions = shown.positions(s);
        count("shown positions", positions.len(), problem.rest.len())?;
        Ok(positions.to_vec())
    })
}

/// Poses a sample of no clip; says whether it did.
pub type PoseOf<'a> = dyn Fn(usize, &mut Pose) -> bool + Sync + 'a;

/// A file and what of it is looked at.
#[derive(Clone, Copy)]
pub struct ShownFile<'a> {
    /// What reading it gave.
    pub asset: &'a Asset,
    /// Meshes that the vertices are of, in their order: index, and how many.
    pub meshes: &'a [(usize, usize)],
    /// The pose of samples of no clip: local transforms, from those of the rest pose.
    pub pose_of: &'a PoseOf<'a>,
}

impl std::fmt::Debug for ShownFile<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ShownFile")
            .field("meshes", &self.meshes)
            .finish_non_exhaustive()
    }
}

impl ShownFile<'_> {
    /// Where the file has all vertices in a sample.
    ///
    /// # Errors
    /// As [`measure_file`].
    pub fn shown(
        &self,
        problem: &SkinProblem<'_>,
        sample: usize,
    ) -> Result<Vec<[f32; 3]>, SkinError> {
        let file = self.asset;
        let mut pose = file.rig.rest_pose();
        posed(problem, file, sample, self.pose_of, &mut pose)?;
        let mut out = Vec::with_capacity(problem.rest.len());
        for &(index, count) in self.meshes {
            let mesh = file
                .meshes
                .get(index)
                .filter(|m| m.positions.len() == count);
            let mesh = mesh.ok_or_else(|| other(file, index, count))?;
            out.extend(skinned(file, mesh, &pose));
        }
        Ok(out)
    }
}

fn other(file: &Asset, index: usize, count: usize) -> SkinError {
    let found = file.meshes.get(index).map_or(0, |m| m.positions.len());
    SkinError::File {
        file: file.name.clone(),
        found: format!("mesh {index} with {found} vertices"),
        expected: format!("{count}"),
    }
}

fn posed(
    problem: &SkinProblem<'_>,
    file: &Asset,
    sample: usize,
    pose_of: &PoseOf<'_>,
    pose: &mut Pose,
) -> Result<(), SkinError> {
    if pose_of(sample, pose) {
        file.rig.finish(pose);
        return Ok(());
    }
    let group = problem.samples.group_of(sample);
    let time = group.and_then(|g| g.times_secs.get(sample - g.samples.start));
    let (Some(group), Some(time)) = (group, time) else {
        return Ok(());
    };
    let clip = group.clip.map(|index| {
        let found = file.clips.get(index);
        let known = found.filter(|c| c.name == group.name);
        known.ok_or_else(|| SkinError::File {
            file: file.name.clone(),
            found: found.map_or_else(
                || format!("{} clips", file.clips.len()),
                |c| format!("clip {index}, '{}'", c.name),
            ),
            expected: format!("clip {index}, '{}'", group.name),
        })
    });
    let clip = clip.transpose()?;
    file.rig.evaluate(clip, f64::from(*time), pose);
    Ok(())
}

/// Morph targets, then joints: what engines do, in double precision.
fn skinned(file: &Asset, mesh: &Mesh, pose: &Pose) -> Vec<[f32; 3]> {
    let mut rest: Vec<Vec3<f64>> = mesh.positions.iter().map(|p| f64::vec3(*p)).collect();
    for (t, target) in mesh.morph_targets.iter().enumerate() {
        let weight = pose.morph_weights.get(mesh.morph_weight_index(t));
        let weight = weight.copied().unwrap_or_default();
        if weight != 0.0 {
            for (&v, d) in target.vertices.iter().zip(&target.positions) {
                rest[v as usize] += f64::vec3(*d) * f64::from(weight);
            }
        }
    }
    let joints = file.rig.joints().iter();
    let palette: Vec<Affine<f64>> = joints
        .map(|j| pose.scene_from_node[j.node] * j.joint_from_bind)
        .collect();
    let Some(rows) = &mesh.influences else {
        return rest.into_iter().map(f64::array3).collect();
    };
    let place = |(v, p): (usize, Vec3<f64>)| {
        let parts = rows
            .row(v)
            .map(|(j, w)| palette[j as usize].point(p) * f64::from(w));
        f64::array3(parts.sum::<Vec3<f64>>())
    };
    rest.into_iter().enumerate().map(place).collect()
}
