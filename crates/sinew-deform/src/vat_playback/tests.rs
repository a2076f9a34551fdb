mod pieces;
mod points;

use super::*;
use crate::{BindInput, BindWarnings, DeviceConstant, ParameterValue, ReadLog, find_node};
use proptest::prelude::*;
use sinew_geom::{Mesh, Topology};
use sinew_testkit::meshes;
use sinew_vat::animation::VertexAnimation;
use sinew_vat::layout::Layout;
use sinew_vat::manifest::{FORMAT, Manifest, Mode, NamedClip, Space, TextureFile, VERSION};
use sinew_vat::playback::{AtEnd, ClipFrames};
use sinew_vat::quantity::Quantity;
use sinew_vat::texel::{Range, TexelFormat};
use sinew_vat::texture::{TextureSpec, encode_vertices, texture_rows};
use std::sync::Arc;

const FORMATS: [TexelFormat; 5] = [
    TexelFormat::Unorm8,
    TexelFormat::Unorm16,
    TexelFormat::TwoUnorm8,
    TexelFormat::Half,
    TexelFormat::Float,
];
const FRAMES: u32 = 5;

/// Half a code, metres: values are between -4 and 4.
fn step(format: TexelFormat) -> f32 {
    match format {
        TexelFormat::Unorm8 => 4.0 / 255.0,
        TexelFormat::Unorm16 => 4.0 / 65535.0,
        TexelFormat::TwoUnorm8 => 4.0 / 25_500.0,
        TexelFormat::Half => 4.0 / 2048.0,
        TexelFormat::Float => 1e-6,
    }
}

/// Where vertex `v` is in a frame.
fn place(v: usize, frame: u32, c: usize) -> f32 {
    let along = [0.5 * frame as f32, 0.03 * v as f32, -0.25 * frame as f32];
    along[c]
}

fn normal(v: usize, frame: u32, c: usize) -> f32 {
    let angle = 0.4 * frame as f32 + 0.2 * v as f32;
    [angle.cos(), 0.0, angle.sin()][c]
}

#[derive(Clone, Copy)]
struct Bake {
    format: TexelFormat,
    layout: Layout,
    quantity: fn() -> Quantity,
    has_normals: bool,
    can_blend: bool,
    has_ends: bool,
    at_end: AtEnd,
    space: Space,
}

impl Bake {
    fn new(format: TexelFormat, layout: Layout) -> Self {
        Self {
            format,
            layout,
            quantity: || Quantity::Position,
            has_normals: true,
            can_blend: true,
            has_ends: false,
            at_end: AtEnd::Loop,
            space: Space::YUpRightHanded,
        }
    }

    fn specs(&self) -> Vec<TextureSpec> {
        let is_float = matches!(self.format, TexelFormat::Half | TexelFormat::Float);
        let range = |scale, offset| match is_float {
            true => vec![Range::RAW; 3],
            false => vec![Range { scale, offset }; 3],
        };
        let place = TextureSpec {
            quantity: (self.quantity)(),
            format: self.format,
            ranges: range(8.0, -4.0),
        };
        let normal = TextureSpec {
            quantity: Quantity::Normal,
            format: self.format,
            ranges: range(2.0, -1.0),
        };
        let count = if self.has_normals { 2 } else { 1 };
        [place, normal].into_iter().take(count).collect()
    }

    fn made(&self) -> Arc<VertexAnimation> {
        let specs = self.specs();
        let vertices = self.layout.vertices as usize;
        let frames: Vec<Vec<Vec<u8>>> = (0..self.layout.frames)
            .map(|frame| {
                encode_vertices(&specs, vertices, |quantity, v, c| match quantity {
                    Quantity::Normal => normal(v, frame, c),
                    _ => place(v, frame, c),
                })
            })
            .collect();
        let texels = |t: usize| {
            let frame = |frame: u32| frames[frame as usize][t].as_slice();
            texture_rows(&self.layout, specs[t].vertex_bytes(), frame)
        };
        let texels = (0..specs.len()).map(texels).collect();
        Arc::new(VertexAnimation::new(self.manifest(specs.clone()), texels).expect("a bake"))
    }

