//! Vertex animation textures from files, played by a graph. `SINEW_BLESS=1` writes the bake of the examples anew.

use sinew::deform::Par;
use sinew::geom::Mesh;
use sinew::graph::{BindError, BoundGraph, InputBinding, NoNesting, compile};
use sinew::io::texture::{TextureChannels, TextureFormat, TextureWriter};
use sinew::io::{read_vertex_animation, write_text};
use sinew::play::{Character, Document, PlayError, PlayInputs, Player, Runner};
use sinew::vat::animation::VertexAnimation;
use sinew::vat::layout::Layout;
use sinew::vat::manifest::{FORMAT, Manifest, Mode, NamedClip, Space, TextureFile, VERSION};
use sinew::vat::playback::{AtEnd, ClipFrames};
use sinew::vat::quantity::Quantity;
use sinew::vat::texel::{Range, TexelFormat};
use sinew::vat::texture::{TextureSpec, encode_vertices};
use std::f32::consts::TAU;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Vertices along a side, and frames, a second of them.
const SIDE: usize = 13;
const FRAMES: u32 = 12;
/// Vertices of the water.
const WATER: u32 = (SIDE * SIDE) as u32;
/// Half the size of the water, and the reach of a wave, metres.
const HALF: f32 = 0.5;
const HEIGHT: f32 = 0.1;

fn examples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples")
}

/// Where a vertex of the water is at rest.
fn at_rest(v: usize) -> [f32; 3] {
    let along = |i: usize| (i as f32 / (SIDE - 1) as f32 * 2.0 - 1.0) * HALF;
    [along(v % SIDE), 0.0, along(v / SIDE)]
}

/// Height of the water and its slope outwards, `r` from the middle, at a share of the loop.
fn wave(r: f32, share: f32) -> (f32, f32) {
    let phase = TAU * (3.0 * r - share);
    let size = HEIGHT * (-3.0 * r).exp();
    let slope = size * (-3.0 * phase.cos() - 3.0 * TAU * phase.sin());
    (size * phase.cos(), slope)
}

fn position(v: usize, frame: u32) -> [f32; 3] {
    let [x, _, z] = at_rest(v);
    let (y, _) = wave(x.hypot(z), frame as f32 / FRAMES as f32);
    [x, y, z]
}

fn normal(v: usize, frame: u32) -> [f32; 3] {
    let [x, _, z] = at_rest(v);
    let r = x.hypot(z);
    if r == 0.0 {
        return [0.0, 1.0, 0.0];
    }
    let (_, slope) = wave(r, frame as f32 / FRAMES as f32);
    let outwards = [x / r, z / r];
    let length = slope.hypot(1.0);
    [
        -slope * outwards[0] / length,
        1.0 / length,
        -slope * outwards[1] / length,
    ]
}

fn manifest() -> Manifest {
    let range = |half: f32| Range {
        scale: 2.0 * half,
        offset: -half,
    };
    let texture = |quantity, format, ranges: [Range; 3], file: &str| TextureFile {
        spec: TextureSpec {
            quantity,
            format,
            ranges: ranges.into(),
        },
        files: vec![file.into()],
    };
    let places = [range(HALF), range(HEIGHT), range(HALF)];
    Manifest {
        format: FORMAT.into(),
        version: VERSION,
        name: "ripple".into(),
        mode: Mode::Soft,
        splits_are_edges: false,
        origin: None,
        clips: vec![NamedClip {
            name: "waves".into(),
            frames: ClipFrames {
                first: 0,
                count: FRAMES,
                frames_per_second: FRAMES as f32,
                at_end: AtEnd::SeamlessLoop,
            },
        }],
        layout: Layout::rows(WATER, FRAMES, 4096).expect("fits"),
        bounds: ([-HALF, -HEIGHT, -HALF], [HALF, HEIGHT, HALF]),
        space: Space::YUpRightHanded,
        carrier: "ripple.obj".into(),
        uv_set: 0,
        textures: vec![
            texture(
                Quantity::Position,
                TexelFormat::Unorm16,
                places,
                "ripple_position.png",
            ),
            texture(
                Quantity::Normal,
                TexelFormat::Unorm8,
                [Range::DIRECTION; 3],
                "ripple_normal.png",
            ),
        ],
        can_blend: true,
        has_ends: false,
        split_vertices: None,
        middles: Vec::new(),
        surface_off: None,
        lookup: None,
    }
}

