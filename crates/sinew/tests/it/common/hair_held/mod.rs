//! Hair that fields hold, measured: how deep, how stretched, where and how fast on the whole. The same on both devices.
#![expect(
    clippy::print_stdout,
    reason = "says what was measured and what was skipped"
)]

mod looped;
pub(crate) mod margins;
pub(crate) mod truth;

use sinew::deform::collide::{Distance, FieldCollider};
use sinew::deform::sdf::FieldWords;
use sinew::geom::{Mesh, Vec3};
use sinew::graph::BoundGraph;
use sinew::io::tressfx;
use sinew::play::{Character, Document, Output, PlayInputs, Player, Runner};
use sinew_testkit::{is_soak, shared_data};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tempfile::TempDir;
use truth::Depths;

/// Frames a second.
pub(crate) const FPS: f64 = 60.0;
/// Cells that guides and followers may be deep, and the share that a segment may be longer or shorter.
pub(crate) const DEEPEST: f32 = 0.1;
pub(crate) const MOST_STRETCHED: f32 = 0.01;

/// The same of what is measured against the mesh itself: fields interpolate between nodes, and know nothing that is smaller than a cell.
pub(crate) const DEEPEST_IN_MESH: f64 = 0.5;
/// Metres a second: what is faster at the end of the rest does not rest.
pub(crate) const REST_SPEED: f64 = 1e-3;
/// Of all strands so many may be faster, by their own bends against a field that is rough there: a guide and its followers. And none is
/// faster than this, metres a second: 0.1 mm a frame.
pub(crate) const MOST_RESTLESS: usize = 3;
pub(crate) const RESTLESS_SPEED: f64 = 6e-3;
/// Metres a second at the end of the rest, in the mean of all vertices.
pub(crate) const MEAN_REST_SPEED: f64 = 1e-5;
/// Frames at the end of the rest in each of which nothing may be faster: what trembles is slow at times.
pub(crate) const FRAMES_AT_REST: i64 = 15;

/// Seconds that the mohawk's head shakes; `SINEW_HAIR_SECS` sets them.
fn shaken_secs() -> f64 {
    let given = std::env::var("SINEW_HAIR_SECS").ok();
    let usual = if is_soak() { 10.0 } else { 0.4 };
    given.and_then(|s| s.parse().ok()).unwrap_or(usual)
}

/// Frames of that.
pub(crate) fn frames() -> i64 {
    (shaken_secs() * FPS) as i64
}

/// Frames in which the head is still after that: half as many, and at least five seconds; longer with `SINEW_HAIR_REST_SECS=9`.
pub(crate) fn rest_frames() -> i64 {
    let given = std::env::var("SINEW_HAIR_REST_SECS").ok();
    let secs: f64 = given.and_then(|s| s.parse().ok()).unwrap_or(5.0);
    (frames() / 2).max((secs * FPS) as i64)
}

/// A character with hair. Its graph has the outputs `hair` and `field`.
pub(crate) struct Scene {
    cast: PlayInputs,
    pub(crate) graph: Arc<BoundGraph>,
    clip: &'static str,
    hair: Arc<Mesh>,
    /// The first mesh of triangles.
    body: Arc<Mesh>,
}

impl Scene {
    fn new(character: Character, text: &str, folder: PathBuf, clip: &'static str) -> Self {
        let document = Document::from_text("hair.json", text, folder);
        let plan = Arc::new(document.compile().unwrap_or_else(|e| panic!("{e}")));
        let cast = PlayInputs::load(Arc::new(character), &plan, &document.folders);
        let cast = cast.expect("assembles");
        let graph = cast.bind(&plan, &[]).expect("binds");
        let mut meshes = graph.program().meshes().iter();
        let hair = meshes.find(|m| m.topology.strands().is_some());
        let hair = hair.expect("hair").clone();
        let mut meshes = graph.program().meshes().iter();
        let body = meshes.find(|m| m.topology.strands().is_none());
        let body = body.expect("a body").clone();
        Self {
            cast,
            graph,
            clip,
            hair,
            body,
        }
    }

