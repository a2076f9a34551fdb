//! Moments as the fast kernel reads them: eight consecutive vertices share one list of joints, and each number of a pair stands eight times
//! side by side. Vertices past the end are copies of the last one.
//!
//! A vertex that does not follow a joint of its block has zeros there: neighbours mostly follow the same joints, so that few are added, and
//! the kernel loads each joint once for eight vertices. Stored per pair: the second moments (six numbers), the first moments (three) and
//! the weight, as far as the variant reads them.
//!
//! Quantised, moments become 16-bit whole numbers, two to a word, with one scale for all second and one for all first moments of a vertex;
//! weights stay `f32`. The strongest joint gets the sum of all rounding errors of the row: the first moments of a row sum to zero, and a
//! row that no longer did would move the vertex even in the rest pose.

use super::reference::inverse_sizes;
use super::variant::{Reads, Storage};
use super::{Moments, PairMoments};
use crate::laplacian::offsets_fit;
use serde::{Deserialize, Serialize};
use sinew_geom::index32;

/// Vertices in a block.
pub(crate) const LANES: usize = 8;
/// Largest half word: with room for what the strongest joint gets so that first moments sum to zero.
const LARGEST: f32 = 32_000.0;

/// All blocks of a mesh.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Blocks {
    pub(crate) reads: Reads,
    pub(crate) storage: Storage,
    offsets: Vec<u32>,
    joints: Vec<u32>,
    /// For each joint of a block: second moments, first moments, weight; as far as they are read and not quantised.
    numbers: Vec<[f32; LANES]>,
    /// The quantised ones, two to a word, the first in the lower half.
    halves: Vec<[i32; LANES]>,
    /// What second and first moments of a block's vertices are multiplied with.
    scales: Vec<[[f32; LANES]; 2]>,
    strongest: Vec<[u32; LANES]>,
    /// Smoothed rest positions, and one over the trace of the second moments (zero where there is none).
    centers: Vec<[[f32; LANES]; 4]>,
}

/// One block.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Block<'a> {
    /// The joints that any of the vertices follows.
    pub(crate) joints: &'a [u32],
    pub(crate) numbers: &'a [[f32; LANES]],
    /// Of these for each joint; the last one is the weight.
    pub(crate) stride: usize,
    pub(crate) halves: &'a [[i32; LANES]],
    pub(crate) scales: Option<&'a [[f32; LANES]; 2]>,
    /// The strongest joint of each vertex.
    pub(crate) strongest: &'a [u32; LANES],
    pub(crate) center: &'a [[f32; LANES]; 4],
}

impl Blocks {
    /// From moments whose rows have at least one joint; `centers` count from where the kernel's rest positions do.
    pub(crate) fn new(
        moments: &Moments,
        centers: &[[f32; 3]],
        reads: Reads,
        storage: Storage,
    ) -> Self {
        let storage = Self::storage_of(reads, storage);
        let mut this = Self {
            reads,
            storage,
            offsets: vec![0],
            joints: Vec::new(),
            numbers: Vec::new(),
            halves: Vec::new(),
            scales: Vec::new(),
            strongest: Vec::new(),
            centers: Vec::new(),
        };
        let (count, sizes) = (centers.len(), inverse_sizes(moments));
        for first in (0..count).step_by(LANES) {
            let vertices: [usize; LANES] = std::array::from_fn(|i| (first + i).min(count - 1));
            this.push(moments, centers, &sizes, vertices);
        }
        this
    }

    /// How it is stored: weights stay whole, and where there is nothing else, there is nothing to quantise.
    pub(crate) fn storage_of(reads: Reads, asked: Storage) -> Storage {
        match reads {
            Reads::Weight => Storage::Full,
            _ => asked,
        }
    }

