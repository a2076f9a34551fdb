//! A fox-like creature on four legs, 1.3 m from nose to tail, facing +Z.

use crate::SampleError;
use crate::ball::sphere;
use crate::build::{Chart, Sculpt, single};
use crate::field::{Field, V, blob, cone, flat_cone, v};
use crate::nets::{Grid, polygonise};
use crate::skeleton::{ClipBuilder, Skeleton, smoothstep, turn};
use sinew_geom::{Asset, Clip, Influences, Mesh, Quat, Topology};
use std::f64::consts::TAU;
use std::sync::Arc;

const HIPS: usize = 0;
const SPINE: usize = 1;
const CHEST: usize = 2;
const NECK: [usize; 2] = [3, 4];
const HEAD: usize = 5;
const EARS: [usize; 2] = [6, 7];
const TAIL: usize = 8;
/// First joint of each leg: fore left, fore right, hind left, hind right; four joints each.
const LEGS: [usize; 4] = [12, 16, 20, 24];

const STEP: f64 = 0.016;
const TAIL_POINTS: [V; 5] = [
    v_const(0.0, 0.475, -0.325),
    v_const(0.0, 0.470, -0.430),
    v_const(0.0, 0.490, -0.535),
    v_const(0.0, 0.545, -0.630),
    v_const(0.0, 0.620, -0.705),
];
const TAIL_RADII: [f64; 5] = [0.034, 0.052, 0.066, 0.054, 0.014];

const fn v_const(x: f64, y: f64, z: f64) -> V {
    V::new(x, y, z)
}

/// Four joints and the toe of leg `leg`, and the radii there.
fn leg(leg: usize) -> ([V; 5], [f64; 5]) {
    let side = if leg.is_multiple_of(2) { 1.0 } else { -1.0 };
    let (points, radii) = if leg < 2 {
        (
            [
                v(0.080, 0.455, 0.185),
                v(0.092, 0.300, 0.150),
                v(0.092, 0.145, 0.175),
                v(0.092, 0.046, 0.180),
                v(0.092, 0.034, 0.228),
            ],
            [0.072, 0.045, 0.031, 0.034, 0.033],
        )
    } else {
        (
            [
                v(0.078, 0.430, -0.225),
                v(0.098, 0.290, -0.165),
                v(0.094, 0.160, -0.275),
                v(0.094, 0.046, -0.255),
                v(0.094, 0.034, -0.205),
            ],
            [0.092, 0.052, 0.031, 0.034, 0.033],
        )
    };
    (points.map(|p| v(p.x * side, p.y, p.z)), radii)
}

fn ear(side: f64) -> [V; 2] {
    [v(0.052 * side, 0.765, 0.395), v(0.096 * side, 0.872, 0.372)]
}

fn torso_field() -> Field {
    let id = Quat::identity();
    Field::Union(
        0.07,
        vec![
            cone(
                HIPS,
                v(0.0, 0.470, -0.255),
                v(0.0, 0.470, -0.14),
                0.098,
                0.098,
            ),
            cone(
                SPINE,
                v(0.0, 0.470, -0.11),
                v(0.0, 0.468, 0.03),
                0.097,
                0.106,
            ),
            cone(
                CHEST,
                v(0.0, 0.465, 0.08),
                v(0.0, 0.465, 0.19),
                0.113,
                0.108,
            ),
            blob(CHEST, v(0.0, 0.440, 0.235), v(0.075, 0.090, 0.075), id),
            cone(
                NECK[0],
                v(0.0, 0.530, 0.245),
                v(0.0, 0.605, 0.315),
                0.078,
                0.062,
            ),
            cone(
                NECK[1],
                v(0.0, 0.610, 0.320),
                v(0.0, 0.680, 0.370),
                0.060,
                0.056,
            ),
        ],
    )
}

fn head_field() -> Field {
    let id = Quat::identity();
    let skull = Field::Union(
        0.04,
        vec![
            blob(HEAD, v(0.0, 0.720, 0.415), v(0.080, 0.074, 0.088), id),
            blob(HEAD, v(0.050, 0.692, 0.430), v(0.048, 0.040, 0.052), id),
            blob(HEAD, v(-0.050, 0.692, 0.430), v(0.048, 0.040, 0.052), id),
            cone(
                HEAD,
                v(0.0, 0.692, 0.475),
                v(0.0, 0.676, 0.572),
                0.042,
                0.023,
            ),
        ],
    );
    let ears = [1.0, -1.0].map(|side| {
        let [a, b] = ear(side);
        let joint = EARS[usize::from(side < 0.0)];
        let thin = v(-0.15 * side, 0.0, 1.0).normalize();
        flat_cone(joint, a, b, 0.050, 0.022, thin, 0.62)
    });
    Field::Union(0.022, [vec![skull], ears.to_vec()].concat())
}

