//! A plane of nodes as numbers, for pictures.

use super::field::FieldView;

/// Values of one layer of nodes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Slice {
    /// Nodes along the first and the second axis of the layer: y and z for axis 0, z and x for axis 1, x and y for axis 2.
    pub size: [u32; 2],
    /// Signed distances in units of the field's frame, first axis fastest.
    pub values: Vec<f32>,
    /// Whether the node is in a brick, where distances near the surface are exact.
    pub exact: Vec<bool>,
}

/// The nodes with index `layer` along `axis` (0, 1 or 2; larger numbers count as 2). Beyond the grid, its last layer. Allocates.
pub fn slice(view: &FieldView<'_>, axis: usize, layer: u32) -> Slice {
    let axis = axis.min(2);
    let (u, v) = ((axis + 1) % 3, (axis + 2) % 3);
    let nodes = view.shape.nodes();
    let size = [nodes[u], nodes[v]];
    let all = (0..size[1]).flat_map(|j| (0..size[0]).map(move |i| (i, j)));
    let (values, exact) = all
        .map(|(i, j)| {
            let mut node = [0; 3];
            node[axis] = layer.min(nodes[axis].saturating_sub(1));
            node[u] = i;
            node[v] = j;
            (view.node(node), view.is_exact(node))
        })
        .unzip();
    Slice {
        size,
        values,
        exact,
    }
}
