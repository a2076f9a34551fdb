//! A head with hair, facing +Z, 0.42 m high.

use crate::SampleError;
use crate::ball::sphere;
use crate::build::{Chart, Sculpt, single};
use crate::field::{Field, V, blob, cone, flat_cone, v};
use crate::nets::{Grid, polygonise};
use crate::skeleton::{ClipBuilder, FPS, Skeleton, smoothstep, turn};
use sinew_geom::{
    Asset, Attribute, Clip, GrowAmount, GrowMaps, GrowSettings, Influences, Mesh, Quat, Topology,
    grow,
};
use std::f64::consts::{PI, TAU};
use std::sync::Arc;

const BUST: usize = 0;
const NECK: usize = 1;
const HEAD: usize = 2;

const STEP: f64 = 0.009;
/// Middle of the skull.
const SKULL: V = V::new(0.0, 0.305, -0.005);
const SKULL_RADII: V = V::new(0.078, 0.094, 0.098);
/// The parting: a line over the top of the head, at this x.
const PARTING: f64 = 0.022;

fn field() -> Field {
    let id = Quat::identity();
    let skull = Field::Union(
        0.045,
        vec![
            blob(HEAD, SKULL, SKULL_RADII, id),
            blob(HEAD, v(0.0, 0.235, 0.035), v(0.052, 0.062, 0.058), id),
            blob(HEAD, v(0.0, 0.205, 0.072), v(0.022, 0.020, 0.020), id),
        ],
    );
    let ears = [1.0, -1.0].map(|side| {
        let (top, lobe) = (
            v(0.082 * side, 0.298, -0.012),
            v(0.078 * side, 0.262, -0.004),
        );
        let thin = v(1.0, 0.0, 0.45 * side).normalize();
        flat_cone(HEAD, top, lobe, 0.024, 0.014, thin, 0.45)
    });
    let nose = cone(
        HEAD,
        v(0.0, 0.300, 0.086),
        v(0.0, 0.262, 0.112),
        0.009,
        0.016,
    );
    let face = [vec![skull, nose], ears.to_vec()].concat();
    Field::Union(
        0.05,
        vec![
            Field::Union(0.014, face),
            cone(
                NECK,
                v(0.0, 0.09, -0.028),
                v(0.0, 0.235, -0.012),
                0.056,
                0.049,
            ),
            Field::Union(
                0.04,
                [1.0, -1.0]
                    .map(|side| {
                        let (inner, outer) =
                            (v(0.02 * side, 0.055, -0.03), v(0.115 * side, 0.028, -0.03));
                        cone(BUST, inner, outer, 0.058, 0.046)
                    })
                    .to_vec(),
            ),
        ],
    )
}

fn skeleton() -> Skeleton {
    let mut s = Skeleton::default();
    let bust = s.add("bust", None, v(0.0, 0.03, -0.03));
    let neck = s.add("neck", Some(bust), v(0.0, 0.11, -0.028));
    s.add("head", Some(neck), v(0.0, 0.215, -0.012));
    s
}

fn charts() -> Vec<Chart> {
    let chart = |joint, chain: [V; 2], front, place| Chart {
        joints: vec![joint],
        chain: chain.to_vec(),
        front,
        place,
    };
    vec![
        chart(
            BUST,
            [v(-0.17, 0.03, -0.03), v(0.17, 0.03, -0.03)],
            V::z(),
            [0.0, 0.0, 0.5, 0.45],
        ),
        chart(
            NECK,
            [v(0.0, 0.07, -0.03), v(0.0, 0.24, -0.01)],
            V::z(),
            [0.5, 0.0, 0.4, 0.45],
        ),
        chart(
            HEAD,
            [v(0.0, 0.16, 0.02), v(0.0, 0.41, -0.005)],
            V::z(),
            [0.0, 0.5, 1.0, 0.5],
        ),
    ]
}

/// 1 where hair grows, 0 on face, ears and neck.
fn scalp(p: V) -> f64 {
    let off = (p - SKULL).component_div(&SKULL_RADII);
    // The hairline: high over the brow, down to the neck behind the ears.
    let line = 0.62 * smoothstep(-0.25, 0.75, off.z) - 0.42 * smoothstep(0.1, 0.9, -off.z) + 0.02;
    let ear = smoothstep(1.06, 1.02, off.x.abs());
    smoothstep(line - 0.06, line + 0.06, off.y) * ear
}