    fn manifest(&self, specs: Vec<TextureSpec>) -> Manifest {
        let clip = |name: &str, first, count| NamedClip {
            name: name.into(),
            frames: ClipFrames {
                first,
                count,
                frames_per_second: 2.0,
                at_end: self.at_end,
            },
        };
        Manifest {
            format: FORMAT.into(),
            version: VERSION,
            name: "bake".into(),
            mode: Mode::Soft,
            splits_are_edges: false,
            origin: None,
            clips: vec![clip("all", 0, FRAMES), clip("end", 3, 2)],
            layout: self.layout,
            bounds: ([-4.0; 3], [4.0; 3]),
            space: self.space,
            carrier: "bake.glb".into(),
            uv_set: 0,
            textures: specs
                .into_iter()
                .map(|spec| TextureFile {
                    files: vec!["bake.png".into(); spec.format.file_count()],
                    spec,
                })
                .collect(),
            can_blend: self.can_blend,
            has_ends: self.has_ends,
            split_vertices: None,
            middles: Vec::new(),
            surface_off: None,
            lookup: None,
        }
    }

    fn bound(&self, clip: &str) -> VatPlaybackBind {
        let vertices = self.layout.vertices as usize;
        VatPlaybackBind::new(&self.made(), &points(vertices), clip).expect("fits")
    }
}

/// A mesh that is nothing but vertices.
fn points(count: usize) -> Mesh {
    let topology = Topology::new(count as u32, Vec::new()).expect("no triangles");
    Mesh::new("points", topology, vec![[0.0; 3]; count])
}

/// Rows, blocks, columns of frames, rows with unused texels at the side.
fn layouts(vertices: u32) -> [Layout; 4] {
    let rows = Layout::rows(vertices, FRAMES, 8192).expect("fits");
    let width = vertices.div_ceil(4);
    [
        rows,
        Layout::blocks(vertices, FRAMES, [width, 4], 2, 8192).expect("fits"),
        Layout::columns(vertices, FRAMES, 1).expect("fits"),
        rows.padded_to_powers_of_two(8192).expect("fits"),
    ]
}

type Frame = (Vec<[f32; 3]>, Vec<[f32; 3]>);

fn run(bind: &VatPlaybackBind, at: FrameBlend, carrier: &[[f32; 3]], par: Par) -> Frame {
    let mut positions = vec![[f32::NAN; 3]; carrier.len()];
    let mut normals = vec![[f32::NAN; 3]; carrier.len()];
    VatPlaybackJob {
        bind,
        at,
        input: MeshView {
            positions: carrier,
            ..MeshView::default()
        },
        output: MeshViewMut {
            positions: Some(&mut positions),
            normals: Some(&mut normals),
            ..MeshViewMut::default()
        },
        par,
    }
    .run();
    (positions, normals)
}

fn largest_difference(a: &[[f32; 3]], b: impl Fn(usize, usize) -> f32) -> f32 {
    let of =
        |(v, a): (usize, &[f32; 3])| (0..3).map(|c| (a[c] - b(v, c)).abs()).fold(0.0, f32::max);
    a.iter().enumerate().map(of).fold(0.0, f32::max)
}

#[test]
fn what_was_baked_is_played_in_every_format_and_layout() {
    for layout in layouts(37) {
        for format in FORMATS {
            let bind = Bake::new(format, layout).bound("");
            // Two frames a second: 0.75 s is in the middle between frames 1 and 2.
            let at = bind.frames(0.75, true);
            assert_eq!((at.frame, at.next, at.weight), (1, 2, 0.5));
            let (positions, normals) = run(&bind, at, &[[9.0; 3]; 37], Par::Seq);
            let middle = |v, c| (place(v, 1, c) + place(v, 2, c)) / 2.0;
            let off = largest_difference(&positions, middle);
            assert!(
                off <= 1.01 * step(format) + 1e-6,
                "{format:?} {layout:?}: {off}"
            );
            // The mean of two directions that are 0.4 rad apart is the one between them.
            let between = |v: usize, c: usize| {
                let angle = 0.6 + 0.2 * v as f32;
                [angle.cos(), 0.0, angle.sin()][c]
            };
            let off = largest_difference(&normals, between);
            assert!(
                off <= 0.5 * step(format) + 1e-6,
                "{format:?} {layout:?}: {off}"
            );
        }
    }
}

#[test]
fn frames_step_where_blending_is_off_or_means_nothing() {
    let bake = Bake::new(TexelFormat::Float, layouts(5)[0]);
    let off = bake.bound("").frames(0.9, false);
    let cannot = Bake {
        can_blend: false,
        ..bake
    };
    let meaningless = cannot.bound("").frames(0.9, true);
    for at in [off, meaningless] {
        assert_eq!((at.frame, at.next, at.weight), (1, 1, 0.0));
        let (positions, _) = run(&cannot.bound(""), at, &[[0.0; 3]; 5], Par::Seq);
        assert_eq!(largest_difference(&positions, |v, c| place(v, 1, c)), 0.0);
    }
}

