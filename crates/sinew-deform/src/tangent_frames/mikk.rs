//! MikkTSpace's welding and grouping, done once on the rest mesh. Written after Mikkelsen, *Simulation of Wrinkled Surfaces Revisited*,
//! 2008; steps keep the names of the original.
//!
//! 1. Faces: orientation of the texture coordinates, and which faces have no usable gradient or no three positions.
//! 2. Weld: corners with equal position, normal and texture coordinates are one vertex.
//! 3. Neighbours: edges of opposite winding are paired.
//! 4. Groups: a flood fill around each vertex, across shared edges, while the orientation stays. Faces without a gradient join any group.
//! 5. Rows: each vertex gets the corners of its groups. The original splits a vertex with several groups; here it combines those with the
//!    orientation of the larger angle.
//!
//! Signs and zero tests run in single precision, because they are part of the definition. Cost: O(T log T) for `T` triangles.

use super::bind::UvBind;
use super::groups::{Rows, corner};
use super::reference::angle_between;
use super::uv::coefficients;
use sinew_geom::{Mesh, Real, index32};
use std::collections::HashMap;

const NONE: u32 = u32::MAX;

/// One triangle of the rest mesh.
struct Face {
    /// Welded vertex of each corner.
    welded: [u32; 3],
    /// Triangle across the edge that starts at each corner.
    neighbours: [u32; 3],
    /// Group of each corner.
    groups: [u32; 3],
    /// Its UV area is positive, or it was assigned so by the first group that reached it.
    preserving: bool,
    /// Without usable gradient: joins any group and adds nothing.
    any: bool,
    /// Two corners share a position: left out, copies from its neighbours.
    degenerate: bool,
    coefficients: [f32; 2],
}

/// Groups of the rest mesh, one row for each distinct set of groups that some vertex uses.
pub(super) fn freeze(mesh: &Mesh, normals: &[[f32; 3]], uvs: &[[f32; 2]]) -> UvBind {
    let mut faces = first_order(mesh, uvs);
    weld(mesh, normals, uvs, &mut faces);
    build_neighbours(&mut faces);
    let groups = build_groups(&mut faces);
    assign(mesh, &faces, &groups)
}

/// Only this counts as not zero, as in the original.
fn not_zero(x: f32) -> bool {
    x.abs() > f32::MIN_POSITIVE
}

fn first_order(mesh: &Mesh, uvs: &[[f32; 2]]) -> Vec<Face> {
    let face = |t: &[u32; 3]| {
        let p = t.map(|v| mesh.positions[v as usize]);
        let uv = t.map(|v| uvs[v as usize]);
        // Single precision throughout: the sign and the zero tests are part of the definition.
        let d = |k: usize| [uv[k][0] - uv[0][0], uv[k][1] - uv[0][1]];
        let ([s21, t21], [s31, t31]) = (d(1), d(2));
        let area = s21 * t31 - t21 * s31;
        let e = |k: usize| f32::vec3(p[k]) - f32::vec3(p[0]);
        let (s, t) = (e(1) * t31 - e(2) * t21, e(2) * s21 - e(1) * s31);
        let healthy =
            not_zero(area) && not_zero(s.norm() / area.abs()) && not_zero(t.norm() / area.abs());
        Face {
            welded: [NONE; 3],
            neighbours: [NONE; 3],
            groups: [NONE; 3],
            preserving: area > 0.0,
            any: !healthy,
            degenerate: p[0] == p[1] || p[1] == p[2] || p[2] == p[0],
            coefficients: if healthy {
                coefficients(f64::from(area), f64::from(t21), f64::from(t31))
            } else {
                [0.0; 2]
            },
        }
    };
    mesh.topology.triangles().iter().map(face).collect()
}

/// Corners with equal position, normal and UV become one vertex.
fn weld(mesh: &Mesh, normals: &[[f32; 3]], uvs: &[[f32; 2]], faces: &mut [Face]) {
    let mut seen: HashMap<[u32; 8], u32> = HashMap::with_capacity(mesh.vertex_count());
    let mut welded = |v: usize| {
        let ([x, y, z], [a, b, c], [s, t]) = (mesh.positions[v], normals[v], uvs[v]);
        // Adding zero turns -0.0 into 0.0.
        let key = [x, y, z, a, b, c, s, t].map(|f| (f + 0.0).to_bits());
        let new = index32(seen.len());
        *seen.entry(key).or_insert(new)
    };
    for (face, t) in faces.iter_mut().zip(mesh.topology.triangles()) {
        face.welded = t.map(|v| welded(v as usize));
    }
}

