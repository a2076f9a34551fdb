//! Shapes that several tests need.

/// Two triangles a side of a box whose corner `i` is high along axis `k` where bit `k` of `i` is set.
pub(crate) fn box_triangles() -> Vec<[u32; 3]> {
    let sides = [
        [0, 4, 6, 2],
        [1, 3, 7, 5],
        [0, 1, 5, 4],
        [2, 6, 7, 3],
        [0, 2, 3, 1],
        [4, 5, 7, 6],
    ];
    let halves = |s: [u32; 4]| [[s[0], s[1], s[2]], [s[0], s[2], s[3]]];
    sides.into_iter().flat_map(halves).collect()
}
