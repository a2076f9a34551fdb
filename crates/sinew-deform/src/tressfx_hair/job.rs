//! One frame by the rules of TressFX 4.1, quirks included.
//!
//! Each guide runs the stages of [`ORDER`] on its own. Followers are then copied from guides that have not collided, and collide by
//! themselves; guides collide last. This is the order of the shaders of TressFX 4.1. All numbers are per frame, so that the frame rate
//! changes the result.
//!
//! | quirk | effect |
//! |---|---|
//! | the matrix of the root is read as a rotation | blended matrices scale the bends |
//! | wind acts against its direction, by the square of a segment's length | hardly visible |
//! | a displacement above the limit becomes `limit^2 / displacement` | the faster, the less motion is kept |
//! | collision sets the previous position to the new one | hair sticks |

use super::TressFxState;
use crate::collide::{Collider, GradientMode, PerStrand, tressfx_response, turn, unit_or};
use crate::hair_sim::{BoundVertex, HairBind, HairError};
use crate::{Par, for_each_chunk};
use sinew_geom::{Affine, Mat3, PackedAffine, Quat, Real, Vec3};

/// Parameters as TressFX has them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct TressFxSettings {
    /// Per 1/60 s: velocity kept is `exp(-60 damping h)`.
    pub damping: f32,
    /// Downwards, length per second squared.
    pub gravity: f32,
    /// Share of the way to the skinned rest position, per step.
    pub global_stiffness: f32,
    /// Share of the vertices, from the root, that it applies to.
    pub global_range: f32,
    /// Of the rest bend; limited to 0.95 and halved.
    pub local_stiffness: f32,
    /// Passes over rest bends.
    pub local_iterations: usize,
    /// Passes over lengths.
    pub length_iterations: usize,
    /// Share of the root's motion handed to all vertices.
    pub shock_coefficient: f32,
    /// Where vertex 1 accelerates by more than this length per frame squared, all of it is.
    pub shock_threshold: f32,
    /// Distance of followers grows by this factor: `1 + tip_separation * i / n`.
    pub tip_separation: f32,
    /// Strength of the wind.
    pub wind_magnitude: f32,
    /// Unit vector.
    pub wind_direction: [f32; 3],
    /// How gradients are taken.
    pub gradient: GradientMode,
}

impl Default for TressFxSettings {
    fn default() -> Self {
        Self {
            damping: 0.08,
            gravity: 0.0,
            global_stiffness: 0.0,
            global_range: 0.0,
            local_stiffness: 0.9,
            local_iterations: 2,
            length_iterations: 2,
            shock_coefficient: 0.8,
            shock_threshold: 1.4,
            tip_separation: 0.0,
            wind_magnitude: 0.0,
            wind_direction: [1.0, 0.0, 0.0],
            gradient: GradientMode::Forward,
        }
    }
}

impl TressFxSettings {
    /// Seconds of a frame that are simulated.
    pub(super) fn step_secs(&self, dt_secs: f32) -> f32 {
        dt_secs.clamp(0.0, LONGEST_STEP)
    }

    /// Share of the velocity that a frame of `h` seconds keeps.
    pub(super) fn kept<R: Real>(&self, h: R) -> R {
        (R::from_double(-60.0) * R::from_single(self.damping) * h).exp()
    }

    /// Way along Y that gravity adds in a frame.
    pub(super) fn fall<R: Real>(&self, h: R) -> R {
        -R::from_single(self.gravity) * h * h
    }

    /// Share of the way to the rest bend that each side goes in a pass.
    pub(super) fn bend_share(&self) -> f32 {
        0.5 * self.local_stiffness.min(0.95)
    }

    /// Wind of that strength on the strands at both ends of the mix.
    pub(super) fn winds(&self, strength: f64) -> [Vec3<f64>; 2] {
        let direction = f64::vec3(self.wind_direction);
        let axis = Vec3::x().cross(&direction);
        // The sine alone: beyond a right angle the rotation is too small, and -X counts as +X.
        let aim = match sinew_geom::nalgebra::Unit::try_new(axis, 1e-9) {
            Some(unit) => Quat::from_axis_angle(&unit, axis.norm().min(1.0).asin()),
            None => Quat::identity(),
        };
        let angle = WIND_ANGLE_DEGREES.to_radians();
        let corner = |axis: &sinew_geom::nalgebra::Unit<Vec3<f64>>, angle: f64| {
            aim * (Quat::from_axis_angle(axis, angle) * Vec3::x()) * strength
        };
        let (y, z) = (Vec3::y_axis(), Vec3::z_axis());
        [angle, -angle].map(|angle| corner(&y, angle) + corner(&z, angle))
    }
}