fn carrier() -> String {
    let mut out = String::from("# The mesh that carries ripple.vat.json.\n");
    for v in 0..SIDE * SIDE {
        let [x, y, z] = at_rest(v);
        out += &format!("v {x:.6} {y:.6} {z:.6}\n");
    }
    for row in 0..SIDE - 1 {
        for column in 0..SIDE - 1 {
            let v = row * SIDE + column + 1;
            out += &format!("f {} {} {} {}\n", v, v + SIDE, v + SIDE + 1, v + 1);
        }
    }
    out
}

/// Of one row a frame.
fn made() -> VertexAnimation {
    let manifest = manifest();
    let specs: Vec<TextureSpec> = manifest.textures.iter().map(|t| t.spec.clone()).collect();
    let mut texels = vec![Vec::new(); specs.len()];
    for frame in 0..FRAMES {
        let row = encode_vertices(&specs, SIDE * SIDE, |quantity, v, c| match quantity {
            Quantity::Normal => normal(v, frame)[c],
            _ => position(v, frame)[c],
        });
        for (all, row) in texels.iter_mut().zip(row) {
            all.extend(row);
        }
    }
    VertexAnimation::new(manifest, texels).expect("a bake")
}

fn write(folder: &Path, bake: &VertexAnimation) {
    let manifest = bake.manifest();
    let text = serde_json::to_string_pretty(manifest).expect("JSON") + "\n";
    write_text(&folder.join("ripple.vat.json"), &text).expect("written");
    write_text(&folder.join("ripple.obj"), &carrier()).expect("written");
    let [width, height] = manifest.layout.size.map(|s| s as usize);
    for (t, texture) in manifest.textures.iter().enumerate() {
        let is_wide = texture.spec.format == TexelFormat::Unorm16;
        let format = if is_wide {
            TextureFormat::Png16
        } else {
            TextureFormat::Png8
        };
        let path = folder.join(&texture.files[0]);
        let channels = TextureChannels::Rgb;
        let mut out = TextureWriter::create(&path, format, width, height, channels).expect("made");
        for row in bake.texels(t).chunks(width * texture.spec.vertex_bytes()) {
            let pair = |b: &[u8]| u16::from_le_bytes([b[0], b[1]]);
            let wide: Vec<u16> = row.chunks_exact(2).map(pair).collect();
            match is_wide {
                true => out.write_row(&wide[..]),
                false => out.write_row(row),
            }
            .expect("a row");
        }
        out.finish().expect("written");
    }
}

#[test]
fn the_bake_of_the_examples_is_read_as_it_was_made() {
    let folder = examples().join("vat");
    let made = made();
    if std::env::var_os("SINEW_BLESS").is_some() {
        write(&folder, &made);
    }
    let read = read_vertex_animation(&folder.join("ripple.vat.json")).expect("reads");
    assert_eq!(read.manifest(), made.manifest());
    // Sines differ by a bit between machines, so that a code may be another one.
    for vertex in 0..WATER {
        for (frame, texture) in (0..FRAMES).flat_map(|f| [(f, 0), (f, 1)]) {
            for c in 0..3 {
                let [a, b] = [&read, &made].map(|bake| bake.value(texture, vertex, frame, c));
                let code = [1.0 / 65535.0, 2.0 / 255.0][texture];
                assert!((a - b).abs() < 1.01 * code, "{a} {b}");
            }
        }
    }
}

fn player(document: &Document) -> Result<(Player, Arc<BoundGraph>), PlayError> {
    let main = Character::load(&examples().join("vat/ripple.obj"))?;
    let plan = Arc::new(document.compile().expect("a correct document"));
    let cast = PlayInputs::load(Arc::new(main), &plan, &document.folders)?;
    let graph = cast.bind(&plan, &[])?;
    let runner = Runner::cpu(&graph);
    Ok((Player::new(runner, cast, Vec::new(), None, 24.0)?, graph))
}

fn water(player: &Player) -> (Vec<[f32; 3]>, Vec<[f32; 3]>) {
    let Runner::Cpu(instance) = player.runner() else {
        panic!("on the processor");
    };
    let body = instance.mesh_output("body").expect("output 'body'");
    let normals = body.normals.expect("normals");
    (body.positions.to_vec(), normals.to_vec())
}

