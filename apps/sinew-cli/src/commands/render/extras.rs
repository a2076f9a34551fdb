//! What is drawn beside the graph's meshes: its lines, dots at their ends, the skeleton.

use super::actor::{Actor, drawn};
use crate::exit::Outcome;
use crate::render_args::LookArgs;
use crate::reporter::Reporter;
use sinew::geom::Rig;
use sinew::geom::vec3::distance;
use sinew::gpu::Gpu;
use sinew::picture::Extent;
use sinew::play::Character;
use sinew::render::{
    Layer, Lighting, LinesLook, Paint, Scene, Skeleton, Surface, SurfaceLook, points_mesh,
    skeletal_nodes,
};
use std::collections::BTreeSet;

/// Pixels of a graph's lines.
const LINE_WIDTH: f32 = 2.0;
/// How much is seen of lines behind a surface.
const LINES_BEHIND: f32 = 0.25;
/// Radius of a dot, as a part of the diagonal of the box around all.
const DOT: f32 = 0.007;
/// Linear RGBA: the orange of a lattice's cage, darker.
const DOT_COLOR: [f32; 4] = [0.80, 0.20, 0.02, 1.0];

/// Extras of one actor; dots and bones are of the frame that was prepared last.
pub(super) struct Extras {
    lines: bool,
    dots: bool,
    /// Where a skeleton is asked for and there is one.
    skeleton: Option<Skeleton>,
    made: Vec<Surface>,
}

impl Extras {
    pub(super) fn new(args: &LookArgs, character: &Character, reporter: &Reporter) -> Self {
        let asset = &character.asset;
        let nodes = skeletal_nodes(&asset.rig, &asset.meshes);
        let wanted = args.skeleton || args.names;
        if wanted && nodes.is_empty() {
            let path = character.path.display();
            reporter.warning(
                "no_skeleton",
                &format!("{path}: no skeleton is drawn, because no mesh is bound to joints"),
            );
        }
        Self {
            lines: !args.no_lines,
            dots: args.dots,
            skeleton: wanted.then(|| Skeleton::new(&asset.rig, nodes)),
            made: Vec::new(),
        }
    }

    /// Makes those of the frame that the actor shows.
    pub(super) fn prepare(&mut self, gpu: &Gpu, actor: &mut Actor) -> Outcome {
        self.made.clear();
        if let (Some(skeleton), Some(pose)) = (&self.skeleton, actor.pose()) {
            self.made
                .push(drawn(Surface::new(gpu, &skeleton.mesh(pose)))?);
        }
        if self.dots {
            let ends = distinct(&actor.line_ends()?);
            let radius = DOT * diagonal(&ends);
            let mesh = points_mesh(&ends, radius, DOT_COLOR);
            self.made.push(drawn(Surface::new(gpu, &mesh))?);
        }
        Ok(())
    }

    /// Places of the skeleton's joints in the frame that the actor shows.
    pub(super) fn joint_places(&self, actor: &Actor) -> Vec<[f32; 3]> {
        let (Some(skeleton), Some(pose)) = (&self.skeleton, actor.pose()) else {
            return Vec::new();
        };
        let place = |&node: &usize| {
            let place = pose.scene_from_node.get(node)?.translation;
            Some([place[0] as f32, place[1] as f32, place[2] as f32])
        };
        skeleton.nodes().iter().filter_map(place).collect()
    }

    /// Joints to name: place in the frame that the actor shows, and the node. Far from the parent at rest comes first.
    pub(super) fn named_joints(&self, actor: &Actor, rig: &Rig) -> Vec<([f32; 3], usize)> {
        let Some(skeleton) = &self.skeleton else {
            return Vec::new();
        };
        let places = self.joint_places(actor).into_iter();
        let mut out: Vec<_> = places.zip(skeleton.nodes().iter().copied()).collect();
        let rest = rig.rest_pose().scene_from_node;
        let length = |node: usize| {
            let parent = rig.nodes()[node].parent;
            parent.map_or(f64::MAX, |p| {
                (rest[node].translation - rest[p].translation).norm()
            })
        };
        out.sort_by(|a, b| length(b.1).total_cmp(&length(a.1)));
        out
    }

    pub(super) fn add_to<'a>(&'a self, scene: &mut Scene<'a>, actor: &'a Actor) {
        if self.lines {
            scene.lines.extend(
                actor
                    .lines
                    .iter()
                    .map(|lines| LinesLook::new(lines, LINE_WIDTH).behind(LINES_BEHIND)),
            );
        }
        let strands = actor.parts.iter().filter_map(|p| p.strands.as_ref());
        scene.hair.extend(strands);
        scene.surfaces.extend(self.made.iter().map(|surface| {
            SurfaceLook::clay(surface)
                .paint(Paint::Colors)
                .lighting(Lighting::Soft)
                .layer(Layer::Overlay)
        }));
    }
}

/// Each point once, in a fixed order.
fn distinct(points: &[[f32; 3]]) -> Vec<[f32; 3]> {
    let bits: BTreeSet<[u32; 3]> = points
        .iter()
        .map(|p| p.map(|c| (c + 0.0).to_bits()))
        .collect();
    bits.into_iter().map(|p| p.map(f32::from_bits)).collect()
}

fn diagonal(points: &[[f32; 3]]) -> f32 {
    let mut extent = Extent::default();
    extent.add(points.iter().copied());
    let (lo, hi) = extent.bounds().unwrap_or_default();
    distance(hi, lo)
}
