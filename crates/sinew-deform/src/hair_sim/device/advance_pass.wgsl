fn kernel(index: u32) {
  advance(false);
}
