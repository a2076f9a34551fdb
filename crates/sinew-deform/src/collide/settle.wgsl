// Exact lengths, outside of solids: `settle.rs`. Behind `contact.wgsl`, and needs `length_of`, `is_pressed` and `begin_settling(i)` of the strand besides, the last
// for what it has to remember. Distances of vertices are not needed any more: they are 1 where nothing is left to do.
//
// The first invocation lays the segments; all of the group sample the one at hand, with both ends.

// Rounds, at most.
const ROUNDS = 6u;
// A segment that points straight at a surface (this sine and less) is turned aside any way.
const HEAD_ON = 0.05;
// What points away from a surface with this cosine has no better way out.
const STRAIGHT_OUT = 0.998;

// Whether the round turned a segment.
var<workgroup> is_unfinished: u32;

// Of the first invocation, where it is in a round.
struct Walk {
  // Of the segment at hand, and of the one before.
  direction: vec3f,
  pivot: vec3f,
  // How far the nearest surface is from the vertex before, beyond its margin: one bound for all solids.
  clearance: f32,
  // The vertex before was moved, and takes along what is behind it.
  is_carried: bool,
  is_first_round: bool,
}

var<private> walk: Walk;
// The deepest contact of the segment at hand, the collider, and the least distance of its end beyond the margins.
var<private> worst: Hit;
var<private> worst_collider: u32;
var<private> worst_clearance: f32;

// Makes every segment as long as it should be and turns those that are in a solid until they are out.
fn settle_lengths(count: u32, exempt: u32, reachable: u32, local: u32) {
  for (var i = local; i < count; i += LANES) {
    begin_settling(i);
    set_distance(i, 0.0);
  }
  sync();
  for (var round = 0u; round < ROUNDS; round++) {
    if local == 0u {
      is_unfinished = 0u;
      walk = Walk(vec3f(0.0, 1.0, 0.0), point(0u), -1.0, false, round == 0u);
      lay_until_near(1u, count, exempt, reachable);
    }
    for (var turn = 1u; turn < count; turn++) {
      let i = workgroupUniformLoad(&segment);
      if i >= count { break; }
      if local == 0u { begin_worst(); }
      measure_segment(reachable, local);
      if local == 0u {
        turn_segment(i);
        lay_until_near(i + 1u, count, exempt, reachable);
      }
    }
    if workgroupUniformLoad(&is_unfinished) == 0u { break; }
  }
  sync();
}

// Lays segments from the one numbered `first` on until one may be near a solid, which it puts where all invocations see it.
fn lay_until_near(first: u32, count: u32, exempt: u32, reachable: u32) {
  segment = count;
  for (var i = first; i < count; i++) {
    let old = point(i);
    walk.direction = unit_or(old - walk.pivot, walk.direction);
    if inverse_mass_of(i) <= 0.0 || (distance_at(i) > 0.0 && !walk.is_carried) {
      walk.clearance = -1.0;
      walk.is_carried = false;
      walk.pivot = old;
    } else {
      let extent = length_of(i);
      walk.clearance -= extent;
      if walk.clearance < 0.0 && i >= exempt && reachable != 0u {
        segment = i;
        segment_from = walk.pivot;
        segment_to = walk.pivot + walk.direction * extent;
        return;
      }
      keep_segment(i, false);
    }
  }
}

// Puts the end of segment `i` where it belongs.
fn keep_segment(i: u32, is_turned: bool) {
  // It has its length since the round before: laid again, it would move by roundings, and with it all behind it.
  walk.is_carried = is_turned || walk.is_first_round || walk.is_carried;
  walk.pivot = select(point(i), walk.pivot + walk.direction * length_of(i), walk.is_carried);
  set_point(i, walk.pivot);
  set_distance(i, select(1.0, 0.0, is_turned));
}

// Samples the segment at hand in all solids that a bit stands for.
fn measure_segment(reachable: u32, local: u32) {
  for (var c = 0u; c < COLLIDERS; c++) {
    if (reachable & (1u << c)) != 0u {
      use_solid(c);
      begin_hit();
      if local == 0u { segment_parts = parts_of(length(segment_to - segment_from)); }
      let parts = workgroupUniformLoad(&segment_parts);
      var at_root = 0.0;
      for (var first = 0u; first <= parts; first += LANES) {
        sample_segment(first + local, parts, local);
        workgroupBarrier();
        if local == 0u {
          if first == 0u { at_root = samples[0].w; }
          take_samples(first, parts, at_root);
          if parts - first < LANES { take_end(c, at_root, samples[parts - first]); }
        }
        workgroupBarrier();
      }
    }
  }
}

fn begin_worst() {
  worst = Hit(false, 0.0, vec3f(0.0), 0.0);
  worst_clearance = 1e9;
}

// Compares what the samples between the ends, the distance where it begins and the sample of its end say with what is known of other solids.
fn take_end(collider: u32, at_root: f32, end: vec4f) {
  let extent = length(segment_to - segment_from);
  let gap = end.w - solid.margin;
  worst_clearance = min(worst_clearance, gap);
  if gap < -solid.tolerance {
    hit = Hit(true, 1.0, end.xyz, -gap);
  } else if gap >= extent || !may_touch(extent, at_root, end.w) {
    hit.found = false;
  }
  if hit.found && (!worst.found || worst.depth < hit.depth) {
    worst = hit;
    worst.normal = normal_of_hit(walk.direction);
    worst_collider = collider;
  }
}

// Turns segment `i` out of the solid that it is deepest in, if any.
fn turn_segment(i: u32) {
  walk.clearance = worst_clearance;
  let is_turned = worst.found && dot(walk.direction, worst.normal) < STRAIGHT_OUT;
  if is_turned {
    let extent = length_of(i);
    walk.direction = turned_out(walk.direction, worst, extent);
    use_solid(worst_collider);
    is_unfinished = 1u;
    note_contact(i, worst, walk.pivot + walk.direction * (worst.share * extent));
    walk.clearance = -1.0;
  }
  keep_segment(i, is_turned);
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
