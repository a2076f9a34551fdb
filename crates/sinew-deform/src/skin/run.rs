//! Runs of whole blocks of a mesh, for kernels that move eight vertices side by side.

use super::blocks::LANES;
use crate::lanes::padded;
use crate::{MeshView, MeshViewMut, Par, for_each_chunk};
use std::slice::{from_mut, from_ref};

/// Some blocks of vertices.
#[derive(Debug, Default)]
pub(crate) struct Run<'a, 'b> {
    /// Index of the first one.
    pub(crate) block: usize,
    pub(crate) positions: &'a [[[f32; 3]; LANES]],
    /// Only where they are written.
    pub(crate) normals: Option<&'a [[[f32; 3]; LANES]]>,
    /// Only where they are written.
    pub(crate) tangents: Option<&'a [[[f32; 4]; LANES]]>,
    pub(crate) out_positions: Option<&'b mut [[[f32; 3]; LANES]]>,
    pub(crate) out_normals: Option<&'b mut [[[f32; 3]; LANES]]>,
    pub(crate) out_tangents: Option<&'b mut [[[f32; 4]; LANES]]>,
}

/// Calls `f` for all vertices, at most `chunk` at a time, which is a multiple of a block. The last block is filled up
/// with copies. Attributes that the input lacks are not written.
pub(crate) fn for_each_run(
    par: Par,
    chunk: usize,
    input: MeshView<'_>,
    output: MeshViewMut<'_>,
    f: &(dyn Fn(Run<'_, '_>) + Sync),
) {
    let outputs = (
        output.positions,
        output.normals.filter(|_| input.normals.is_some()),
        output.tangents.filter(|_| input.tangents.is_some()),
    );
    let count = input.positions.len();
    for_each_chunk(
        par,
        count,
        chunk,
        outputs,
        &|range, (mut p, mut n, mut t)| {
            let positions = &input.positions[range.clone()];
            let normals = input.normals.filter(|_| n.is_some());
            let normals = normals.map(|n| &n[range.clone()]);
            let tangents = input.tangents.filter(|_| t.is_some());
            let tangents = tangents.map(|t| &t[range.clone()]);
            let (blocks, tail) = positions.as_chunks();
            f(Run {
                block: range.start / LANES,
                positions: blocks,
                normals: normals.map(|n| n.as_chunks().0),
                tangents: tangents.map(|t| t.as_chunks().0),
                out_positions: p.as_deref_mut().map(|p| p.as_chunks_mut().0),
                out_normals: n.as_deref_mut().map(|n| n.as_chunks_mut().0),
                out_tangents: t.as_deref_mut().map(|t| t.as_chunks_mut().0),
            });
            if tail.is_empty() {
                return;
            }
            let at = blocks.len() * LANES;
            let [mut last_p, mut last_n] = [[[0.0; 3]; LANES]; 2];
            let mut last_t = [[0.0; 4]; LANES];
            f(Run {
                block: range.start / LANES + blocks.len(),
                positions: &[padded(tail)],
                normals: normals.map(|n| padded(&n[at..])).as_ref().map(from_ref),
                tangents: tangents.map(|t| padded(&t[at..])).as_ref().map(from_ref),
                out_positions: p.is_some().then_some(from_mut(&mut last_p)),
                out_normals: n.is_some().then_some(from_mut(&mut last_n)),
                out_tangents: t.is_some().then_some(from_mut(&mut last_t)),
            });
            put_last(p, at, &last_p);
            put_last(n, at, &last_n);
            put_last(t, at, &last_t);
        },
    );
}

fn put_last<T: Copy>(out: Option<&mut [T]>, at: usize, last: &[T; LANES]) {
    if let Some(out) = out {
        let out = &mut out[at..];
        out.copy_from_slice(&last[..out.len()]);
    }
}