fn color(p: V, _: V, joint: usize) -> [f64; 3] {
    let (skin, lips, hair) = (
        v(0.58, 0.36, 0.25),
        v(0.44, 0.17, 0.14),
        v(0.10, 0.055, 0.03),
    );
    if joint == BUST {
        return [0.12, 0.16, 0.22];
    }
    let mut c = skin;
    if joint == HEAD {
        let mouth = v(
            p.x / 0.026,
            (p.y - 0.228 - 3.0 * p.x * p.x) / 0.006,
            (p.z - 0.092) / 0.03,
        );
        c = c.lerp(&lips, smoothstep(1.2, 0.7, mouth.norm()));
        let brow = v(
            (p.x.abs() - 0.032) / 0.02,
            (p.y - 0.322 + 2.0 * p.x * p.x) / 0.005,
            (p.z - 0.08) / 0.05,
        );
        c = c.lerp(&hair, smoothstep(1.2, 0.8, brow.norm()));
        c = c.lerp(&hair, 0.8 * scalp(p));
    }
    [c.x, c.y, c.z]
}

/// Two seconds of no, one of yes, one of rest; first frame equal to the last.
fn shake() -> Result<Clip, SampleError> {
    let mut clip = ClipBuilder::new(120, 1);
    let within = |t: f64, from: f64, to: f64| {
        smoothstep(from, from + 0.3, t) * (1.0 - smoothstep(to - 0.3, to, t))
    };
    let no = move |t: f64| within(t, 0.0, 2.0) * (TAU * 1.25 * t).sin();
    let yes = move |t: f64| within(t, 2.0, 3.2) * (TAU * 1.5 * (t - 2.0)).sin();
    clip.rotate(NECK, |t| {
        turn(V::y(), 0.35 * no(t)) * turn(V::x(), 0.15 * yes(t))
    })?;
    clip.rotate(HEAD, |t| {
        turn(V::y(), 0.65 * no(t)) * turn(V::x(), 0.30 * yes(t)) * turn(V::z(), 0.10 * no(t))
    })?;
    Ok(clip.finish("shake"))
}

/// From over one shoulder to over the other: half a second of rest, 180 degrees in two frames (a fifteenth of a second), rest.
fn fast_turn() -> Result<Clip, SampleError> {
    let mut clip = ClipBuilder::new(60, 1);
    // A third of the way at each joint, about the same axis.
    let third = |t: f64| {
        turn(
            V::y(),
            (smoothstep(0.5, 0.5 + 2.0 / FPS, t) - 0.5) * PI / 3.0,
        )
    };
    for joint in [BUST, NECK, HEAD] {
        clip.rotate(joint, third)?;
    }
    Ok(clip.finish("turn"))
}

fn add_eye(mesh: &mut Mesh, side: f64, joint_count: usize) -> Result<(), SampleError> {
    let (directions, uvs, triangles) = sphere(18, 10);
    let base = mesh.vertex_count() as u32;
    let center = v(0.031 * side, 0.300, 0.0725);
    let mut all = mesh.topology.triangles().to_vec();
    all.extend(triangles.iter().map(|t| t.map(|i| i + base)));
    let row: &[(u32, f32)] = &[(HEAD as u32, 1.0)];
    let rows = std::iter::repeat_n(row, directions.len());
    let eye = Influences::from_rows(rows, joint_count, 0)?.0;
    mesh.influences.get_or_insert_default().extend(&eye);
    for (d, uv) in directions.iter().zip(uvs) {
        mesh.positions.push(single(center + d * 0.0155));
        mesh.normals.get_or_insert_default().push(single(*d));
        // A corner of the texture that neck and bust leave free.
        mesh.uvs[0].push([0.92 + 0.07 * uv[0], 0.02 + 0.04 * uv[1]]);
        let c = match d.z {
            z if z > 0.955 => [0.010; 3],
            z if z > 0.84 => [0.08, 0.17, 0.28],
            _ => [0.82; 3],
        };
        mesh.colors[0].push([c[0], c[1], c[2], 1.0]);
    }
    mesh.topology = Arc::new(Topology::new(base + directions.len() as u32, all)?);
    Ok(())
}

