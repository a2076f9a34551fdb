//! Fields of real meshes at every node and between nodes, against distances and winding numbers in double precision that share no
//! code with them (`sinew_testkit::MeshTruth`).

#![expect(
    clippy::print_stdout,
    reason = "says what was measured and what was skipped"
)]

use sinew::deform::Par;
use sinew::deform::sdf::{
    Axis, FieldBuffers, FieldFrame, FieldView, GridShape, Resolution, SdfBind, SdfSettings,
    SignMethod,
};
use sinew::geom::Topology;
use sinew_testkit::{Lattice, MeshTruth, read_obj, shared_data};
use std::path::{Path, PathBuf};

/// Cells within which all nodes are exact.
const BAND: f64 = 3.0;
/// Nearer than this, in cells, a point has no side in single precision.
const ON_SURFACE: f64 = 1e-3;
/// Beyond the band: the most that distances may be off, in cells, in bricks and between bricks.
const IN_BRICKS: f64 = 1.6;
const ELSEWHERE: f64 = 4.5;

/// Along the longest side. In fewer, cells between nodes have wrong sides where a collider is thin.
const CELLS: u32 = 48;

type Surface = (Topology, Vec<[f32; 3]>);

/// The ten colliders of the shared data, by name.
fn colliders() -> Option<Vec<(String, Surface)>> {
    let Some(data) = shared_data() else {
        println!("skipped: no shared data");
        return None;
    };
    let list = std::fs::read_dir(data.join("collision")).expect("a folder");
    let mut files: Vec<PathBuf> = list.flatten().map(|e| e.path()).collect();
    files.retain(|p| p.extension().is_some_and(|e| e == "obj"));
    files.sort();
    assert_eq!(files.len(), 10, "meshes of the shared data");
    let name = |p: &Path| {
        p.file_stem()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned()
    };
    Some(files.iter().map(|p| (name(p), read_obj(p))).collect())
}

fn cells(count: u32, sign: SignMethod) -> SdfSettings {
    SdfSettings {
        resolution: Resolution::Cells {
            count,
            along: Axis::Longest,
        },
        sign,
        ..SdfSettings::default()
    }
}

/// A place in every cell, or every node, and what a field should say there.
struct Points {
    place: Option<[f32; 3]>,
    shape: GridShape,
    counts: [u32; 3],
    truth: Lattice,
}

impl Points {
    fn new(mesh: &MeshTruth, shape: GridShape, place: Option<[f32; 3]>) -> Self {
        let counts = shape.nodes().map(|n| n - u32::from(place.is_some()));
        let lines = [0, 1, 2].map(|k| {
            let line = 0..counts[k];
            line.map(|i| f64::from(coordinate(&shape, place, k, i)))
                .collect()
        });
        Self {
            place,
            shape,
            counts,
            truth: mesh.lattice(&lines),
        }
    }

    /// The node at or before a point, and what the field says at the point, in cells.
    fn value(&self, view: &FieldView<'_>, index: usize) -> ([u32; 3], f64) {
        let ([nx, ny, _], i) = (self.counts, index as u32);
        let node = [i % nx, i / nx % ny, i / (nx * ny)];
        let value = match self.place {
            None => view.node(node),
            Some(_) => {
                view.sample([0, 1, 2].map(|k| coordinate(&self.shape, self.place, k, node[k])))
            }
        };
        (node, f64::from(value / self.shape.cell))
    }

    /// No interpolation of right values can be further off, in cells: distances grow no faster than the way.
    fn most_between_nodes(&self) -> f64 {
        let place = self.place.unwrap_or_default().map(f64::from);
        let corner = |c: u32| {
            let apart = [0, 1, 2].map(|k| (place[k] - f64::from(c >> k & 1)).abs());
            let weight: f64 = apart.iter().map(|a| 1.0 - a).product();
            weight * apart.iter().map(|a| a * a).sum::<f64>().sqrt()
        };
        (0..8).map(corner).sum()
    }
}

fn coordinate(shape: &GridShape, place: Option<[f32; 3]>, k: usize, i: u32) -> f32 {
    let shift = place.unwrap_or_default()[k];
    shape.cell.mul_add(i as f32 + shift, shape.origin[k])
}