    /// The sample head, which shakes: its field follows the joint that turns.
    #[cfg(feature = "gpu")]
    pub(crate) fn head() -> Self {
        let text = r#"{"sinew": "1.0",
 "inputs": {"body": {"type": "mesh"}, "pose": {"type": "pose"}, "hair": {"type": "strands"}},
 "nodes": {"skin": {"node": "skin", "mesh": "body", "pose": "pose"},
  "field": {"node": "sdf", "mesh": "skin", "cells": 48, "sign": "winding_number", "pose": "pose", "follow": "head"},
  "sim": {"node": "hair_sim", "strands": "hair", "pose": "pose", "colliders": "field"}},
 "outputs": {"hair": "sim", "field": "field"}}"#;
        let head = Character::from_asset(sinew_samples::head().expect("a sample"));
        Self::new(head, text, PathBuf::new(), "shake")
    }

    /// The rat of the shared data, where it is there, with two followers a guide, which keep this far off its body. Its clip is two seconds long and goes on as long as [`frames`] says.
    pub(crate) fn mohawk(margin: f32) -> Option<Self> {
        let Some(data) = shared_data() else {
            println!("skipped: no shared data");
            return None;
        };
        let text = &r#"{"sinew": "1.0",
 "inputs": {"body": {"type": "mesh"}, "pose": {"type": "pose"}, "hair": {"type": "strands", "file": "Ratboy_mohawk.tfx",
            "followers": {"count": 2, "radius": 0.008, "tip_separation": 0.5}}},
 "nodes": {"skin": {"node": "skin", "mesh": "body", "pose": "pose"},
  "field": {"node": "sdf", "mesh": "skin", "cells": 100},
  "sim": {"node": "hair_sim", "strands": "hair", "pose": "pose", "colliders": "field", "margins": [MARGIN]}},
 "outputs": {"hair": "sim", "body": "skin", "field": "field"}}"#
            .replace("MARGIN", &margin.to_string());
        let folder = data.join("hair");
        let mut body = Character::load(&folder.join("Ratboy_body_skinned.glb")).expect("reads");
        let clip = "head_shake_tail";
        looped::loop_clip(&mut body.asset, clip, shaken_secs());
        if is_soak() {
            return Some(Self::new(body, text, folder, clip));
        }
        let thinned = thinned_mohawk(&folder);
        Some(Self::new(body, text, thinned.path().to_owned(), clip))
    }

    pub(crate) fn play(&self, runner: Runner) -> Playing<'_> {
        let player = Player::new(runner, self.cast.clone(), Vec::new(), Some(self.clip), FPS);
        Playing {
            scene: self,
            player: player.expect("plays"),
            now: Vec::new(),
            before: Vec::new(),
            body: Vec::new(),
        }
    }
}

/// The mohawk with every sixteenth strand, which a long run plays whole: strands know nothing of each other.
fn thinned_mohawk(folder: &Path) -> TempDir {
    const NTH: usize = 16;
    let name = |ending: &str| format!("Ratboy_mohawk.{ending}");
    let mut hair = tressfx::read_tfx(&folder.join(name("tfx"))).expect("reads");
    hair.vertices = hair.strands().step_by(NTH).flatten().copied().collect();
    hair.root_uvs = hair
        .root_uvs
        .map(|uvs| uvs.into_iter().step_by(NTH).collect());
    let mut bones = tressfx::read_tfx_bones(&folder.join(name("tfxbone"))).expect("reads");
    bones.strands = bones.strands.into_iter().step_by(NTH).collect();
    let thinned = TempDir::new().expect("a folder");
    tressfx::write_tfx(&thinned.path().join(name("tfx")), &hair).expect("writes");
    tressfx::write_tfx_bones(&thinned.path().join(name("tfxbone")), &bones).expect("writes");
    thinned
}

