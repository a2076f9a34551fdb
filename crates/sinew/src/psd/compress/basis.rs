//! The mathematics: displacements as a matrix, its singular vectors, and their error in single precision.

use crate::geom::nalgebra::{DMatrix, DVector};
use crate::geom::{MorphTarget, Vec3};
use crate::psd::{CompressOptions, Distances};
use std::collections::BTreeSet;

/// Deltas of normals and tangents below this do not keep a vertex in a target: 0.06 degrees.
const SHORT_DIRECTION: f64 = 1e-3;

/// Basis targets whose mixes approximate other targets.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Basis {
    /// The components, without names, in order of decreasing length.
    pub targets: Vec<MorphTarget>,
    /// One row per component: its coefficient in each original target. Rows are orthonormal up to rounding.
    pub coefficients: Vec<Vec<f32>>,
    /// The error of the basis.
    pub report: BasisReport,
}

/// Error of a basis. Distances are those of the stored basis: rounded, without short offsets.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct BasisReport {
    /// Number of vertices that any target moves.
    pub vertices: usize,
    /// Singular values, one per target (or per matrix row if there are fewer), decreasing, metres.
    pub singular_values: Vec<f64>,
    /// Number of singular values above the rounding error of the targets.
    pub rank: usize,
    /// True if no vertex exceeds the tolerance in any target.
    pub reached: bool,
    /// Largest distance from the targets, each at weight 1, and root mean square over targets and vertices; metres.
    pub error: Distances,
    /// Index of the target with the largest distance.
    pub worst: usize,
    /// The same for deltas of normals, unitless; `None` if no target has them.
    pub normal_error: Option<Distances>,
    /// Number of dropped short offsets.
    pub dropped: usize,
}

/// One attribute of all targets: three rows per vertex, one column per target.
struct Stack(DMatrix<f64>);

impl Stack {
    fn new(
        targets: &[&MorphTarget],
        vertices: &[u32],
        of: fn(&MorphTarget) -> &[[f32; 3]],
    ) -> Self {
        let mut out = DMatrix::zeros(3 * vertices.len(), targets.len());
        for (column, target) in targets.iter().enumerate() {
            for (vertex, delta) in target.vertices.iter().zip(of(target)) {
                // The list contains all of them; duplicates add up.
                let row = vertices.binary_search(vertex).unwrap_or_default();
                for (c, d) in delta.iter().enumerate() {
                    out[(3 * row + c, column)] += f64::from(*d);
                }
            }
        }
        Self(out)
    }

    fn delta(&self, vertex: usize, column: usize) -> Vec3<f64> {
        Vec3::from_fn(|c, _| self.0[(3 * vertex + c, column)])
    }

    fn vertex_count(&self) -> usize {
        self.0.nrows() / 3
    }

    /// The longest delta.
    fn largest(&self) -> f64 {
        let columns = 0..self.0.ncols();
        let all = columns.flat_map(|t| (0..self.vertex_count()).map(move |v| (v, t)));
        all.map(|(v, t)| self.delta(v, t).norm())
            .fold(0.0, f64::max)
    }
}

/// Right singular vectors of a matrix as columns, and its singular values, decreasing.
///
/// Computed from `R` in `A = Q R`, whose size is the number of targets. The Gram matrix `A^T A` has the same size, but
/// squares the values: below 1e-8 of the largest, it would lose them, and single precision holds more.
fn singular(a: &DMatrix<f64>) -> (DMatrix<f64>, Vec<f64>) {
    if a.is_empty() {
        return (DMatrix::zeros(a.ncols(), 0), Vec::new());
    }
    let svd = a.clone().qr().r().svd(false, true);
    let values: Vec<f64> = svd.singular_values.iter().copied().collect();
    let mut vectors = svd.v_t.map(|v| v.transpose()).unwrap_or_default();
    // Both signs are valid. This choice is the same on all machines.
    for mut v in vectors.column_iter_mut() {
        if v[v.icamax()] < 0.0 {
            v.neg_mut();
        }
    }
    (vectors, values)
}

/// Number of singular values above rounding. Single-precision numbers have an error of up to 2^-24 of their size; a
/// singular value has an error of up to the same share of the matrix norm (Weyl).
fn rank(values: &[f64]) -> usize {
    let norm = values.iter().map(|s| s * s).sum::<f64>().sqrt();
    let rounding = norm * f64::from(f32::EPSILON) / 2.0;
    values.iter().filter(|s| **s > rounding).count()
}

