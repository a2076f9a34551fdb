//! What setup keeps of the vertices that move: eight side by side, as the kernels read them.

/// Vertices that are computed together.
pub(super) const LANES: usize = 8;
/// Vertices that one call of a kernel writes; no block goes across a multiple of it.
pub(super) const CHUNK: usize = 4096;

/// Numbers of eight vertices.
pub(super) type Lanes = [f32; LANES];

/// Up to eight vertices.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Block {
    /// Rising; the last one repeated behind the end.
    pub(super) vertices: [u32; LANES],
    /// How many there are.
    pub(super) len: usize,
    /// Where its joints begin in [`Blocks::joints`], and where they end.
    pub(super) joints: [usize; 2],
}

/// A driver joint and how much of it each vertex of a block sees.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct SeenJoint {
    pub(super) joint: usize,
    pub(super) weights: Lanes,
}

/// Coefficients of one attribute: block after block, pose after pose, three coordinates of eight vertices each. Empty where no target
/// changes the attribute.
pub(super) type Coefficients = Vec<[Lanes; 3]>;

/// All vertices that move.
#[derive(Clone, Debug, Default)]
pub(super) struct Blocks {
    pub(super) blocks: Vec<Block>,
    pub(super) joints: Vec<SeenJoint>,
    pub(super) positions: Coefficients,
    pub(super) normals: Coefficients,
    pub(super) tangents: Coefficients,
}

/// What a vertex sees: driver joints, rising, and their weights, which add up to one.
pub(super) type Row = Vec<(usize, f32)>;

impl Blocks {
    /// Places for vertices, which must rise, with coefficients of zero. `changed` says which of positions, normals and tangents need any.
    pub(super) fn new(vertices: &[(u32, &Row)], pose_count: usize, changed: [bool; 3]) -> Self {
        let mut out = Self::default();
        let mut rest = vertices;
        while let Some(&(first, _)) = rest.first() {
            let chunk = first as usize / CHUNK;
            let same = rest.iter().take(LANES);
            let len = same
                .take_while(|(v, _)| *v as usize / CHUNK == chunk)
                .count();
            let (now, later) = rest.split_at(len);
            out.push(now);
            rest = later;
        }
        let count = out.blocks.len() * pose_count;
        let [positions, normals, tangents] =
            changed.map(|is| vec![[[0.0; LANES]; 3]; if is { count } else { 0 }]);
        (out.positions, out.normals, out.tangents) = (positions, normals, tangents);
        out
    }

    fn push(&mut self, members: &[(u32, &Row)]) {
        let begin = self.joints.len();
        let seen = members.iter().flat_map(|(_, row)| row.iter());
        let mut joints: Vec<usize> = seen.map(|(joint, _)| *joint).collect();
        joints.sort_unstable();
        joints.dedup();
        for joint in joints {
            let mut weights = [0.0; LANES];
            for (weight, (_, row)) in weights.iter_mut().zip(members) {
                let found = row.iter().find(|(j, _)| *j == joint);
                *weight = found.map_or(0.0, |(_, w)| *w);
            }
            self.joints.push(SeenJoint { joint, weights });
        }
        let last = members.last().map_or(0, |(v, _)| *v);
        let vertex = |lane: usize| members.get(lane).map_or(last, |(v, _)| *v);
        self.blocks.push(Block {
            vertices: std::array::from_fn(vertex),
            len: members.len(),
            joints: [begin, self.joints.len()],
        });
    }

    /// Block and lane of each vertex, in the order that [`Self::new`] got them in.
    pub(super) fn places(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        let blocks = self.blocks.iter().enumerate();
        blocks.flat_map(|(b, block)| (0..block.len).map(move |lane| (b, lane)))
    }

    /// Block and lane of a vertex; `None` where it does not move.
    pub(super) fn place(&self, vertex: usize) -> Option<(usize, usize)> {
        let block = self.first_from(vertex + 1).checked_sub(1)?;
        let found = &self.blocks[block];
        let mut vertices = found.vertices[..found.len].iter();
        let lane = vertices.position(|&v| v as usize == vertex)?;
        Some((block, lane))
    }

    /// The first block whose vertices are all `vertex` or later.
    pub(super) fn first_from(&self, vertex: usize) -> usize {
        self.blocks
            .partition_point(|b| (b.vertices[0] as usize) < vertex)
    }

    /// What the vertex at a place sees.
    pub(super) fn row(&self, block: usize, lane: usize) -> impl Iterator<Item = (usize, f32)> + '_ {
        let [begin, end] = self.blocks[block].joints;
        let seen = self.joints[begin..end].iter();
        seen.map(move |s| (s.joint, s.weights[lane]))
            .filter(|(_, w)| *w != 0.0)
    }

    pub(super) fn bytes(&self) -> usize {
        size_of_val(self.blocks.as_slice())
            + size_of_val(self.joints.as_slice())
            + size_of_val(self.positions.as_slice())
            + size_of_val(self.normals.as_slice())
            + size_of_val(self.tangents.as_slice())
    }
}
