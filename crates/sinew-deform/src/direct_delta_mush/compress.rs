//! Two layers: a few virtual bones that move as vertices of the full method do, and linear skinning of all vertices to these.
//!
//! After Le, Villeneuve and Gonzalez-Ochoa, "Direct Delta Mush Skinning Compression with Continuous Examples", 2021, who factor
//! the moments of all vertices into those of bones and weights. Here the moments of a bone are those of a vertex, so that it moves
//! exactly as that vertex does, and weights are found where it shows, in positions: the rig is posed some dozen times, vertices become
//! bones as long as one is far from where all bones before would take it, and the weights of each vertex are the best convex ones of its
//! nearest bones. The same poses tell the error. None of them stretches a joint.

use super::reference::{Row, bone_motion, inverse_sizes};
use super::{DirectDeltaMushError, Frame, Moments, PairMoments, Variant};
use crate::skin::SkinBindError;
use crate::{BindWatch, Par, Stopped, for_each_chunk};
use sinew_fit::Quadratic;
use sinew_geom::{Affine, Influences, LocalTransform, Quat, Real, Rig, Vec3, index32};
use std::sync::atomic::{AtomicBool, Ordering};

/// Poses that the rig is brought to.
const POSES: usize = 24;
/// A joint turns by this at most, radians: about what elbows and knees do.
const MOST_TURN: f64 = 5.0 * std::f64::consts::FRAC_PI_6;
/// Bones that a vertex may choose from.
const CANDIDATES: usize = 12;
/// Vertices that are looked at for the choice of bones: so many, or so many for each bone, evenly by number.
const LOOKED_AT: usize = 1 << 15;
const LOOKED_AT_FOR_EACH: usize = 8;
/// What is lost where positions are stored, of the mesh's size.
const ROUNDING: f64 = 2e-7;
/// Vertices in one task.
const CHUNK: usize = 64;

/// Size of the two layers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CompressionSettings {
    /// Number of virtual bones, 1 or more. Fewer are made if fewer move all vertices exactly; never more than vertices.
    pub bones: usize,
    /// Largest number of bones per vertex, 1 or more.
    pub influences: usize,
    /// Variant by which bones move, and which the result is compared with.
    pub variant: Variant,
}

/// A mesh in two layers: bones that move as some of its vertices do, and linear skinning to them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct VirtualBones {
    /// One row per bone: moments and centre of the vertex whose motion it has.
    pub bones: Moments,
    /// Bones of each vertex, with weights that sum to 1. Indices are rows of `bones`.
    pub influences: Influences,
    /// Distance from the full method.
    pub error: CompressionError,
}

/// Distances from the full method over all vertices, in 24 poses in which each joint is rotated at random by up to 150 degrees. The same
/// rig and mesh give the same numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct CompressionError {
    /// Root of the mean square, metres.
    pub rms: f64,
    /// The largest, metres.
    pub max: f64,
}

/// Where a bone takes points in each pose, from rest space less [`Moments::origin`]. What is taken from posed space is the same for all.
type Motion = Vec<Affine<f64>>;

/// Reduces `moments` to virtual bones and weights. `rest` has the rest positions of the mesh, one per vertex, in scene space.
///
/// The result is the same bits for any number of threads.
///
/// # Errors
/// [`DirectDeltaMushError`]: a stop, or moments that are not those of these vertices and this rig.
///
/// # Cost
/// O(vertices * bones * poses) at most, and about 380 bytes per vertex meanwhile.
pub fn compress(
    moments: &Moments,
    rest: &[[f32; 3]],
    rig: &Rig,
    settings: CompressionSettings,
    par: Par,
    watch: &BindWatch<'_>,
) -> Result<VirtualBones, DirectDeltaMushError> {
    check(moments, rest.len(), rig.joints().len())?;
    let mut full = Full::new(moments, rest, rig, settings.variant);
    full.pose_all(par, watch)?;
    let chosen = full.choose(settings.bones.max(1), par, watch)?;
    let motions: Vec<Motion> = chosen.iter().map(|&v| full.motion(v)).collect();
    let rows = full.weights(&motions, settings.influences.max(1), par, watch)?;
    let rows = rows.iter().map(Vec::as_slice);
    // Weights are finite and bones in range, so that nothing is refused.
    let influences = Influences::from_rows(rows, motions.len(), 0)
        .map(|found| found.0)
        .unwrap_or_default();
    Ok(VirtualBones {
        error: full.error(&motions, &influences),
        bones: full.picked(&chosen),
        influences,
    })
}