/// Finds the smallest number of singular vectors whose mixes give each of `targets` with every vertex within the
/// tolerance; none if all offsets are shorter than the tolerance. `options.components` limits the number. If this limit
/// or rounding exceeds the tolerance, the report says that it is not reached.
///
/// Time is `O(vertices · targets²)`; memory is about 72 bytes per vertex and target.
///
/// # Example
/// ```
/// use sinew::geom::MorphTarget;
/// use sinew::psd::{CompressOptions, find_basis};
///
/// let target = |x: f32| MorphTarget {
///     vertices: vec![7, 9],
///     positions: vec![[x, 0.0, 0.0], [0.0, 2.0 * x, 0.0]],
///     ..MorphTarget::default()
/// };
/// let (small, large) = (target(0.01), target(0.03));
/// let basis = find_basis(&[&small, &large], &CompressOptions::default());
/// assert_eq!(basis.targets.len(), 1);
/// assert!(basis.report.error.largest < 1e-8);
/// ```
pub fn find_basis(targets: &[&MorphTarget], options: &CompressOptions) -> Basis {
    let listed = targets.iter().flat_map(|t| &t.vertices);
    let vertices: BTreeSet<u32> = listed.copied().collect();
    let vertices: Vec<u32> = vertices.into_iter().collect();
    let shapes = Shapes::new(targets, vertices);
    let (vectors, singular_values) = singular(&shapes.positions.0);
    let rank = rank(&singular_values);
    let most = options.components.map_or(rank, |most| most.min(rank));
    let first = shapes.components_for(&vectors, most, options.tolerance);
    let mut found = shapes.stored(&vectors, first, options);
    for count in first + 1..=most {
        if found.is_within(options.tolerance) {
            break;
        }
        // Rounding exceeded the tolerance.
        found = shapes.stored(&vectors, count, options);
    }
    shapes.finish(found, singular_values, rank, options.tolerance)
}

/// All targets.
struct Shapes {
    vertices: Vec<u32>,
    positions: Stack,
    normals: Option<Stack>,
    tangents: Option<Stack>,
}

/// A basis as stored, and its error.
struct Stored {
    /// One column per component.
    positions: DMatrix<f32>,
    normals: Option<DMatrix<f32>>,
    tangents: Option<DMatrix<f32>>,
    /// One row per target.
    coefficients: DMatrix<f32>,
    /// For each component and vertex: true if it has an offset there.
    kept: DMatrix<bool>,
    error: Distances,
    worst: usize,
    dropped: usize,
}

impl Stored {
    fn is_within(&self, tolerance: f64) -> bool {
        self.error.largest <= tolerance
    }
}

fn rounded(m: &DMatrix<f64>) -> DMatrix<f32> {
    m.map(|x| x as f32)
}

/// Three numbers of a column.
fn row3(m: &DMatrix<f32>, vertex: usize, column: usize) -> [f32; 3] {
    std::array::from_fn(|c| m[(3 * vertex + c, column)])
}

fn length(delta: [f32; 3]) -> f64 {
    Vec3::from(delta.map(f64::from)).norm()
}

impl Shapes {
    fn new(targets: &[&MorphTarget], vertices: Vec<u32>) -> Self {
        let optional = |of: fn(&MorphTarget) -> &[[f32; 3]]| {
            let is_there = targets.iter().any(|t| !of(t).is_empty());
            is_there.then(|| Stack::new(targets, &vertices, of))
        };
        Self {
            positions: Stack::new(targets, &vertices, |t| &t.positions),
            normals: optional(|t| &t.normals),
            tangents: optional(|t| &t.tangents),
            vertices,
        }
    }

    /// The smallest number of components without rounding.
    fn components_for(&self, vectors: &DMatrix<f64>, most: usize, tolerance: f64) -> usize {
        let mut left = Stack(self.positions.0.clone());
        for count in 0..most {
            if left.largest() <= tolerance {
                return count;
            }
            let v = vectors.column(count);
            let component: DVector<f64> = &self.positions.0 * v;
            left.0.ger(-1.0, &component, &v, 1.0);
        }
        most
    }

    /// The first `count` components in single precision, without short offsets that are not needed.
    fn stored(&self, vectors: &DMatrix<f64>, count: usize, options: &CompressOptions) -> Stored {
        let v = vectors.columns(0, count).into_owned();
        let component = |stack: &Stack| rounded(&(&stack.0 * &v));
        let mut out = Stored {
            positions: component(&self.positions),
            normals: self.normals.as_ref().map(component),
            tangents: self.tangents.as_ref().map(component),
            coefficients: rounded(&v),
            kept: DMatrix::from_element(self.vertices.len(), count, true),
            error: Distances {
                largest: 0.0,
                rms: 0.0,
            },
            worst: 0,
            dropped: 0,
        };
        self.drop_short(&mut out, options);
        let errors = self.errors(&out);
        (out.error, out.worst) = errors;
        out
    }