/// A part of the step of one strand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Integrate,
    Shock,
    LocalShape,
    Wind,
    Length,
    Tangents,
    Clamp,
}

/// The TressFX order. Followers and collision, which see all strands, come behind it.
const ORDER: [Stage; 7] = [
    Stage::Integrate,
    Stage::Shock,
    Stage::LocalShape,
    Stage::Wind,
    Stage::Length,
    Stage::Tangents,
    Stage::Clamp,
];

/// Longest step, in seconds.
const LONGEST_STEP: f32 = 0.05;
/// Longest way a frame, whatever the settings say.
const CLAMP: f64 = 20.0;
/// Angle of the four winds around the direction, in degrees.
const WIND_ANGLE_DEGREES: f64 = 40.0;
/// Strands after which the mix of winds repeats.
pub(super) const WIND_PERIOD: usize = 20;
/// Angle of the wind's pulse that a frame adds, radians.
pub(super) const PULSE_PER_FRAME: f64 = 0.01;
/// Vertices at the root that do not collide.
pub(super) const EXEMPT: usize = 2;
/// Strands in one task.
const CHUNK: usize = 64;

/// One frame by the TressFX rules.
#[derive(Debug)]
pub(crate) struct TressFxJob<'a, R: Real = f32> {
    /// From setup.
    pub bind: &'a HairBind,
    /// For each strand the skin's transform at its root; those of followers are not read.
    pub transforms: &'a [PackedAffine],
    /// Frame time, of which no more than 0.05 s are simulated.
    pub dt_secs: f32,
    /// Parameters.
    pub settings: &'a TressFxSettings,
    /// Solids, taken where they are at the frame's end; all hair meets all of them.
    pub colliders: &'a [Collider<'a>],
    /// Distance kept from each collider, in cells of its grid; none from those behind the list's end, nor from planes.
    pub margins_cells: &'a [f32],
    /// From [`TressFxState::new`] of the same bind.
    pub state: &'a mut TressFxState<R>,
    /// Positions of all vertices, guides and followers.
    pub positions: &'a mut [[f32; 3]],
    /// Tangents of all vertices; `None`: not wanted. Zero where a segment has no length.
    pub tangents: Option<&'a mut [[f32; 3]]>,
    /// Threads.
    pub par: Par,
}

impl<R: Real> TressFxJob<'_, R> {
    /// Simulates the frame.
    ///
    /// # Errors
    /// [`HairError`] where lengths do not fit what was bound; nothing changes then.
    pub(crate) fn run(self) -> Result<(), HairError> {
        self.check()?;
        let bind = self.bind;
        let state = self.state;
        let frame = Frame {
            bind,
            transforms: self.transforms,
            settings: self.settings,
            colliders: self.colliders,
            margins_cells: self.margins_cells,
            h: R::from_single(self.settings.step_secs(self.dt_secs)),
            frame: state.frame,
            reset: state.resets > 0,
        };
        let offsets = bind.offsets.as_slice();
        let outputs = (
            part_of(offsets, &mut state.now),
            part_of(offsets, &mut state.last),
            part_of(offsets, &mut state.before_last),
            part_of(offsets, &mut state.tangents),
        );
        let guides = bind.guide_count();
        for_each_chunk(self.par, guides, CHUNK, outputs, &|range, out| {
            let (mut now, mut last, mut before, mut tangents) = out;
            for (i, guide) in range.enumerate() {
                frame.step(
                    guide,
                    &mut Guide {
                        bound: bind.guide_vertices(guide),
                        now: now.strand(i),
                        last: last.strand(i),
                        before_last: before.strand(i),
                        tangents: tangents.strand(i),
                    },
                );
            }
        });
        let strands = bind.strands();
        let all = strands.offsets();
        let outputs = (
            part_of(all, self.positions),
            self.tangents.map(|t| part_of(all, t)),
        );
        let (now, tangents) = (&state.now, &state.tangents);
        for_each_chunk(self.par, strands.len(), CHUNK, outputs, &|range, out| {
            let (mut p, mut t) = out;
            for (i, strand) in range.enumerate() {
                frame.write(strand, now, p.strand(i));
                if let Some(t) = &mut t {
                    let lead = &tangents[bind.guide_range(bind.guide_of[strand] as usize)];
                    for (to, from) in t.strand(i).iter_mut().zip(lead) {
                        *to = R::array3(*from);
                    }
                }
            }
        });
        // Guides collide behind their followers, which are made from guides that have not.
        let outputs = (
            part_of(offsets, &mut state.now),
            part_of(offsets, &mut state.last),
        );
        for_each_chunk(
            self.par,
            guides,
            CHUNK,
            outputs,
            &|range, (mut now, mut last)| {
                for i in 0..range.len() {
                    for (x, old) in now.strand(i).iter_mut().zip(last.strand(i)).skip(EXEMPT) {
                        if let Some(out) = frame.collided(R::array3(*x)) {
                            *x = R::vec3(out);
                            *old = *x;
                        }
                    }
                }
            },
        );
        state.frame = state.frame.wrapping_add(1);
        state.resets = state.resets.saturating_sub(1);
        Ok(())
    }

    fn check(&self) -> Result<(), HairError> {
        let (found, expected) = (self.transforms.len(), self.bind.strands.len());
        if found != expected {
            return Err(HairError::Transforms { found, expected });
        }
        let expected = self.bind.vertex_count();
        let tangents = self.tangents.as_ref().map_or(expected, |t| t.len());
        let outputs = [("positions", self.positions.len()), ("tangents", tangents)];
        for (output, found) in outputs {
            if found != expected {
                return Err(HairError::Output {
                    output,
                    found,
                    expected,
                });
            }
        }
        if self.state.now.len() != self.bind.guide_vertex_count() {
            return Err(HairError::State);
        }
        Ok(())
    }
}

