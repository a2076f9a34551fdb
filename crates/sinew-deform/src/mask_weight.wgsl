// Strength at a vertex: `weight * mask` or, inverted, `weight * (1 - mask)`; an open mask is 1 everywhere.
fn masked_weight(index: u32, weight: f32, mask_invert: u32) -> f32 {
    if (!has_mask) {
        return weight;
    }
    let mask = read_mask(index);
    return weight * select(mask, 1.0 - mask, mask_invert != 0u);
}
