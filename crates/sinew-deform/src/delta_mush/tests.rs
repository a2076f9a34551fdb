use super::*;
use crate::laplacian::EdgeWeights;
use proptest::prelude::*;
use sinew_geom::{Mesh, Quat, Real, Topology, Vec3, WeldMap};
use sinew_testkit::{max_distance, meshes, tolerance};

const FRAMES: [FrameKind; 3] = [FrameKind::AllNeighbours, FrameKind::TwoEdges, FrameKind::Uv];

fn config(weights: EdgeWeights, frame: FrameKind, pin_border: bool) -> DeltaMushConfig {
    DeltaMushConfig {
        laplacian: LaplacianConfig {
            weights,
            pin_border,
            weld_tolerance: 0.0,
        },
        frame,
        ..DeltaMushConfig::default()
    }
}

struct Strength<'a> {
    displacement: f32,
    blend: f32,
    weight: MaskWeight<'a>,
}

const FULL: Strength<'static> = Strength {
    displacement: 1.0,
    blend: 1.0,
    weight: MaskWeight::ONE,
};

fn run(bind: &DeltaMushBind, input: &[[f32; 3]], s: &Strength<'_>, par: Par) -> Vec<[f32; 3]> {
    let mut output = vec![[f32::NAN; 3]; input.len()];
    DeltaMushJob {
        bind,
        space: bind.smoother().anchor().space(&[]).0,
        displacement: s.displacement,
        blend: s.blend,
        weight: s.weight,
        input,
        output: &mut output,
        scratch: &mut bind.new_scratch(),
        par,
    }
    .run();
    output
}

/// Setup on threads has the bits of setup without, tells how far it is, and stops before any pass when it is told to.
#[test]
fn setup_on_threads_is_the_same_and_stops() {
    use crate::BindWatch;
    use std::sync::Mutex;
    use std::sync::atomic::{AtomicU32, Ordering};
    let mesh = meshes::sphere(60, 80);
    for weights in EdgeWeights::ALL {
        let config = DeltaMushConfig {
            iterations: 7,
            ..config(weights, FrameKind::AllNeighbours, true)
        };
        let expected = DeltaMushBind::new(&mesh, &config).expect("valid");
        // Of the setup as a formula: every pass over all points at once.
        let layout = expected.smoother.layout();
        let rest = crate::laplacian::reference::gather::<f64>(layout, &mesh.positions);
        let smooth = crate::laplacian::reference::smooth(layout, &rest, 0.5, 7);
        let watched =
            crate::laplacian::smooth_watched(layout, &rest, 0.5, 7, Par::Rayon, &BindWatch::NONE);
        assert_eq!(watched.expect("nobody stops it"), smooth);
        let heard = Mutex::new(Vec::new());
        let watch = BindWatch {
            report: &|share| heard.lock().expect("no panic").push(share),
            ..BindWatch::NONE
        };
        let found = DeltaMushBind::new_watched(&mesh, &config, Par::Rayon, &watch).expect("valid");
        assert_eq!(found, expected);
        let heard = heard.into_inner().expect("no panic");
        assert!(heard.is_sorted() && heard.len() == 9, "{heard:?}");
        for stop in 0..9 {
            let asked = AtomicU32::new(0);
            let watch = BindWatch {
                is_stopped: &|| asked.fetch_add(1, Ordering::Relaxed) == stop,
                ..BindWatch::NONE
            };
            let error = DeltaMushBind::new_watched(&mesh, &config, Par::Rayon, &watch);
            assert_eq!(error, Err(DeltaMushBindError::Stopped(crate::Stopped)));
            assert_eq!(asked.into_inner(), stop + 1, "it asks no more");
        }
    }
}

fn with_uvs(mut mesh: Mesh) -> Mesh {
    if mesh.uvs.is_empty() {
        let uv = |p: &[f32; 3]| [p[0] + 0.3 * p[2], p[1] - 0.2 * p[2]];
        mesh.uvs = vec![mesh.positions.iter().map(uv).collect()];
    }
    mesh
}

fn all_meshes() -> Vec<Mesh> {
    let list = [
        meshes::sphere(20, 30),
        meshes::degenerate(),
        meshes::cube(),
        meshes::grid(9, 7),
        meshes::tube(20, 12, 1.0, 0.1),
    ];
    list.into_iter().map(with_uvs).collect()
}

