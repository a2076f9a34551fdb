//! Strands that something else moves are led around solids: from root to tip, each segment towards where its end should be, and turned out
//! of what it then is in. Lengths stay, and what a turn moves dies away along the strand. What should be deep in a solid, or on both
//! sides of it, comes out on one side.

use super::look::{UNKNOWN, lane_of};
use super::number::{Lanes, Number};
use super::strand::Step;
use super::vertex::Vertex;
use sinew_geom::{Quat, Vec3};

/// Points of a segment that are looked at, at most.
const LOOKS: usize = 24;
/// How often a segment is turned.
const TURNS: usize = 8;
/// A segment that points straight at a surface (this sine and less) is turned aside any way.
const HEAD_ON: f64 = 0.05;
/// Depth that counts as none, metres.
const NONE: f64 = 1e-5;
/// Places closer than this are the same.
const SAME: f64 = 1e-7;

/// A surface that a segment is in.
struct Hit {
    normal: Vec3<f64>,
    depth: f64,
    /// From the beginning of the segment to the point that is so deep, metres.
    lever: f64,
}

impl<N: Number> Step<'_, '_, N> {
    /// Leads the strands whose bit is set.
    pub(super) fn lead(&self, vertices: &mut [Vertex<N::Stored>], lanes: u8) {
        for lane in (0..N::Stored::LANES).filter(|lane| (lanes >> lane) & 1 != 0) {
            let mut pivot = Vec3::zeros();
            for v in &mut *vertices {
                if v.free.get(lane) > 0.0 {
                    pivot = self.lead_segment(v, pivot, lane);
                } else {
                    pivot = Vec3::from(lane_of(&v.x, lane));
                }
            }
        }
    }

    /// Turns the segment that begins at `pivot`; returns where it ends.
    fn lead_segment(&self, v: &mut Vertex<N::Stored>, pivot: Vec3<f64>, lane: usize) -> Vec3<f64> {
        let length = v.length.get(lane) * self.scale_of(lane);
        if length <= 0.0 {
            (0..3).for_each(|k| v.x[k].set(lane, pivot[k]));
            return pivot;
        }
        let [x, y, z, w] = [0, 1, 2, 3].map(|k: usize| v.turn[k].get(lane));
        let turn = Quat::new_unchecked(sinew_geom::nalgebra::Quaternion::new(w, x, y, z));
        let was = turn * Vec3::x();
        let to = held(v, lane) - pivot;
        let mut along = to.try_normalize(1e-12).unwrap_or(was);
        // The surface that a blocked way met.
        if v.contact.on.get(lane) > 0.0 {
            let normal = Vec3::from(lane_of(&v.contact.normal, lane));
            let gap = normal.dot(&(pivot + along * length)) + v.contact.offset.get(lane);
            let hit = Hit {
                normal,
                depth: -gap,
                lever: length,
            };
            if hit.depth > NONE {
                along = hit.turned_out(along);
            }
        }
        let way = v.way.get(lane) * self.scale_of(lane) - length;
        for _ in 0..TURNS {
            let Some(hit) = self.deepest(pivot, along * length, (way, lane)) else {
                break;
            };
            along = hit.turned_out(along);
        }
        // What nothing turned keeps its bits.
        if (pivot + along * length - Vec3::from(lane_of(&v.x, lane))).norm() < SAME {
            return Vec3::from(lane_of(&v.x, lane));
        }
        let turn = Quat::rotation_between(&was, &along).unwrap_or_default() * turn;
        let end = pivot + along * length;
        for k in 0..3 {
            v.turn[k].set(lane, turn.coords[k]);
            v.x[k].set(lane, end[k]);
        }
        v.turn[3].set(lane, turn.w);
        v.room.set(lane, UNKNOWN);
        end
    }

    fn scale_of(&self, lane: usize) -> f64 {
        let mut stored = N::Stored::default();
        self.scale.store(&mut stored);
        stored.get(lane)
    }

    /// The deepest of some points of a segment that begins `way` behind the last pin.
    fn deepest(
        &self,
        from: Vec3<f64>,
        segment: Vec3<f64>,
        (way, lane): (f64, usize),
    ) -> Option<Hit> {
        let length = segment.norm();
        let mut out: Option<Hit> = None;
        // From its end, with steps that the distance allows, or half of the smallest detail.
        let detail = self
            .solids
            .iter()
            .fold(f64::INFINITY, |least, s| least.min(s.detail));
        let mut lever = length;
        for _ in 0..LOOKS {
            let point: [f64; 3] = (from + segment * (lever / length)).into();
            let found = self.nearest(point, way + lever, lane);
            if -found.gap > out.as_ref().map_or(NONE, |hit| hit.depth) {
                out = Some(Hit {
                    normal: Vec3::from(found.normal),
                    depth: -found.gap,
                    lever,
                });
            }
            lever -= found.gap.max(0.5 * detail);
            if lever <= 0.1 * length {
                break;
            }
        }
        out
    }
}

/// Where a vertex should be, less for what friction takes back of its way along the surface: up to its coefficient times the depth.
fn held<L: Lanes>(v: &Vertex<L>, lane: usize) -> Vec3<f64> {
    let goal = Vec3::from(lane_of(&v.goal, lane));
    let most = -v.contact.gap.get(lane) * v.contact.friction.get(lane);
    let normal = Vec3::from(lane_of(&v.contact.normal, lane));
    let way = goal - Vec3::from(lane_of(&v.anchor, lane));
    let slide = way - normal * normal.dot(&way);
    let size = slide.norm();
    if v.contact.on.get(lane) > 0.0 && most > 0.0 && size > 0.0 {
        goal - slide * (most / size).min(1.0)
    } else {
        goal
    }
}

impl Hit {
    /// A direction turned until it is out of the surface, taken for flat; as far as that goes.
    fn turned_out(&self, along: Vec3<f64>) -> Vec3<f64> {
        if self.depth <= 0.0 || self.lever <= 0.0 {
            return along;
        }
        let sine = along.dot(&self.normal);
        let level = along - self.normal * sine;
        let aside = match level.norm() {
            size if size >= HEAD_ON => level / size,
            _ => across(self.normal),
        };
        let rise = (sine + self.depth / self.lever).clamp(-1.0, 1.0);
        self.normal * rise + aside * (1.0 - rise * rise).max(0.0).sqrt()
    }
}

/// Any unit vector across a unit vector.
fn across(v: Vec3<f64>) -> Vec3<f64> {
    let other = if v.x.abs() < 0.7 {
        Vec3::x()
    } else {
        Vec3::y()
    };
    v.cross(&other).normalize()
}