/// A row with a joint for each vertex, and no other joints than the rig has.
fn check(
    moments: &Moments,
    vertices: usize,
    joint_count: usize,
) -> Result<(), DirectDeltaMushError> {
    if moments.vertex_count() != vertices {
        return Err(SkinBindError::VertexCount {
            found: moments.vertex_count(),
            expected: vertices,
        }
        .into());
    }
    for vertex in 0..vertices {
        let (joints, _) = moments.row(vertex);
        if joints.is_empty() {
            return Err(SkinBindError::EmptyRow { vertex }.into());
        }
        if let Some(&joint) = joints.iter().find(|j| **j as usize >= joint_count) {
            return Err(SkinBindError::JointOutOfRange {
                vertex,
                joint,
                joint_count,
            }
            .into());
        }
    }
    Ok(())
}

/// The full method in all poses.
struct Full<'a> {
    moments: &'a Moments,
    inverse_sizes: Vec<f32>,
    /// Less the origin.
    rest: Vec<Vec3<f64>>,
    frames: Vec<Frame<f64>>,
    variant: Variant,
    /// [`POSES`] of each vertex.
    posed: Vec<[[f32; 3]; POSES]>,
}

impl<'a> Full<'a> {
    fn new(moments: &'a Moments, rest: &[[f32; 3]], rig: &Rig, variant: Variant) -> Self {
        let origin = Vec3::from(moments.origin);
        Self {
            moments,
            inverse_sizes: inverse_sizes(moments),
            rest: rest.iter().map(|&u| f64::vec3(u) - origin).collect(),
            frames: frames(rig, origin),
            variant,
            posed: vec![[[0.0; 3]; POSES]; rest.len()],
        }
    }

    fn motion(&self, vertex: usize) -> Motion {
        let (joints, pairs) = self.moments.row(vertex);
        let row = Row {
            joints,
            pairs,
            center: self.moments.centers[vertex],
            inverse_size: self.inverse_sizes[vertex],
        };
        let of_frame = |frame| bone_motion(self.variant, &row, frame);
        self.frames.iter().map(of_frame).collect()
    }

    /// The rows of some vertices. Second moments that are too small for this mesh are none for bones alone, too.
    fn picked(&self, vertices: &[usize]) -> Moments {
        let mut out = Moments {
            offsets: vec![0],
            origin: self.moments.origin,
            ..Moments::default()
        };
        for &v in vertices {
            let (joints, pairs) = self.moments.row(v);
            let has_size = self.inverse_sizes[v] > 0.0;
            out.joints.extend_from_slice(joints);
            out.pairs.extend(pairs.iter().map(|&pair| PairMoments {
                second: if has_size { pair.second } else { [0.0; 6] },
                ..pair
            }));
            out.centers.push(self.moments.centers[v]);
            out.offsets.push(index32(out.pairs.len()));
        }
        out
    }

    fn pose_all(&mut self, par: Par, watch: &BindWatch<'_>) -> Result<(), DirectDeltaMushError> {
        watch.step(0.0)?;
        let mut posed = std::mem::take(&mut self.posed);
        let this = &*self;
        let stopped = AtomicBool::new(false);
        for_each_chunk(
            par,
            posed.len(),
            CHUNK,
            &mut posed[..],
            &|range, out: &mut [_]| {
                if (watch.is_stopped)() {
                    stopped.store(true, Ordering::Relaxed);
                    return;
                }
                for (v, out) in range.zip(out) {
                    for (m, out) in this.motion(v).iter().zip(out) {
                        *out = f64::array3(m.point(this.rest[v]));
                    }
                }
            },
        );
        self.posed = posed;
        if stopped.into_inner() {
            return Err(Stopped.into());
        }
        Ok(watch.step(0.4)?)
    }

