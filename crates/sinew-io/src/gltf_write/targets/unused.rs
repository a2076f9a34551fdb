//! Unreferenced data: accessors, their views, and bytes that no other view uses.

use super::appended::{Appended, Freed};
use serde_json::Value;
use std::collections::BTreeSet;
use std::ops::Range;

fn index(value: &Value) -> Option<usize> {
    value.as_u64().and_then(|n| usize::try_from(n).ok())
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

/// Frees those `candidates` (accessors) that nothing refers to, and the data that only they use. Entries become null.
pub(in super::super) fn free(file: &mut Appended<'_>, candidates: &BTreeSet<usize>) -> Freed {
    let live = live_accessors(&file.root);
    let accessors: Vec<usize> = candidates.difference(&live).copied().collect();
    let mut views = BTreeSet::new();
    for &a in &accessors {
        views_in(&file.root["accessors"][a], &mut views);
        file.root["accessors"][a] = Value::Null;
    }
    let mut used = BTreeSet::new();
    views_in(&file.root, &mut used);
    let views: Vec<usize> = views.difference(&used).copied().collect();
    let views_set: BTreeSet<usize> = views.iter().copied().collect();
    let ranges = |keep: &dyn Fn(usize) -> bool| -> Vec<Range<usize>> {
        let all = list(&file.root["bufferViews"]).iter().enumerate();
        let chosen = all.filter(|(i, _)| keep(*i));
        chosen.flat_map(|(_, view)| ranges_of(view)).collect()
    };
    let dead = ranges(&|i| views_set.contains(&i));
    let alive = ranges(&|i| !views_set.contains(&i));
    let bytes = without(dead, alive);
    for &v in &views {
        file.root["bufferViews"][v] = Value::Null;
    }
    Freed {
        accessors,
        views,
        bytes,
    }
}

/// Accessors that meshes, skins, animations and instances refer to.
fn live_accessors(root: &Value) -> BTreeSet<usize> {
    let mut out = BTreeSet::new();
    let mut all_of = |attributes: &Value| {
        let values = attributes.as_object().into_iter().flat_map(|a| a.values());
        out.extend(values.filter_map(index));
    };
    let meshes = list(&root["meshes"]).iter();
    for primitive in meshes.flat_map(|m| list(&m["primitives"])) {
        all_of(&primitive["attributes"]);
        list(&primitive["targets"]).iter().for_each(&mut all_of);
    }
    for node in list(&root["nodes"]) {
        all_of(&node["extensions"]["EXT_mesh_gpu_instancing"]["attributes"]);
    }
    let primitives = list(&root["meshes"]).iter();
    let primitives = primitives.flat_map(|m| list(&m["primitives"]));
    out.extend(primitives.filter_map(|p| index(&p["indices"])));
    let skins = list(&root["skins"]).iter();
    out.extend(skins.filter_map(|s| index(&s["inverseBindMatrices"])));
    let animations = list(&root["animations"]).iter();
    for sampler in animations.flat_map(|a| list(&a["samplers"])) {
        out.extend(
            ["input", "output"]
                .iter()
                .filter_map(|k| index(&sampler[k])),
        );
    }
    out
}

/// Views that a part of the document refers to, extensions included.
fn views_in(part: &Value, out: &mut BTreeSet<usize>) {
    match part {
        Value::Object(members) => {
            for (key, value) in members {
                match index(value) {
                    Some(view) if key == "bufferView" => {
                        out.insert(view);
                    }
                    _ => views_in(value, out),
                }
            }
        }
        Value::Array(elements) => elements.iter().for_each(|e| views_in(e, out)),
        _ => {}
    }
}

/// Byte ranges of a view in the binary chunk, including its compressed data, padded to four bytes.
fn ranges_of(view: &Value) -> Vec<Range<usize>> {
    let of = |v: &Value| {
        let start = index(&v["byteOffset"]).unwrap_or(0);
        let length = index(&v["byteLength"]).filter(|_| v["buffer"] == 0)?;
        let end = start.checked_add(length)?.checked_next_multiple_of(4)?;
        Some(start..end)
    };
    let compressed = view["extensions"].as_object().into_iter();
    let compressed = compressed.flat_map(|e| e.values()).filter_map(of);
    of(view).into_iter().chain(compressed).collect()
}

/// The parts of `dead` outside `alive`, at multiples of four, increasing and disjoint.
fn without(mut dead: Vec<Range<usize>>, mut alive: Vec<Range<usize>>) -> Vec<Range<usize>> {
    dead.sort_by_key(|r| r.start);
    alive.sort_by_key(|r| r.start);
    let mut out: Vec<Range<usize>> = Vec::new();
    let mut from = 0;
    // Merged, so that ends increase, too.
    let mut joined: Vec<Range<usize>> = Vec::new();
    for range in alive {
        match joined.last_mut() {
            Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
            _ => joined.push(range),
        }
    }
    for range in dead {
        let mut start = range.start.max(from);
        for live in &joined[joined.partition_point(|l| l.end <= range.start)..] {
            if live.start >= range.end {
                break;
            }
            push_whole(&mut out, start..live.start);
            start = start.max(live.end);
        }
        push_whole(&mut out, start..range.end);
        from = from.max(range.end);
    }
    out
}

/// Appends the whole words in a range.
fn push_whole(out: &mut Vec<Range<usize>>, range: Range<usize>) {
    let start = range.start.next_multiple_of(4);
    let end = range.end - range.end % 4;
    if start >= end {
        return;
    }
    match out.last_mut() {
        Some(last) if last.end == start => last.end = end,
        _ => out.push(start..end),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_whole_words_that_nobody_else_has_go() {
        // Dead, alive, expected: starts and ends.
        type Pairs = &'static [(usize, usize)];
        let cases: [(Pairs, Pairs, Pairs); 5] = [
            (&[(8, 16), (0, 8)], &[(16, 20)], &[(0, 16)]),
            (&[(0, 16)], &[(4, 6), (5, 7)], &[(0, 4), (8, 16)]),
            (&[(2, 15)], &[], &[(4, 12)]),
            (&[(0, 8), (4, 12)], &[(0, 4)], &[(4, 12)]),
            (&[(4, 8)], &[(0, 100)], &[]),
        ];
        let ranges =
            |pairs: Pairs| -> Vec<Range<usize>> { pairs.iter().map(|&(a, b)| a..b).collect() };
        for (dead, alive, expected) in cases {
            let found = without(ranges(dead), ranges(alive));
            assert_eq!(found, ranges(expected), "{dead:?} without {alive:?}");
        }
    }
}