#[test]
fn clips_end_as_they_say() {
    let bake = |at_end| Bake {
        at_end,
        ..Bake::new(TexelFormat::Float, layouts(5)[0])
    };
    let seen = |at_end, clip, secs| {
        let at = bake(at_end).bound(clip).frames(secs, true);
        (at.frame, at.next, at.weight)
    };
    // Five frames of half a second.
    assert_eq!(seen(AtEnd::Loop, "", 2.75), (0, 1, 0.5));
    assert_eq!(seen(AtEnd::Loop, "", 2.25), (4, 4, 0.0));
    assert_eq!(seen(AtEnd::SeamlessLoop, "all", 2.25), (4, 0, 0.5));
    assert_eq!(seen(AtEnd::Clamp, "all", 9.0), (4, 4, 0.0));
    assert_eq!(seen(AtEnd::Loop, "end", 0.25), (3, 4, 0.5));
    assert_eq!(seen(AtEnd::Loop, "end", -0.5), (4, 4, 0.0));
}

#[test]
fn blends_go_to_the_ends_of_frames() {
    let bake = |at_end| Bake {
        has_ends: true,
        at_end,
        ..Bake::new(
            TexelFormat::Float,
            Layout::rows(5, 2 * FRAMES, 64).expect("fits"),
        )
    };
    // The clip is frames 3 and 4, half a second each: rows 6 and 7, 8 and 9.
    for (at_end, secs, rows) in [
        (AtEnd::Loop, 0.25, [6, 7]),
        (AtEnd::Loop, 0.75, [8, 8]),
        (AtEnd::SeamlessLoop, 0.75, [8, 9]),
        (AtEnd::Clamp, 7.0, [8, 8]),
    ] {
        let bind = bake(at_end).bound("end");
        let (positions, _) = run(&bind, bind.frames(secs, true), &[[0.0; 3]; 5], Par::Seq);
        let middle = |v, c| (place(v, rows[0], c) + place(v, rows[1], c)) / 2.0;
        let off = largest_difference(&positions, middle);
        assert!(off < 1e-6, "{at_end:?} at {secs} s: {off}");
        let (stepped, _) = run(&bind, bind.frames(secs, false), &[[0.0; 3]; 5], Par::Seq);
        assert_eq!(
            largest_difference(&stepped, |v, c| place(v, rows[0], c)),
            0.0
        );
    }
}

#[test]
fn offsets_are_added_to_the_mesh() {
    let bake = Bake {
        quantity: || Quantity::Offset,
        ..Bake::new(TexelFormat::Float, layouts(8)[1])
    };
    let bind = bake.bound("");
    let carrier: Vec<[f32; 3]> = (0..8).map(|v| [v as f32, 2.0, -1.0]).collect();
    let (positions, _) = run(&bind, bind.frames(1.0, true), &carrier, Par::Seq);
    let off = largest_difference(&positions, |v, c| carrier[v][c] + place(v, 2, c));
    assert_eq!(off, 0.0);
}

#[test]
fn normals_that_cancel_point_up() {
    let layout = Layout::rows(1, 2, 64).expect("fits");
    let bake = Bake::new(TexelFormat::Float, layout);
    let specs = bake.specs();
    let number = |v: f32| v.to_le_bytes();
    let texels = |rows: [[f32; 3]; 2]| rows.into_iter().flatten().flat_map(number).collect();
    let places = texels([[1.0, 2.0, 3.0]; 2]);
    let normals = texels([[1.0, 0.0, 0.0], [-1.0, 0.0, 0.0]]);
    let mut manifest = bake.manifest(specs);
    manifest.clips.truncate(1);
    manifest.clips[0].frames.count = 2;
    let animation = VertexAnimation::new(manifest, vec![places, normals]).expect("a bake");
    let bind = VatPlaybackBind::new(&Arc::new(animation), &points(1), "").expect("fits");
    let (positions, normals) = run(&bind, bind.frames(0.25, true), &[[0.0; 3]], Par::Seq);
    assert_eq!(
        (positions[0], normals[0]),
        ([1.0, 2.0, 3.0], [0.0, 1.0, 0.0])
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]
    #[test]
    fn kernel_is_the_reference_for_any_number_of_threads(
        format in 0..5_usize, layout in 0..4_usize, secs in -10.0..10.0_f64,
    ) {
        let bind = Bake::new(FORMATS[format], layouts(4100)[layout]).bound("");
        let at = bind.frames(secs, true);
        let carrier = vec![[0.5, -1.0, 2.0]; 4100];
        let (positions, normals) = run(&bind, at, &carrier, Par::Seq);
        prop_assert_eq!(&run(&bind, at, &carrier, Par::Rayon), &(positions.clone(), normals.clone()));
        let (places, directions) = bind.textures();
        let (places, directions) = (places.expect("there"), directions.expect("there"));
        let wide = |v: usize| baked_position::<f64>(&places, v as u32, at, None);
        prop_assert!(largest_difference(&positions, |v, c| wide(v)[c]) < 4e-6);
        let wide = |v: usize| baked_normal::<f64>(&directions, v as u32, at);
        prop_assert!(largest_difference(&normals, |v, c| wide(v)[c]) < 2e-6);
    }
}

