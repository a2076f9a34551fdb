//! Setup: how strongly each vertex follows each driver joint, and one linear system for each different combination.
//!
//! Weighted pose space deformation: Kurihara and Miyata, *Modeling Deformable Human Hands from Medical Images*, SCA 2004. A vertex measures
//! the distance of two poses over its own joints: `d^2 = sum_k w_k d_k^2`, with the weights `w_k` of its skin for the driver joints, scaled
//! to a sum of 1. Poses that differ in joints it does not follow are the same for it.
//!
//! 1. Checks, distances of all pairs of poses for each joint, and the width.
//! 2. Rows: the driver joints of each vertex that a target moves. Vertices with equal rows share a system.
//! 3. Systems: the kernel matrix of a row is inverted by its eigenvectors, without those whose eigenvalue is below 1e-5 of the largest.
//!    That is the least squares
//!    solution where poses look alike.
//! 4. Coefficients: the inverse times the deltas of the targets, for positions, normals and tangents, in blocks of eight vertices.
//!
//! Cost: O(n^3) for n poses and each different row, and O(n^2) for each vertex.

use super::blocks::{Blocks, Coefficients, Row};
use super::definition::{JointInfluence, PoseSpace, PoseSpaceError};
use super::reference;
use super::solve::pseudo_inverse;
use crate::morph::MorphBind;
use crate::names::instead_of;
use crate::pose_driver::{
    Coordinates, DriverValue, Family, Metric, PoseDriver, PoseDriverError, Radial, RadialKernel,
    SAME, check, check_different, coordinates, distances,
};
use crate::{BindWatch, Stopped};
use sinew_geom::nalgebra::DMatrix;
use sinew_geom::{Mesh, Real, Vec3};
use std::collections::HashMap;

/// Results of setup: what is moved, and where poses ask for something that vertices cannot do.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PoseSpaceReport {
    /// Vertices that are moved.
    pub vertices: usize,
    /// Vertices that targets move, but that follow none of the driver joints: they do not move.
    pub unseen: usize,
    /// Systems that were solved, one for each different set of joint weights.
    pub systems: usize,
    /// Vertices that cannot tell all poses apart, because these differ in joints that they hardly follow.
    pub blind: usize,
    /// Largest distance, in metres, between the displacement of a vertex at a pose and that of the pose's target. 0 up to rounding if
    /// targets move only vertices that can tell their poses apart. Above 0 with regularization.
    pub largest_residual: f64,
    /// The vertex with the largest residual; `None` where nothing is moved.
    pub worst_vertex: Option<u32>,
}

/// A mesh with its poses after setup. Immutable; instances share it.
#[derive(Clone, Debug)]
pub struct PoseSpaceBind {
    pub(super) vertex_count: usize,
    pub(super) joint_count: usize,
    pub(super) pose_count: usize,
    metric: Metric,
    axis: Vec3<f64>,
    /// Joint after joint, pose after pose.
    coordinates: Vec<Coordinates>,
    pub(super) family: Family,
    pub(super) rate: f32,
    width: f64,
    pub(super) blocks: Blocks,
    report: PoseSpaceReport,
}

/// Rates and squared distances beyond this say no more in single precision, and must not overflow there.
const LARGEST: f64 = 1e30;

/// Vertices between two reports of setup, at most.
const VERTICES_A_REPORT: usize = 256;

impl PoseSpaceBind {
    /// Checks and solves. `skin_joints` has, for each driver joint, the joints of the skin that it stands for (indices as in
    /// [`sinew_geom::Influences::joints`]); with [`JointInfluence::Equal`], only their number is read.
    ///
    /// # Errors
    /// [`PoseSpaceError`] names the first problem.
    ///
    /// # Cost
    /// O(n^3) for n poses and each different set of weights.
    pub fn new(
        mesh: &Mesh,
        space: &PoseSpace,
        skin_joints: &[Vec<u32>],
    ) -> Result<Self, PoseSpaceError> {
        Self::new_watched(mesh, space, skin_joints, &BindWatch::NONE)
    }

