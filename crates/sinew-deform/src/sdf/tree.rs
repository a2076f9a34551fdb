//! Boxes around eight triangles, around eight such boxes, and so on: the shape is fixed at setup, a frame only refits
//! the boxes. Eight children are stored side by side, so that one vector looks at all of them.

use super::triangle::P;

/// Triangles of a cluster, boxes of a block.
pub(super) const CLUSTER: usize = 8;

/// How many blocks each level has.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct TreeShape {
    pub(super) clusters: usize,
    /// First block of each level; level 0 holds boxes of clusters. The last level has one block.
    pub(super) levels: Vec<usize>,
    pub(super) blocks: usize,
}

impl TreeShape {
    pub(super) fn new(triangles: usize) -> Self {
        let clusters = triangles.div_ceil(CLUSTER);
        let (mut levels, mut blocks, mut count) = (Vec::new(), 0, clusters);
        loop {
            count = count.div_ceil(CLUSTER).max(1);
            levels.push(blocks);
            blocks += count;
            if count == 1 {
                break;
            }
        }
        Self {
            clusters,
            levels,
            blocks,
        }
    }
}

/// Eight boxes: lowest x, y, z, then highest.
pub(super) type BoxBlock = [[f32; 8]; 6];

/// Far away, and still finite when squared.
const NOWHERE: f32 = 1e18;
/// What missing children have: no point is near it.
pub(super) const NO_BOXES: BoxBlock = [
    [NOWHERE; 8],
    [NOWHERE; 8],
    [NOWHERE; 8],
    [-NOWHERE; 8],
    [-NOWHERE; 8],
    [-NOWHERE; 8],
];

/// Sets all boxes from those of the clusters.
pub(super) fn refit(
    shape: &TreeShape,
    boxes: impl Iterator<Item = [P; 2]>,
    blocks: &mut [BoxBlock],
) {
    blocks.fill(NO_BOXES);
    for (i, b) in boxes.enumerate() {
        put(&mut blocks[i / 8], i % 8, b);
    }
    for pair in shape.levels.windows(2) {
        for i in pair[0]..pair[1] {
            let union = union(&blocks[i]);
            let n = i - pair[0];
            put(&mut blocks[pair[1] + n / 8], n % 8, union);
        }
    }
}

fn put(block: &mut BoxBlock, lane: usize, [low, high]: [P; 2]) {
    for k in 0..3 {
        block[k][lane] = low[k];
        block[k + 3][lane] = high[k];
    }
}

fn union(block: &BoxBlock) -> [P; 2] {
    let low = [0, 1, 2].map(|k| block[k].iter().fold(f32::INFINITY, |m, &v| m.min(v)));
    let high = [3, 4, 5].map(|k| block[k].iter().fold(f32::NEG_INFINITY, |m, &v| m.max(v)));
    [low, high]
}