/// What was found at points of a field; lengths in cells.
#[derive(Debug, Default)]
struct Found {
    points: usize,
    inside: usize,
    unset: usize,
    /// Too near to the surface to have a side.
    not_judged: usize,
    wrong_in_bricks: usize,
    wrong_elsewhere: usize,
    /// How far the winding number is from a half at most where the side is wrong.
    unsure_in_bricks: f64,
    unsure_elsewhere: f64,
    /// Errors of distances: within a cell of the surface with their sign; in the band, elsewhere in bricks and between bricks without.
    near: f64,
    in_band: f64,
    in_bricks: f64,
    elsewhere: f64,
    /// Points within a cell of the surface, and those of them that are off by more than half a cell.
    near_points: usize,
    off_by_half: usize,
}

impl Found {
    /// Sides count farther than `clear` cells from the surface.
    fn new(field: &FieldBuffers, points: &Points, clear: f64) -> Self {
        let view = field.view();
        let truth = points.truth.distances.iter().zip(&points.truth.windings);
        let mut out = Self::default();
        for (i, (distance, winding)) in truth.enumerate() {
            let (node, value) = points.value(&view, i);
            let is_exact = view.is_exact(node);
            let distance = distance / f64::from(points.shape.cell);
            out.distance(value, distance, *winding > 0.5, is_exact);
            if distance <= clear {
                out.not_judged += 1;
            } else if (value < 0.0) != (*winding > 0.5) {
                out.wrong(is_exact, (winding - 0.5).abs());
            }
        }
        out
    }

    fn distance(&mut self, value: f64, distance: f64, is_inside: bool, is_exact: bool) {
        self.points += 1;
        self.inside += usize::from(is_inside);
        self.unset += usize::from(!value.is_finite() || value.abs() > 1e6);
        if distance <= 1.0 {
            let expected = if is_inside { -distance } else { distance };
            let off = (value - expected).abs();
            self.near = self.near.max(off);
            self.near_points += 1;
            self.off_by_half += usize::from(off > 0.5);
        }
        let worst = match (is_exact, distance <= BAND) {
            (true, true) => &mut self.in_band,
            (true, false) => &mut self.in_bricks,
            (false, _) => &mut self.elsewhere,
        };
        *worst = worst.max((value.abs() - distance).abs());
    }

    fn wrong(&mut self, is_exact: bool, unsure: f64) {
        let (count, most) = match is_exact {
            true => (&mut self.wrong_in_bricks, &mut self.unsure_in_bricks),
            false => (&mut self.wrong_elsewhere, &mut self.unsure_elsewhere),
        };
        *count += 1;
        *most = most.max(unsure);
    }
}

fn build((topology, positions): &Surface, settings: SdfSettings) -> (SdfBind, FieldBuffers) {
    let frame = FieldFrame::default();
    let bind = SdfBind::new(topology, positions, &frame, settings).expect("valid");
    let mut buffers = FieldBuffers::new(&bind);
    buffers.build(&bind, positions, &frame, Par::Seq);
    (bind, buffers)
}

/// The middle of cells, where interpolation may be worst, and a place that is none in particular.
const PLACES: [[f32; 3]; 2] = [[0.5; 3], [0.31, 0.73, 0.17]];

/// Every node, then every cell: values, distances and sides of a mesh without holes.
fn closed(name: &str, surface: &Surface, count: u32, signs: &[SignMethod]) -> usize {
    let truth = MeshTruth::new(&surface.1, surface.0.triangles());
    assert!(truth.is_closed(), "{name}");
    let fields: Vec<_> = (signs.iter())
        .map(|sign| build(surface, cells(count, *sign)).1)
        .collect();
    let shape = fields[0].view().shape;
    let nodes = Points::new(&truth, shape, None);
    let mut inside = 0;
    for (sign, field) in signs.iter().zip(&fields) {
        let found = Found::new(field, &nodes, ON_SURFACE);
        println!("{name}, {sign:?}, nodes: {found:?}");
        assert_eq!(found.unset, 0, "{name}");
        let wrong = found.wrong_in_bricks + found.wrong_elsewhere;
        assert_eq!(wrong, 0, "{name}, {sign:?}: {found:?}");
        assert!(found.not_judged * 4_000 < found.points, "{name}: {found:?}");
        assert!(
            found.in_band < 1e-4 && found.near < 1e-4,
            "{name}: {found:?}"
        );
        assert!(found.in_bricks < IN_BRICKS, "{name}: {found:?}");
        assert!(found.elsewhere < ELSEWHERE, "{name}: {found:?}");
        inside = found.inside;
    }
    for place in PLACES {
        let points = Points::new(&truth, shape, Some(place));
        for (sign, field) in signs.iter().zip(&fields) {
            between(&format!("{name}, {sign:?}"), field, &points);
        }
    }
    inside
}

