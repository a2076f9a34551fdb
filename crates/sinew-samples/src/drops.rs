//! Shapes that change, for baking: drops that part, as the surface of a field (marching tetrahedra), and a blob that bends.

use sinew_geom::vec3::{area_vector, dot, sub};
use sinew_geom::{Mesh, Topology};
use std::collections::HashMap;

/// A drop that parts into two over `count` frames, a few metres wide; each frame has triangles of its own. No symmetry, so that mirrored pictures differ.
pub fn parting_drop(count: usize) -> Vec<Mesh> {
    let at = |f: usize| f as f32 / count.saturating_sub(1).max(1) as f32;
    (0..count)
        .map(|f| surface(|p| parting_field(p, at(f))))
        .collect()
}

/// A blob of constant triangles that bends to and fro in `count` frames; the frame after the last is the first.
pub fn bending_blob(count: usize) -> Vec<Mesh> {
    let rest = surface(|p| parting_field(p, 0.3));
    let turn = std::f32::consts::TAU / count.max(1) as f32;
    let frame = |f: usize| {
        let angle = 0.5 * (f as f32 * turn).sin();
        let lift = 0.3 - 0.3 * (f as f32 * turn).cos();
        let mut mesh = rest.clone();
        for p in &mut mesh.positions {
            *p = bent(*p, angle, lift);
        }
        mesh
    };
    (0..count).map(frame).collect()
}

fn bent([x, y, z]: [f32; 3], angle: f32, lift: f32) -> [f32; 3] {
    let (sin, cos) = (angle * x).sin_cos();
    [
        x * (1.0 - 0.1 * lift),
        y * cos - z * sin + lift * x.max(0.0),
        y * sin + z * cos,
    ]
}

fn parting_field(p: [f32; 3], t: f32) -> f32 {
    let balls = [
        ([-0.2 - 0.7 * t, -0.1, 0.1], 0.55),
        ([0.2 + 0.8 * t, 0.1 + 0.5 * t, -0.2 * t], 0.42),
        ([-0.3 - 0.4 * t, 0.45 - 0.2 * t, 0.0], 0.2),
    ];
    let strength = |(center, radius): &([f32; 3], f32)| {
        let squared: f32 = (0..3).map(|k| (p[k] - center[k]).powi(2)).sum();
        radius * radius / squared.max(1e-6)
    };
    balls.iter().map(strength).sum::<f32>() - 1.0
}

const CELLS: [i32; 3] = [22, 14, 12];
const LOW: [f32; 3] = [-2.2, -1.15, -1.05];
const CELL: f32 = 0.19;

/// Corners of a cube's six tetrahedra, as bits x, y, z; all share the diagonal from 0 to 7.
const TETRAHEDRA: [[i32; 4]; 6] = [
    [0, 1, 3, 7],
    [0, 1, 5, 7],
    [0, 2, 3, 7],
    [0, 2, 6, 7],
    [0, 4, 5, 7],
    [0, 4, 6, 7],
];

/// The surface on which a field is zero; it is positive inside.
fn surface(field: impl Fn([f32; 3]) -> f32) -> Mesh {
    let mut out = Surface::default();
    for x in 0..CELLS[0] {
        for y in 0..CELLS[1] {
            for z in 0..CELLS[2] {
                for corners in TETRAHEDRA {
                    let node = |c: i32| [x + (c & 1), y + (c >> 1 & 1), z + (c >> 2)];
                    out.add_tetrahedron(corners.map(node), &field);
                }
            }
        }
    }
    let count = out.positions.len() as u32;
    let topology = Topology::new(count, out.triangles).unwrap_or_default();
    Mesh::new("drop", topology, out.positions)
}

type Node = [i32; 3];

#[derive(Default)]
struct Surface {
    /// Vertex of each edge that the surface crosses.
    crossings: HashMap<(Node, Node), u32>,
    positions: Vec<[f32; 3]>,
    triangles: Vec<[u32; 3]>,
}

fn place(node: Node) -> [f32; 3] {
    std::array::from_fn(|k| LOW[k] + CELL * node[k] as f32)
}