/// Twists and bends, differently everywhere.
fn bend(positions: &[[f32; 3]]) -> Vec<[f32; 3]> {
    positions
        .iter()
        .map(|&[x, y, z]| {
            let (s, c) = (1.5 * x).sin_cos();
            [
                x + 0.2 * y * y,
                y * c - z * s,
                y * s + z * c + 0.3 * (3.0 * x).sin(),
            ]
        })
        .collect()
}

fn limit(mesh: &Mesh) -> f64 {
    tolerance::POSITION * f64::from(mesh.diagonal())
}

#[test]
fn rows_1_and_2_rest_in_rest_out() {
    for mesh in all_meshes() {
        for weights in EdgeWeights::ALL {
            for (frame, pin) in FRAMES.into_iter().flat_map(|f| [(f, true), (f, false)]) {
                let bind = DeltaMushBind::new(&mesh, &config(weights, frame, pin)).expect("valid");
                let out = run(&bind, &mesh.positions, &FULL, Par::Seq);
                let distance = max_distance(&out, &mesh.positions);
                assert!(
                    distance < limit(&mesh),
                    "{} {weights:?} {frame:?} {distance}",
                    mesh.name
                );
            }
        }
    }
}

#[test]
fn row_2_detail_was_fixed_in_setup() {
    // A rigid motion turns the detail of the rest mesh; without stored deltas a smooth mesh would stay smooth.
    let rotation = Quat::from_euler_angles(0.5, -1.1, 2.0);
    for mesh in all_meshes() {
        for (weights, frame) in EdgeWeights::ALL
            .into_iter()
            .flat_map(|w| FRAMES.map(|f| (w, f)))
        {
            let bind = DeltaMushBind::new(&mesh, &config(weights, frame, false)).expect("valid");
            let moved: Vec<[f32; 3]> = mesh
                .positions
                .iter()
                .map(|&p| (rotation * Vec3::from(p) + Vec3::new(0.3, -0.7, 0.2)).into())
                .collect();
            let distance = max_distance(&run(&bind, &moved, &FULL, Par::Seq), &moved);
            assert!(
                distance < 2.0 * limit(&mesh),
                "{} {weights:?} {frame:?} {distance}",
                mesh.name
            );
        }
    }
}

/// What a frame adds is what setup stored: with nothing stored the mesh stays smooth, with twice as much it is as far again. A frame that
/// worked its detail out by itself would not see the change.
#[test]
fn row_2_frames_add_what_setup_stored() {
    for mesh in all_meshes() {
        for frame in FRAMES {
            let bind = DeltaMushBind::new(&mesh, &config(EdgeWeights::Uniform, frame, false));
            let bind = bind.expect("valid");
            let with = |factor: f32| {
                let mut stored = bind.clone();
                let numbers = stored.deltas.iter_mut().flatten();
                numbers.for_each(|d| *d *= factor);
                run(&stored, &mesh.positions, &FULL, Par::Seq)
            };
            let (none, once, twice) = (with(0.0), with(1.0), with(2.0));
            let limit = 4.0 * limit(&mesh);
            assert!(
                max_distance(&once, &mesh.positions) < limit,
                "{}",
                mesh.name
            );
            for v in 0..mesh.vertex_count() {
                let [none, once, twice] = [&none, &once, &twice].map(|p| Vec3::from(p[v]));
                let off = (twice - none) - (once - none) * 2.0;
                assert!(
                    f64::from(off.norm()) < limit,
                    "{} {frame:?} {v}: {off:?}",
                    mesh.name
                );
            }
        }
    }
}

#[test]
fn kernel_matches_the_double_precision_reference_on_any_thread_count() {
    let mut list = all_meshes();
    list.push(with_uvs(meshes::sphere(60, 80)));
    for mesh in list {
        let input = bend(&mesh.positions);
        for (weights, frame) in EdgeWeights::ALL
            .into_iter()
            .flat_map(|w| FRAMES.map(|f| (w, f)))
        {
            let bind = DeltaMushBind::new(&mesh, &config(weights, frame, false)).expect("valid");
            let out = run(&bind, &input, &FULL, Par::Seq);
            assert_eq!(out, run(&bind, &input, &FULL, Par::Rayon), "same bits");
            let expected: Vec<[f32; 3]> =
                reference::deform::<f64>(&bind, &input, 1.0, 1.0, &MaskWeight::ONE)
                    .into_iter()
                    .map(|p| p.map(|x| x as f32).into())
                    .collect();
            let distance = max_distance(&out, &expected);
            assert!(
                distance < limit(&mesh),
                "{} {weights:?} {frame:?} {distance}",
                mesh.name
            );
        }
    }
}

