//! Influences as the fast kernel reads them: eight consecutive vertices share one list of joints.
//!
//! Neighbours in a vertex buffer mostly follow the same few joints, so that the list of a block is hardly longer than
//! that of one vertex, and each number of a joint's matrix is loaded once for eight vertices instead of once for each.

use super::bind::many_row;
use sinew_geom::Influences;

/// Vertices in a block.
pub(crate) const LANES: usize = 8;

/// Joints that a block may have on average before rows for each vertex are cheaper.
const WORTH_IT: usize = 14;

/// All blocks of a mesh. The last one is filled up with copies of the last vertex.
#[derive(Clone, Debug, Default)]
pub(crate) struct Blocks {
    offsets: Vec<u32>,
    joints: Vec<u32>,
    weights: Vec<[f32; LANES]>,
    strongest: Vec<[u32; LANES]>,
}

/// One block.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Block<'a> {
    /// The joints that any of the vertices follows.
    pub(crate) joints: &'a [u32],
    /// What each vertex takes of them.
    pub(crate) weights: &'a [[f32; LANES]],
    /// The strongest joint of each vertex.
    pub(crate) strongest: &'a [u32; LANES],
}

impl Blocks {
    /// From rows that each have at least one influence. None where vertices side by side follow so many different
    /// joints that blocks do not pay.
    pub(crate) fn new(influences: &Influences, strongest_only: bool) -> Option<Self> {
        let count = influences.vertex_count();
        let block_count = count.div_ceil(LANES);
        let mut this = Self {
            offsets: vec![0],
            ..Self::default()
        };
        for block in 0..block_count {
            let first = block * LANES;
            let vertices: [usize; LANES] = std::array::from_fn(|i| (first + i).min(count - 1));
            this.push(influences, vertices, strongest_only);
            if this.joints.len() > WORTH_IT * block_count {
                return None;
            }
        }
        Some(this)
    }

    fn push(&mut self, influences: &Influences, vertices: [usize; LANES], strongest_only: bool) {
        let start = self.joints.len();
        for (lane, &v) in vertices.iter().enumerate() {
            let (joints, weights) = many_row(influences, v);
            let (joints, weights) = if strongest_only {
                (&joints[..1], &[1.0][..])
            } else {
                (joints, weights)
            };
            for (&joint, &weight) in joints.iter().zip(weights) {
                let known = self.joints[start..].iter().position(|&j| j == joint);
                let at = known.map_or(self.joints.len(), |k| start + k);
                if known.is_none() {
                    self.joints.push(joint);
                    self.weights.push([0.0; LANES]);
                }
                self.weights[at][lane] += weight;
            }
        }
        let strongest = vertices.map(|v| many_row(influences, v).0[0]);
        self.strongest.push(strongest);
        self.offsets.push(self.joints.len() as u32);
    }

    /// Block `index`.
    #[inline(always)]
    pub(crate) fn block(&self, index: usize) -> Block<'_> {
        let range = self.offsets[index] as usize..self.offsets[index + 1] as usize;
        Block {
            joints: &self.joints[range.clone()],
            weights: &self.weights[range],
            strongest: &self.strongest[index],
        }
    }

    /// Bytes held.
    pub(crate) fn bytes(&self) -> usize {
        size_of_val(self.offsets.as_slice())
            + size_of_val(self.joints.as_slice())
            + size_of_val(self.weights.as_slice())
            + size_of_val(self.strongest.as_slice())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn influences(rows: &[Vec<(u32, f32)>]) -> Influences {
        let rows = rows.iter().map(Vec::as_slice);
        Influences::from_rows(rows, 1000, 0).expect("valid").0
    }

    #[test]
    fn blocks_hold_every_weight_and_no_other() {
        let rows: Vec<Vec<(u32, f32)>> = (0..21_u32)
            .map(|v| {
                (0..=v % 4)
                    .map(|k| (v / 8 + 2 * k, 0.25 + k as f32))
                    .collect()
            })
            .collect();
        let influences = influences(&rows);
        let blocks = Blocks::new(&influences, false).expect("few joints");
        for v in 0..rows.len() {
            let block = blocks.block(v / LANES);
            let (joints, weights) = many_row(&influences, v);
            let total: f32 = block.weights.iter().map(|w| w[v % LANES]).sum();
            assert!((total - 1.0).abs() < 1e-6, "vertex {v}: {total}");
            for (joint, weight) in joints.iter().zip(weights) {
                let at = block.joints.iter().position(|j| j == joint);
                let at = at.expect("joint is in the list");
                assert_eq!(block.weights[at][v % LANES].to_bits(), weight.to_bits());
            }
            assert_eq!(block.strongest[v % LANES], joints[0], "vertex {v}");
        }
    }

    #[test]
    fn joints_scattered_over_the_buffer_are_not_worth_blocks() {
        let rows: Vec<Vec<(u32, f32)>> = (0..64_u32)
            .map(|v| (0..4).map(|k| ((v * 37 + k * 211) % 1000, 0.25)).collect())
            .collect();
        assert!(Blocks::new(&influences(&rows), false).is_none());
    }
}
