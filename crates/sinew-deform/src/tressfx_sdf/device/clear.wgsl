// No node has a distance yet. Keys are kept with all bits turned over, since the largest wins: zero is none.

fn kernel(index: u32) {
    write_keys(index, 0u);
}