/// A scene on one device.
pub(crate) struct Playing<'a> {
    scene: &'a Scene,
    player: Player,
    now: Vec<[f32; 3]>,
    before: Vec<[f32; 3]>,
    /// The skinned body, where the graph gives it.
    body: Vec<[f32; 3]>,
}

/// One frame of hair.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Measured {
    /// Deepest vertex or sample of a segment of guides, in cells; below zero where all is outside.
    pub(crate) deepest: f32,
    /// The same of followers.
    pub(crate) deepest_follower: f32,
    /// Largest share by which a segment of a guide is longer or shorter than at rest.
    pub(crate) stretch: f32,
    /// The same of whole followers.
    pub(crate) follower_stretch: f32,
    /// Means: height of tips and distance of vertices to the surface, in metres; speed in metres a second.
    pub(crate) tip_height: f64,
    pub(crate) distance: f64,
    pub(crate) speed: f64,
    /// Speed of the fastest vertex, metres a second, and how many strands have one faster than [`REST_SPEED`].
    pub(crate) fastest: f64,
    pub(crate) restless: usize,
}

impl Playing<'_> {
    /// The next frame.
    pub(crate) fn advance(&mut self, number: i64) {
        self.player
            .advance(number)
            .unwrap_or_else(|e| panic!("{e}"));
        let outputs = self.player.read_outputs().unwrap_or_else(|e| panic!("{e}"));
        for (name, output) in outputs {
            match (name.as_str(), output) {
                ("hair", Output::Mesh(mesh)) => {
                    self.before = std::mem::replace(&mut self.now, mesh.positions);
                }
                ("body", Output::Mesh(mesh)) => self.body = mesh.positions,
                (other, _) => panic!("{other} is not expected"),
            }
        }
    }

    /// Against the body as it is skinned now, which a vertex may be `limit` metres deep in.
    pub(crate) fn depths(&self, limit: f64) -> Depths {
        self.scene.depths(&self.now, &self.body, limit)
    }

    #[cfg(feature = "gpu")]
    pub(crate) fn positions(&self) -> &[[f32; 3]] {
        &self.now
    }

    /// Size of a cell of the field, in metres.
    pub(crate) fn cell(&self) -> f32 {
        let words = self.field();
        let field = FieldCollider::new(FieldWords::read(&words)).expect("built");
        field.feature_size()
    }

    /// The words of the field, on the processor.
    pub(crate) fn field(&self) -> Vec<u32> {
        let Runner::Cpu(instance) = self.player.runner() else {
            panic!("on the processor");
        };
        instance.field_output("field").expect("a field").to_vec()
    }

    /// The frame's hair in a field, which may be that of the other device: both are the same.
    pub(crate) fn measure(&self, words: &[u32]) -> Measured {
        let field = FieldCollider::new(FieldWords::read(words)).expect("built");
        let speed = |v: usize| {
            let moved = Vec3::from(self.now[v]) - Vec3::from(self.before[v]);
            FPS * f64::from(moved.norm())
        };
        let vertices = self.before.len().min(self.now.len());
        let strands = self.scene.hair.topology.strands().expect("strands");
        let fastest_of = |range: std::ops::Range<usize>| range.map(speed).fold(0.0, f64::max);
        let fastest = strands
            .ranges()
            .filter(|r| r.end <= vertices)
            .map(fastest_of);
        let fastest: Vec<f64> = fastest.collect();
        Measured {
            speed: (0..vertices).map(speed).sum::<f64>() / self.now.len() as f64,
            restless: fastest.iter().filter(|s| **s > REST_SPEED).count(),
            fastest: fastest.into_iter().fold(0.0, f64::max),
            ..self.scene.measure(&self.now, &field)
        }
    }
}