    fn push(
        &mut self,
        moments: &Moments,
        centers: &[[f32; 3]],
        sizes: &[f32],
        vertices: [usize; LANES],
    ) {
        let start = self.joints.len();
        for v in vertices {
            for &joint in moments.row(v).0 {
                if !self.joints[start..].contains(&joint) {
                    self.joints.push(joint);
                }
            }
        }
        let count = self.joints.len() - start;
        let mut pairs = vec![[PairMoments::default(); LANES]; count];
        let mut scales = [[0.0; LANES]; 2];
        for (lane, &v) in vertices.iter().enumerate() {
            let (joints, row) = moments.row(v);
            let mut row = row.to_vec();
            if self.storage == Storage::Quantized {
                let [second, first] = quantize(&mut row, self.reads);
                scales[0][lane] = second;
                scales[1][lane] = first;
            }
            for (joint, pair) in joints.iter().zip(row) {
                let at = self.joints[start..].iter().position(|j| j == joint);
                pairs[at.unwrap_or(0)][lane] = pair;
            }
        }
        for lanes in &pairs {
            self.push_pair(lanes);
        }
        if self.storage == Storage::Quantized {
            self.scales.push(scales);
        }
        self.strongest.push(vertices.map(|v| moments.row(v).0[0]));
        let center = |c: usize| vertices.map(|v| centers[v][c]);
        let size = vertices.map(|v| sizes[v]);
        self.centers.push([center(0), center(1), center(2), size]);
        self.offsets.push(index32(self.joints.len()));
    }

    /// The numbers of one joint.
    fn push_pair(&mut self, lanes: &[PairMoments; LANES]) {
        let moments: Vec<[f32; LANES]> = numbers_read(self.reads)
            .map(|k| std::array::from_fn(|lane| number(&lanes[lane], k)))
            .collect();
        match self.storage {
            Storage::Full => self.numbers.extend(moments),
            Storage::Quantized => {
                for two in moments.chunks(2) {
                    let half = |k: usize, lane: usize| two.get(k).map_or(0, |m| whole(m[lane]));
                    let word = |lane| half(0, lane) & 0xffff | half(1, lane) << 16;
                    self.halves.push(std::array::from_fn(word));
                }
            }
        }
        self.numbers
            .push(std::array::from_fn(|lane| lanes[lane].weight));
    }

    /// Numbers stored for each joint of a block.
    fn stride(&self) -> usize {
        match self.storage {
            Storage::Full => self.reads.floats(),
            Storage::Quantized => 1,
        }
    }

    /// Words of halves for each joint of a block.
    fn half_stride(&self) -> usize {
        match self.storage {
            Storage::Full => 0,
            Storage::Quantized => self.reads.half_words(),
        }
    }

    /// Block `index`.
    #[inline(always)]
    pub(crate) fn block(&self, index: usize) -> Block<'_> {
        let range = self.offsets[index] as usize..self.offsets[index + 1] as usize;
        let (stride, half) = (self.stride(), self.half_stride());
        Block {
            joints: &self.joints[range.clone()],
            numbers: &self.numbers[range.start * stride..range.end * stride],
            stride,
            halves: &self.halves[range.start * half..range.end * half],
            scales: self.scales.get(index),
            strongest: &self.strongest[index],
            center: &self.centers[index],
        }
    }

    /// Bytes held.
    pub(crate) fn bytes(&self) -> usize {
        size_of_val(self.offsets.as_slice())
            + size_of_val(self.joints.as_slice())
            + size_of_val(self.numbers.as_slice())
            + size_of_val(self.halves.as_slice())
            + size_of_val(self.scales.as_slice())
            + size_of_val(self.strongest.as_slice())
            + size_of_val(self.centers.as_slice())
    }

    /// Whether lengths and indices fit a mesh and a rig. For data from a file.
    pub(crate) fn is_valid(&self, vertex_count: usize, joint_count: usize) -> bool {
        let blocks = vertex_count.div_ceil(LANES);
        let known = |j: &u32| (*j as usize) < joint_count;
        let pairs = self.joints.len();
        let scales = if self.storage == Storage::Quantized {
            blocks
        } else {
            0
        };
        self.offsets.len() == blocks + 1
            && offsets_fit(&self.offsets, pairs)
            && self.strongest.len() == blocks
            && self.centers.len() == blocks
            && self.scales.len() == scales
            && self.numbers.len() == pairs * self.stride()
            && self.halves.len() == pairs * self.half_stride()
            && self.joints.iter().all(known)
            && (0..blocks).all(|b| {
                let block = self.block(b);
                block.strongest.iter().all(|j| block.joints.contains(j))
            })
    }

    /// The pairs of vertex `v` again, strongest first, with the moments that are stored; others are zero. What is stored as halves comes
    /// as the same whole numbers, as floats.
    pub(crate) fn row(&self, v: usize) -> Vec<(u32, PairMoments)> {
        let (block, lane) = (self.block(v / LANES), v % LANES);
        let (stride, half) = (self.stride(), self.half_stride());
        let mut out = Vec::new();
        for (k, &joint) in block.joints.iter().enumerate() {
            let numbers = &block.numbers[k * stride..(k + 1) * stride];
            let halves = &block.halves[k * half..(k + 1) * half];
            let mut pair = PairMoments {
                weight: numbers[stride - 1][lane],
                ..PairMoments::default()
            };
            for (at, n) in numbers_read(self.reads).enumerate() {
                let value = match self.storage {
                    Storage::Full => numbers[at][lane],
                    Storage::Quantized => half_of(halves[at / 2][lane], at % 2),
                };
                *number_mut(&mut pair, n) = value;
            }
            if pair != PairMoments::default() || joint == block.strongest[lane] {
                out.push((joint, pair));
            }
        }
        let first = block.strongest[lane];
        out.sort_by(|a, b| {
            let weight = b.1.weight.total_cmp(&a.1.weight);
            (a.0 != first).cmp(&(b.0 != first)).then(weight)
        });
        out
    }

    /// Scales of second and first moments of vertex `v`; ones where nothing is quantised.
    pub(crate) fn scales(&self, v: usize) -> [f32; 2] {
        let scales = self.scales.get(v / LANES);
        scales.map_or([1.0; 2], |s| s.map(|lanes| lanes[v % LANES]))
    }
}