/// Delta mush written from the formula alone: uniform weights, no pinning, no welding, double precision.
fn by_formula(
    mesh: &Mesh,
    input: &[[f32; 3]],
    frame: impl Fn(usize, &[Vec3<f64>]) -> [Vec3<f64>; 3],
) -> Vec<[f32; 3]> {
    let n = mesh.vertex_count();
    let mut near = vec![std::collections::BTreeSet::new(); n];
    for t in mesh.topology.triangles() {
        for k in 0..3 {
            near[t[k] as usize].extend([t[(k + 1) % 3] as usize, t[(k + 2) % 3] as usize]);
        }
    }
    let smooth = |p: &[[f32; 3]]| {
        let mut p: Vec<Vec3<f64>> = p.iter().map(|p| Vec3::from(p.map(f64::from))).collect();
        for _ in 0..10 {
            let mean =
                |v: usize| near[v].iter().map(|&b| p[b]).sum::<Vec3<f64>>() / near[v].len() as f64;
            p = (0..n).map(|v| p[v] * 0.5 + mean(v) * 0.5).collect();
        }
        p
    };
    let (rest, now) = (smooth(&mesh.positions), smooth(input));
    (0..n)
        .map(|v| {
            let detail = Vec3::from(mesh.positions[v].map(f64::from)) - rest[v];
            let (f, g) = (frame(v, &rest), frame(v, &now));
            let turned = (0..3).fold(Vec3::zeros(), |s: Vec3<f64>, k| {
                s + g[k] * f[k].dot(&detail)
            });
            (now[v] + turned).map(|x| x as f32).into()
        })
        .collect()
}

fn orthonormal(n: Vec3<f64>, e: Vec3<f64>) -> [Vec3<f64>; 3] {
    let n = n.normalize();
    let t = (e - n * n.dot(&e)).normalize();
    [t, n.cross(&t), n]
}

#[test]
fn row_13_two_edges_follows_the_formula() {
    let mesh = meshes::sphere(9, 13);
    let input = bend(&mesh.positions);
    let weld = WeldMap::identity(mesh.vertex_count());
    let rings = sinew_geom::OneRings::build(&mesh.topology, &weld);
    let expected = by_formula(&mesh, &input, |v, p| {
        // Closed mesh with open angles everywhere: the first two of the ordered ring.
        let [a, b] = [0, 1].map(|k| p[rings.row(v)[k] as usize] - p[v]);
        orthonormal(a.cross(&b), a)
    });
    let bind = DeltaMushBind::new(
        &mesh,
        &config(EdgeWeights::Uniform, FrameKind::TwoEdges, false),
    )
    .expect("valid");
    let distance = max_distance(&run(&bind, &input, &FULL, Par::Seq), &expected);
    assert!(distance < limit(&mesh), "{distance}");
}