fn part_of<'a, T>(offsets: &'a [u32], items: &'a mut [T]) -> PerStrand<'a, T> {
    PerStrand { offsets, items }
}

struct Frame<'a, R: Real> {
    bind: &'a HairBind,
    transforms: &'a [PackedAffine],
    settings: &'a TressFxSettings,
    colliders: &'a [Collider<'a>],
    margins_cells: &'a [f32],
    h: R,
    frame: u32,
    reset: bool,
}

/// One guide.
struct Guide<'a, R: Real> {
    bound: &'a [BoundVertex],
    now: &'a mut [Vec3<R>],
    last: &'a mut [Vec3<R>],
    before_last: &'a mut [Vec3<R>],
    tangents: &'a mut [Vec3<R>],
}

impl<R: Real> Guide<'_, R> {
    fn movable(&self, i: usize) -> bool {
        self.bound[i].inverse_mass > 0.0
    }
}

impl<R: Real> Frame<'_, R> {
    fn step(&self, guide: usize, strand: &mut Guide<'_, R>) {
        let root = R::vec3(self.bind.roots[guide]);
        let skin: Affine<R> = self.transforms[self.bind.guides[guide] as usize].unpack();
        let rest = |b: &BoundVertex| root + R::vec3(b.offset);
        if self.reset {
            for (i, b) in strand.bound.iter().enumerate() {
                strand.now[i] = skin.point(rest(b));
                strand.last[i] = strand.now[i];
            }
        }
        for stage in ORDER {
            match stage {
                Stage::Integrate => self.integrate(strand, &skin, root),
                Stage::Shock => self.shock(strand),
                Stage::LocalShape => {
                    let turned = quaternion_of(&skin.linear);
                    for _ in 0..self.settings.local_iterations {
                        self.local_shape(strand, &turned);
                    }
                }
                Stage::Wind => self.wind(strand, guide),
                Stage::Length => {
                    for _ in 0..self.settings.length_iterations {
                        lengths(strand, 0);
                        lengths(strand, 1);
                    }
                }
                Stage::Tangents => tangents(strand),
                Stage::Clamp => clamp(strand),
            }
        }
    }

    fn integrate(&self, strand: &mut Guide<'_, R>, skin: &Affine<R>, root: Vec3<R>) {
        let s = self.settings;
        let kept = s.kept(self.h);
        let fall = Vec3::new(R::zero(), s.fall(self.h), R::zero());
        let global = s.global_stiffness > 0.0 && s.global_range != 0.0;
        let reach = s.global_range * strand.now.len() as f32;
        for i in 0..strand.now.len() {
            let goal = skin.point(root + R::vec3(strand.bound[i].offset));
            let (p, old) = (strand.now[i], strand.last[i]);
            let mut x = goal;
            if strand.movable(i) {
                x = p + (p - old) * kept + fall;
                if global && (i as f32) < reach {
                    x += (goal - x) * R::from_single(s.global_stiffness);
                }
            }
            strand.before_last[i] = old;
            strand.last[i] = p;
            strand.now[i] = x;
        }
    }

    fn shock(&self, strand: &mut Guide<'_, R>) {
        let (now, last) = (&*strand.now, &*strand.last);
        let from = unit_or(last[1] - last[0], Vec3::y());
        let to = unit_or(now[1] - now[0], Vec3::y());
        let rotation = shortest_arc(from, to);
        let shift = now[0] - turn(&rotation, last[0]);
        let jerk = (now[1] - last[1] * R::from_double(2.0) + strand.before_last[1]).norm();
        let share = if jerk > R::from_single(self.settings.shock_threshold) {
            R::one()
        } else {
            R::from_single(self.settings.shock_coefficient)
        };
        let moved = |x: Vec3<R>| x * (R::one() - share) + (turn(&rotation, x) + shift) * share;
        for i in 2..strand.now.len() {
            strand.now[i] = moved(strand.now[i]);
            strand.last[i] = moved(strand.last[i]);
        }
    }

    fn local_shape(&self, strand: &mut Guide<'_, R>, skin: &Quat<R>) {
        let stiffness = R::from_single(self.settings.bend_share());
        let rest = |i: usize| R::vec3(strand.bound[i].offset);
        for i in 1..strand.now.len() - 1 {
            let before = turn(skin, rest(i) - rest(i - 1));
            let after = turn(skin, rest(i + 1) - rest(i));
            let now = strand.now[i] - strand.now[i - 1];
            let from = unit_or(before, Vec3::y());
            let rotation = shortest_arc(from, unit_or(now, from));
            let goal = strand.now[i] + turn(&rotation, after);
            let change = (goal - strand.now[i + 1]) * stiffness;
            if strand.movable(i) {
                strand.now[i] -= change;
            }
            if strand.movable(i + 1) {
                strand.now[i + 1] += change;
            }
        }
    }

    /// As shipped: against the wind, and so weak in metres that nothing is seen.
    fn wind(&self, strand: &mut Guide<'_, R>, guide: usize) {
        if self.settings.wind_magnitude == 0.0 {
            return;
        }
        let w = self.wind_of(guide);
        let squared = self.h * self.h;
        for i in 2..strand.now.len() - 1 {
            let e = strand.now[i] - strand.now[i + 1];
            strand.now[i] -= e.cross(&w).cross(&e) * squared;
        }
    }

    fn wind_of(&self, guide: usize) -> Vec3<R> {
        let s = self.settings;
        let pulse = (PULSE_PER_FRAME * f64::from(self.frame)).sin().powi(2) + 0.5;
        let strength = f64::from(s.wind_magnitude) * pulse;
        let [first, second] = s.winds(strength);
        let a = (guide % WIND_PERIOD) as f64 / WIND_PERIOD as f64;
        (first * a + second * (1.0 - a)).map(R::from_double)
    }

    fn write(&self, strand: usize, now: &[Vec3<R>], points: &mut [[f32; 3]]) {
        let bind = self.bind;
        let lead = &now[bind.guide_range(bind.guide_of[strand] as usize)];
        let first = bind.strands.range(strand).start;
        let offset = R::vec3(bind.segments[first]);
        let part = |i: usize| i as f32 / lead.len() as f32;
        for (i, (point, &x)) in points.iter_mut().zip(lead).enumerate() {
            let size = R::from_single(1.0 + self.settings.tip_separation * part(i));
            *point = R::array3(x + offset * size);
            if i >= EXEMPT
                && let Some(out) = self.collided(*point)
            {
                *point = out;
            }
        }
    }

    fn collided(&self, point: [f32; 3]) -> Option<[f32; 3]> {
        let s = self.settings;
        let mut found = None;
        for (i, collider) in self.colliders.iter().enumerate() {
            let to = collider.motion.to();
            let at = Vec3::from(found.unwrap_or(point));
            let local = to.inverse_point(at);
            let cell = collider.shape.feature_size();
            let margin = match self.margins_cells.get(i) {
                Some(cells) if cell.is_finite() => cells * cell,
                _ => 0.0,
            };
            if let Some(out) = tressfx_response(collider.shape, local.into(), margin, s.gradient) {
                found = Some(to.point(Vec3::from(out)).into());
            }
        }
        found
    }
}