    /// As [`Self::new`], with progress and cancellation: it asks before each system, and every 256 vertices of large ones.
    ///
    /// # Errors
    /// As [`Self::new`]; [`PoseSpaceError::Stopped`].
    pub fn new_watched(
        mesh: &Mesh,
        space: &PoseSpace,
        skin_joints: &[Vec<u32>],
        watch: &BindWatch<'_>,
    ) -> Result<Self, PoseSpaceError> {
        let (driver, joint_count) = (space.driver(), skin_joints.len());
        check_counts(space, joint_count)?;
        check(&driver)?;
        check_poses(space, &driver)?;
        let axis = space.axis.normalize();
        let pose_count = space.poses.len();
        let metrics = vec![space.metric; pose_count];
        let coordinates = coordinates(&driver, &metrics, &axis, joint_count);
        let squares: Vec<DMatrix<f64>> = coordinates
            .chunks_exact(pose_count)
            .map(|of_joint| squares(space.metric, of_joint))
            .collect();
        let width = space
            .width
            .unwrap_or_else(|| automatic_width(&squares, space.influence));
        let radial = space.kernel.with_width(width);
        let family = radial.family().ok_or(PoseSpaceError::CurveKernel)?;
        let shapes = Shapes::new(mesh, space)?;
        let rows = rows(mesh, space.influence, skin_joints)?;
        let mut out = Self {
            vertex_count: mesh.vertex_count(),
            joint_count,
            pose_count,
            metric: space.metric,
            axis,
            coordinates,
            family,
            rate: radial.rate().min(LARGEST).to_single(),
            width,
            blocks: Blocks::default(),
            report: PoseSpaceReport::default(),
        };
        if let Some(shapes) = shapes {
            let kernel = |row: &Row| kernel_matrix(&squares, row, &radial, space.regularization);
            out.solve(&shapes, &rows, &kernel, watch)?;
        }
        Ok(out)
    }

    fn solve(
        &mut self,
        shapes: &Shapes,
        rows: &[Row],
        kernel: &dyn Fn(&Row) -> DMatrix<f64>,
        watch: &BindWatch<'_>,
    ) -> Result<(), Stopped> {
        watch.step(0.0)?;
        let moved: Vec<u32> = (0_u32..)
            .take(self.vertex_count)
            .filter(|&v| shapes.moves(v as usize))
            .collect();
        let row = |v: u32| rows.get(v as usize).or(rows.first());
        let seen = moved.iter().filter_map(|&v| Some((v, row(v)?)));
        let seen: Vec<(u32, &Row)> = seen.filter(|(_, row)| !row.is_empty()).collect();
        let changed = shapes.changed();
        self.blocks = Blocks::new(&seen, self.pose_count, changed);
        let places: Vec<(usize, usize)> = self.blocks.places().collect();
        let groups = same_rows(&seen);
        self.report = PoseSpaceReport {
            vertices: seen.len(),
            unseen: moved.len() - seen.len(),
            systems: groups.len(),
            ..PoseSpaceReport::default()
        };
        let mut done = 0;
        for members in groups {
            watch.step(done as f64 / seen.len() as f64)?;
            let Some(&first) = members.first() else {
                continue;
            };
            let matrix = kernel(seen[first].1);
            let inverse = pseudo_inverse(matrix.clone());
            if inverse.lost > 0 {
                self.report.blind += members.len();
            }
            for member in members {
                done += 1;
                if done % VERTICES_A_REPORT == 0 {
                    watch.step(done as f64 / seen.len() as f64)?;
                }
                let (vertex, place) = (seen[member].0, places[member]);
                let given = shapes.deltas(vertex as usize, self.pose_count, changed);
                let coefficients = &inverse.matrix * &given;
                let residual = largest_row(&(&matrix * &coefficients - &given));
                self.keep(place, changed, &coefficients);
                if self.report.worst_vertex.is_none() || residual > self.report.largest_residual {
                    self.report.largest_residual = residual;
                    self.report.worst_vertex = Some(vertex);
                }
            }
        }
        Ok(())
    }

