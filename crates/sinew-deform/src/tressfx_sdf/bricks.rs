//! The dense grid as bricks, which all readers of fields understand.

use super::CompatibilityField;
use crate::sdf::{
    BRICK_CELLS, BRICK_NODES, BRICK_VALUES, FieldFrame, GridParts, GridShape, NO_BRICK, UNSET,
    grid_words, lay_grid, unset_in_cells,
};
use sinew_geom::index32;

/// How a dense grid lies in bricks. Its node `(i, j, k)` is node `(i, j, k)` of the bricks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct TressFxLayout {
    pub(super) shape: GridShape,
}

impl TressFxLayout {
    /// Bricks enough for the nodes of a field.
    pub(crate) fn new(field: &CompatibilityField) -> Self {
        let cells = BRICK_CELLS as u32;
        let bricks = field.nodes.map(|n| n.saturating_sub(1).div_ceil(cells));
        Self {
            shape: GridShape {
                origin: field.origin,
                cell: field.cell,
                bricks: bricks.map(|b| b.max(1)),
            },
        }
    }

    /// Words that a field takes, with values in all bricks.
    pub(crate) fn words(&self) -> usize {
        let (entries, slots) = (self.shape.coarse_count(), self.shape.brick_count());
        grid_words(entries, slots, false)
    }

    /// Writes a field, in the scene; nothing where there is not [room](Self::words) for it.
    ///
    /// Bricks without any distance are left out; all their corners are unset, so that nodes between those are, too. The last
    /// layer of nodes on each axis is left unset: the TressFX look-up refuses the cells that touch it.
    pub(crate) fn write(&self, field: &CompatibilityField, words: &mut [u32]) {
        let shape = GridShape {
            origin: field.origin,
            ..self.shape
        };
        let Some(parts) = lay_grid(words, &shape, &FieldFrame::default()) else {
            return;
        };
        let GridParts {
            table,
            coarse,
            values,
            count,
        } = parts;
        let nodes = Nodes::new(field);
        let mut slots = 0;
        for (brick, slot) in table.iter_mut().enumerate() {
            let low = shape.brick_at(brick).map(|b| b * BRICK_CELLS as u32);
            *slot = NO_BRICK;
            // There is one slot for each brick.
            if let Some(values) = values.get_mut(slots)
                && nodes.fill(low, values)
            {
                *slot = u32::try_from(slots).unwrap_or(NO_BRICK);
                slots += 1;
            }
        }
        for (corner, value) in coarse.iter_mut().enumerate() {
            let node = shape.coarse_at(corner).map(|c| c * BRICK_CELLS as u32);
            *value = nodes.value(node);
        }
        *count = index32(slots);
    }
}

/// Values of nodes in cells.
struct Nodes<'a> {
    field: &'a CompatibilityField,
    unset: f32,
}

impl<'a> Nodes<'a> {
    fn new(field: &'a CompatibilityField) -> Self {
        Self {
            field,
            unset: unset_in_cells(field.cell),
        }
    }

    fn value(&self, node: [u32; 3]) -> f32 {
        let mut inside = true;
        for (n, count) in node.iter().zip(&self.field.nodes) {
            inside &= n + 1 < *count;
        }
        let value = (self.field.values).get(if inside {
            self.field.index(node)
        } else {
            usize::MAX
        });
        match value {
            Some(&v) if v != UNSET => v / self.field.cell,
            _ => self.unset,
        }
    }

    /// Fills a brick; whether it holds any distance.
    fn fill(&self, low: [u32; 3], out: &mut [f32; BRICK_VALUES]) -> bool {
        let mut any = false;
        for (i, out) in out.iter_mut().enumerate() {
            let at = [
                i % BRICK_NODES,
                i / BRICK_NODES % BRICK_NODES,
                i / (BRICK_NODES * BRICK_NODES),
            ];
            *out = self.value(std::array::from_fn(|k| low[k] + at[k] as u32));
            any |= *out < self.unset;
        }
        any
    }
}
