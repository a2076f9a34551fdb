//! Seams that a rounding error has opened: vertices that were one point before the file was written.

use crate::{BindContext, NodeError};
use sinew_geom::{Mesh, OneRings, WeldMap};
use std::collections::BTreeMap;

/// Rounding errors are at most this share of the diagonal of the mesh.
const SHARE: f64 = 1e-5;
/// At a seam meet a few vertices. More of them that close are detail.
const MOST_AT_A_POINT: usize = 8;

/// Seams whose sides are apart by a rounding error.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OpenSeams {
    /// Pairs of border points that are apart by less than 1e-5 of the diagonal of the mesh.
    pub pairs: usize,
    /// The largest gap in metres.
    pub widest: f64,
    /// A tolerance in metres that welds all of them.
    pub weld_tolerance: f32,
}

impl OpenSeams {
    /// Those of a mesh at rest, whose vertices are welded with `tolerance`. `None` if there are none. Linear time.
    pub fn find(mesh: &Mesh, tolerance: f32) -> Option<Self> {
        let (low, high) = mesh.bounds()?;
        let sides = (0..3).map(|k| f64::from(high[k]) - f64::from(low[k]));
        let limit = SHARE * sides.map(|s| s * s).sum::<f64>().sqrt();
        if f64::from(tolerance) >= limit {
            return None;
        }
        let weld = WeldMap::by_position(&mesh.positions, tolerance);
        let rings = OneRings::build(&mesh.topology, &weld);
        let class = |v: usize| weld.class_of_vertex[v];
        let on_border = |v: &usize| rings.is_border[class(*v) as usize];
        let border: Vec<usize> = (0..mesh.vertex_count()).filter(on_border).collect();
        let places: Vec<[f32; 3]> = border.iter().map(|&v| mesh.positions[v]).collect();
        let near = WeldMap::by_position(&places, limit as f32);
        let mut points: Vec<BTreeMap<u32, Vec<[f32; 3]>>> =
            vec![BTreeMap::new(); near.class_count()];
        for ((&v, &place), &at) in border.iter().zip(&places).zip(&near.class_of_vertex) {
            let members = points[at as usize].entry(class(v)).or_default();
            members.push(place);
        }
        let is_edge = |a: &u32, b: &u32| rings.row(*a as usize).contains(b);
        let gaps = points.iter().filter(|p| {
            let has_edge = || p.keys().any(|a| p.keys().any(|b| is_edge(a, b)));
            (2..=MOST_AT_A_POINT).contains(&p.len()) && !has_edge()
        });
        let gaps: Vec<f64> = gaps.flat_map(gaps_between).collect();
        let widest = gaps.iter().copied().reduce(f64::max)?;
        Some(Self {
            pairs: gaps.len(),
            widest,
            weld_tolerance: rounded_up(widest),
        })
    }
}

/// The gaps that join points, each a list of positions, by the shortest ways.
fn gaps_between(points: &BTreeMap<u32, Vec<[f32; 3]>>) -> Vec<f64> {
    let mut apart: Vec<&Vec<[f32; 3]>> = points.values().collect();
    let mut joined: Vec<&Vec<[f32; 3]>> = apart.pop().into_iter().collect();
    let mut gaps = Vec::new();
    while !apart.is_empty() {
        let pairs = (0..apart.len()).flat_map(|i| joined.iter().map(move |j| (i, j)));
        let gaps_of = pairs.map(|(i, j)| (distance(apart[i], j), i));
        let Some((gap, next)) = gaps_of.min_by(|a, b| a.0.total_cmp(&b.0)) else {
            break;
        };
        gaps.push(gap);
        joined.push(apart.swap_remove(next));
    }
    gaps
}

fn distance(a: &[[f32; 3]], b: &[[f32; 3]]) -> f64 {
    let between = |p: &[f32; 3], q: &[f32; 3]| {
        let sides = (0..3).map(|k| f64::from(p[k]) - f64::from(q[k]));
        sides.map(|s| s * s).sum::<f64>()
    };
    let pairs = a.iter().flat_map(|p| b.iter().map(move |q| between(p, q)));
    pairs.fold(f64::INFINITY, f64::min).sqrt()
}

/// One digit, at least a tenth above, so that rounding closes no seam only almost.
fn rounded_up(gap: f64) -> f32 {
    let gap = 1.1 * gap.max(f64::from(f32::MIN_POSITIVE));
    let digit = 10_f64.powi(gap.log10().floor() as i32);
    ((gap / digit).ceil() * digit) as f32
}

