// Normals only.
const with_tangents = false;

fn corner_factors(k: u32) -> u32 {
    return 0u;
}