fn bind_desc(
    mesh: &Mesh,
    animation: Option<&Arc<VertexAnimation>>,
    clip: &str,
) -> Result<Box<dyn BoundNode>, String> {
    let log = ReadLog::new();
    let mut values: Vec<ParameterValue> = DESC
        .parameters
        .iter()
        .map(crate::ParameterDesc::default_value)
        .collect();
    values[1] = ParameterValue::Text(clip.into());
    let bound = (DESC.bind)(&BindContext {
        inputs: &[
            Some(BindInput::Mesh(mesh)),
            animation.map(BindInput::VertexAnimation),
        ],
        ports: DESC.inputs,
        parameters: Parameters {
            descs: DESC.parameters,
            values: &values,
            log: &log,
        },
        fixed: &[true; 5],
        warnings: &BindWarnings::new(),
        par: crate::Par::Seq,
        watch: crate::BindWatch::NONE,
    });
    log.check().expect("reads what it declares");
    bound.map_err(|e| e.to_string())
}

#[test]
fn what_cannot_be_played_is_refused() {
    let mesh = meshes::grid(3, 2);
    let vertices = mesh.vertex_count() as u32;
    let bake = Bake::new(TexelFormat::Unorm8, layouts(vertices)[0]);
    assert!(bind_desc(&mesh, Some(&bake.made()), "end").is_ok());
    let z_up = Bake {
        space: Space::ZUpRightHanded,
        ..bake
    };
    let smaller = Bake::new(TexelFormat::Unorm8, layouts(vertices - 1)[0]);
    let cases = [
        (None, "", "input 'animation': the input is not linked; link a vertex animation".to_owned()),
        (
            Some(z_up),
            "",
            "the axes of the vertex animation are ZUpRightHanded, expected YUpRightHanded; bake it with those axes".into(),
        ),
        (
            Some(smaller),
            "",
            format!(
                "the mesh has {vertices} vertices, but the vertex animation is for {}; link its carrier 'bake.glb'",
                vertices - 1
            ),
        ),
        (
            Some(bake),
            "walk",
            "the vertex animation has no clip 'walk'; known: all, end".into(),
        ),
    ];
    for (bake, clip, expected) in cases {
        let animation = bake.map(|b| b.made());
        let error = bind_desc(&mesh, animation.as_ref(), clip).expect_err(&expected);
        assert_eq!(error, expected);
    }
}

#[test]
fn only_bakes_with_normals_make_them() {
    let mesh = meshes::grid(3, 2);
    let bake = Bake::new(TexelFormat::Unorm8, layouts(mesh.vertex_count() as u32)[0]);
    for has_normals in [true, false] {
        let bake = Bake {
            has_normals,
            ..bake
        };
        let bound = bind_desc(&mesh, Some(&bake.made()), "").expect("fits");
        assert_eq!(bound.makes("mesh", MeshAttribute::Normals), has_normals);
        assert_eq!(
            bound.invalidates("mesh", MeshAttribute::Normals),
            !has_normals
        );
        assert!(!bound.invalidates("mesh", MeshAttribute::Positions));
    }
    assert!(find_node("vat_playback").is_some(), "registered");
}

#[test]
fn texels_become_words_that_are_filled_up() {
    // Seven vertices of three bytes: 21 bytes in 6 words.
    let layout = Layout::rows(7, 1, 64).expect("fits");
    let mut bake = Bake::new(TexelFormat::Unorm8, layout);
    bake.has_normals = false;
    let mut manifest = bake.manifest(bake.specs());
    manifest.clips.truncate(1);
    manifest.clips[0].frames.count = 1;
    let texels: Vec<u8> = (1..=21).collect();
    let animation = VertexAnimation::new(manifest, vec![texels]).expect("a bake");
    let bind = VatPlaybackBind::new(&Arc::new(animation), &points(7), "").expect("fits");
    let node = device::node(&bind).expect("small");
    let words: Vec<&DeviceConstant> = node.constants.iter().collect();
    assert_eq!((words.len(), words[0].len()), (1, 6));
    assert_eq!(words[0].bytes[..5], [1, 2, 3, 4, 5]);
    assert_eq!(words[0].bytes[20..], [21, 0, 0, 0]);
}