#[test]
fn row_14_all_neighbours_and_uv_follow_the_formula() {
    let mut mesh = with_uvs(meshes::sphere(9, 13));
    for (i, p) in mesh.positions.iter_mut().enumerate() {
        // No two neighbours equally far off the normal.
        *p = p.map(|c| c * (1.0 + 0.1 * (i as f32 * 12.9898).sin()));
    }
    let input = bend(&mesh.positions);
    let faces = |v: usize| {
        let turn = move |t: &[u32; 3]| {
            let k = t.iter().position(|&x| x as usize == v)?;
            Some([t[(k + 1) % 3] as usize, t[(k + 2) % 3] as usize])
        };
        mesh.topology
            .triangles()
            .iter()
            .filter_map(turn)
            .collect::<Vec<_>>()
    };
    let normal = |v: usize, p: &[Vec3<f64>]| {
        let sum = |[b, c]: [usize; 2]| (p[b] - p[v]).cross(&(p[c] - p[v]));
        faces(v).into_iter().map(sum).sum::<Vec3<f64>>()
    };
    let all = DeltaMushBind::new(
        &mesh,
        &config(EdgeWeights::Uniform, FrameKind::AllNeighbours, false),
    )
    .expect("valid");
    let rest = crate::laplacian::reference::smooth::<f64>(
        all.smoother().layout(),
        &crate::laplacian::reference::gather(all.smoother().layout(), &mesh.positions),
        0.5,
        10,
    );
    let slot = all.smoother().layout().slot_of_vertex();
    let rest: Vec<Vec3<f64>> = slot.iter().map(|&s| rest[s as usize]).collect();
    let expected = by_formula(&mesh, &input, |v, p| {
        let n = normal(v, &rest);
        let off = |b: usize| (rest[b] - rest[v]).cross(&n).norm();
        let far = faces(v)
            .into_iter()
            .flatten()
            .max_by(|&a, &b| off(a).total_cmp(&off(b)))
            .expect("closed");
        orthonormal(normal(v, p), p[far] - p[v])
    });
    let distance = max_distance(&run(&all, &input, &FULL, Par::Seq), &expected);
    assert!(distance < limit(&mesh), "all neighbours {distance}");

    let uv = |v: usize| Vec3::from([mesh.uvs[0][v][0], mesh.uvs[0][v][1], 0.0].map(f64::from));
    let expected = by_formula(&mesh, &input, |v, p| {
        let growing_u = |[b, c]: [usize; 2]| {
            let (s, t) = (uv(b) - uv(v), uv(c) - uv(v));
            let along = |p: &[Vec3<f64>]| {
                ((p[b] - p[v]) * t.y - (p[c] - p[v]) * s.y) * (s.x * t.y - s.y * t.x).signum()
            };
            along(p) / along(&rest).norm()
        };
        orthonormal(normal(v, p), faces(v).into_iter().map(growing_u).sum())
    });
    let bind = DeltaMushBind::new(&mesh, &config(EdgeWeights::Uniform, FrameKind::Uv, false))
        .expect("valid");
    let distance = max_distance(&run(&bind, &input, &FULL, Par::Seq), &expected);
    assert!(distance < limit(&mesh), "uv {distance}");
}

#[test]
fn uv_frames_need_texture_coordinates() {
    let error = DeltaMushBind::new(
        &meshes::sphere(4, 5),
        &config(EdgeWeights::Uniform, FrameKind::Uv, true),
    )
    .expect_err("no UVs");
    assert_eq!(
        error.to_string(),
        "frame 'uv' needs texture coordinates of 17 vertices, but the mesh has 0"
    );
}

/// Detail of a vertex above, beside and before the middle of a flat hexagon, by hand: the normal faces the reader for whom triangles run
/// counter-clockwise, the tangent runs along an edge from the middle, the bitangent is the normal times the tangent.
#[test]
fn defect_26_frames_are_right_handed_with_outward_normals() {
    let corner = |k: u32| {
        let (sin, cos) = (f64::from(k) * std::f64::consts::FRAC_PI_3).sin_cos();
        [cos as f32, sin as f32, 0.0]
    };
    let off = [0.03_f32, 0.05, 0.07];
    let positions = std::iter::once(off).chain((0..6).map(corner)).collect();
    let triangles = (0..6).map(|k| [0, 1 + k, 1 + (k + 1) % 6]).collect();
    let topology = Topology::new(7, triangles).expect("valid");
    let mesh = Mesh::new("hexagon", topology, positions);
    for frame in [FrameKind::AllNeighbours, FrameKind::TwoEdges] {
        // One step by half with a pinned rim: the middle goes half of its way back.
        let one_step = DeltaMushConfig {
            iterations: 1,
            ..config(EdgeWeights::Uniform, frame, true)
        };
        let bind = DeltaMushBind::new(&mesh, &one_step).expect("valid");
        let slot = bind.smoother().layout().slot_of_vertex()[0] as usize;
        let fan = bind.fans.fan(slot).entries;
        let at = |s: u32| {
            let slots = bind.smoother().layout().slot_of_vertex();
            let v = slots.iter().position(|&x| x == s).expect("a vertex");
            Vec3::from(mesh.positions[v].map(f64::from))
        };
        let detail = Vec3::from(off.map(|c| 0.5 * f64::from(c)));
        let middle = detail;
        let edge = at(fan[1]) - middle;
        // Seen from +z the triangles run counter-clockwise; the sum of their cross products, or the cross product of two neighbours.
        let normal: Vec3<f64> = match frame {
            FrameKind::TwoEdges => (at(fan[2]) - middle).cross(&(at(fan[3]) - middle)),
            _ => (0..6)
                .map(|k| {
                    let [a, b] = [k, (k + 1) % 6].map(|k| Vec3::from(corner(k).map(f64::from)));
                    (a - middle).cross(&(b - middle))
                })
                .sum(),
        };
        assert!(normal.z > 0.0, "{frame:?}: outwards");
        let normal = normal.normalize();
        let tangent = (edge - normal * normal.dot(&edge)).normalize();
        // Details are stored in units of the mesh's size.
        let detail = detail / bind.smoother().anchor().rest_unit();
        let expected = [tangent, normal.cross(&tangent), normal].map(|axis| axis.dot(&detail));
        for (found, expected) in bind.deltas[slot].iter().zip(expected) {
            assert!(
                (f64::from(*found) - expected).abs() < 1e-7,
                "{frame:?}: {:?} {expected:?}",
                bind.deltas[slot]
            );
        }
    }
}

