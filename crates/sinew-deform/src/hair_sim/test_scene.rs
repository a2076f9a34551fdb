//! Hair for tests, and what is measured on it.

use super::{FollowerSettings, HairBind, HairJob, HairReal, HairSettings, HairState};
use crate::Par;
use crate::collide::{Collider, Contact};
use sinew_geom::{Affine, PackedAffine, Quat, Strands, Vec3};

/// Strands, their state and what they are simulated with.
pub(crate) struct Scene<R: HairReal = f32> {
    pub(crate) bind: HairBind,
    pub(crate) state: HairState<R>,
    pub(crate) settings: HairSettings,
    pub(crate) contacts: Vec<Contact>,
    pub(crate) positions: Vec<[f32; 3]>,
    pub(crate) tangents: Vec<[f32; 3]>,
    pub(crate) par: Par,
}

impl<R: HairReal> Scene<R> {
    pub(crate) fn new(strands: &Strands, rest: &[[f32; 3]], masses: Option<&[f32]>) -> Self {
        let bind = HairBind::new(strands, rest, masses).expect("valid");
        let state = HairState::new(&bind);
        let count = bind.vertex_count();
        Self {
            bind,
            state,
            settings: HairSettings::default(),
            contacts: Vec::new(),
            positions: vec![[0.0; 3]; count],
            tangents: vec![[0.0; 3]; count],
            par: Par::Seq,
        }
    }
    /// One straight strand.
    pub(crate) fn straight(from: [f32; 3], step: [f32; 3], vertices: usize) -> Self {
        let strands = Strands::new([vertices]).expect("valid");
        Self::new(&strands, &line(from, step, vertices), None)
    }
    /// A frame with the head at `head`.
    pub(crate) fn frame(&mut self, head: &Affine<f32>, dt_secs: f32, colliders: &[Collider<'_>]) {
        let transforms = vec![PackedAffine::from(*head); self.bind.strands().len()];
        HairJob {
            bind: &self.bind,
            transforms: &transforms,
            dt_secs,
            settings: &self.settings,
            colliders,
            contacts: &self.contacts,
            state: &mut self.state,
            positions: &mut self.positions,
            tangents: Some(&mut self.tangents),
            par: self.par,
        }
        .run()
        .expect("fits");
    }
    /// Still frames at 60 Hz.
    pub(crate) fn settle(&mut self, secs: f32, colliders: &[Collider<'_>]) {
        for _ in 0..(secs * 60.0) as usize {
            self.frame(&Affine::identity(), 1.0 / 60.0, colliders);
        }
    }
    /// Largest share by which a segment of a guide is longer or shorter than at rest.
    pub(crate) fn stretch(&self) -> f32 {
        let guides = self.bind.strands().guide_strands();
        let ranges = guides.map(|s| self.bind.strands().range(s));
        let mut worst = 0.0_f32;
        let mut at = 0;
        for range in ranges {
            for i in range.clone() {
                let length = self.bind.vertices[at].length;
                at += 1;
                if i > range.start && length > 1e-4 {
                    let (a, b) = (self.positions[i - 1], self.positions[i]);
                    let now = (Vec3::from(b) - Vec3::from(a)).norm();
                    worst = worst.max((now / length - 1.0).abs());
                }
            }
        }
        worst
    }
    pub(crate) fn fastest(&self) -> f32 {
        let speeds = self.state.velocities().map(|v| v.norm().to_single());
        speeds.fold(0.0, f32::max)
    }
    /// Bends the only guide to these points, of which it takes the directions. It stands at the origin of the scene.
    pub(crate) fn put(&mut self, points: &[Vec3<f64>]) {
        for i in 1..points.len() {
            let along = (points[i] - points[i - 1]).normalize();
            let [x, y, z, w] = self.state.kept[i].turn.map(R::to_double);
            let turn = Quat::new_unchecked(nalgebra::Quaternion::new(w, x, y, z));
            let arc = Quat::rotation_between(&(turn * Vec3::x()), &along).expect("no half turn");
            let q = arc * turn;
            self.state.kept[i].turn = [q.i, q.j, q.k, q.w].map(R::from_double);
        }
    }
    pub(crate) fn tip(&self) -> Vec3<f32> {
        Vec3::from(self.positions[self.positions.len() - 1])
    }
}

/// So many followers a guide.
pub(crate) fn followers(
    per_guide: usize,
    radius: f32,
    tip_separation: f32,
    seed: u32,
) -> FollowerSettings {
    FollowerSettings {
        per_guide,
        radius,
        tip_separation,
        seed,
        ..FollowerSettings::default()
    }
}

pub(crate) fn line(from: [f32; 3], step: [f32; 3], vertices: usize) -> Vec<[f32; 3]> {
    let at = |i: usize| [0, 1, 2].map(|c| from[c] + step[c] * i as f32);
    (0..vertices).map(at).collect()
}

/// Strands that stand on a ball around the origin, spread evenly; lengths differ.
pub(crate) fn on_ball(radius: f32, count: usize, vertices: usize) -> (Strands, Vec<[f32; 3]>) {
    let strands = Strands::new(vec![vertices; count]).expect("valid");
    let mut rest = Vec::new();
    for i in 0..count {
        let y = 1.0 - 0.9 * (i as f32 + 0.5) / count as f32;
        let (r, a) = ((1.0 - y * y).sqrt(), i as f32 * 2.399_963);
        let out = [r * a.cos(), y, r * a.sin()];
        let length = 0.1 + 0.1 * (i % 7) as f32 / 7.0;
        let step = out.map(|c| c * length / (vertices - 1) as f32);
        rest.extend(line(out.map(|c| c * radius), step, vertices));
    }
    (strands, rest)
}

pub(crate) fn turned(axis: Vec3<f32>, angle: f32, translation: Vec3<f32>) -> Affine<f32> {
    let rotation = Quat::from_axis_angle(&sinew_geom::nalgebra::Unit::new_normalize(axis), angle);
    Affine::from_trs(translation, rotation, Vec3::new(1.0, 1.0, 1.0))
}

/// Time of a full swing from the upward zero crossings of samples `dt` apart.
pub(crate) fn period(samples: &[f64], dt: f64) -> f64 {
    let mut crossings = Vec::new();
    for (i, w) in samples.windows(2).enumerate() {
        if w[0] < 0.0 && w[1] >= 0.0 {
            crossings.push((i as f64 + w[0] / (w[0] - w[1])) * dt);
        }
    }
    let count = crossings.len();
    assert!(count >= 2, "{count} crossings");
    (crossings[count - 1] - crossings[0]) / (count - 1) as f64
}

/// No forces at all.
pub(crate) fn bare() -> HairSettings {
    HairSettings {
        damping_per_sec: 0.0,
        gravity: [0.0; 3],
        global_stiffness_hz: 0.0,
        local_stiffness_hz: 0.0,
        root_motion_share: 0.0,
        ..HairSettings::default()
    }
}
