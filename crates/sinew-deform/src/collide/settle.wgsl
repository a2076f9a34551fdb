// Exact lengths, outside of solids: `settle.rs`, name by name. Behind `contact.wgsl`, and needs `length_of`, `is_pressed` and `begin_settling(i)` of the strand besides, the last
// for what it has to remember. Distances of vertices are not needed any more: they are 1 where nothing is left to do.

// Distances of the ends of a segment are kept for so many solids.
const MEASURED = max(COLLIDERS, 1u);
// Rounds, at most.
const ROUNDS = 6u;
// A segment that points straight at a surface (this sine and less) is turned aside any way.
const HEAD_ON = 0.05;
// What points away from a surface with this cosine has no better way out.
const STRAIGHT_OUT = 0.998;

// Distances of both ends of the segment from solids, and which of them were asked for: its end is where the next one begins.
var<private> at_pivot: array<f32, MEASURED>;
var<private> pivot_measured: u32;
var<private> at_end: array<f32, MEASURED>;

// Makes every segment as long as it should be and turns those that are in a solid until they are out.
fn settle_lengths(count: u32, exempt: u32) {
  for (var i = 0u; i < count; i++) {
    begin_settling(i);
    set_distance(i, 0.0);
  }
  for (var round = 0u; round < ROUNDS; round++) {
    if !settle_round(count, exempt, round == 0u) { break; }
  }
}

// One round; tells whether another one is needed.
fn settle_round(count: u32, exempt: u32, is_first: bool) -> bool {
  var is_unfinished = false;
  var direction = vec3f(0.0, 1.0, 0.0);
  // How far the nearest surface is from the vertex before, beyond its margin: one bound for all solids.
  var clearance = -1.0;
  var is_carried = false;
  var pivot = point(0u);
  pivot_measured = 0u;
  for (var i = 1u; i < count; i++) {
    let old = point(i);
    direction = unit_or(old - pivot, direction);
    if inverse_mass_of(i) <= 0.0 || (distance_at(i) > 0.0 && !is_carried) {
      clearance = -1.0;
      pivot_measured = 0u;
      is_carried = false;
      pivot = old;
    } else {
      let extent = length_of(i);
      var is_settled = true;
      // It has its length since the round before: laid again, it would move by roundings, and with it all behind it.
      var is_laid = !is_first && !is_carried;
      clearance -= extent;
      var end_measured = 0u;
      if clearance < 0.0 && i >= exempt && COLLIDERS > 0u {
        let hit = worst_of(extent, pivot, direction);
        clearance = worst_clearance;
        end_measured = ~out_of_reach;
        if hit.found && dot(direction, hit.normal) < STRAIGHT_OUT {
          direction = turned_out(direction, hit, extent);
          is_settled = false;
          is_laid = false;
          use_solid(worst_collider);
          is_unfinished = true;
          note_contact(i, hit, pivot + direction * (hit.share * extent));
          clearance = -1.0;
          end_measured = 0u;
        }
      }
      pivot_measured = end_measured;
      at_pivot = at_end;
      is_carried = !is_laid;
      pivot = select(old, pivot + direction * extent, is_carried);
      set_point(i, pivot);
      set_distance(i, select(0.0, 1.0, is_settled));
    }
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

// Of `worst_of`: the collider, and the least distance of the segment's end beyond the margins.
var<private> worst_collider: u32;
var<private> worst_clearance: f32;

// The deepest contact of a segment with any solid.
fn worst_of(extent: f32, pivot: vec3f, direction: vec3f) -> Hit {
  let end = pivot + direction * extent;
  var worst = Hit(false, 0.0, vec3f(0.0), 0.0);
  worst_clearance = 1e9;
  for (var c = 0u; c < COLLIDERS; c++) {
    if is_in_reach(c) {
      use_solid(c);
      var hit = Hit(false, 0.0, vec3f(0.0), 0.0);
      var pivot_gap = 0.0;
      var found = vec4f(0.0);
      var needs_samples = false;
      // In a loop, so that there is one copy of the look-up: the end, and where segments are sampled the pivot.
      for (var k = 0u; k < 2u; k++) {
        let sample = sampled(select(end, pivot, k == 1u));
        if k == 1u {
          pivot_gap = sample.w;
          break;
        }
        found = sample;
        at_end[c] = found.w;
        let beyond = found.w - solid.margin;
        needs_samples = beyond < extent && beyond >= -solid.tolerance && solid.spacing < extent;
        pivot_gap = at_pivot[c];
        if !needs_samples || (pivot_measured & (1u << c)) != 0u { break; }
      }
      let gap = found.w - solid.margin;
      worst_clearance = min(worst_clearance, gap);
      if gap < -solid.tolerance {
        hit = Hit(true, 1.0, unit_or(found.xyz, across(direction)), -gap);
      } else if needs_samples {
        hit = deepest(pivot, end, vec2f(pivot_gap, found.w));
      }
      if hit.found && (!worst.found || worst.depth < hit.depth) {
        worst = hit;
        worst_collider = c;
      }
    }
  }
  return worst;
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
