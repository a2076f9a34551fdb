// Tangents are summed with the normals.
const with_tangents = true;

fn corner_factors(k: u32) -> u32 {
    return around_extra(k);
}