#[test]
fn defect_26_blend_0_gives_the_input_back() {
    let mesh = meshes::tube(20, 12, 1.0, 0.1);
    let input = bend(&mesh.positions);
    let bind = DeltaMushBind::new(&mesh, &DeltaMushConfig::default()).expect("valid");
    let off = Strength { blend: 0.0, ..FULL };
    assert_eq!(run(&bind, &input, &off, Par::Seq), input);
}

#[test]
fn rows_10_and_11_blend_and_mask_mix_linearly() {
    let mesh = meshes::tube(20, 12, 1.0, 0.1);
    let input = bend(&mesh.positions);
    let bind = DeltaMushBind::new(
        &mesh,
        &config(EdgeWeights::Uniform, FrameKind::AllNeighbours, false),
    )
    .expect("valid");
    let full = run(&bind, &input, &FULL, Par::Seq);
    let mask: Vec<f32> = (0..input.len()).map(|v| (v % 5) as f32 / 4.0).collect();
    let part = Strength {
        blend: 0.5,
        weight: MaskWeight {
            mask: Some(&mask),
            invert: true,
            weight: 0.8,
        },
        ..FULL
    };
    let out = run(&bind, &input, &part, Par::Seq);
    for v in 0..input.len() {
        for c in 0..3 {
            let w = 0.5 * 0.8 * (1.0 - mask[v]);
            let expected = input[v][c] + (full[v][c] - input[v][c]) * w;
            assert!((out[v][c] - expected).abs() < 1e-6, "vertex {v}");
        }
    }
}

#[test]
fn row_12_displacement_scales_the_detail() {
    let mesh = meshes::sphere(12, 16);
    let input = bend(&mesh.positions);
    let bind = DeltaMushBind::new(&mesh, &DeltaMushConfig::default()).expect("valid");
    let at = |displacement| {
        run(
            &bind,
            &input,
            &Strength {
                displacement,
                ..FULL
            },
            Par::Seq,
        )
    };
    let (none, half, full) = (at(0.0), at(0.5), at(1.0));
    let mut smooth = vec![[0.0; 3]; input.len()];
    crate::smooth::SmoothJob {
        bind: bind.smoother(),
        space: bind.smoother().anchor().space(&[]).0,
        iterations: 10,
        step: 0.5,
        blend: 1.0,
        weight: MaskWeight::ONE,
        input: &input,
        output: &mut smooth,
        scratch: &mut bind.new_scratch(),
        par: Par::Seq,
    }
    .run();
    assert_eq!(none, smooth, "nothing but the smoothing");
    for v in 0..input.len() {
        for c in 0..3 {
            let middle = (none[v][c] + full[v][c]) / 2.0;
            assert!((half[v][c] - middle).abs() < 1e-6, "vertex {v}");
        }
    }
}