fn leg_field(index: usize) -> Field {
    let (points, radii) = leg(index);
    let first = LEGS[index];
    let bones = (0..4).map(|k| {
        let (a, b) = (points[k], points[k + 1]);
        if k == 3 {
            // Paws are wide and flat below.
            return flat_cone(first + k, a, b, radii[k], radii[k + 1] * 1.06, V::x(), 1.12);
        }
        cone(first + k, a, b, radii[k], radii[k + 1])
    });
    Field::Union(0.022, bones.collect())
}

fn field() -> Field {
    let tail = (0..4).map(|k| {
        let (a, b) = (TAIL_POINTS[k], TAIL_POINTS[k + 1]);
        cone(TAIL + k, a, b, TAIL_RADII[k], TAIL_RADII[k + 1])
    });
    Field::Union(
        0.05,
        vec![
            torso_field(),
            head_field(),
            Field::Union(0.05, (0..4).map(leg_field).collect()),
            Field::Union(0.03, tail.collect()),
        ],
    )
}

fn skeleton() -> Skeleton {
    let mut s = Skeleton::default();
    let hips = s.add("hips", None, v(0.0, 0.475, -0.235));
    let spine = s.add("spine", Some(hips), v(0.0, 0.480, -0.110));
    let chest = s.add("chest", Some(spine), v(0.0, 0.480, 0.055));
    let neck = s.add("neck_1", Some(chest), v(0.0, 0.525, 0.235));
    let neck = s.add("neck_2", Some(neck), v(0.0, 0.605, 0.315));
    let head = s.add("head", Some(neck), v(0.0, 0.680, 0.370));
    s.add("ear_left", Some(head), ear(1.0)[0]);
    s.add("ear_right", Some(head), ear(-1.0)[0]);
    let mut parent = hips;
    for (k, &p) in TAIL_POINTS[..4].iter().enumerate() {
        parent = s.add(format!("tail_{}", k + 1), Some(parent), p);
    }
    let names = [
        ("fore", "left", ["upper", "lower", "cannon", "paw"]),
        ("fore", "right", ["upper", "lower", "cannon", "paw"]),
        ("hind", "left", ["thigh", "shin", "cannon", "paw"]),
        ("hind", "right", ["thigh", "shin", "cannon", "paw"]),
    ];
    for (index, (end, side, bones)) in names.into_iter().enumerate() {
        let mut parent = if index < 2 { chest } else { hips };
        for (bone, p) in bones.iter().zip(leg(index).0) {
            parent = s.add(format!("{end}_{bone}_{side}"), Some(parent), p);
        }
    }
    s
}

fn charts() -> Vec<Chart> {
    let mut charts = vec![
        Chart {
            joints: vec![HIPS, SPINE, CHEST],
            chain: vec![v(0.0, 0.47, -0.36), v(0.0, 0.46, 0.31)],
            front: V::y(),
            place: [0.0, 0.0, 0.5, 0.5],
        },
        Chart {
            joints: vec![NECK[0], NECK[1]],
            chain: vec![v(0.0, 0.50, 0.22), v(0.0, 0.70, 0.385)],
            front: v(0.0, 1.0, -1.0),
            place: [0.5, 0.0, 0.25, 0.25],
        },
        Chart {
            joints: vec![HEAD],
            chain: vec![v(0.0, 0.72, 0.33), v(0.0, 0.675, 0.60)],
            front: V::y(),
            place: [0.5, 0.25, 0.5, 0.25],
        },
        Chart {
            joints: (TAIL..TAIL + 4).collect(),
            chain: [TAIL_POINTS.as_slice(), &[v(0.0, 0.63, -0.72)]].concat(),
            front: V::y(),
            place: [0.75, 0.0, 0.25, 0.25],
        },
    ];
    for (k, side) in [1.0, -1.0].into_iter().enumerate() {
        let [a, b] = ear(side);
        charts.push(Chart {
            joints: vec![EARS[k]],
            chain: vec![a, b + (b - a) * 0.08],
            front: V::z(),
            place: [0.8 + 0.1 * k as f64, 0.5, 0.1, 0.5],
        });
    }
    for (index, first) in LEGS.into_iter().enumerate() {
        charts.push(Chart {
            joints: (first..first + 4).collect(),
            chain: leg(index).0.to_vec(),
            front: V::x() * if index.is_multiple_of(2) { 1.0 } else { -1.0 },
            place: [0.2 * index as f64, 0.5, 0.2, 0.5],
        });
    }
    charts
}

