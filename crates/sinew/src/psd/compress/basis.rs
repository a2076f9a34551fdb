//! The mathematics: displacements as a matrix, its singular vectors, and what is left of them in single precision.

use crate::geom::nalgebra::{DMatrix, DVector};
use crate::geom::{MorphTarget, Vec3};
use crate::psd::{CompressOptions, Distances};
use std::collections::BTreeSet;

/// Deltas of normals and tangents shorter than this do not keep a vertex in a target: 0.06 degrees.
const SHORT_DIRECTION: f64 = 1e-3;

/// Targets whose mixtures give other targets.
#[derive(Clone, Debug, PartialEq)]
pub struct Basis {
    /// The components, without names, longest first.
    pub targets: Vec<MorphTarget>,
    /// A row for each component: how much of it each of the original targets has. Rows are unit vectors at right angles to each
    /// other, but for rounding.
    pub coefficients: Vec<Vec<f32>>,
    /// How well they do.
    pub report: BasisReport,
}

/// How well a basis does. Distances are those of the stored basis: rounded, without the short offsets.
#[derive(Clone, Debug, PartialEq)]
pub struct BasisReport {
    /// Vertices that any of the targets moves.
    pub vertices: usize,
    /// One for each target, or for each row of the matrix where those are fewer; falling, metres.
    pub singular_values: Vec<f64>,
    /// How many of them are not rounding of the targets.
    pub rank: usize,
    /// Whether no vertex is farther off than the tolerance in any of the targets.
    pub reached: bool,
    /// Largest distance from the targets, each at weight 1, and root mean square over targets and vertices; metres.
    pub error: Distances,
    /// The target with the largest distance.
    pub worst: usize,
    /// The same of the deltas of normals, unitless; `None` where no target has any.
    pub normal_error: Option<Distances>,
    /// Offsets left out for being short.
    pub dropped: usize,
}

/// One attribute of all targets: three rows a vertex, a column a target.
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
                // All of them are listed; what is listed twice adds up.
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

/// Right singular vectors of a matrix as columns, and its singular values, falling.
///
/// They are those of `R` in `A = Q R`, which is as small as the number of targets. The Gram matrix `A^T A` would be as small, but
/// squares the values: below 1e-8 of the largest nothing would be left of them, less than single precision holds.
fn singular(a: &DMatrix<f64>) -> (DMatrix<f64>, Vec<f64>) {
    if a.is_empty() {
        return (DMatrix::zeros(a.ncols(), 0), Vec::new());
    }
    let svd = a.clone().qr().r().svd(false, true);
    let values: Vec<f64> = svd.singular_values.iter().copied().collect();
    let mut vectors = svd.v_t.map(|v| v.transpose()).unwrap_or_default();
    // Both signs are right; one of them is the same on all machines.
    for mut v in vectors.column_iter_mut() {
        if v[v.icamax()] < 0.0 {
            v.neg_mut();
        }
    }
    (vectors, values)
}

/// Singular values that are more than rounding: numbers in single precision are off by up to 2^-24 of their size, so that a
/// singular value is off by up to the same share of the matrix's norm (Weyl).
fn rank(values: &[f64]) -> usize {
    let norm = values.iter().map(|s| s * s).sum::<f64>().sqrt();
    let rounding = norm * f64::from(f32::EPSILON) / 2.0;
    values.iter().filter(|s| **s > rounding).count()
}

/// The fewest singular vectors whose mixtures give each of `targets` with no vertex farther off than the tolerance, none where all of
/// them are shorter than that. With `options.components` no more than that; then, and where rounding alone is farther off, the
/// report says that the tolerance is not reached.
///
/// Time is `O(vertices · targets²)`, memory some 24 bytes for each vertex and target, three times over.
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
        // Rounding took it beyond the tolerance.
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

/// A basis as it is stored, and how far off it is.
struct Stored {
    /// A column a component.
    positions: DMatrix<f32>,
    normals: Option<DMatrix<f32>>,
    tangents: Option<DMatrix<f32>>,
    /// A row a target.
    coefficients: DMatrix<f32>,
    /// For each component and vertex whether it has an offset there.
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

    /// The fewest components that would do if nothing were rounded.
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

    /// The first `count` components in single precision, without short offsets where they can be spared.
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

    /// Leaves short offsets out, but for vertices that would get farther off than the tolerance by that.
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

    /// What a target has at a vertex that the stored basis does not give.
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
    /// Whether an offset counts, or the deltas of normals and tangents with it.
    fn is_long(&self, vertex: usize, component: usize, short: f64) -> bool {
        let directions = [&self.normals, &self.tangents];
        let mut directions = directions.into_iter().flatten();
        length(row3(&self.positions, vertex, component)) >= short
            || directions.any(|m| length(row3(m, vertex, component)) >= SHORT_DIRECTION)
    }

    /// What `target` has in `stack` at a vertex that the mixture of `basis` does not give.
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

/// Of squared distances, one for each vertex of each target; and the target with the largest.
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
