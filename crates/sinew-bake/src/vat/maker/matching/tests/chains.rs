//! Slots of whole sequences.

use super::super::*;
use super::shapes::Random;

/// A sequence without geometry: random numbers of triangles, random pairs.
fn sequence(random: &mut Random) -> (Vec<usize>, Vec<FrameMatch>) {
    let frames = 1 + random.below(12);
    let counts: Vec<usize> = (0..frames).map(|_| random.below(30)).collect();
    let pairs = counts.windows(2);
    let matches = pairs.map(|pair| step(pair[0], pair[1], random)).collect();
    (counts, matches)
}

fn step(before: usize, after: usize, random: &mut Random) -> FrameMatch {
    let mut left = random.order(before);
    let mut step = FrameMatch::default();
    for triangle in 0..after as u32 {
        let predecessor = left
            .pop()
            .filter(|_| random.below(4) > 0)
            .map(|before| Predecessor {
                triangle: before as u32,
                turn: random.below(3) as u8,
            });
        step.predecessors.push(predecessor);
        if predecessor.is_none() {
            step.births.push(unpaired(triangle, random));
        }
    }
    let used: Vec<u32> = step
        .predecessors
        .iter()
        .flatten()
        .map(|before| before.triangle)
        .collect();
    let dead = (0..before as u32).filter(|triangle| !used.contains(triangle));
    step.deaths = dead.map(|triangle| unpaired(triangle, random)).collect();
    step
}

fn unpaired(triangle: u32, random: &mut Random) -> Unpaired {
    Unpaired {
        triangle,
        point: [0; 3].map(|_| random.unit()),
    }
}

fn find(row: &[Slot], wanted: u32) -> Option<(usize, u8)> {
    let mut found = None;
    for (index, slot) in row.iter().enumerate() {
        if let Slot::Live { triangle, turn } = *slot
            && triangle == wanted
        {
            assert!(found.is_none(), "triangle {wanted} has two slots");
            found = Some((index, turn));
        }
    }
    found
}

fn rows(mut chain: SlotChain, matches: &[FrameMatch]) -> Vec<Vec<Slot>> {
    let steps = matches.iter();
    let mut rows: Vec<_> = steps
        .map(|step| chain.advance(step).expect("belongs together"))
        .collect();
    rows.push(chain.finish());
    let count = rows.last().map_or(0, Vec::len);
    rows.iter_mut()
        .for_each(|row| row.resize(count, Slot::Unused));
    rows
}

/// Each live triangle has one slot, which its successor keeps and no other takes from it: deaths end and births begin where matching says.
fn check_step([before, after]: [&[Slot]; 2], step: &FrameMatch, is_free_at_once: bool) {
    for (triangle, predecessor) in (0..).zip(&step.predecessors) {
        let (slot, turn) = find(after, triangle).expect("is shown");
        let Some(predecessor) = predecessor else {
            let birth = step.births.iter().find(|b| b.triangle == triangle);
            let point = birth.expect("is born").point;
            assert_eq!(before[slot], Slot::Born(point), "waits where it is born");
            continue;
        };
        let (old, old_turn) = find(before, predecessor.triangle).expect("was shown");
        assert_eq!(slot, old, "a successor stays in its slot");
        for k in 0..3 {
            let paired = (k + turn) % 3 + predecessor.turn;
            assert_eq!(paired % 3, (k + old_turn) % 3, "corner {k} stays the same");
        }
    }
    for death in &step.deaths {
        let (slot, _) = find(before, death.triangle).expect("was shown");
        match after[slot] {
            Slot::Dying(point) => assert_eq!(point, death.point, "where it ends"),
            Slot::Born(_) => assert!(is_free_at_once, "shows the death first"),
            other => panic!("a death left {other:?}"),
        }
    }
}

#[test]
fn each_live_triangle_has_one_slot_that_its_successor_keeps() {
    let mut random = Random(4);
    for _ in 0..200 {
        let (counts, matches) = sequence(&mut random);
        let chain = SlotChain::new(counts[0]);
        for (is_free, chain) in [(false, chain.clone()), (true, chain.freed_at_once())] {
            let rows = rows(chain, &matches);
            assert_eq!(rows.len(), counts.len(), "a row a frame");
            for (row, count) in rows.iter().zip(&counts) {
                let live = row.iter().filter(|s| matches!(s, Slot::Live { .. }));
                assert_eq!(live.count(), *count, "each triangle is shown");
            }
            for (pair, step) in rows.windows(2).zip(&matches) {
                check_step([&pair[0], &pair[1]], step, is_free);
            }
            let pairs = counts.iter().zip(&matches);
            let needed = pairs.map(|(live, step)| live + step.births.len());
            let needed = needed.chain([counts[0]]).max();
            if is_free {
                assert_eq!(Some(rows[0].len()), needed, "as few as can be: {counts:?}");
            } else {
                assert!(Some(rows[0].len()) >= needed, "room for all: {counts:?}");
            }
        }
    }
}

#[test]
fn matches_of_other_frames_are_refused() {
    let of = |triangles: &[u32]| FrameMatch {
        predecessors: triangles
            .iter()
            .map(|&triangle| Some(Predecessor { triangle, turn: 0 }))
            .collect(),
        ..FrameMatch::default()
    };
    for (step, triangle) in [(of(&[3]), 3), (of(&[0, 0]), 0)] {
        let error = SlotChain::new(1).advance(&step).expect_err("other frames");
        let said = format!("frame 1: predecessor {triangle} is not there or named twice");
        assert_eq!(error.to_string(), said);
    }
}
