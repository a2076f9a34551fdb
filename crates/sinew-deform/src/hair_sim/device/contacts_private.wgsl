// Which vertices and segments touch something, a bit each.
var<private> touched_bits: u32;
var<private> pressed_bits: u32;

fn is_touched(i: u32) -> bool {
  return (touched_bits & (1u << i)) != 0u;
}

fn is_pressed(i: u32) -> bool {
  return (pressed_bits & (1u << i)) != 0u;
}

fn note_touched(i: u32) {
  touched_bits |= 1u << i;
}

fn note_pressed(i: u32) {
  pressed_bits |= 1u << i;
}

fn forget_contacts() {
  touched_bits = 0u;
  pressed_bits = 0u;
}