fn soup(positions: &[[f32; 3]], triangles: &[[u32; 3]]) -> Mesh {
    let topology = Topology::new(positions.len() as u32, triangles.to_vec()).expect("valid");
    with_uvs(Mesh::new("soup", topology, positions.to_vec()))
}

fn check_rest_and_finite(mesh: &Mesh) {
    for (weights, frame) in EdgeWeights::ALL
        .into_iter()
        .flat_map(|w| FRAMES.map(|f| (w, f)))
    {
        let bind = DeltaMushBind::new(mesh, &config(weights, frame, false)).expect("valid");
        let out = run(&bind, &mesh.positions, &FULL, Par::Seq);
        let distance = max_distance(&out, &mesh.positions);
        assert!(distance < limit(mesh), "{weights:?} {frame:?} {distance}");
        for input in [bend(&mesh.positions), vec![[0.5; 3]; mesh.vertex_count()]] {
            let out = run(&bind, &input, &FULL, Par::Seq);
            assert!(
                out.iter().flatten().all(|x| x.is_finite()),
                "{weights:?} {frame:?}"
            );
        }
    }
}

#[test]
fn row_15_defect_1_vertex_with_one_neighbour() {
    // Triangle 1 4 4 gives vertex 4 a single neighbour; vertex 5 has none.
    check_rest_and_finite(&soup(
        &[
            [0.0; 3],
            [1.0, 0.0, 0.0],
            [0.0, 1.0, 0.0],
            [0.3, 0.3, 0.8],
            [2.0, 1.0, 0.0],
            [3.0; 3],
        ],
        &[[0, 1, 2], [0, 1, 3], [1, 4, 4]],
    ));
}

#[test]
fn row_16_defect_2_edges_in_line() {
    // Vertex 1 lies between 0 and 2; the second part has all its points in line.
    check_rest_and_finite(&soup(
        &[
            [0.0; 3],
            [1.0, 0.0, 0.0],
            [2.0, 0.0, 0.0],
            [1.0, 1.0, 0.1],
            [5.0, 0.0, 0.0],
            [6.0, 0.0, 0.0],
            [7.5, 0.0, 0.0],
        ],
        &[[0, 1, 3], [1, 2, 3], [4, 5, 6]],
    ));
    // Nothing but a line: the axes of the scene.
    check_rest_and_finite(&soup(
        &[[0.0; 3], [1.0, 2.0, 0.0], [3.0, 6.0, 0.0]],
        &[[0, 1, 2]],
    ));
}

#[test]
fn row_8_seams_of_a_split_mesh_stay_closed() {
    // The cube has each corner three times, each with its own normal and UV.
    let mesh = meshes::cube();
    let input = bend(&mesh.positions);
    let weld = WeldMap::by_position(&mesh.positions, 0.0);
    assert_eq!(weld.class_count(), 8);
    for (weights, frame) in EdgeWeights::ALL
        .into_iter()
        .flat_map(|w| FRAMES.map(|f| (w, f)))
    {
        let bind = DeltaMushBind::new(&mesh, &config(weights, frame, true)).expect("valid");
        let out = run(&bind, &input, &FULL, Par::Seq);
        for (v, &c) in weld.class_of_vertex.iter().enumerate() {
            assert_eq!(
                out[v], out[weld.first_vertex[c as usize] as usize],
                "{weights:?} {frame:?}"
            );
        }
    }
}

#[test]
fn row_8_parts_within_the_tolerance_keep_their_distance() {
    let mut mesh = meshes::cube();
    for (v, p) in mesh.positions.iter_mut().enumerate() {
        p[v % 3] += 0.001 * (v / 4) as f32;
    }
    let mut c = config(EdgeWeights::Uniform, FrameKind::AllNeighbours, true);
    c.laplacian.weld_tolerance = 0.02;
    let bind = DeltaMushBind::new(&mesh, &c).expect("valid");
    assert_eq!(bind.smoother().layout().slot_count(), 8);
    let out = run(&bind, &mesh.positions, &FULL, Par::Seq);
    assert!(
        max_distance(&out, &mesh.positions) < limit(&mesh),
        "rest in, rest out"
    );
}

