//! A right arm along +X, palm up (+Y), thumb towards +Z, shoulder at the origin.

use crate::SampleError;
use crate::build::{Chart, Sculpt};
use crate::field::{Field, V, blob, cone, flat_cone, v};
use crate::nets::{Grid, polygonise};
use crate::skeleton::{ClipBuilder, Skeleton, smoothstep, turn};
use sinew_geom::{Asset, Quat};
use std::sync::Arc;

const UPPER_ARM: usize = 1;
const FOREARM: usize = 2;
const HAND: usize = 3;
const ELBOW: V = V::new(0.29, 0.0, 0.0);
const WRIST: V = V::new(0.555, 0.0, 0.0);
/// Grid step in the hand; the arm's is [`COARSE`] times that.
const STEP: f64 = 0.0042;
const COARSE: f64 = 2.1;

/// A finger: its joints' and tip's positions and its radii there.
struct Finger {
    name: &'static str,
    points: [V; 4],
    radii: [f64; 4],
    /// Number of its first joint.
    first: usize,
}

/// A finger from its knuckle, spread by an angle and curled a little at rest.
fn finger(
    name: &'static str,
    first: usize,
    knuckle: V,
    spread: f64,
    lengths: [f64; 3],
    radius: f64,
) -> Finger {
    let mut points = [knuckle; 4];
    for k in 0..3 {
        let curl = 0.07 + 0.11 * k as f64;
        let direction = v(
            spread.cos() * curl.cos(),
            curl.sin(),
            spread.sin() * curl.cos(),
        );
        points[k + 1] = points[k] + direction * lengths[k];
    }
    let radii = [1.06, 1.0, 0.9, 0.76].map(|r| r * radius);
    Finger {
        name,
        points,
        radii,
        first,
    }
}

fn fingers() -> [Finger; 5] {
    let f = finger;
    let thumb = Finger {
        name: "thumb",
        points: [
            v(0.583, 0.008, 0.026),
            v(0.619, 0.014, 0.057),
            v(0.648, 0.018, 0.077),
            v(0.671, 0.022, 0.090),
        ],
        radii: [0.0145, 0.0118, 0.0104, 0.0080],
        first: 4,
    };
    [
        thumb,
        f(
            "index",
            7,
            v(0.650, 0.0, 0.0345),
            0.13,
            [0.041, 0.025, 0.019],
            0.0089,
        ),
        f(
            "middle",
            10,
            v(0.656, 0.001, 0.0115),
            0.02,
            [0.045, 0.029, 0.020],
            0.0091,
        ),
        f(
            "ring",
            13,
            v(0.650, 0.0, -0.0110),
            -0.09,
            [0.042, 0.027, 0.019],
            0.0087,
        ),
        f(
            "pinky",
            16,
            v(0.638, -0.002, -0.0325),
            -0.24,
            [0.033, 0.020, 0.017],
            0.0077,
        ),
    ]
}

fn arm_field() -> Field {
    let id = Quat::identity();
    let along = |x: f64| v(x, 0.0, 0.0);
    let flat = |j, a: f64, b: f64, ra, rb, f| flat_cone(j, along(a), along(b), ra, rb, V::y(), f);
    Field::Union(
        0.032,
        vec![
            cone(0, along(-0.07), along(-0.025), 0.046, 0.052),
            cone(UPPER_ARM, along(0.0), along(0.14), 0.050, 0.047),
            cone(UPPER_ARM, along(0.14), along(0.285), 0.047, 0.037),
            blob(UPPER_ARM, v(0.035, -0.004, 0.0), v(0.085, 0.055, 0.058), id),
            blob(
                UPPER_ARM,
                v(0.165, 0.020, 0.002),
                v(0.088, 0.031, 0.034),
                id,
            ),
            blob(UPPER_ARM, v(0.145, -0.020, 0.0), v(0.105, 0.033, 0.036), id),
            blob(FOREARM, v(0.296, -0.026, 0.0), v(0.026, 0.017, 0.020), id),
            flat(FOREARM, 0.295, 0.37, 0.037, 0.039, 0.92),
            flat(FOREARM, 0.37, 0.54, 0.039, 0.0285, 0.78),
            blob(FOREARM, v(0.350, 0.012, 0.019), v(0.082, 0.026, 0.027), id),
            blob(FOREARM, v(0.365, 0.004, -0.018), v(0.088, 0.029, 0.027), id),
            flat(HAND, 0.56, 0.585, 0.0285, 0.0275, 0.66),
        ],
    )
}