    /// Sum of squared distances of a vertex from where a bone would take it; something above `limit` where it is above.
    fn distance(&self, vertex: usize, bone: &[Affine<f64>], limit: f64) -> f64 {
        let u = self.rest[vertex];
        let mut sum = 0.0;
        for (m, &x) in bone.iter().zip(&self.posed[vertex]) {
            sum += (m.point(u) - f64::vec3(x)).norm_squared();
            if sum > limit {
                break;
            }
        }
        sum
    }

    /// The `count` bones that take a vertex nearest to where it belongs, nearest first; of equals the first.
    fn nearest(&self, vertex: usize, motions: &[Motion], count: usize) -> Vec<usize> {
        let mut found: Vec<(usize, f64)> = Vec::with_capacity(count + 1);
        for (bone, motion) in motions.iter().enumerate() {
            let is_full = found.len() == count;
            let limit = found
                .last()
                .filter(|_| is_full)
                .map_or(f64::INFINITY, |f| f.1);
            let distance = self.distance(vertex, motion, limit);
            let at = found.partition_point(|f| f.1.total_cmp(&distance).is_le());
            found.insert(at, (bone, distance));
            found.truncate(count);
        }
        found.into_iter().map(|f| f.0).collect()
    }

    /// Sums of squared distances up to this are those of positions in single precision.
    fn rounding(&self) -> f64 {
        let squares = self.rest.iter().map(Vec3::norm_squared);
        POSES as f64 * ROUNDING * ROUNDING * squares.fold(0.0, f64::max)
    }

    /// Vertices that become bones: each is the one, of those that are looked at, that those before take farthest from where it belongs.
    fn choose(
        &self,
        bones: usize,
        par: Par,
        watch: &BindWatch<'_>,
    ) -> Result<Vec<usize>, DirectDeltaMushError> {
        let most = LOOKED_AT.max(LOOKED_AT_FOR_EACH.saturating_mul(bones));
        let stride = self.rest.len().div_ceil(most).max(1);
        let looked_at: Vec<usize> = (0..self.rest.len()).step_by(stride).collect();
        let mut nearest = vec![f64::INFINITY; looked_at.len()];
        let mut chosen = Vec::new();
        let rounding = self.rounding();
        for count in 0..bones.min(looked_at.len()) {
            watch.step(0.4 + 0.3 * count as f64 / bones as f64)?;
            let farthest = nearest.iter().enumerate();
            // Of equals the first.
            let farthest = farthest.max_by(|a, b| a.1.total_cmp(b.1).then(b.0.cmp(&a.0)));
            let Some((at, &distance)) = farthest else {
                break;
            };
            if distance <= rounding {
                break;
            }
            let bone = self.motion(looked_at[at]);
            chosen.push(looked_at[at]);
            for_each_chunk(
                par,
                nearest.len(),
                CHUNK,
                &mut nearest[..],
                &|range, out: &mut [f64]| {
                    for (i, nearest) in range.zip(out) {
                        *nearest = nearest.min(self.distance(looked_at[i], &bone, *nearest));
                    }
                },
            );
            // Rounding must not bring it back.
            nearest[at] = 0.0;
        }
        Ok(chosen)
    }

    fn weights(
        &self,
        motions: &[Motion],
        influences: usize,
        par: Par,
        watch: &BindWatch<'_>,
    ) -> Result<Vec<Vec<(u32, f32)>>, DirectDeltaMushError> {
        watch.step(0.7)?;
        let mut rows = vec![Vec::new(); self.rest.len()];
        let stopped = AtomicBool::new(false);
        for_each_chunk(
            par,
            rows.len(),
            CHUNK,
            &mut rows[..],
            &|range, out: &mut [_]| {
                if (watch.is_stopped)() {
                    stopped.store(true, Ordering::Relaxed);
                    return;
                }
                for (v, out) in range.zip(out) {
                    *out = self.row(v, motions, influences);
                }
            },
        );
        if stopped.into_inner() {
            return Err(Stopped.into());
        }
        watch.step(1.0)?;
        Ok(rows)
    }

