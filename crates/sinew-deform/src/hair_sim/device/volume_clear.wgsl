fn kernel(index: u32) {
  write_volume_sums(index, 0u);
}