/// Pairs edges of opposite winding; where more than two triangles meet, the first free partner.
fn build_neighbours(faces: &mut [Face]) {
    let mut edges: Vec<(u32, u32, u32, u8)> = Vec::new();
    for (f, face) in faces.iter().enumerate().filter(|f| !f.1.degenerate) {
        for k in 0..3_u8 {
            let (a, b) = edge(face, k);
            edges.push((a.min(b), a.max(b), index32(f), k));
        }
    }
    edges.sort_unstable();
    for i in 0..edges.len() {
        let (lo, hi, f, k) = edges[i];
        let (a, b) = edge(&faces[f as usize], k);
        if faces[f as usize].neighbours[k as usize] != NONE {
            continue;
        }
        let same = edges[i + 1..].iter().take_while(|e| (e.0, e.1) == (lo, hi));
        let partner = same.copied().find(|&(_, _, g, l)| {
            faces[g as usize].neighbours[l as usize] == NONE
                && edge(&faces[g as usize], l) == (b, a)
        });
        if let Some((_, _, g, l)) = partner {
            faces[f as usize].neighbours[k as usize] = g;
            faces[g as usize].neighbours[l as usize] = f;
        }
    }
}

fn edge(face: &Face, k: u8) -> (u32, u32) {
    let k = k as usize;
    (face.welded[k], face.welded[(k + 1) % 3])
}

/// A group: its orientation, and its members as corners.
struct Group {
    preserving: bool,
    corners: Vec<u32>,
}

/// Flood fill around each welded vertex across shared edges, as long as the orientation stays.
fn build_groups(faces: &mut [Face]) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    let mut stack = Vec::new();
    for f in 0..faces.len() {
        for k in 0..3 {
            let face = &mut faces[f];
            if face.degenerate || face.any || face.groups[k] != NONE {
                continue;
            }
            let (id, vertex, preserving) = (index32(groups.len()), face.welded[k], face.preserving);
            face.groups[k] = id;
            let mut corners = vec![corner(f, k)];
            // The last pushed is visited first: the edge that ends here, then the one that starts here.
            stack.extend([face.neighbours[k], face.neighbours[(k + 2) % 3]]);
            while let Some(next) = stack.pop() {
                if next == NONE {
                    continue;
                }
                let face = &mut faces[next as usize];
                let Some(k) = face.welded.iter().position(|&w| w == vertex) else {
                    continue;
                };
                if face.groups[k] != NONE {
                    continue;
                }
                if face.any && face.groups == [NONE; 3] {
                    face.preserving = preserving;
                }
                if face.preserving != preserving {
                    continue;
                }
                face.groups[k] = id;
                corners.push(corner(next as usize, k));
                stack.extend([face.neighbours[k], face.neighbours[(k + 2) % 3]]);
            }
            corners.sort_unstable();
            groups.push(Group {
                preserving,
                corners,
            });
        }
    }
    groups
}

/// Gives each vertex its groups: those of its own corners with the orientation of the larger rest angle. A
/// vertex without any takes those of a vertex that is welded to it.
fn assign(mesh: &Mesh, faces: &[Face], groups: &[Group]) -> UvBind {
    let triangles = mesh.topology.triangles();
    let mut groups_of_vertex: Vec<Vec<u32>> = vec![Vec::new(); mesh.vertex_count()];
    let mut balance = vec![0.0_f64; mesh.vertex_count()];
    let mut by_weld: HashMap<u32, u32> = HashMap::new();
    for (face, t) in faces.iter().zip(triangles) {
        let p = t.map(|v| f64::vec3(mesh.positions[v as usize]));
        for k in (0..3).filter(|&k| face.groups[k] != NONE) {
            let angle = angle_between(p[(k + 1) % 3] - p[k], p[(k + 2) % 3] - p[k]);
            let v = t[k] as usize;
            balance[v] += if face.preserving { angle } else { -angle };
            groups_of_vertex[v].push(face.groups[k]);
            by_weld.entry(face.welded[k]).or_insert(t[k]);
        }
    }
    // Vertices of degenerate faces only, and corners that no group reached.
    for (face, t) in faces.iter().zip(triangles) {
        for (k, &v) in t.iter().enumerate() {
            if let (true, Some(&from)) = (
                groups_of_vertex[v as usize].is_empty(),
                by_weld.get(&face.welded[k]),
            ) {
                groups_of_vertex[v as usize] = groups_of_vertex[from as usize].clone();
                balance[v as usize] = balance[from as usize];
            }
        }
    }
    let mut rows: Vec<Vec<u32>> = Vec::new();
    let mut signs = Vec::new();
    let mut seen: HashMap<Vec<u32>, u32> = HashMap::new();
    let mut row_of_vertex = Vec::with_capacity(mesh.vertex_count());
    for (mut own, balance) in groups_of_vertex.into_iter().zip(balance) {
        let preserving = balance > 0.0;
        own.retain(|&g| groups[g as usize].preserving == preserving);
        own.sort_unstable();
        own.dedup();
        let row = seen.get(&own).copied().unwrap_or_else(|| {
            let members = own.iter().flat_map(|&g| &groups[g as usize].corners);
            rows.push(
                members
                    .copied()
                    .filter(|&c| !faces[(c >> 2) as usize].any)
                    .collect(),
            );
            // v runs down in glTF: the sign is opposite to that of the original.
            signs.push(if preserving { -1.0 } else { 1.0 });
            seen.insert(own, index32(rows.len() - 1));
            index32(rows.len() - 1)
        });
        row_of_vertex.push(row);
    }
    UvBind {
        coefficients: faces.iter().map(|f| f.coefficients).collect(),
        rows: Rows::from_lists(&rows),
        row_of_vertex,
        signs,
    }
}