/// Which of the nine moments are stored, second ones before first ones.
fn numbers_read(reads: Reads) -> std::ops::Range<usize> {
    match reads {
        Reads::Moments => 0..9,
        Reads::First => 6..9,
        Reads::Weight => 0..0,
    }
}

fn number(pair: &PairMoments, k: usize) -> f32 {
    if k < 6 {
        pair.second[k]
    } else {
        pair.first[k - 6]
    }
}

fn number_mut(pair: &mut PairMoments, k: usize) -> &mut f32 {
    if k < 6 {
        &mut pair.second[k]
    } else {
        &mut pair.first[k - 6]
    }
}

fn whole(value: f32) -> i32 {
    value.round().clamp(-32_767.0, 32_767.0) as i32
}

/// Half word 0 (the lower) or 1, as a number.
pub(crate) fn half_of(word: i32, half: usize) -> f32 {
    let upper = if half == 0 { word << 16 } else { word };
    (upper >> 16) as f32
}

/// Rounds the moments of a row to whole numbers; gives what second and first ones are to be multiplied with. First moments still
/// sum to zero, second ones to their sum as nearly as one number can hold it.
fn quantize(row: &mut [PairMoments], reads: Reads) -> [f32; 2] {
    let largest = |of: fn(&PairMoments) -> &[f32]| {
        let all = row.iter().flat_map(of);
        all.fold(0.0_f32, |m, x| m.max(x.abs()))
    };
    let scale = |largest: f32| largest / LARGEST;
    let second = scale(largest(|p| &p.second));
    let first = scale(largest(|p| &p.first));
    let inverse = |scale: f32| if scale > 0.0 { 1.0 / scale } else { 0.0 };
    let (by_second, by_first) = (inverse(second), inverse(first));
    let (mut second_off, mut first_off) = ([0.0; 6], [0.0; 3]);
    for pair in row.iter_mut() {
        for (x, off) in pair.second.iter_mut().zip(&mut second_off) {
            let exact = *x * by_second;
            *x = exact.round();
            *off += exact - *x;
        }
        for (x, off) in pair.first.iter_mut().zip(&mut first_off) {
            *x = (*x * by_first).round();
            *off -= *x;
        }
    }
    if let Some(strongest) = row.first_mut() {
        for (x, off) in strongest.second.iter_mut().zip(second_off) {
            *x += off.round();
        }
        for (x, off) in strongest.first.iter_mut().zip(first_off) {
            *x += off;
        }
    }
    let used = if reads == Reads::Moments { second } else { 0.0 };
    [used, first]
}
