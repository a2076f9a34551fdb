//! A rubber ball on the floor.

use crate::SampleError;
use crate::build::{morph_target, single};
use crate::field::{V, v};
use crate::skeleton::{ClipBuilder, Skeleton, smoothstep, turn};
use sinew_geom::{Asset, Attribute, Influences, Mesh, Topology};
use std::f64::consts::{PI, TAU};
use std::sync::Arc;

const RADIUS: f64 = 0.25;
const COLUMNS: usize = 60;
const ROWS: usize = 32;

/// A closed sphere in rows and columns: directions, texture coordinates, triangles. The seam is at the first
/// column; each pole is split so that its triangles have a middle to point to.
pub(crate) fn sphere(columns: usize, rows: usize) -> (Vec<V>, Vec<[f32; 2]>, Vec<[u32; 3]>) {
    let (mut directions, mut uvs, mut triangles) = (Vec::new(), Vec::new(), Vec::new());
    for r in 0..=rows {
        let pole = r == 0 || r == rows;
        for c in 0..=columns {
            let s = if pole { c as f64 + 0.5 } else { c as f64 } / columns as f64;
            // Wrapped before the sine, so that both sides of the seam are bit-equal.
            let turn = (c % columns) as f64 / columns as f64 * TAU;
            let tilt = r as f64 / rows as f64 * PI;
            directions.push(match r {
                0 => V::y(),
                _ if r == rows => -V::y(),
                _ => v(tilt.sin() * turn.sin(), tilt.cos(), tilt.sin() * turn.cos()),
            });
            uvs.push([s as f32, (r as f64 / rows as f64) as f32]);
        }
    }
    let at = |r: usize, c: usize| (r * (columns + 1) + c) as u32;
    for r in 0..rows {
        for c in 0..columns {
            let (a, b, d, e) = (at(r, c), at(r + 1, c), at(r + 1, c + 1), at(r, c + 1));
            match r {
                0 => triangles.push([a, b, d]),
                _ if r + 1 == rows => triangles.push([a, b, e]),
                _ => triangles.extend([[a, b, d], [a, d, e]]),
            }
        }
    }
    // The last copy of each pole belongs to no triangle; keep vertices and triangles in step without it.
    let used: Vec<bool> = (0..directions.len())
        .map(|i| !(i == columns || i + 1 == directions.len()))
        .collect();
    let new: Vec<u32> = used
        .iter()
        .scan(0, |n, &u| {
            let id = *n;
            *n += u32::from(u);
            Some(id)
        })
        .collect();
    for t in &mut triangles {
        *t = t.map(|i| new[i as usize]);
    }
    let mut keep = used.iter();
    directions.retain(|_| *keep.next().unwrap_or(&true));
    let mut keep = used.iter();
    uvs.retain(|_| *keep.next().unwrap_or(&true));
    (directions, uvs, triangles)
}

fn color(d: V, uv: [f32; 2]) -> [f32; 4] {
    if d.y.abs() > 0.955 {
        return [0.80, 0.78, 0.72, 1.0];
    }
    let stripes = [
        [0.62, 0.035, 0.030, 1.0],
        [0.80, 0.78, 0.72, 1.0],
        [0.020, 0.12, 0.42, 1.0],
        [0.80, 0.78, 0.72, 1.0],
        [0.82, 0.42, 0.020, 1.0],
        [0.80, 0.78, 0.72, 1.0],
    ];
    stripes[(uv[0] * 6.0 + 1e-4) as usize % 6]
}

/// 1 in a wavy cap on top, 0 below.
fn mask(d: V) -> f32 {
    let wave = 0.12 * (5.0 * d.x.atan2(d.z)).sin() * (1.0 - d.y * d.y);
    smoothstep(0.0, 0.35, d.y + wave - 0.1) as f32
}

/// The ball: radius 0.25 m, resting on the floor at the origin, one joint, painted scalar attribute `mask`, clip
/// `bounce`, morph target `dent`.
///
/// # Errors
/// See [`SampleError`].
pub fn ball() -> Result<Asset, SampleError> {
    let (directions, uvs, triangles) = sphere(COLUMNS, ROWS);
    let center = v(0.0, RADIUS, 0.0);
    let count = directions.len();
    let positions = directions
        .iter()
        .map(|d| single(center + d * RADIUS))
        .collect();
    let mut mesh = Mesh::new("ball", Topology::new(count as u32, triangles)?, positions);
    mesh.normals = Some(directions.iter().map(|&d| single(d)).collect());
    mesh.colors = vec![
        directions
            .iter()
            .zip(&uvs)
            .map(|(&d, &uv)| color(d, uv))
            .collect(),
    ];
    mesh.uvs = vec![uvs];
    let painted = directions.iter().map(|&d| mask(d)).collect();
    mesh.attributes
        .insert("mask".to_owned(), Attribute::Scalar(painted));
    let row: &[(u32, f32)] = &[(0, 1.0)];
    mesh.influences = Some(Influences::from_rows(std::iter::repeat_n(row, count), 1, 0)?.0);
    let axis = v(0.25, 0.35, 1.0).normalize();
    let dent = |i: usize| {
        let near = smoothstep(0.72, 1.0, directions[i].dot(&axis));
        -axis * (0.16 * near)
    };
    mesh.morph_targets = vec![morph_target("dent", &mesh, &dent)];

    let mut skeleton = Skeleton::default();
    let joint = skeleton.add("center", None, center);
    let mut clip = ClipBuilder::new(48, 1);
    // Two throws of 0.8 s each: free fall from about 0.78 m.
    clip.translate(joint, |t| {
        let s = (t / 0.8).fract();
        center + V::y() * (4.0 * 0.785 * s * (1.0 - s))
    })?;
    clip.rotate(joint, |t| turn(v(0.0, 0.3, -1.0), t * 2.0))?;
    Ok(Asset {
        name: "ball".to_owned(),
        rig: Arc::new(skeleton.rig("ball", 1)?),
        meshes: vec![mesh],
        clips: vec![clip.finish("bounce")],
        ..Asset::default()
    })
}