fn palm_field(fingers: &[Finger; 5]) -> Field {
    let id = Quat::identity();
    let mut parts = vec![
        blob(HAND, v(0.620, 0.0025, 0.0), v(0.046, 0.0125, 0.038), id),
        // The balls of the thumb and of the little finger.
        blob(
            HAND,
            v(0.603, 0.011, 0.027),
            v(0.036, 0.014, 0.017),
            turn(V::y(), -0.62),
        ),
        blob(
            HAND,
            v(0.602, 0.008, -0.023),
            v(0.036, 0.013, 0.013),
            turn(V::y(), 0.15),
        ),
    ];
    for (finger, z) in fingers[1..].iter().zip([0.015, 0.005, -0.005, -0.014]) {
        let knuckle = finger.points[0] - v(0.004, 0.001, 0.0);
        parts.push(flat_cone(
            HAND,
            v(0.578, -0.001, z),
            knuckle,
            0.0125,
            0.0118,
            V::y(),
            0.86,
        ));
    }
    Field::Union(0.016, parts)
}

fn finger_field(f: &Finger) -> Field {
    let bones = (0..3).flat_map(|k| {
        let (a, b, ra, rb) = (f.points[k], f.points[k + 1], f.radii[k], f.radii[k + 1]);
        // The fillet makes joints slightly thicker.
        let joint = Field::Leaf(
            crate::field::Shape::Ellipsoid {
                center: a,
                radii: V::repeat(ra * 0.98),
                rotation: Quat::identity(),
            },
            f.first + k,
        );
        [joint, cone(f.first + k, a, b, ra * 0.97, rb * 0.98)]
    });
    Field::Union(0.0035, bones.collect())
}

fn field() -> Field {
    let fingers = fingers();
    let long = fingers[1..].iter().map(finger_field).collect();
    Field::Union(
        0.014,
        vec![
            Field::Union(0.022, vec![arm_field(), palm_field(&fingers)]),
            // Fingers melt into the palm, not into each other.
            Field::Union(0.002, long),
            finger_field(&fingers[0]),
        ],
    )
}

/// Fine cells in the hand, coarse ones in the arm.
fn scene_from_grid(u: V) -> V {
    let start = -0.128;
    // Where the step begins and ends to shrink, in grid units.
    let (u0, u1) = (
        (0.50 - start) / COARSE,
        (0.50 - start) / COARSE + 0.09 / (0.5 * (COARSE + 1.0)),
    );
    let s = ((u.x - u0) / (u1 - u0)).clamp(0.0, 1.0);
    let scale = COARSE + (1.0 - COARSE) * s;
    let ramp = (u1 - u0) * (COARSE * s + (1.0 - COARSE) * 0.5 * s * s);
    let x = start + u.x.min(u0) * COARSE + ramp + (u.x - u1).max(0.0);
    v(x, u.y * scale, u.z * scale)
}

fn charts() -> Vec<Chart> {
    let fingers = fingers();
    let mut charts = vec![
        Chart {
            joints: vec![0, UPPER_ARM, FOREARM],
            chain: vec![v(-0.12, 0.0, 0.0), WRIST],
            front: V::y(),
            place: [0.0, 0.0, 0.5, 1.0],
        },
        Chart {
            joints: vec![HAND],
            chain: vec![v(0.54, 0.0, 0.0), v(0.67, 0.0, 0.0)],
            front: V::y(),
            place: [0.5, 0.0, 0.5, 0.5],
        },
    ];
    for (k, f) in fingers.iter().enumerate() {
        let last = f.points[3] + (f.points[3] - f.points[2]).normalize() * f.radii[3];
        charts.push(Chart {
            joints: (f.first..f.first + 3).collect(),
            chain: vec![f.points[0], f.points[1], f.points[2], last],
            front: V::y(),
            place: [0.5 + 0.1 * k as f64, 0.5, 0.1, 0.5],
        });
    }
    charts
}