/// All edges from `first` on, every second one.
fn lengths<R: Real>(strand: &mut Guide<'_, R>, first: usize) {
    for i in (first..strand.now.len() - 1).step_by(2) {
        let e = strand.now[i + 1] - strand.now[i];
        let length = R::from_single(strand.bound[i + 1].length);
        let change = e * (R::one() - length / e.norm().max(R::from_double(1e-7)));
        let half = R::from_double(0.5);
        let (a, b) = match (strand.movable(i), strand.movable(i + 1)) {
            (true, true) => (half, half),
            (true, false) => (R::one(), R::zero()),
            (false, true) => (R::zero(), R::one()),
            (false, false) => continue,
        };
        strand.now[i] += change * a;
        strand.now[i + 1] -= change * b;
    }
}

fn tangents<R: Real>(strand: &mut Guide<'_, R>) {
    let last = strand.now.len() - 1;
    for i in 0..=last {
        let k = i.min(last - 1);
        strand.tangents[i] = unit_or(strand.now[k + 1] - strand.now[k], Vec3::zeros());
    }
}

/// Over-damps as TressFX does: what moves farther than the limit keeps the less, the faster it was.
fn clamp<R: Real>(strand: &mut Guide<'_, R>) {
    let limit = R::from_double(CLAMP);
    for (p, old) in strand.now.iter_mut().zip(strand.last.iter_mut()) {
        let way = *p - *old;
        let squared = way.norm_squared();
        if squared > limit * limit {
            let way = way * (limit * limit / squared);
            *p = *old + way;
            *old = *p - way;
        }
    }
}