fn between(name: &str, field: &FieldBuffers, points: &Points) {
    let found = Found::new(field, points, 0.5);
    println!("{name}, {:?} of cells: {found:?}", points.place);
    let wrong = found.wrong_in_bricks + found.wrong_elsewhere;
    assert_eq!((found.unset, wrong), (0, 0), "{name}: {found:?}");
    let most = points.most_between_nodes();
    assert!(found.near < most + 1e-3, "{name}: {found:?}");
    assert!(
        found.off_by_half * 500 < found.near_points,
        "{name}: {found:?}"
    );
    assert!(found.elsewhere < ELSEWHERE, "{name}: {found:?}");
}

#[test]
fn closed_colliders_are_right_at_every_node_and_between_nodes() {
    let Some(all) = colliders() else {
        return;
    };
    let mut seen = 0;
    for (name, surface) in &all {
        let report = build(surface, cells(8, SignMethod::WindingNumber)).0;
        let (is_closed, folded) = (report.report().is_closed(), name == "mh_head_capped");
        if is_closed {
            let both = [SignMethod::Pseudonormals, SignMethod::WindingNumber];
            assert!(closed(name, surface, CELLS, &both) > 500, "{name}");
        } else if folded {
            // Its cap is folded: four triangles at an edge, of which no pseudonormal can be made.
            closed(name, surface, CELLS, &[SignMethod::WindingNumber]);
        }
        seen += usize::from(is_closed || folded);
    }
    assert_eq!(seen, 6, "closed colliders");
}

/// Sides are those of the exact number but at the lid of a hole, where it is a half: in bricks clusters of triangles count as dipoles,
/// between bricks the lid is interpolated.
fn filled(name: &str, found: &Found, at_nodes: bool) {
    assert_eq!(found.unset, 0, "{name}: {found:?}");
    let wrong = found.wrong_in_bricks + found.wrong_elsewhere;
    assert!(wrong * 300 < found.points, "{name}: {found:?}");
    assert!(found.unsure_elsewhere < 0.15, "{name}: {found:?}");
    if at_nodes {
        assert!(found.unsure_in_bricks < 0.02, "{name}: {found:?}");
        assert!(
            found.in_band < 1e-4 && found.in_bricks < 1e-4,
            "{name}: {found:?}"
        );
    }
}

#[test]
fn open_colliders_are_filled_as_winding_numbers_say() {
    let Some(all) = colliders() else {
        return;
    };
    let mut seen = 0;
    for (name, surface) in &all {
        let truth = MeshTruth::new(&surface.1, surface.0.triangles());
        if truth.is_closed() {
            continue;
        }
        let (_, field) = build(surface, cells(CELLS, SignMethod::WindingNumber));
        for place in [None, Some(PLACES[0]), Some(PLACES[1])] {
            let points = Points::new(&truth, field.view().shape, place);
            let found = Found::new(&field, &points, 0.5);
            println!("{name}, {place:?}: {found:?}");
            filled(name, &found, place.is_none());
        }
        seen += 1;
    }
    assert_eq!(seen, 4, "open colliders");
}

/// The rat's body and hand in grids of our own, of as many cells as the node takes by itself; in a long run also of as many as the pages about hair take.
#[test]
fn the_rat_has_no_unset_node_and_no_wrong_sign() {
    let Some(data) = shared_data() else {
        println!("skipped: no shared data");
        return;
    };
    let fine = sinew_testkit::is_soak().then_some(("Ratboy_body", 100));
    let usual = [("Ratboy_body", 64), ("Ratboy_left_hand", 64)];
    for (file, count) in usual.into_iter().chain(fine) {
        let path = data.join("hair").join(format!("{file}.tfxmesh"));
        let asset = sinew::io::read_any(&path).expect("readable").asset;
        let mesh = asset.meshes.first().expect("a mesh");
        let topology = Topology::new(
            mesh.positions.len() as u32,
            mesh.topology.triangles().to_vec(),
        );
        let surface = (topology.expect("in range"), mesh.positions.clone());
        let both = [SignMethod::Pseudonormals, SignMethod::WindingNumber];
        let inside = closed(file, &surface, count, &both);
        assert!(inside > 5_000, "{file}: {inside} nodes inside");
    }
}