/// Tells of the seams in the mesh of a node with the parameter `weld_tolerance`.
pub(crate) fn warn_of_open_seams(context: &BindContext<'_>) -> Result<(), NodeError> {
    let tolerance = context.parameters.single("weld_tolerance");
    if let Some(found) = OpenSeams::find(context.mesh("mesh")?, tolerance) {
        context.warn(format!(
            "{} pairs of border points are at most {:.1e} m apart, but not welded: the node treats each side as an open border. To close these seams, set \"weld_tolerance\": {:e}",
            found.pairs, found.widest, found.weld_tolerance
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::laplacian::{LaplacianConfig, MeanOperator};
    use sinew_geom::{Topology, Vec3, index32};
    use sinew_testkit::meshes::{self, mesh_from};

    const RINGS: u32 = 12;
    const SEGMENTS: u32 = 16;

    /// A sphere of radius 1 whose triangles left of the half plane x = 0, z > 0 have vertices of their own there, `gap` to the left. The
    /// poles are shared. Also the whole sphere, and its vertex of each of these.
    fn split_sphere(gap: f32) -> (Mesh, Mesh, Vec<usize>) {
        let whole = meshes::sphere(RINGS, SEGMENTS);
        let seam: Vec<u32> = (1..RINGS).map(|r| 1 + (r - 1) * SEGMENTS).collect();
        let count = index32(whole.vertex_count());
        let mut positions = whole.positions.clone();
        positions.extend(seam.iter().map(|&v| {
            let [x, y, z] = whole.positions[v as usize];
            [x - gap, y, z]
        }));
        let is_left = |t: &[u32; 3]| t.iter().any(|&v| whole.positions[v as usize][0] < -1e-3);
        let own = |v: u32| {
            seam.iter()
                .position(|s| *s == v)
                .map(|i| count + index32(i))
        };
        let triangles = whole.topology.triangles().iter();
        let triangles = triangles.map(|t| match is_left(t) {
            true => t.map(|v| own(v).unwrap_or(v)),
            false => *t,
        });
        let split = mesh_from("split", positions, triangles.collect());
        let vertices = (0..count).chain(seam).map(|v| v as usize).collect();
        (split, whole, vertices)
    }

    /// Positions after ten passes of Laplacian smoothing.
    fn smoothed(mesh: &Mesh, weld_tolerance: f32) -> Vec<Vec3<f64>> {
        let config = LaplacianConfig {
            weld_tolerance,
            ..LaplacianConfig::default()
        };
        let (operator, weld, _) = MeanOperator::build(mesh, &config);
        let points = crate::laplacian::class_positions(&weld, &mesh.positions);
        let points: Vec<Vec3<f64>> = points.into_iter().map(Vec3::from).collect();
        let points = (0..10).fold(points, |p, _| operator.apply(&p, 0.5));
        let classes = weld.class_of_vertex.iter();
        classes.map(|c| points[*c as usize]).collect()
    }

    #[test]
    fn a_split_sphere_has_a_pair_a_ring_and_the_tolerance_makes_it_whole() {
        let (split, whole, vertices) = split_sphere(1e-7);
        let found = OpenSeams::find(&split, 0.0).expect("open");
        assert_eq!(found.pairs, RINGS as usize - 1);
        assert!((found.widest - 1e-7).abs() < 1e-13, "{}", found.widest);
        assert_eq!(found.weld_tolerance, 2e-7);
        assert_eq!(OpenSeams::find(&split, found.weld_tolerance), None);
        let expected = smoothed(&whole, 0.0);
        let farthest = |tolerance: f32| {
            let found = smoothed(&split, tolerance);
            let apart = found.iter().zip(&vertices);
            let apart = apart.map(|(p, v)| (p - expected[*v]).norm());
            apart.fold(0.0, f64::max)
        };
        assert!(farthest(0.0) > 0.01, "{}", farthest(0.0));
        let closed = farthest(found.weld_tolerance);
        assert!(closed < 1e-6, "{closed}");
    }

    #[test]
    fn open_borders_closed_seams_and_fine_detail_are_no_open_seams() {
        for mesh in [
            split_sphere(0.0).0,
            split_sphere(1e-3).0,
            meshes::sphere(8, 12),
            meshes::exploded(&meshes::sphere(8, 12)),
            meshes::cube(),
            meshes::grid(5, 7),
            meshes::tube(12, 8, 2.0, 0.3),
            meshes::degenerate(),
            meshes::loose_triangles(20),
        ] {
            assert_eq!(OpenSeams::find(&mesh, 0.0), None, "{}", mesh.name);
        }
        // A strip of 100 quads of a millionth of its height: border points that are neighbours.
        let mut strip = meshes::grid(100, 1);
        strip.positions.iter_mut().for_each(|p| p[0] *= 1e-4);
        assert_eq!(OpenSeams::find(&strip, 0.0), None);
        let empty = Mesh::new(
            "empty",
            Topology::new(0, Vec::new()).expect("valid"),
            Vec::new(),
        );
        assert_eq!(OpenSeams::find(&empty, 0.0), None);
    }
}