#[test]
fn a_graph_plays_a_bake_from_files() {
    let document = Document::from_file(&examples().join("vat_playback.json")).expect("a file");
    let (mut player, graph) = player(&document).expect("plays");
    assert_eq!(
        graph.program().steps(sinew::deform::Phase::Update).len(),
        1,
        "no step but the node"
    );
    // Two frames of the player are one of the bake; 25 is in the second loop, between its frames 0 and 1.
    for (number, frame, next) in [(0, 0, 0), (8, 4, 4), (9, 4, 5), (23, 11, 0), (25, 0, 1)] {
        player.advance(number).expect("a frame");
        let (positions, normals) = water(&player);
        for (v, (p, n)) in positions.iter().zip(&normals).enumerate() {
            let (a, b) = (position(v, frame), position(v, next));
            for c in 0..3 {
                let expected = (a[c] + b[c]) / 2.0;
                assert!(
                    (p[c] - expected).abs() < 2e-5,
                    "{number}, {v}: {p:?} {a:?} {b:?}"
                );
            }
            let (a, b) = (normal(v, frame), normal(v, next));
            let along: f32 = (0..3).map(|c| n[c] * (a[c] + b[c]) / 2.0).sum();
            assert!(along > 0.8, "{number}, {v}: {n:?} {a:?} {b:?}");
        }
    }
}

#[test]
fn an_animation_that_cannot_be_had_is_an_error() {
    let text = std::fs::read_to_string(examples().join("vat_playback.json")).expect("a file");
    let with = |from: &str, to: &str| {
        let document = Document {
            text: text.replace(from, to),
            ..Document::from_file(&examples().join("vat_playback.json")).expect("a file")
        };
        player(&document).expect_err(to).to_string()
    };
    let missing = with("ripple.vat.json", "none.vat.json");
    assert!(missing.contains("none.vat.json"), "{missing}");
    let nameless = with(r#", "file": "vat/ripple.vat.json""#, "");
    assert_eq!(
        nameless,
        "input 'ripple' takes a vertex animation; set its \"file\" to a manifest (NAME.vat.json)"
    );
    let mesh = with("ripple.vat.json", "ripple.obj");
    assert!(mesh.contains("ripple.obj: line 1"), "{mesh}");
}

#[test]
fn what_is_bound_must_be_an_animation_of_that_mesh() {
    let text = |node: &str, output: &str| {
        format!(
            r#"{{"sinew": "1.0", "inputs": {{"body": {{"type": "mesh"}}, "a": {{"type": "vertex_animation"}}}},
 "nodes": {{"play": {{"node": "vat_playback", "mesh": "body", "animation": "{node}"}}}}, "outputs": {{"body": "{output}"}}}}"#
        )
    };
    let wrong = |node: &str, output: &str| {
        let error = compile("g.json", &text(node, output), &NoNesting).expect_err("wrong");
        error.to_string()
    };
    let found = wrong("body", "play");
    assert!(
        found
            .contains("input 'animation' of 'play' takes a vertex_animation, but 'body' is a mesh"),
        "{found}"
    );
    let found = wrong("a", "a");
    assert!(
        found.contains("is a vertex_animation, which cannot be an output of the graph"),
        "{found}"
    );
    let plan = Arc::new(compile("g.json", &text("a", "play"), &NoNesting).expect("correct"));
    let mesh = |count: u32| {
        let positions = (0..count as usize).map(at_rest).collect();
        let topology = sinew::geom::Topology::new(count, vec![]).expect("points");
        InputBinding::Mesh(Arc::new(Mesh::new("water", topology, positions)))
    };
    let bake = Arc::new(made());
    let bind = |a: InputBinding, b: InputBinding| {
        BoundGraph::bind(plan.clone(), &[a, b], &[], Par::Seq).map(|g| g.content_key())
    };
    let animation = |bake: &Arc<VertexAnimation>| InputBinding::VertexAnimation(bake.clone());
    let error = bind(mesh(WATER), mesh(3)).expect_err("a mesh");
    assert!(matches!(error, BindError::InputType { .. }));
    assert_eq!(
        error.to_string(),
        "input 'a' is bound to another type, expected vertex_animation"
    );
    let error = bind(mesh(3), animation(&bake))
        .expect_err("too small")
        .to_string();
    assert!(
        error.contains("the mesh has 3 vertices, but the vertex animation is for 169"),
        "{error}"
    );
    // What is made of it belongs to these texels.
    let key = bind(mesh(WATER), animation(&bake)).expect("fits");
    let again = bind(mesh(WATER), animation(&bake)).expect("fits");
    assert_eq!(key, again);
    let texels = (0..2).map(|t| bake.texels(t).iter().map(|b| b ^ 1).collect());
    let other = VertexAnimation::new(manifest(), texels.collect()).expect("a bake");
    let other = bind(mesh(WATER), animation(&Arc::new(other))).expect("fits");
    assert_ne!(key, other);
}
