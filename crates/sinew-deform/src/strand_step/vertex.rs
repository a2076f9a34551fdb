//! One vertex of each strand of a group, and the segment that leads to it, as the step keeps them in memory.

use super::number::Lanes;

/// `L` holds a number of each strand, eight of which are half a cache line. Places are relative to the strand's root and along its axes, at the end of the step.
#[derive(Clone, Copy, Debug, Default)]
#[repr(align(64))]
pub(crate) struct Vertex<L> {
    // Kept from step to step.
    /// Rotation of the segment.
    pub(crate) turn: [L; 4],
    /// Relative to what the strand shares of the root's motion.
    pub(crate) velocity: [L; 3],
    /// Where friction holds the vertex.
    pub(crate) anchor: [L; 3],
    /// Which solid it touches, -1 for none.
    pub(crate) touched: L,
    /// No solid is nearer than this.
    pub(crate) room: L,
    /// How much the vertex is held back, over the stiffness of contacts: see `look.rs`.
    pub(crate) doubt: L,

    // Of setup.
    /// Skinned rest position, at scale 1.
    pub(crate) rest: [L; 3],
    /// Of the segment, at scale 1.
    pub(crate) length: L,
    /// 1 for vertices that move, else 0: pins, and what is behind the tip.
    pub(crate) free: L,
    /// Over the mean.
    pub(crate) mass: L,
    /// Stiffness of the joint before the segment, at scale 1 and a frequency of 1 rad/s.
    pub(crate) bend: L,
    /// Direction of the segment at rest, along the axes of the one before.
    pub(crate) direction: [L; 3],
    /// Fraction of the pull to the rest position.
    pub(crate) pull: L,
    /// 1 for pins behind vertices that move.
    pub(crate) hold: L,
    /// Length of the strand from the last pin to here, at scale 1.
    pub(crate) way: L,
    /// Acceleration by other hair.
    pub(crate) push: [L; 3],

    // Of one step.
    pub(crate) x: [L; 3],
    /// Where the step found it, moved with the root.
    pub(crate) before: [L; 3],
    /// Where inertia, drag and gravity take it.
    pub(crate) goal: [L; 3],
    pub(crate) contact: Contact<L>,
    /// Of a point of the segment.
    pub(crate) segment: Contact<L>,
    /// Normals of the surfaces that were there last, beside the vertex and the segment; zero where none was in this frame.
    pub(crate) seen: [L; 3],
    pub(crate) segment_seen: [L; 3],
    /// 1 if the last look found another surface than the one before.
    pub(crate) is_another: L,
    /// Where speed alone leads, and later the place that is tried.
    pub(crate) trial: [L; 3],
    pub(crate) trial_turn: [L; 4],
    /// How the segment's rotation follows from what is nearer to the root: see `solve.rs`.
    pub(crate) by_move: [[L; 3]; 3],
    pub(crate) by_turn: [[L; 3]; 3],
    pub(crate) step: [L; 3],
}

/// One vertex of eight strands.
pub(crate) type VertexOfEight = Vertex<[f32; 8]>;

impl<L: Lanes> Vertex<L> {
    /// Of strands that nothing moves and that have no length.
    pub(crate) fn still() -> Self {
        let mut out = Self::default();
        for lane in 0..L::LANES {
            out.turn[3].set(lane, 1.0);
            out.direction[0].set(lane, 1.0);
            out.contact.layer.set(lane, 1.0);
            out.segment.layer.set(lane, 1.0);
            out.touched.set(lane, -1.0);
        }
        out
    }
}

/// A solid's surface near a point: the plane where `normal . x + offset` is zero is as far off as the margin says.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Contact<L> {
    pub(crate) normal: [L; 3],
    pub(crate) offset: L,
    /// Weight; 0 where nothing is near.
    pub(crate) on: L,
    /// Thickness of the layer.
    pub(crate) layer: L,
    pub(crate) friction: L,
    /// Which solid.
    pub(crate) solid: L,
    /// Force of friction at most.
    pub(crate) rub: L,
    /// Fraction of the segment at which the point is.
    pub(crate) share: L,
    /// How far the point is from that plane; a bound of it where nothing was looked up.
    pub(crate) gap: L,
}