/// A tube in two parts whose rims are `gap` apart, and the input in which something tore them apart.
fn torn_tube(gap: f32) -> (Mesh, Vec<[f32; 3]>, Vec<[u32; 2]>) {
    let whole = meshes::tube(20, 12, 1.0, 0.1);
    let count = whole.vertex_count() as u32;
    let is_far = |v: u32| whole.positions[v as usize][0] > 0.501;
    let rim: Vec<u32> = (0..count)
        .filter(|&v| (whole.positions[v as usize][0] - 0.5).abs() < 1e-3)
        .collect();
    let copy = |v: u32| rim.iter().position(|&r| r == v).map(|k| count + k as u32);
    let far_side = |t: &[u32; 3]| {
        let far = t.iter().any(|&v| is_far(v));
        t.map(|v| copy(v).filter(|_| far).unwrap_or(v))
    };
    let triangles = whole.topology.triangles().iter().map(far_side).collect();
    let mut positions = whole.positions.clone();
    let copies = rim.iter().map(|&v| whole.positions[v as usize]);
    positions.extend(copies.map(|[x, y, z]| [x + gap, y, z]));
    let topology = Topology::new(positions.len() as u32, triangles).expect("valid");
    let mesh = Mesh::new("tube", topology, positions);
    let torn = |(v, &[x, y, z]): (usize, &[f32; 3])| {
        let lift = if v as u32 >= count || is_far(v as u32) {
            0.3
        } else {
            0.0
        };
        [x, y + lift, z]
    };
    let input = mesh.positions.iter().enumerate().map(torn).collect();
    let pairs = (0..).zip(&rim).map(|(k, &v)| [v, count + k]).collect();
    (mesh, input, pairs)
}

#[test]
fn row_8_a_gap_within_the_tolerance_stays_as_wide_as_it_was() {
    let mut whole: Option<Vec<[f32; 3]>> = None;
    for gap in [0.0, 1e-6, 1e-4, 0.004] {
        let (mesh, input, pairs) = torn_tube(gap);
        assert_eq!(pairs.len(), 12);
        for frame in [FrameKind::AllNeighbours, FrameKind::TwoEdges] {
            let mut c = config(EdgeWeights::Uniform, frame, true);
            c.laplacian.weld_tolerance = 0.005;
            let bind = DeltaMushBind::new(&mesh, &c).expect("valid");
            let out = run(&bind, &input, &FULL, Par::Seq);
            for [a, b] in &pairs {
                let [a, b] = [a, b].map(|&v| Vec3::from(out[v as usize]));
                let width = (a - b).norm();
                assert!((width - gap).abs() < 1e-6, "{frame:?}, gap {gap}: {width}");
            }
            let truth = reference::deform::<f64>(&bind, &input, 1.0, 1.0, &FULL.weight);
            for (v, (t, o)) in truth.iter().zip(&out).enumerate() {
                let off = (t - f64::vec3(*o)).norm();
                assert!(
                    off < limit(&mesh),
                    "{frame:?}, gap {gap}, vertex {v}: {off:e}"
                );
            }
            if frame == FrameKind::AllNeighbours {
                // Steady as the gap closes.
                let first = whole.get_or_insert_with(|| out.clone());
                assert!(
                    max_distance(first, &out) < 2.0 * f64::from(gap) + 1e-5,
                    "gap {gap}"
                );
            }
        }
    }
}

#[test]
fn row_9_pinned_border_follows_the_input() {
    let mesh = meshes::tube(16, 12, 1.0, 0.2);
    let input = bend(&mesh.positions);
    let at = |pin| {
        let c = config(EdgeWeights::Uniform, FrameKind::AllNeighbours, pin);
        run(
            &DeltaMushBind::new(&mesh, &c).expect("valid"),
            &input,
            &FULL,
            Par::Seq,
        )
    };
    let (pinned, loose) = (at(true), at(false));
    let moved = |out: &[[f32; 3]], v: usize| (0..3).any(|c| (out[v][c] - input[v][c]).abs() > 1e-5);
    assert!((0..12).all(|v| !moved(&pinned, v)), "the open end stays");
    assert!((0..12).any(|v| moved(&loose, v)), "else it moves");
}