fn color(p: V, n: V, _joint: usize) -> [f64; 3] {
    let mix = |a: V, b: V, s: f64| a.lerp(&b, s);
    let skin = v(0.60, 0.335, 0.235);
    let palm = v(0.70, 0.385, 0.285);
    let mut c = mix(
        skin,
        palm,
        smoothstep(0.1, 0.8, n.y) * smoothstep(0.54, 0.60, p.x),
    );
    for f in &fingers() {
        let tip = (p - f.points[3]).norm();
        c = mix(
            c,
            v(0.70, 0.29, 0.22),
            0.55 * (1.0 - smoothstep(0.004, 0.024, tip)),
        );
        for joint in &f.points[0..3] {
            let near = 1.0 - smoothstep(0.006, 0.014, (p - joint).norm());
            c = mix(
                c,
                v(0.62, 0.27, 0.20),
                0.35 * near * smoothstep(0.0, 0.6, -n.y),
            );
        }
    }
    c = mix(
        c,
        v(0.58, 0.27, 0.20),
        0.5 * (1.0 - smoothstep(0.015, 0.05, (p - v(0.296, -0.043, 0.0)).norm())),
    );
    // A sleeve with a hem; soft edges, as the triangles there do not follow them.
    c = mix(v(0.72, 0.70, 0.64), c, smoothstep(0.097, 0.107, p.x));
    c = mix(v(0.045, 0.20, 0.27), c, smoothstep(0.076, 0.086, p.x));
    [c.x, c.y, c.z]
}

fn skeleton() -> Skeleton {
    let mut s = Skeleton::default();
    let shoulder = s.add("shoulder", None, v(-0.05, 0.0, 0.0));
    let upper = s.add("upper_arm", Some(shoulder), V::zeros());
    let fore = s.add("forearm", Some(upper), ELBOW);
    let hand = s.add("hand", Some(fore), WRIST);
    for f in &fingers() {
        let mut parent = hand;
        for k in 0..3 {
            parent = s.add(format!("{}_{}", f.name, k + 1), Some(parent), f.points[k]);
        }
    }
    s
}

/// Up from `a` to `b`, down again from `c` to `d` (seconds).
fn rise_and_fall(t: f64, [a, b, c, d]: [f64; 4]) -> f64 {
    smoothstep(a, b, t) - smoothstep(c, d, t)
}

/// How far the elbow is bent, 0..1.
fn elbow(t: f64) -> f64 {
    rise_and_fall(t, [0.0, 1.0, 2.2, 3.2])
}

/// Elbow to 140 degrees, wrist twisted by 120 degrees, a fist; all at their largest between 1.6 and 2 s.
fn bend() -> Result<sinew_geom::Clip, SampleError> {
    let mut clip = ClipBuilder::new(100, 2);
    clip.rotate(FOREARM, |t| turn(V::z(), 140.0_f64.to_radians() * elbow(t)))?;
    clip.rotate(HAND, |t| {
        turn(
            V::x(),
            120.0_f64.to_radians() * rise_and_fall(t, [0.7, 1.6, 2.0, 2.9]),
        )
    })?;
    for f in &fingers() {
        for k in 0..3 {
            let direction = f.points[k + 1] - f.points[k];
            let (towards, angles) = if f.name == "thumb" {
                (v(0.0, 0.7, -1.0), [0.35, 0.45, 0.6])
            } else {
                (V::y(), [1.15, 1.5, 0.85])
            };
            let axis = direction.cross(&towards);
            clip.rotate(f.first + k, |t| {
                turn(axis, angles[k] * rise_and_fall(t, [0.3, 1.2, 2.3, 3.1]))
            })?;
        }
    }
    clip.morph(elbow)?;
    Ok(clip.finish("bend"))
}

/// The arm: about 0.85 m long, 19 joints, clip `bend`, morph target `biceps_bulge`.
///
/// # Errors
/// See [`SampleError`].
pub fn arm_with_hand() -> Result<Asset, SampleError> {
    let (field, skeleton) = (field(), skeleton());
    let grid = Grid {
        lo: v(0.0, -0.0466, -0.0597),
        cells: [144, 26, 42],
        step: STEP,
        scene_from_grid: &scene_from_grid,
    };
    let mut surface = polygonise(&field, &grid);
    surface.relax(&field, 8);
    let sculpt = Sculpt {
        name: "arm_with_hand",
        field,
        joint_count: skeleton.len(),
        charts: charts(),
        weight_rounds: 40,
        // The cells of the hand are smaller, and so are the creases of its joints.
        weight_rate: &|p| 0.95 - 0.70 * smoothstep(0.50, 0.62, p.x),
        color: &color,
        morph: ("biceps_bulge", &|p, n| {
            let off = (p - v(0.165, 0.045, 0.0)).component_div(&v(0.085, 0.055, 0.05));
            n * (0.016 * (1.0 - smoothstep(0.0, 1.0, off.norm())))
        }),
    };
    let mesh = sculpt.mesh(&surface)?;
    Ok(Asset {
        name: "arm_with_hand".to_owned(),
        rig: Arc::new(skeleton.rig("arm_with_hand", 1)?),
        meshes: vec![mesh],
        clips: vec![bend()?],
        ..Asset::default()
    })
}