    /// Puts the coefficients of a vertex, a row for each pose and three columns for each attribute that changes, where kernels read them.
    fn keep(&mut self, place: (usize, usize), changed: [bool; 3], coefficients: &DMatrix<f64>) {
        let (block, lane) = place;
        let first = block * self.pose_count;
        let blocks = &mut self.blocks;
        let lists = [
            &mut blocks.positions,
            &mut blocks.normals,
            &mut blocks.tangents,
        ];
        let lists = lists.into_iter().zip(changed).filter(|(_, is)| *is);
        for (attribute, (list, _)) in lists.enumerate() {
            let list: &mut Coefficients = list;
            for (pose, of_pose) in list[first..first + self.pose_count].iter_mut().enumerate() {
                for (c, of_axis) in of_pose.iter_mut().enumerate() {
                    of_axis[lane] = coefficients[(pose, attribute * 3 + c)].to_single();
                }
            }
        }
    }

    /// Number of driver joints, which is the number of values in each frame.
    pub fn joint_count(&self) -> usize {
        self.joint_count
    }
    /// Number of poses.
    pub fn pose_count(&self) -> usize {
        self.pose_count
    }
    /// Width of the kernel, in the unit of the metric.
    pub fn width(&self) -> f64 {
        self.width
    }
    /// Results of setup.
    pub fn report(&self) -> &PoseSpaceReport {
        &self.report
    }
    /// Bytes held.
    pub fn bytes(&self) -> usize {
        size_of_val(self.coordinates.as_slice()) + self.blocks.bytes()
    }

    /// Displacements of position, normal and tangent of a vertex at full strength, in double precision (coefficients are stored in single
    /// precision). It allocates: for reports and tests. `values` has one element per joint. 0 for vertices that do not move, and for values
    /// that are not finite or too few or many.
    pub fn added(&self, values: &[DriverValue], vertex: usize) -> [Vec3<f64>; 3] {
        let place = self.blocks.place(vertex);
        let Some(place) = place.filter(|_| values.len() == self.joint_count) else {
            return [Vec3::zeros(); 3];
        };
        let mut squares = vec![0.0; self.joint_count * self.pose_count];
        if self.write_squares(values.iter().copied(), &mut squares) {
            reference::added(self, &squares, place)
        } else {
            [Vec3::zeros(); 3]
        }
    }

    /// Squared distance of each joint from each pose, joint after joint; `false`, and zeros, where a value is not finite. Lengths must
    /// be those of joints, and joints times poses.
    pub(super) fn write_squares<R: Real>(
        &self,
        values: impl Iterator<Item = DriverValue> + Clone,
        out: &mut [R],
    ) -> bool {
        if !values.clone().all(|value| value.is_finite()) {
            out.fill(R::zero());
            return false;
        }
        let poses = self.coordinates.chunks_exact(self.pose_count);
        let rows = out.chunks_exact_mut(self.pose_count).zip(poses);
        for ((out, poses), value) in rows.zip(values) {
            let at = self.metric.coordinates(&value, &self.axis);
            for (out, pose) in out.iter_mut().zip(poses) {
                let distance = self.metric.form().distance(&at, pose);
                *out = R::from_double((distance * distance).min(LARGEST));
            }
        }
        true
    }
}

fn check_counts(space: &PoseSpace, expected: usize) -> Result<(), PoseDriverError> {
    let wrong = space.poses.iter().find(|p| p.values.len() != expected);
    match wrong {
        None => Ok(()),
        Some(pose) => Err(PoseDriverError::ValueCount {
            pose: pose.name.clone(),
            found: pose.values.len(),
            expected,
        }),
    }
}

fn check_poses(space: &PoseSpace, driver: &PoseDriver) -> Result<(), PoseSpaceError> {
    for (i, pose) in space.poses.iter().enumerate() {
        if space.poses[..i].iter().any(|p| p.name == pose.name) {
            let name = pose.name.clone();
            return Err(PoseSpaceError::SameName { name });
        }
    }
    if matches!(space.kernel, RadialKernel::Curve(_)) {
        return Err(PoseSpaceError::CurveKernel);
    }
    let count = space.poses.len();
    let distances = distances(driver, &vec![space.metric; count], &space.axis.normalize());
    let distance = |i: usize, j: usize| distances[i * count + j];
    check_different(driver, &distance, &|i, j| distance(i, j) < SAME)?;
    Ok(())
}

