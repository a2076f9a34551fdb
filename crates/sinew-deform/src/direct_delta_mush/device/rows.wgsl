// Vertices whose pairs stand side by side.
const SLICE = 32u;

// Pairs of a vertex: those of its slice, of which some may have weight zero. The strongest joint's is the first.
struct PairRow {
    begin: u32,
    end: u32,
    lane: u32,
}

fn pair_row_of(index: u32) -> PairRow {
    let slice = index / SLICE;
    return PairRow(read_slices(slice), read_slices(slice + 1u), index % SLICE);
}

// Rows of a joint's skinning matrix, as columns.
fn matrix_of(joint: u32) -> mat3x4f {
    let at = 3u * joint;
    return mat3x4f(read_matrices(at), read_matrices(at + 1u), read_matrices(at + 2u));
}

// A quaternion, x y z w.
fn rotation_of(joint: u32) -> vec4f {
    return read_parts(7u * joint);
}

fn matrix_of_parts(at: u32) -> mat3x3f {
    return transpose(mat3x3f(read_parts(at).xyz, read_parts(at + 1u).xyz, read_parts(at + 2u).xyz));
}

// The rotation times the joint's scale, as a matrix.
fn scaled_turn_of(joint: u32) -> mat3x3f {
    return matrix_of_parts(7u * joint + 1u);
}

// One over the joint's scale.
fn inverse_scale_of(joint: u32) -> f32 {
    return read_parts(7u * joint + 1u).w;
}

// What the rotation leaves of the skinning matrix.

fn stretch_of(joint: u32) -> mat3x3f {
    return matrix_of_parts(7u * joint + 4u);
}

fn linear_of(m: mat3x4f) -> mat3x3f {
    return transpose(mat3x3f(m[0].xyz, m[1].xyz, m[2].xyz));
}