impl Scene {
    fn measure(&self, now: &[[f32; 3]], field: &FieldCollider<'_>) -> Measured {
        let strands = self.hair.topology.strands().expect("strands");
        let (cell, placement) = (field.feature_size(), field.placement());
        let distance = |p: [f32; 3]| field.distance(placement.inverse_point(p.into()).into());
        let mut out = Measured {
            deepest: f32::NEG_INFINITY,
            deepest_follower: f32::NEG_INFINITY,
            ..Measured::default()
        };
        let (mut tips, mut vertices) = (0.0, 0.0);
        for (strand, range) in strands.ranges().enumerate() {
            let is_guide = strands.is_guide(strand);
            if !is_guide {
                let stretch = self.whole_stretch(now, range.clone());
                out.follower_stretch = larger(out.follower_stretch, stretch);
            }
            // The first two vertices are pinned to the skin; samples between the others count, too.
            for v in range.start + 2..range.end {
                let from = if v == range.start + 2 { 0.0 } else { 0.75 };
                for t in [0.0, 0.25, 0.5, 0.75].into_iter().filter(|t| *t <= from) {
                    let between = |c: usize| now[v - 1][c] * t + now[v][c] * (1.0 - t);
                    let away = distance([0, 1, 2].map(between));
                    let depth = if is_guide {
                        &mut out.deepest
                    } else {
                        &mut out.deepest_follower
                    };
                    *depth = larger(*depth, -away / cell);
                    if t == 0.0 {
                        out.distance += f64::from(away);
                        vertices += 1.0;
                    }
                }
                if is_guide {
                    out.stretch = larger(out.stretch, self.stretch(now, v));
                }
            }
            out.tip_height += f64::from(now[range.end - 1][1]);
            tips += 1.0;
        }
        out.tip_height /= tips;
        out.distance /= vertices;
        out
    }

    /// The same of a whole strand.
    fn whole_stretch(&self, now: &[[f32; 3]], range: std::ops::Range<usize>) -> f32 {
        let segment = |w: &[[f32; 3]]| (Vec3::from(w[1]) - Vec3::from(w[0])).norm();
        let length = |p: &[[f32; 3]]| p[range.clone()].windows(2).map(segment).sum::<f32>();
        let (is, was) = (length(now), length(&self.hair.positions));
        if was > 1e-3 {
            (is / was - 1.0).abs()
        } else {
            0.0
        }
    }

    /// By how much the segment that ends in vertex `v` is longer or shorter than at rest; nothing where it has no length.
    fn stretch(&self, now: &[[f32; 3]], v: usize) -> f32 {
        let length = |p: &[[f32; 3]]| (Vec3::from(p[v]) - Vec3::from(p[v - 1])).norm();
        let (is, was) = (length(now), length(&self.hair.positions));
        if was > 1e-4 {
            (is / was - 1.0).abs()
        } else {
            0.0
        }
    }
}

impl Measured {
    /// Keeps the largest of both frames, and the largest difference of their means.
    pub(crate) fn add(&mut self, a: &Self, b: &Self) {
        self.deepest = larger(self.deepest, a.deepest.max(b.deepest));
        let deepest = a.deepest_follower.max(b.deepest_follower);
        self.deepest_follower = larger(self.deepest_follower, deepest);
        self.stretch = larger(self.stretch, a.stretch.max(b.stretch));
        let stretch = a.follower_stretch.max(b.follower_stretch);
        self.follower_stretch = larger(self.follower_stretch, stretch);
        self.tip_height = self.tip_height.max((a.tip_height - b.tip_height).abs());
        self.distance = self.distance.max((a.distance - b.distance).abs());
        self.speed = self.speed.max((a.speed - b.speed).abs());
    }
}

/// The larger one; no number counts as infinite.
fn larger(most: f32, next: f32) -> f32 {
    if next.is_nan() {
        f32::INFINITY
    } else {
        most.max(next)
    }
}