fn color(p: V, n: V, joint: usize) -> [f64; 3] {
    let (fur, cream, dark) = (
        v(0.60, 0.20, 0.045),
        v(0.78, 0.66, 0.50),
        v(0.055, 0.040, 0.038),
    );
    let mut c = fur.lerp(
        &v(0.42, 0.12, 0.03),
        0.7 * smoothstep(0.6, 1.0, n.y) * f64::from(u8::from(joint <= CHEST)),
    );
    if joint <= HEAD {
        // Belly, throat, chin and cheeks.
        c = c.lerp(&cream, smoothstep(0.30, 0.70, -n.y));
        let bib = smoothstep(0.2, 0.55, n.z - n.y) * smoothstep(0.22, 0.28, p.z);
        let face_line = 0.690 + 0.25 * (p.z - 0.48);
        c = c.lerp(
            &cream,
            if joint == HEAD {
                1.0 - smoothstep(face_line - 0.008, face_line + 0.008, p.y)
            } else {
                bib
            },
        );
        if p.z > 0.578 && p.y > 0.668 {
            c = dark;
        }
    } else if EARS.contains(&joint) {
        c = c.lerp(&dark, smoothstep(0.83, 0.85, p.y));
        c = c.lerp(
            &cream,
            0.7 * smoothstep(0.5, 0.8, n.z) * (1.0 - smoothstep(0.82, 0.85, p.y)),
        );
    } else if joint < LEGS[0] {
        c = c.lerp(&cream, smoothstep(-0.590, -0.615, p.z));
    } else {
        c = c.lerp(&dark, 1.0 - smoothstep(0.14, 0.22, p.y));
    }
    [c.x, c.y, c.z]
}

/// Leg phase 0..1: swings back from 0.75 over 0 to 0.25, forward with the foot lifted from 0.25 to 0.75.
fn step_leg(clip: &mut ClipBuilder, index: usize, offset: f64) -> Result<(), SampleError> {
    let swing = move |t: f64| (TAU * (t - offset)).sin();
    let lift = move |t: f64| {
        let c = (-(TAU * (t - offset)).cos()).max(0.0);
        c * c
    };
    let first = LEGS[index];
    let x = V::x();
    // Positive turns about +X carry a foot backwards.
    let (reach, bend) = if index < 2 {
        (0.36, [-0.75, 0.95, 0.35])
    } else {
        (0.32, [0.55, -0.65, 0.45])
    };
    let ease = if index < 2 { 0.10 } else { -0.18 };
    clip.rotate(first, |t| turn(x, reach * swing(t) - 0.10 * lift(t)))?;
    clip.rotate(first + 1, |t| turn(x, bend[0] * lift(t) - ease * swing(t)))?;
    clip.rotate(first + 2, |t| turn(x, bend[1] * lift(t)))?;
    clip.rotate(first + 3, |t| {
        turn(
            x,
            bend[2] * lift(t) - (reach - ease) * swing(t) * (1.0 - lift(t)),
        )
    })
}