/// Squared distances of a joint's values in all pairs of poses.
fn squares(metric: Metric, poses: &[Coordinates]) -> DMatrix<f64> {
    let form = metric.form();
    DMatrix::from_fn(poses.len(), poses.len(), |i, j| {
        form.distance(&poses[i.min(j)], &poses[i.max(j)]).powi(2)
    })
}

/// For vertices that see one joint each: how far that joint is apart, on average over joints and pairs of poses that differ in them. For
/// vertices that see all alike: the mean of the distances.
fn automatic_width(squares: &[DMatrix<f64>], influence: JointInfluence) -> f64 {
    let count = squares.first().map_or(0, DMatrix::nrows);
    let pairs = || (0..count).flat_map(|i| (0..i).map(move |j| (i, j)));
    let joints = squares.len() as f64;
    let all: Vec<f64> = match influence {
        JointInfluence::Equal => pairs()
            .map(|at| (squares.iter().map(|s| s[at]).sum::<f64>() / joints).sqrt())
            .collect(),
        JointInfluence::Skin => squares
            .iter()
            .flat_map(|s| pairs().map(|at| s[at].sqrt()))
            .filter(|&distance| distance >= SAME)
            .collect(),
    };
    let number = all.len() as f64;
    if all.is_empty() {
        // With one pose there is no pair; a right angle, or a metre.
        std::f64::consts::FRAC_PI_2
    } else {
        all.iter().sum::<f64>() / number
    }
}

/// Influence of the poses on each other, as a vertex sees them.
fn kernel_matrix(
    squares: &[DMatrix<f64>],
    row: &Row,
    radial: &Radial,
    regularization: f64,
) -> DMatrix<f64> {
    let count = squares.first().map_or(0, DMatrix::nrows);
    DMatrix::from_fn(count, count, |i, j| {
        let seen = row.iter().map(|&(k, w)| f64::from(w) * squares[k][(i, j)]);
        let influence = radial.value(seen.sum::<f64>().sqrt());
        influence + if i == j { regularization } else { 0.0 }
    })
}

/// Longest of the first three columns' rows.
fn largest_row(m: &DMatrix<f64>) -> f64 {
    let rows = m.row_iter().map(|r| r.columns_range(0..3).norm());
    rows.fold(0.0, f64::max)
}

/// Places in `seen` of those that see the same to the bit: in the order of the first of each.
fn same_rows(seen: &[(u32, &Row)]) -> Vec<Vec<usize>> {
    let mut groups: Vec<Vec<usize>> = Vec::new();
    let mut known: HashMap<Vec<(usize, u32)>, usize> = HashMap::new();
    for (place, (_, row)) in seen.iter().enumerate() {
        let key = row.iter().map(|(joint, w)| (*joint, w.to_bits())).collect();
        let group = *known.entry(key).or_insert_with(|| {
            groups.push(Vec::new());
            groups.len() - 1
        });
        groups[group].push(place);
    }
    groups
}