    /// Drops short offsets, except at vertices that would exceed the tolerance.
    fn drop_short(&self, stored: &mut Stored, options: &CompressOptions) {
        let short = options.tolerance * options.drop_share;
        for vertex in 0..self.vertices.len() {
            for component in 0..stored.kept.ncols() {
                stored.kept[(vertex, component)] = stored.is_long(vertex, component, short);
            }
            let off = (0..self.positions.0.ncols()).map(|t| self.missing(stored, vertex, t).norm());
            if off.fold(0.0, f64::max) > options.tolerance {
                stored.kept.row_mut(vertex).fill(true);
            }
        }
        let gone = |&(v, c): &(usize, usize)| {
            !stored.kept[(v, c)] && length(row3(&stored.positions, v, c)) > 0.0
        };
        let all =
            (0..self.vertices.len()).flat_map(|v| (0..stored.kept.ncols()).map(move |c| (v, c)));
        stored.dropped = all.filter(gone).count();
    }

    /// Error of the stored basis for a target at a vertex.
    fn missing(&self, stored: &Stored, vertex: usize, target: usize) -> Vec3<f64> {
        stored.missing(&self.positions, &stored.positions, vertex, target)
    }

    fn errors(&self, stored: &Stored) -> (Distances, usize) {
        let of_target = |t: usize| {
            (0..self.vertices.len()).map(move |v| self.missing(stored, v, t).norm_squared())
        };
        distances(self.positions.0.ncols(), self.vertices.len(), of_target)
    }

    fn normal_error(&self, stored: &Stored) -> Option<Distances> {
        let (normals, found) = (self.normals.as_ref()?, stored.normals.as_ref()?);
        let of_target = |t: usize| {
            (0..self.vertices.len())
                .map(move |v| stored.missing(normals, found, v, t).norm_squared())
        };
        Some(distances(normals.0.ncols(), self.vertices.len(), of_target).0)
    }

    fn finish(
        &self,
        stored: Stored,
        singular_values: Vec<f64>,
        rank: usize,
        tolerance: f64,
    ) -> Basis {
        let count = stored.kept.ncols();
        Basis {
            targets: (0..count).map(|c| self.target(&stored, c)).collect(),
            coefficients: (0..count)
                .map(|c| stored.coefficients.column(c).iter().copied().collect())
                .collect(),
            report: BasisReport {
                vertices: self.vertices.len(),
                singular_values,
                rank,
                reached: stored.is_within(tolerance),
                error: stored.error,
                worst: stored.worst,
                normal_error: self.normal_error(&stored),
                dropped: stored.dropped,
            },
        }
    }

    fn target(&self, stored: &Stored, component: usize) -> MorphTarget {
        let mut out = MorphTarget::default();
        for (row, &vertex) in self.vertices.iter().enumerate() {
            let delta = |m: &DMatrix<f32>| row3(m, row, component);
            let all = [&stored.normals, &stored.tangents];
            let mut others = all.into_iter().flatten().map(delta);
            let moves = delta(&stored.positions) != [0.0; 3] || others.any(|d| d != [0.0; 3]);
            if !stored.kept[(row, component)] || !moves {
                continue;
            }
            out.vertices.push(vertex);
            out.positions.push(delta(&stored.positions));
            out.normals.extend(stored.normals.as_ref().map(delta));
            out.tangents.extend(stored.tangents.as_ref().map(delta));
        }
        out
    }
}

impl Stored {
    /// True if an offset is long enough, or its deltas of normals and tangents are.
    fn is_long(&self, vertex: usize, component: usize, short: f64) -> bool {
        let directions = [&self.normals, &self.tangents];
        let mut directions = directions.into_iter().flatten();
        length(row3(&self.positions, vertex, component)) >= short
            || directions.any(|m| length(row3(m, vertex, component)) >= SHORT_DIRECTION)
    }

    /// Error of the mix of `basis` for `target` in `stack` at a vertex.
    fn missing(
        &self,
        stack: &Stack,
        basis: &DMatrix<f32>,
        vertex: usize,
        target: usize,
    ) -> Vec3<f64> {
        let mut out = stack.delta(vertex, target);
        for component in 0..basis.ncols() {
            if self.kept[(vertex, component)] {
                let delta = Vec3::from(row3(basis, vertex, component).map(f64::from));
                out -= delta * f64::from(self.coefficients[(target, component)]);
            }
        }
        out
    }
}

/// Distances from squared distances, one per vertex of each target; and the target with the largest.
fn distances<I: Iterator<Item = f64>>(
    targets: usize,
    vertices: usize,
    of_target: impl Fn(usize) -> I,
) -> (Distances, usize) {
    let (mut largest, mut sum, mut worst) = (0.0_f64, 0.0, 0);
    for target in 0..targets {
        for squared in of_target(target) {
            sum += squared;
            if squared > largest {
                (largest, worst) = (squared, target);
            }
        }
    }
    let distances = Distances {
        largest: largest.sqrt(),
        rms: (sum / (targets * vertices).max(1) as f64).sqrt(),
    };
    (distances, worst)
}
