//! What is near a place.

use std::collections::HashMap;

/// Triangles by the cell that their middle is in.
pub(super) struct Grid {
    cell: f64,
    cells: HashMap<[i64; 3], Vec<usize>>,
}

impl Grid {
    pub(super) fn new(reach: f64, middles: impl Iterator<Item = [f64; 3]>) -> Self {
        let mut grid = Self {
            cell: reach.max(f64::MIN_POSITIVE),
            cells: HashMap::new(),
        };
        for (t, middle) in middles.enumerate() {
            let cell = grid.cell_of(middle);
            grid.cells.entry(cell).or_default().push(t);
        }
        grid
    }

    fn cell_of(&self, at: [f64; 3]) -> [i64; 3] {
        at.map(|c| (c / self.cell).floor() as i64)
    }

    /// All whose cell is that of a place or next to it: those within reach of it, and some more.
    pub(super) fn near(&self, at: [f64; 3]) -> impl Iterator<Item = usize> + '_ {
        let [x, y, z] = self.cell_of(at);
        let cells = around().map(move |(dx, dy, dz)| {
            [
                x.saturating_add(dx),
                y.saturating_add(dy),
                z.saturating_add(dz),
            ]
        });
        cells.flat_map(|cell| self.cells.get(&cell).into_iter().flatten().copied())
    }
}

fn around() -> impl Iterator<Item = (i64, i64, i64)> {
    (-1..=1).flat_map(|x| (-1..=1).flat_map(move |y| (-1..=1).map(move |z| (x, y, z))))
}