/// Direction that hair is combed in: away from the parting, back from the face, and down at the sides. It lies along the skin.
fn combed(p: V) -> V {
    let off = (p - SKULL).component_div(&SKULL_RADII);
    let out = off
        .component_div(&SKULL_RADII)
        .try_normalize(1e-9)
        .unwrap_or_else(V::y);
    let side = ((p.x - PARTING) / 0.012).clamp(-1.0, 1.0);
    let (top, front) = (smoothstep(0.2, 0.8, off.y), smoothstep(-0.2, 0.7, off.z));
    let way = v(
        side * (0.35 + 0.65 * top),
        -0.25 - 0.75 * (1.0 - top),
        -0.35 - 0.55 * front,
    );
    let along = way - out * way.dot(&out);
    // A little off the skin, which makes hair full.
    (along.normalize() + out * 0.12).normalize() * 0.97
}

/// Painted attributes that tell hair where to grow: `scalp` (density) and `comb` (direction).
fn paint(mesh: &mut Mesh) {
    let points = || mesh.positions.iter().map(|p| V::from(p.map(f64::from)));
    let density = points().map(|p| scalp(p) as f32).collect();
    let comb = points().map(|p| single(combed(p)));
    let comb = comb.collect();
    mesh.attributes
        .insert("scalp".into(), Attribute::Scalar(density));
    mesh.attributes.insert("comb".into(), Attribute::Vec3(comb));
}

fn hair(mesh: &Mesh) -> Result<Mesh, SampleError> {
    let (Some(Attribute::Scalar(scalp)), Some(Attribute::Vec3(comb)), Some(normals)) = (
        mesh.attributes.get("scalp"),
        mesh.attributes.get("comb"),
        &mesh.normals,
    ) else {
        return Err(SampleError::NotPainted);
    };
    let mut settings = GrowSettings::default();
    settings.amount = GrowAmount::Strands(900);
    settings.vertices = 16;
    settings.length = 0.19;
    settings.length_variation = 0.25;
    settings.lean = 0.1;
    settings.bend = 0.25;
    settings.clump = 0.5;
    settings.clump_size = 0.022;
    settings.droop = 2.0;
    settings.curl_radius = 0.0025;
    settings.curl_length = 0.06;
    let mut maps = GrowMaps::default();
    maps.density = Some(scalp);
    maps.comb = Some(comb);
    Ok(grow(mesh, normals, &maps, &settings)?)
}

/// The head: three joints (`bust`, `neck`, `head`), painted attributes `scalp` and `comb`, 900 strands of hair that were grown by them, clips
/// `shake` and `turn`.
///
/// # Errors
/// See [`SampleError`].
pub fn head() -> Result<Asset, SampleError> {
    let (field, skeleton) = (field(), skeleton());
    let grid = Grid {
        lo: v(-20.5 * STEP, -0.0313, -0.1257),
        cells: [41, 52, 32],
        step: STEP,
        scene_from_grid: &|u| u,
    };
    let mut surface = polygonise(&field, &grid);
    surface.relax(&field, 8);
    let sculpt = Sculpt {
        name: "head",
        field,
        joint_count: skeleton.len(),
        charts: charts(),
        weight_rounds: 16,
        weight_rate: &|_| 0.5,
        color: &color,
        morph: ("grow", &|_, _| V::zeros()),
    };
    let mut mesh = sculpt.mesh(&surface)?;
    mesh.morph_targets.clear();
    add_eye(&mut mesh, 1.0, skeleton.len())?;
    add_eye(&mut mesh, -1.0, skeleton.len())?;
    paint(&mut mesh);
    let hair = hair(&mesh)?;
    Ok(Asset {
        name: "head".to_owned(),
        rig: Arc::new(skeleton.rig("head", 0)?),
        clips: vec![shake()?, fast_turn()?],
        meshes: vec![mesh],
        strands: vec![hair],
        ..Asset::default()
    })
}