impl Surface {
    fn add_tetrahedron(&mut self, nodes: [Node; 4], field: &impl Fn([f32; 3]) -> f32) {
        let inside = |n: &Node| field(place(*n)) > 0.0;
        let (within, without): (Vec<Node>, Vec<Node>) = nodes.iter().partition(|n| inside(n));
        let mut cross = |a: usize, b: usize| self.crossing(within[a], without[b], field);
        let ring = match (within.len(), without.len()) {
            (1, 3) => vec![cross(0, 0), cross(0, 1), cross(0, 2)],
            (3, 1) => vec![cross(0, 0), cross(1, 0), cross(2, 0)],
            (2, 2) => vec![cross(0, 0), cross(0, 1), cross(1, 1), cross(1, 0)],
            _ => return,
        };
        for k in 2..ring.len() {
            self.add_triangle([ring[0], ring[k - 1], ring[k]], place(within[0]));
        }
    }

    /// The vertex on an edge, the same for all tetrahedra around it.
    fn crossing(&mut self, a: Node, b: Node, field: &impl Fn([f32; 3]) -> f32) -> u32 {
        let (a, b) = (a.min(b), a.max(b));
        *self.crossings.entry((a, b)).or_insert_with(|| {
            let (from, to) = (place(a), place(b));
            let (at_a, at_b) = (field(from), field(to));
            // Not at the ends, where triangles would have no area.
            let share = (at_a / (at_a - at_b)).clamp(0.05, 0.95);
            let point = std::array::from_fn(|k| from[k] + (to[k] - from[k]) * share);
            self.positions.push(point);
            self.positions.len() as u32 - 1
        })
    }

    /// Counter-clockwise seen from outside.
    fn add_triangle(&mut self, [a, b, c]: [u32; 3], inside: [f32; 3]) {
        let corners = [a, b, c].map(|v| self.positions[v as usize]);
        let towards_inside = dot(area_vector(corners), sub(inside, corners[0]));
        self.triangles.push(match towards_inside < 0.0 {
            true => [a, b, c],
            false => [a, c, b],
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sinew_geom::vec3::cross;
    use std::collections::HashSet;

    /// Pieces of a surface that hang together by their triangles.
    fn pieces(mesh: &Mesh) -> usize {
        let mut piece: Vec<usize> = (0..mesh.positions.len()).collect();
        fn root(piece: &mut [usize], mut v: usize) -> usize {
            while piece[v] != v {
                piece[v] = piece[piece[v]];
                v = piece[v];
            }
            v
        }
        for t in mesh.topology.triangles() {
            for k in 1..3 {
                let [a, b] = [t[0], t[k]].map(|v| root(&mut piece, v as usize));
                piece[a] = b;
            }
        }
        (0..piece.len()).filter(|v| piece[*v] == *v).count()
    }

    /// Closed surfaces turned outwards, each like a ball: Euler's number is two for each piece, the volume is above zero.
    #[test]
    fn drops_are_closed_and_part() {
        let frames = parting_drop(6);
        for mesh in &frames {
            let triangles = mesh.topology.triangles();
            let edges = triangles
                .iter()
                .flat_map(|t| [0, 1, 2].map(|k| (t[k], t[(k + 1) % 3])));
            let edges: HashSet<(u32, u32)> = edges.collect();
            assert_eq!(
                edges.len(),
                3 * triangles.len(),
                "an edge twice in one direction"
            );
            assert!(
                edges.iter().all(|(a, b)| edges.contains(&(*b, *a))),
                "a hole"
            );
            let euler = mesh.positions.len() + triangles.len() - edges.len() / 2;
            assert_eq!(euler, 2 * pieces(mesh));
            let volume: f32 = triangles
                .iter()
                .map(|t| {
                    let [p, q, r] = t.map(|v| mesh.positions[v as usize]);
                    dot(p, cross(q, r)) / 6.0
                })
                .sum();
            assert!(volume > 0.5, "{volume}");
        }
        assert_eq!(pieces(&frames[0]), 1);
        assert!(pieces(&frames[5]) >= 2);
        let counts: HashSet<usize> = frames
            .iter()
            .map(|m| m.topology.triangles().len())
            .collect();
        assert!(counts.len() > 3, "triangles change");
        let bent = bending_blob(4);
        assert!(bent.iter().all(|m| m.topology == bent[0].topology));
    }
}
