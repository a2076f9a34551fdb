//! Scratch of one group of strands: vertex after vertex, each number of all eight strands together.

use crate::collide::ContactVertex;
use crate::collide::simd::ContactLanes;
use crate::lanes::{Lanes, Lanes3};

/// One vertex of each of eight strands. Names are those of [`super::super::step::WorkVertex`] and [`super::super::bind::BoundVertex`].
#[derive(Clone, Copy, Debug, Default)]
#[repr(C, align(32))]
pub(crate) struct GroupVertex {
    // From setup.
    pub(super) offset: Lanes3,
    pub(super) inverse_mass: Lanes,
    /// At rest; [`super::BEHIND`] behind the tip.
    pub(super) length: Lanes,
    pub(super) arc: Lanes,
    pub(super) lever: Lanes,
    pub(super) bend: Lanes,
    // The same in all steps of a frame.
    /// Direction at rest of the segment that leads here; zero where it has no length.
    pub(super) rest_along: Lanes3,
    /// Strength of the pull to the rest position.
    pub(super) pull: Lanes,
    /// Of the bend before the segment that leads here.
    pub(super) stiffness: Lanes,
    /// What holds back changes of motion of the segment before the one that leads here.
    pub(super) hold: Lanes,
    /// Diagonal of the matrix; its inverse as soon as that is decomposed. The other two are then those of the factor.
    pub(super) diagonal: Lanes,
    pub(super) next: Lanes,
    pub(super) after_next: Lanes,
    // From step to step.
    pub(super) x: Lanes3,
    pub(super) velocity: Lanes3,
    // Within a step.
    /// Where the step found it.
    pub(super) origin: Lanes3,
    /// The same, brought out of what it began in.
    pub(super) start: Lanes3,
    pub(super) moved: Lanes3,
    /// Rest position as the skin has it; later, where the vertex is before the last pass.
    pub(super) goal: Lanes3,
    pub(super) right: Lanes3,
    pub(super) along: Lanes3,
    pub(super) torque: Lanes3,
    /// Of the segment that leads here.
    pub(super) tension: Lanes,
    /// Of the solve for lengths: what is known of the multiplier, and the share of the next one in it.
    pub(super) known: Lanes,
    pub(super) ahead: Lanes,
}

/// Room of one task.
#[derive(Clone, Debug)]
pub(crate) struct GroupRoom {
    pub(super) vertices: Vec<GroupVertex>,
    pub(super) contacts: Vec<ContactLanes>,
    /// Whether these know how far solids are.
    pub(super) knows_distances: bool,
    /// For one strand.
    pub(super) alone: Vec<ContactVertex<f32>>,
}

impl GroupRoom {
    /// For strands of at most so many vertices.
    pub(crate) fn new(longest: usize) -> Self {
        Self {
            vertices: vec![GroupVertex::default(); longest],
            contacts: vec![ContactLanes::default(); longest],
            knows_distances: true,
            alone: vec![ContactVertex::default(); longest],
        }
    }

    /// The first vertices.
    pub(super) fn of(&mut self, longest: usize) -> (&mut [GroupVertex], &mut [ContactLanes]) {
        let vertices = &mut self.vertices[..longest];
        (vertices, &mut self.contacts[..longest])
    }

    /// Forgets how far solids are from the first vertices.
    pub(super) fn forget(&mut self, longest: usize) {
        if std::mem::take(&mut self.knows_distances) {
            let contacts = &mut self.contacts[..longest];
            contacts.iter_mut().for_each(ContactLanes::forget);
        }
    }

    pub(crate) fn bytes(&self) -> usize {
        size_of_val(self.vertices.as_slice())
            + size_of_val(self.contacts.as_slice())
            + size_of_val(self.alone.as_slice())
    }
}
