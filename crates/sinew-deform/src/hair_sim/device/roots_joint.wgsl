// All roots follow one joint.
fn transform_of(guide: u32) -> Rows {
  return Rows(read_palette(0u), read_palette(1u), read_palette(2u));
}
