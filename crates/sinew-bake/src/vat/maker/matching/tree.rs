//! A tree of boxes for "which items can be this near": the search behind candidates and closest points.

use super::Vector;

const LEAF: usize = 8;

/// An axis-aligned box around one item or many.
#[derive(Debug, Clone, Copy)]
pub(super) struct Extent {
    low: Vector,
    high: Vector,
}

impl Extent {
    pub(super) fn of(points: &[Vector]) -> Self {
        let nothing = Self {
            low: Vector::repeat(f32::INFINITY),
            high: Vector::repeat(f32::NEG_INFINITY),
        };
        points.iter().fold(nothing, |sum, point| {
            sum.with(&Self {
                low: *point,
                high: *point,
            })
        })
    }

    fn with(&self, other: &Self) -> Self {
        Self {
            low: self.low.inf(&other.low),
            high: self.high.sup(&other.high),
        }
    }

    fn distance_squared(&self, point: &Vector) -> f32 {
        let outside = (self.low - point).sup(&(point - self.high));
        outside.sup(&Vector::zeros()).norm_squared()
    }

    pub(super) fn low(&self) -> Vector {
        self.low
    }

    pub(super) fn size(&self) -> Vector {
        (self.high - self.low).sup(&Vector::zeros())
    }
}

#[derive(Debug)]
struct Node {
    extent: Extent,
    /// The items of the node are `items[start..end]`.
    start: u32,
    end: u32,
    /// The node of the upper half; the lower half is the next node. 0: a leaf.
    upper: u32,
}

/// Items split at the median of the longest side of their box, down to a few.
///
/// Building costs O(n log n), a visit O(log n + items met). The same items in the same order give the same tree.
#[derive(Debug)]
pub(super) struct Tree {
    nodes: Vec<Node>,
    items: Vec<u32>,
}

impl Tree {
    pub(super) fn new(extents: &[Extent]) -> Self {
        let mut tree = Self {
            nodes: Vec::with_capacity(extents.len() / 2 + 1),
            items: (0..extents.len() as u32).collect(),
        };
        if !extents.is_empty() {
            tree.grow(extents, 0, extents.len());
        }
        tree
    }

    fn grow(&mut self, extents: &[Extent], start: usize, end: usize) -> u32 {
        let items = &mut self.items[start..end];
        let extent = items.iter().fold(Extent::of(&[]), |sum, &item| {
            sum.with(&extents[item as usize])
        });
        let this = self.nodes.len();
        self.nodes.push(Node {
            extent,
            start: start as u32,
            end: end as u32,
            upper: 0,
        });
        if end - start > LEAF {
            let axis = extent.size().imax();
            let half = (end - start) / 2;
            let place = |item: u32| {
                let extent = &extents[item as usize];
                extent.low[axis] + extent.high[axis]
            };
            items.select_nth_unstable_by(half, |&a, &b| {
                place(a).total_cmp(&place(b)).then(a.cmp(&b))
            });
            self.grow(extents, start, start + half);
            self.nodes[this].upper = self.grow(extents, start + half, end);
        }
        this as u32
    }

    /// Calls `meet(item, limit)` for the items whose box may be nearer to `point` than the root of `limit`, the nearer
    /// half first; `meet` lowers the limit as it finds what it looks for.
    pub(super) fn visit(
        &self,
        point: &Vector,
        limit: &mut f32,
        meet: &mut impl FnMut(u32, &mut f32),
    ) {
        if let Some(root) = self.nodes.first()
            && root.extent.distance_squared(point) < *limit
        {
            self.descend(0, point, limit, meet);
        }
    }

    fn descend(
        &self,
        at: usize,
        point: &Vector,
        limit: &mut f32,
        meet: &mut impl FnMut(u32, &mut f32),
    ) {
        let node = &self.nodes[at];
        if node.upper == 0 {
            for &item in &self.items[node.start as usize..node.end as usize] {
                meet(item, limit);
            }
            return;
        }
        let halves = [at + 1, node.upper as usize];
        let distances = halves.map(|half| self.nodes[half].extent.distance_squared(point));
        let order = if distances[1] < distances[0] {
            [1, 0]
        } else {
            [0, 1]
        };
        for half in order {
            if distances[half] < *limit {
                self.descend(halves[half], point, limit, meet);
            }
        }
    }
}