/// What each vertex sees; one row for all where they see the same.
fn rows(
    mesh: &Mesh,
    influence: JointInfluence,
    skin_joints: &[Vec<u32>],
) -> Result<Vec<Row>, PoseSpaceError> {
    let count = skin_joints.len();
    if influence == JointInfluence::Equal {
        let part = (1.0 / count as f64).to_single();
        return Ok(vec![(0..count).map(|joint| (joint, part)).collect()]);
    }
    let no_influences = || PoseSpaceError::NoInfluences {
        mesh: mesh.name.clone(),
    };
    let influences = mesh.influences.as_ref().ok_or_else(no_influences)?;
    let (found, expected) = (influences.vertex_count(), mesh.vertex_count());
    if found != expected {
        return Err(PoseSpaceError::VertexCount { found, expected });
    }
    let mut drivers: HashMap<u32, Vec<usize>> = HashMap::new();
    for (driver, joints) in skin_joints.iter().enumerate() {
        for &joint in joints {
            drivers.entry(joint).or_default().push(driver);
        }
    }
    let row = |v: usize| {
        let mut sums = vec![0.0; count];
        for (joint, weight) in influences.row(v) {
            for &driver in drivers.get(&joint).map_or(&[][..], Vec::as_slice) {
                sums[driver] += f64::from(weight).max(0.0);
            }
        }
        let total: f64 = sums.iter().sum();
        let parts = sums.iter().map(|sum| (sum / total).to_single());
        let seen = parts.enumerate().filter(|(_, part)| *part > 0.0);
        seen.collect()
    };
    Ok((0..expected).map(row).collect())
}

/// The targets of the poses, and which of them each pose shows.
struct Shapes {
    targets: MorphBind,
    /// Poses that show it, for each target.
    poses: Vec<Vec<usize>>,
}

impl Shapes {
    /// `None` where no pose has a target.
    fn new(mesh: &Mesh, space: &PoseSpace) -> Result<Option<Self>, PoseSpaceError> {
        let mut poses = vec![Vec::new(); mesh.morph_targets.len()];
        let named = space.poses.iter().enumerate();
        for (i, pose) in named.filter(|(_, p)| !p.target.is_empty()) {
            if mesh.morph_targets.is_empty() {
                let mesh = mesh.name.clone();
                return Err(PoseSpaceError::NoTargets { mesh });
            }
            let names = mesh.morph_targets.iter().map(|t| t.name.as_str());
            // Where meshes were merged, several have one name.
            let same = names.clone().zip(&mut poses);
            let same = same.filter(|(name, _)| *name == pose.target);
            if same.map(|(_, poses)| poses.push(i)).count() == 0 {
                return Err(PoseSpaceError::UnknownTarget {
                    pose: pose.name.clone(),
                    name: pose.target.clone(),
                    help: instead_of(&pose.target, names),
                });
            }
        }
        if poses.iter().all(Vec::is_empty) {
            return Ok(None);
        }
        let targets = MorphBind::new(mesh)?;
        Ok(Some(Self { targets, poses }))
    }

    /// What changes a vertex, for each pose: positions, normals, tangents.
    fn of_vertex(&self, v: usize) -> impl Iterator<Item = (usize, [[f32; 3]; 3])> + '_ {
        self.targets.row(v).iter().flat_map(|d| {
            let deltas = [d.position, d.normal, d.tangent];
            let poses = self.poses[d.target as usize].iter();
            poses.map(move |&pose| (pose, deltas))
        })
    }

    fn moves(&self, v: usize) -> bool {
        self.of_vertex(v).any(|(_, deltas)| deltas != [[0.0; 3]; 3])
    }

    /// Which of positions, normals and tangents change anywhere; positions always.
    fn changed(&self) -> [bool; 3] {
        let all = || self.targets.deltas.iter();
        let of_poses = |target: u32| !self.poses[target as usize].is_empty();
        let any = |pick: fn(&crate::morph::Delta) -> [f32; 3]| {
            all().any(|d| of_poses(d.target) && pick(d) != [0.0; 3])
        };
        [true, any(|d| d.normal), any(|d| d.tangent)]
    }

    /// A row for each pose, three columns for each attribute that changes.
    fn deltas(&self, v: usize, pose_count: usize, changed: [bool; 3]) -> DMatrix<f64> {
        let columns = 3 * changed.iter().filter(|is| **is).count();
        let mut out = DMatrix::zeros(pose_count, columns);
        for (pose, deltas) in self.of_vertex(v) {
            let kept = deltas.iter().zip(changed).filter(|(_, is)| *is);
            let numbers = kept.flat_map(|(delta, _)| delta);
            for (column, number) in numbers.enumerate() {
                out[(pose, column)] += f64::from(*number);
            }
        }
        out
    }
}
