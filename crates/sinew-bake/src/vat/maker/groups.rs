//! What belongs together, pair by pair.

/// A forest whose roots are the lowest of their group: union by least number, with halved paths.
pub(crate) struct Groups(Vec<u32>);

impl Groups {
    /// So many, each by itself.
    pub(crate) fn new(count: u32) -> Self {
        Self((0..count).collect())
    }

    /// The lowest of a group.
    pub(crate) fn find(&mut self, mut member: u32) -> u32 {
        while self.0[member as usize] != member {
            let above = self.0[self.0[member as usize] as usize];
            self.0[member as usize] = above;
            member = above;
        }
        member
    }

    /// Makes one group of those of two members.
    pub(crate) fn join(&mut self, a: u32, b: u32) {
        let (a, b) = (self.find(a), self.find(b));
        self.0[a.max(b) as usize] = a.min(b);
    }
}
