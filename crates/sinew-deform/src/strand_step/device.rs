//! What strands are worked on with on the GPU: a team of invocations for each strand, one a vertex.
//!
//! Invocations keep their vertex in registers and tell each other 112 bytes a vertex through memory of the workgroup. Where solids are,
//! energies and trials go side by side; the recursion along the strand is done by one invocation for each team of the group, all of them
//! neighbours.

/// Invocations of a group: no strand has more vertices.
pub(crate) const GROUP: usize = 128;
/// Smallest team: there is one invocation for each solid.
const LEAST_TEAM: usize = 8;

/// How the invocations of a group share strands.
#[derive(Clone, Copy)]
pub(crate) struct Teams {
    lanes: usize,
}

impl Teams {
    /// For strands of so many vertices at most; `None` where that is too many.
    pub(crate) fn new(longest: usize) -> Option<Self> {
        let lanes = longest.next_power_of_two().max(LEAST_TEAM);
        (lanes <= GROUP).then_some(Self { lanes })
    }
    /// Groups of that many strands.
    pub(crate) fn groups(self, strands: usize) -> usize {
        strands.div_ceil(GROUP / self.lanes)
    }
    /// Constants of the texts below.
    pub(crate) fn settings(self) -> [(&'static str, usize); 2] {
        [
            ("STRAND_LANES", self.lanes),
            ("STRAND_TEAMS", GROUP / self.lanes),
        ]
    }
}
