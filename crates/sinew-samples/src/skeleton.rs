//! Building blocks for rigs and clips.

use crate::SampleError;
use crate::field::V;
use sinew_geom::{
    Affine, Channel, ChannelTarget, Clip, Interpolation, Joint, LocalTransform, Node, Quat, Rig,
    Trs,
};

/// Joints with their bind positions; all bind orientations are the scene's.
#[derive(Default)]
pub(crate) struct Skeleton {
    joints: Vec<(String, Option<usize>, V)>,
}

impl Skeleton {
    /// Adds a joint at scene position `at` and returns its number.
    pub(crate) fn add(&mut self, name: impl Into<String>, parent: Option<usize>, at: V) -> usize {
        self.joints.push((name.into(), parent, at));
        self.joints.len() - 1
    }

    pub(crate) fn len(&self) -> usize {
        self.joints.len()
    }

    /// Node 0 carries the mesh (and the default morph weights); node `j + 1` is joint `j`.
    pub(crate) fn rig(&self, mesh_name: &str, morph_count: usize) -> Result<Rig, SampleError> {
        let mesh_node = Node {
            name: mesh_name.to_owned(),
            parent: None,
            local: LocalTransform::Trs(Trs::default()),
            morph_weights: vec![0.0; morph_count],
            morph_offset: 0,
        };
        let joint_nodes = self.joints.iter().map(|(name, parent, at)| Node {
            name: name.clone(),
            parent: parent.map(|p| p + 1),
            local: LocalTransform::Trs(Trs {
                translation: self.offset(*parent, *at),
                ..Trs::default()
            }),
            morph_weights: Vec::new(),
            morph_offset: 0,
        });
        let joints = self.joints.iter().enumerate().map(|(j, (_, _, at))| Joint {
            node: j + 1,
            joint_from_bind: Affine {
                translation: -at,
                ..Affine::identity()
            },
        });
        let nodes = std::iter::once(mesh_node).chain(joint_nodes).collect();
        Ok(Rig::new(nodes, joints.collect())?)
    }

    fn offset(&self, parent: Option<usize>, at: V) -> V {
        at - parent.map_or(V::zeros(), |p| self.joints[p].2)
    }

    /// Where joint `j` sits relative to its parent at rest.
    pub(crate) fn rest_translation(&self, j: usize) -> V {
        self.offset(self.joints[j].1, self.joints[j].2)
    }
}

/// Frames a second of all clips.
pub(crate) const FPS: f64 = 30.0;

/// Collects channels that are sampled from functions of time, one key every `stride` frames.
pub(crate) struct ClipBuilder {
    times: Vec<f64>,
    channels: Vec<Channel>,
}

impl ClipBuilder {
    /// A clip of `frames` frames after the first, which is at time zero.
    pub(crate) fn new(frames: usize, stride: usize) -> Self {
        Self {
            times: (0..=frames)
                .step_by(stride)
                .map(|f| f as f64 / FPS)
                .collect(),
            channels: Vec::new(),
        }
    }

    fn push(
        &mut self,
        node: usize,
        target: ChannelTarget,
        values: Vec<f32>,
        width: usize,
    ) -> Result<(), SampleError> {
        let times = self.times.iter().map(|&t| t as f32).collect();
        self.channels.push(Channel::new(
            node,
            target,
            Interpolation::Linear,
            times,
            values,
            width,
        )?);
        Ok(())
    }

    /// Turns joint `joint` by `turn(seconds)`.
    pub(crate) fn rotate(
        &mut self,
        joint: usize,
        turn: impl Fn(f64) -> Quat<f64>,
    ) -> Result<(), SampleError> {
        let values = self.times.iter().flat_map(|&t| {
            let q = turn(t);
            [q.i, q.j, q.k, q.w].map(|c| c as f32)
        });
        let values = values.collect();
        self.push(joint + 1, ChannelTarget::Rotation, values, 4)
    }

    /// Puts joint `joint` at `place(seconds)` relative to its parent.
    pub(crate) fn translate(
        &mut self,
        joint: usize,
        place: impl Fn(f64) -> V,
    ) -> Result<(), SampleError> {
        let values = self.times.iter().flat_map(|&t| {
            let p = place(t);
            [p.x, p.y, p.z].map(|c| c as f32)
        });
        let values = values.collect();
        self.push(joint + 1, ChannelTarget::Translation, values, 3)
    }

    /// Sets the mesh's one morph weight.
    pub(crate) fn morph(&mut self, weight: impl Fn(f64) -> f64) -> Result<(), SampleError> {
        let values = self.times.iter().map(|&t| weight(t) as f32).collect();
        self.push(0, ChannelTarget::Weights, values, 1)
    }

    pub(crate) fn finish(self, name: &str) -> Clip {
        Clip::new(name, self.channels)
    }
}

/// Rotation about a (not zero) axis.
pub(crate) fn turn(axis: V, angle: f64) -> Quat<f64> {
    Quat::from_scaled_axis(axis * (angle / axis.norm().max(1e-12)))
}

/// 0 below `a`, 1 above `b`, a smooth step between.
pub(crate) fn smoothstep(a: f64, b: f64, x: f64) -> f64 {
    let s = ((x - a) / (b - a)).clamp(0.0, 1.0);
    s * s * (3.0 - 2.0 * s)
}
