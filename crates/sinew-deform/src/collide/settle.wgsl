// Exact lengths, outside of solids: `settle.rs`. Behind `contact.wgsl`, and needs `length_of`, `is_pressed` and `begin_settling(i)` of the strand besides, the last
// for what it has to remember. Distances of vertices are not needed any more: they are 1 where nothing is left to do.

// Rounds, at most.
const ROUNDS = 6u;
// A segment that points straight at a surface (this sine and less) is turned aside any way.
const HEAD_ON = 0.05;
// What points away from a surface with this cosine has no better way out.
const STRAIGHT_OUT = 0.998;

// Whether a round moved something in any team.
var<workgroup> unfinished: atomic<u32>;

// Makes every segment as long as it should be and turns those that are in a solid until they are out.
fn settle_lengths(mine: u32, has_strand: bool) {
  if has_strand {
    for (var i = lane; i < count; i += LANES) {
      begin_settling(i);
      set_distance(i, 0.0);
    }
  }
  sync();
  if has_strand && lane == 0u { lay(); }
  for (var round = 0u; round < ROUNDS; round++) {
    if team == 0u && lane == 0u { atomicStore(&unfinished, 0u); }
    sync();
    if has_strand {
      for (var i = lane + 1u; i < count; i += LANES) { measure_segment(i, mine); }
    }
    sync();
    if has_strand && lane == 0u {
      if turn_segments() { atomicOr(&unfinished, 1u); }
    }
    if workgroupUniformLoad(&unfinished) == 0u { break; }
  }
  sync();
}

// Makes segments as long as they should be, each in the direction that it has.
fn lay() {
  var direction = vec3f(0.0, 1.0, 0.0);
  var pivot = point(0u);
  for (var i = 1u; i < count; i++) {
    let old = point(i);
    direction = unit_or(old - pivot, direction);
    pivot = select(old, pivot + direction * length_of(i), inverse_mass_of(i) > 0.0);
    set_point(i, pivot);
  }
}

// Keeps the deepest contact of segment `i` with any solid that a bit stands for.
fn measure_segment(i: u32, mine: u32) {
  var worst = Hit(vec3f(0.0), 0.0, 0.0, 0u);
  if i >= exempt && inverse_mass_of(i) > 0.0 && distance_at(i) <= 0.0 {
    let pivot = point(i - 1u);
    let end = point(i);
    for (var c = 0u; c < COLLIDERS; c++) {
      if (mine & (1u << c)) != 0u {
        use_solid(c);
        let hit = contact_of_segment(i, pivot, end, c);
        if hit.depth > worst.depth { worst = hit; }
      }
    }
  }
  set_hit(i, worst);
}

fn contact_of_segment(i: u32, pivot: vec3f, end: vec3f, collider: u32) -> Hit {
  let none = Hit(vec3f(0.0), 0.0, 0.0, collider);
  let extent = length_of(i);
  let found = sampled(end);
  if found.w - solid.margin >= extent { return none; }
  let begin = sampled(pivot).w;
  let margins = margins_along(i, begin);
  let gap = found.w - margins.y;
  if gap < -solid.tolerance {
    let direction = unit_or(end - pivot, vec3f(0.0, 1.0, 0.0));
    return Hit(unit_or(found.xyz, across(direction)), -gap, 1.0, collider);
  }
  if solid.spacing >= extent { return none; }
  return deepest(pivot, end, vec2f(begin, found.w), margins, collider);
}

// Turns segments from the root to the tip; tells whether something was moved. How far those before take one along counts to first order.
fn turn_segments() -> bool {
  var is_unfinished = false;
  var is_carried = false;
  var direction = vec3f(0.0, 1.0, 0.0);
  // Where the round found the vertex before, and where it is now.
  var found = point(0u);
  var pivot = found;
  for (var i = 1u; i < count; i++) {
    let old = point(i);
    let was = unit_or(old - found, direction);
    direction = was;
    // Towards where its end was: what a turn moves dies away along the strand.
    if is_carried { direction = unit_or(old - pivot, was); }
    if inverse_mass_of(i) <= 0.0 {
      is_carried = false;
      pivot = old;
    } else {
      let extent = length_of(i);
      var hit = hit_at(i);
      if hit.depth > 0.0 {
        use_solid(hit.collider);
        hit.depth -= dot(hit.normal, pivot - found + (direction - was) * (hit.share * extent));
        if hit.depth > solid.tolerance && dot(direction, hit.normal) < STRAIGHT_OUT {
          direction = turned_out(direction, hit, extent);
          note_contact(i, hit, pivot + direction * (hit.share * extent));
          is_carried = true;
        }
      }
      pivot = select(old, pivot + direction * extent, is_carried);
      if is_carried { set_point(i, pivot); }
      // What was moved is looked at again.
      set_distance(i, select(1.0, 0.0, is_carried));
      is_unfinished = is_unfinished || is_carried;
    }
    found = old;
  }
  return is_unfinished;
}

// Of contacts between the ends of a segment the first one counts.
fn note_contact(i: u32, hit: Hit, place: vec3f) {
  let carried = place - point_before(solid.carry, place);
  if hit.share >= 1.0 {
    touch(i, hit.normal, carried);
  } else if !is_pressed(i) {
    press(i, hit.normal, carried, hit.share);
  }
}

// Turns the direction of a segment until it is out of a surface, taken for flat.
fn turned_out(direction: vec3f, hit: Hit, extent: f32) -> vec3f {
  let now = dot(direction, hit.normal);
  // Along the surface; any way where the segment points straight at it.
  let along = direction - hit.normal * now;
  var level = across(hit.normal);
  if dot(along, along) >= HEAD_ON * HEAD_ON { level = unit_or(along, vec3f(1.0, 0.0, 0.0)); }
  let rise = min(now + hit.depth / max(hit.share * extent, 1e-9), 1.0);
  return unit_or(hit.normal * rise + level * sqrt(max(1.0 - rise * rise, 0.0)), vec3f(0.0, 1.0, 0.0));
}
