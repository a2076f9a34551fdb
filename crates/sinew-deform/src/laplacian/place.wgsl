// Back from slots to vertices: from the incoming position towards the point of its slot.
// Moves 4 (slot) + 16 (point) + 12 (written) bytes a vertex, 12 more where the weight is not one or vertices of one slot lie
// apart, 16 more in the latter case, 4 more with a mask.

fn kernel(index: u32) {
    let u = uniforms();
    let w = u.blend * masked_weight(index, u.weight, u.mask_invert);
    let slot = read_slots(index);
    let goal = read_points(slot).xyz;
    if (keeps_offsets) {
        // Each moves like the mean of the slot.
        let moved = read_mesh_positions(index) + (goal - read_start(slot).xyz) * w;
        write_mesh_positions(index, moved);
        return;
    }
    if (w == 1.0) {
        write_mesh_positions(index, goal);
        return;
    }
    write_mesh_positions(index, read_mesh_positions(index) * (1.0 - w) + goal * w);
}