/// The quaternion of a matrix read as if it were a rotation, scaled to unit length.
fn quaternion_of<R: Real>(m: &Mat3<R>) -> Quat<R> {
    let two = R::from_double(2.0);
    let quarter = R::from_double(0.25);
    let trace = m.trace();
    let q = if trace > R::zero() {
        let s = (trace + R::one()).sqrt() * two;
        [
            quarter * s,
            (m.m32 - m.m23) / s,
            (m.m13 - m.m31) / s,
            (m.m21 - m.m12) / s,
        ]
    } else if m.m11 > m.m22 && m.m11 > m.m33 {
        let s = (R::one() + m.m11 - m.m22 - m.m33)
            .max(R::from_double(1e-12))
            .sqrt()
            * two;
        [
            (m.m32 - m.m23) / s,
            quarter * s,
            (m.m12 + m.m21) / s,
            (m.m13 + m.m31) / s,
        ]
    } else if m.m22 > m.m33 {
        let s = (R::one() + m.m22 - m.m11 - m.m33)
            .max(R::from_double(1e-12))
            .sqrt()
            * two;
        [
            (m.m13 - m.m31) / s,
            (m.m12 + m.m21) / s,
            quarter * s,
            (m.m23 + m.m32) / s,
        ]
    } else {
        let s = (R::one() + m.m33 - m.m11 - m.m22)
            .max(R::from_double(1e-12))
            .sqrt()
            * two;
        [
            (m.m21 - m.m12) / s,
            (m.m13 + m.m31) / s,
            (m.m23 + m.m32) / s,
            quarter * s,
        ]
    };
    Quat::new_normalize(sinew_geom::nalgebra::Quaternion::new(
        q[0], q[1], q[2], q[3],
    ))
}

/// The rotation by the smallest angle from one unit vector to another; half a turn about any axis where they are opposite.
fn shortest_arc<R: Real>(from: Vec3<R>, to: Vec3<R>) -> Quat<R> {
    let cosine = R::one() + from.dot(&to);
    if cosine < R::from_double(1e-6) {
        let other = if from.x.abs() < R::from_double(0.7) {
            Vec3::x()
        } else {
            Vec3::y()
        };
        return Quat::new_normalize(sinew_geom::nalgebra::Quaternion::from_parts(
            R::zero(),
            from.cross(&other),
        ));
    }
    // The quaternion (1 + cos, from x to) has the squared length 2 (1 + cos).
    let inverse = R::one() / (cosine + cosine).sqrt();
    let axis = from.cross(&to) * inverse;
    Quat::new_unchecked(sinew_geom::nalgebra::Quaternion::from_parts(
        cosine * inverse,
        axis,
    ))
}