#[test]
fn row_19_repairs_what_any_deformer_did() {
    // A tube folded at the middle as a sharp corner, as no skin would: mush brings the lost section back.
    let mesh = meshes::tube(60, 24, 1.0, 0.1);
    let input: Vec<[f32; 3]> = mesh
        .positions
        .iter()
        .map(|&[x, y, z]| {
            if x <= 0.5 {
                [x, y, z]
            } else {
                [0.5 - y, x - 0.5, z]
            }
        })
        .collect();
    let bind = DeltaMushBind::new(&mesh, &DeltaMushConfig::default()).expect("valid");
    let out = run(&bind, &input, &FULL, Par::Seq);
    let longest = |p: &[[f32; 3]]| {
        let edge = |a: u32, b: u32| {
            let (a, b) = (p[a as usize], p[b as usize]);
            (0..3).map(|c| (a[c] - b[c]).powi(2)).sum::<f32>().sqrt()
        };
        let t = mesh.topology.triangles().iter();
        t.map(|t| edge(t[0], t[1]).max(edge(t[1], t[2])))
            .fold(0.0, f32::max)
    };
    assert!(
        longest(&out) < 0.6 * longest(&input),
        "{} {}",
        longest(&out),
        longest(&input)
    );
    let far = (0..mesh.vertex_count()).filter(|&v| (mesh.positions[v][0] - 0.5).abs() > 0.4);
    for v in far {
        let d: f32 = (0..3)
            .map(|c| (out[v][c] - input[v][c]).abs())
            .fold(0.0, f32::max);
        assert!(d < 1e-5, "vertex {v} far from the fold moved by {d}");
    }
}

#[test]
fn collapse_is_continuous() {
    // Flattening the mesh to a line, the detail fades instead of flipping.
    let mesh = meshes::sphere(10, 14);
    let bind = DeltaMushBind::new(&mesh, &DeltaMushConfig::default()).expect("valid");
    let at = |f: f32| {
        let p: Vec<[f32; 3]> = mesh
            .positions
            .iter()
            .map(|&[x, y, z]| [x * f, y * f, z * f])
            .collect();
        run(&bind, &p, &FULL, Par::Seq)
    };
    let size = |p: &[[f32; 3]]| p.iter().flatten().fold(0.0_f32, |m, x| m.max(x.abs()));
    let collapsed = at(0.0);
    assert_eq!(size(&collapsed), 0.0, "all in one point");
    assert!(size(&at(1e-5)) < 1e-4, "next to it");
}

#[test]
fn saved_setup_is_checked() {
    let mesh = with_uvs(meshes::sphere(6, 8));
    let bind = DeltaMushBind::new(&mesh, &config(EdgeWeights::Cotangent, FrameKind::Uv, true))
        .expect("valid");
    let bytes = postcard::to_stdvec(&bind).expect("small");
    assert_eq!(
        postcard::from_bytes::<DeltaMushBind>(&bytes).expect("just written"),
        bind
    );
    assert!(bind.is_valid(42) && !bind.is_valid(41));
    for i in 0..bytes.len() {
        let mut bytes = bytes.clone();
        bytes[i] ^= 0x41;
        // Whatever passes the check must run.
        match postcard::from_bytes::<DeltaMushBind>(&bytes) {
            Ok(b) if b.is_valid(42) => drop(run(&b, &mesh.positions, &FULL, Par::Seq)),
            _ => {}
        }
    }
}

proptest! {
    #[test]
    fn any_soup_gives_finite_points_and_its_rest_back(
        points in prop::collection::vec(prop::array::uniform3(-1.0_f32..1.0), 9),
        triangles in prop::collection::vec(prop::array::uniform3(0_u32..9), 1..12),
        kind in 0..5_usize,
        frame in 0..3_usize,
    ) {
        let mesh = soup(&points, &triangles);
        let c = config(EdgeWeights::ALL[kind], FRAMES[frame], false);
        let bind = DeltaMushBind::new(&mesh, &c).expect("valid");
        let out = run(&bind, &mesh.positions, &FULL, Par::Seq);
        // Frames of slivers amplify rounding, by at most one over the smallest healthy sine.
        prop_assert!(max_distance(&out, &mesh.positions) < 100.0 * limit(&mesh));
        let out = run(&bind, &bend(&mesh.positions), &FULL, Par::Seq);
        prop_assert!(out.iter().flatten().all(|x| x.is_finite()));
    }
}