    /// The best convex weights on the nearest bones.
    fn row(&self, vertex: usize, motions: &[Motion], influences: usize) -> Vec<(u32, f32)> {
        let bones = self.nearest(vertex, motions, CANDIDATES.max(influences));
        let u = self.rest[vertex];
        let columns: Vec<Vec<Vec3<f64>>> = bones
            .iter()
            .map(|&bone| {
                let poses = motions[bone].iter().zip(&self.posed[vertex]);
                poses.map(|(m, &x)| m.point(u) - f64::vec3(x)).collect()
            })
            .collect();
        let mut squares = Quadratic::zeros(bones.len());
        for i in 0..bones.len() {
            for j in 0..=i {
                let terms = columns[i].iter().zip(&columns[j]);
                squares.set(i, j, terms.map(|(a, b)| a.dot(b)).sum());
            }
        }
        let weights = squares.minimise_with(influences);
        let row = bones.iter().zip(weights).filter(|(_, w)| *w > 0.0);
        row.map(|(&bone, w)| (index32(bone), w.to_single()))
            .collect()
    }

    /// Root of the mean square and largest distance of both layers from the full method.
    fn error(&self, motions: &[Motion], influences: &Influences) -> CompressionError {
        let (mut sum, mut max) = (0.0, 0.0_f64);
        for (v, (&u, posed)) in self.rest.iter().zip(&self.posed).enumerate() {
            for (pose, &x) in posed.iter().enumerate() {
                let blended: Vec3<f64> = influences
                    .row(v)
                    .map(|(bone, w)| motions[bone as usize][pose].point(u) * f64::from(w))
                    .sum();
                let square = (blended - f64::vec3(x)).norm_squared();
                sum += square;
                max = max.max(square);
            }
        }
        let count = (self.rest.len() * POSES).max(1) as f64;
        CompressionError {
            rms: (sum / count).sqrt(),
            max: max.sqrt(),
        }
    }
}

/// The rig in [`POSES`] poses: each node that has a joint is turned once, however many skins share it.
pub(super) fn frames(rig: &Rig, origin: Vec3<f64>) -> Vec<Frame<f64>> {
    let mut noise = Noise(0x5eed);
    let mut pose = rig.rest_pose();
    let rest = pose.locals.clone();
    let share = 1.0 / rig.joints().len().max(1) as f64;
    let shares = vec![share.to_single(); rig.joints().len()];
    let mut nodes = Vec::new();
    for joint in rig.joints() {
        if !nodes.contains(&joint.node) {
            nodes.push(joint.node);
        }
    }
    (0..POSES)
        .map(|_| {
            pose.locals.clone_from(&rest);
            for &node in &nodes {
                let turn = noise.turn();
                match &mut pose.locals[node] {
                    LocalTransform::Trs(trs) => trs.rotation *= turn,
                    LocalTransform::Matrix(m) => m.linear *= turn.to_rotation_matrix().into_inner(),
                }
            }
            rig.finish(&mut pose);
            Frame::new(&pose.palette, origin, &shares)
        })
        .collect()
}

/// Numbers that are the same on every machine.
struct Noise(u64);

impl Noise {
    /// From -1 to 1.
    fn next(&mut self) -> f64 {
        let factor = 6_364_136_223_846_793_005;
        self.0 = self.0.wrapping_mul(factor).wrapping_add(1);
        (self.0 >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
    }

    fn turn(&mut self) -> Quat<f64> {
        let axis = Vec3::new(self.next(), self.next(), self.next());
        let length = axis.norm().max(f64::MIN_POSITIVE);
        Quat::from_scaled_axis(axis * (self.next() * MOST_TURN / length))
    }
}