/// One second of a four-beat walk on the spot, first frame equal to the last.
fn walk(skeleton: &Skeleton) -> Result<Clip, SampleError> {
    let mut clip = ClipBuilder::new(30, 1);
    let wave = |t: f64, beats: f64, phase: f64| (TAU * (beats * t - phase)).sin();
    let rest = skeleton.rest_translation(HIPS);
    clip.translate(HIPS, |t| {
        rest + v(
            0.008 * wave(t, 1.0, 0.1),
            0.008 * wave(t, 2.0, 0.0) - 0.006,
            0.0,
        )
    })?;
    clip.rotate(HIPS, |t| turn(V::z(), 0.05 * wave(t, 1.0, 0.05)))?;
    clip.rotate(SPINE, |t| turn(v(0.0, 1.0, 0.2), 0.07 * wave(t, 1.0, 0.2)))?;
    clip.rotate(CHEST, |t| {
        turn(v(0.0, 1.0, -0.6), -0.08 * wave(t, 1.0, 0.2))
    })?;
    clip.rotate(NECK[0], |t| turn(V::x(), 0.05 * wave(t, 2.0, 0.1)))?;
    clip.rotate(NECK[1], |t| turn(V::y(), 0.05 * wave(t, 1.0, 0.3)))?;
    clip.rotate(HEAD, |t| turn(V::x(), -0.06 * wave(t, 2.0, 0.2)))?;
    clip.rotate(EARS[0], |t| turn(V::z(), 0.10 * wave(t, 2.0, 0.3)))?;
    clip.rotate(EARS[1], |t| turn(V::z(), -0.10 * wave(t, 2.0, 0.35)))?;
    for k in 0..4 {
        clip.rotate(TAIL + k, move |t| {
            let sway = turn(V::y(), 0.22 * wave(t, 1.0, 0.12 * k as f64));
            sway * turn(V::x(), 0.06 * wave(t, 2.0, 0.12 * k as f64))
        })?;
    }
    for (index, offset) in [0.25, 0.75, 0.0, 0.5].into_iter().enumerate() {
        step_leg(&mut clip, index, offset)?;
    }
    clip.morph(|t| 0.5 - 0.5 * (TAU * t).cos())?;
    Ok(clip.finish("walk"))
}

/// Adds a small ball that follows the head alone.
fn add_eye(mesh: &mut Mesh, side: f64, joint_count: usize) -> Result<(), SampleError> {
    let (directions, uvs, triangles) = sphere(14, 8);
    let base = mesh.vertex_count() as u32;
    let center = v(0.0475 * side, 0.735, 0.4775);
    let mut all = mesh.topology.triangles().to_vec();
    all.extend(triangles.iter().map(|t| t.map(|i| i + base)));
    let glint = v(-0.15, 0.55, 0.85).normalize();
    let row: &[(u32, f32)] = &[(HEAD as u32, 1.0)];
    let rows = std::iter::repeat_n(row, directions.len());
    let eye = Influences::from_rows(rows, joint_count, 0)?.0;
    mesh.influences.get_or_insert_default().extend(&eye);
    for (d, uv) in directions.iter().zip(uvs) {
        mesh.positions.push(single(center + d * 0.0175));
        mesh.normals.get_or_insert_default().push(single(*d));
        // A corner of the texture that the ears leave free.
        mesh.uvs[0].push([0.9 + 0.09 * uv[0], 0.45 + 0.04 * uv[1]]);
        let c = if d.dot(&glint) > 0.93 { 0.95 } else { 0.010 };
        mesh.colors[0].push([c, c, c, 1.0]);
    }
    mesh.topology = Arc::new(Topology::new(base + directions.len() as u32, all)?);
    Ok(())
}

/// The creature: 28 joints, clip `walk`, morph target `breathe`.
///
/// # Errors
/// See [`SampleError`].
pub fn creature() -> Result<Asset, SampleError> {
    let (field, skeleton) = (field(), skeleton());
    let grid = Grid {
        // No large flat part of the surface may lie in a plane of the grid: cells there would be ambiguous.
        lo: v(-11.5 * STEP, -0.0125, -0.755),
        cells: [23, 60, 87],
        step: STEP,
        scene_from_grid: &|u| u,
    };
    let mut surface = polygonise(&field, &grid);
    surface.relax(&field, 8);
    let sculpt = Sculpt {
        name: "creature",
        field,
        joint_count: skeleton.len(),
        charts: charts(),
        weight_rounds: 24,
        weight_rate: &|p| {
            0.45 + 0.5 * smoothstep(0.30, 0.42, p.y) * (1.0 - smoothstep(0.64, 0.70, p.y))
        },
        color: &color,
        morph: ("breathe", &|p, n| {
            let off = (p - v(0.0, 0.455, 0.06)).component_div(&v(0.30, 0.17, 0.24));
            n * (0.022 * (1.0 - smoothstep(0.0, 1.0, off.norm())))
        }),
    };
    let mut mesh = sculpt.mesh(&surface)?;
    add_eye(&mut mesh, 1.0, skeleton.len())?;
    add_eye(&mut mesh, -1.0, skeleton.len())?;
    Ok(Asset {
        name: "creature".to_owned(),
        rig: Arc::new(skeleton.rig("creature", 1)?),
        clips: vec![walk(&skeleton)?],
        meshes: vec![mesh],
        ..Asset::default()
    })
}
