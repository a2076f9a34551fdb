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

fn find(row: &[Slot], wanted: u32) -> Option<(usize, u8, bool)> {
    let mut found = None;
    for (index, slot) in row.iter().enumerate() {
        if let Slot::Live {
            triangle,
            turn,
            jumps,
        } = *slot
            && triangle == wanted
        {
            assert!(found.is_none(), "triangle {wanted} has two slots");
            found = Some((index, turn, jumps));
        }
    }
    found
}

fn check_step(slots: &Slots, frame: usize, step: &FrameMatch, policy: SlotPolicy) {
    let (before, after) = (slots.frame(frame), slots.frame(frame + 1));
    for (triangle, predecessor) in (0..).zip(&step.predecessors) {
        let (slot, turn, jumps) = find(after, triangle).unwrap();
        match predecessor {
            Some(predecessor) => {
                let (old, old_turn, _) = find(before, predecessor.triangle).unwrap();
                assert_eq!((slot, jumps), (old, false), "a successor stays in its slot");
                for k in 0..3 {
                    let own = (k + turn) % 3;
                    let paired = (own + predecessor.turn) % 3;
                    assert_eq!(
                        paired,
                        (k + old_turn) % 3,
                        "corner {k} of a slot stays the same corner"
                    );
                }
            }
            None => check_birth(before[slot], step, triangle, jumps, policy),
        }
    }
    for death in &step.deaths {
        let (slot, ..) = find(before, death.triangle).unwrap();
        match after[slot] {
            Slot::Dying(point) => assert_eq!(point, death.point, "where it ends"),
            Slot::Live { jumps, .. } => {
                assert!(jumps && policy == SlotPolicy::Fewest, "taken at once")
            }
            other => panic!("a death left {other:?}"),
        }
    }
}

fn check_birth(before: Slot, step: &FrameMatch, triangle: u32, jumps: bool, policy: SlotPolicy) {
    let birth = step
        .births
        .iter()
        .find(|birth| birth.triangle == triangle)
        .unwrap();
    match before {
        Slot::Born(point) => assert_eq!((point, jumps), (birth.point, false), "where it begins"),
        Slot::Dying(_) => assert!(
            !jumps && policy == SlotPolicy::Fewest,
            "shows the death first"
        ),
        Slot::Live { .. } => assert!(jumps, "takes over at once"),
        Slot::Unused => panic!("a birth without a point"),
    }
}

#[test]
fn each_live_triangle_has_one_slot_that_its_successor_keeps() {
    let mut random = Random(4);
    for _ in 0..200 {
        let (counts, matches) = sequence(&mut random);
        for policy in [SlotPolicy::Fewest, SlotPolicy::Clean] {
            let slots = compose(&counts, &matches, policy).unwrap();
            let most = counts.iter().copied().max().unwrap();
            assert_eq!(slots.frames(), counts.len(), "a row a frame");
            assert!(slots.count() >= most, "room for all");
            if policy == SlotPolicy::Fewest {
                assert_eq!(slots.count(), most, "and no more");
            }
            for (frame, &count) in counts.iter().enumerate() {
                let row = slots.frame(frame);
                assert_eq!(row.len(), slots.count(), "all rows are equally long");
                let live = row
                    .iter()
                    .filter(|slot| matches!(slot, Slot::Live { .. }))
                    .count();
                assert_eq!(live, count, "each triangle is shown");
            }
            for (frame, step) in matches.iter().enumerate() {
                check_step(&slots, frame, step, policy);
            }
        }
    }
}

#[test]
fn a_birth_takes_the_slot_that_died_nearest() {
    let at = |triangle, x| Unpaired {
        triangle,
        point: [x, 0.0, 0.0],
    };
    let born = |points: [f32; 2]| FrameMatch {
        predecessors: vec![None; 2],
        births: vec![at(0, points[0]), at(1, points[1])],
        deaths: vec![],
    };
    let died = FrameMatch {
        deaths: vec![at(0, 1.0), at(1, 5.0)],
        ..FrameMatch::default()
    };
    let slots = compose(&[2, 0, 2], &[died, born([6.0, 0.0])], SlotPolicy::Fewest).unwrap();
    let places = [0, 1].map(|triangle| find(slots.frame(2), triangle).unwrap().0);
    assert_eq!(places, [1, 0], "5 is nearest to 6");
}

#[test]
fn matches_of_other_frames_are_refused() {
    let one = FrameMatch {
        predecessors: vec![Some(Predecessor {
            triangle: 3,
            turn: 0,
        })],
        ..FrameMatch::default()
    };
    let twice = FrameMatch {
        predecessors: vec![
            Some(Predecessor {
                triangle: 0,
                turn: 0
            });
            2
        ],
        ..FrameMatch::default()
    };
    let refused = |counts: &[usize], matches: &[FrameMatch]| {
        compose(counts, matches, SlotPolicy::Fewest)
            .unwrap_err()
            .to_string()
    };
    assert_eq!(
        refused(&[1, 1], &[]),
        "2 frames need one match less, not 0",
        "too few"
    );
    assert_eq!(
        refused(&[1, 2], std::slice::from_ref(&one)),
        "frame 1 has 2 triangles, its match has 1",
        "of another frame"
    );
    let message = "frame 1: predecessor 3 is not there or named twice";
    assert_eq!(refused(&[1, 1], &[one]), message, "out of range");
    let message = "frame 1: predecessor 0 is not there or named twice";
    assert_eq!(refused(&[1, 2], &[twice]), message, "two successors");
    assert_eq!(
        compose(&[], &[], SlotPolicy::Clean).unwrap().count(),
        0,
        "no frames"
    );
}

/// Slots that are freed at once: each live triangle has one, which its successor keeps and no other takes from it, and there are no more than triangles of a
/// frame and births of the next one together.
#[test]
fn slots_that_are_freed_at_once_are_as_few_as_can_be_without_jumps() {
    let mut random = Random(11);
    for _ in 0..200 {
        let (counts, matches) = sequence(&mut random);
        let mut chain = SlotChain::new(counts[0], 30, SlotPolicy::Clean).freed_at_once();
        let mut rows = Vec::new();
        for step in &matches {
            rows.push(chain.advance(step).expect("belongs together"));
        }
        rows.push(chain.finish());
        let pairs = counts.iter().zip(&matches);
        let needed = pairs.map(|(live, step)| live + step.births.len());
        let needed = needed.chain([counts[0]]).max().unwrap_or(0);
        let found = rows.iter().map(Vec::len).max().unwrap_or(0);
        assert_eq!(found, needed, "{counts:?}");
        for (frame, step) in matches.iter().enumerate() {
            for (triangle, before) in (0..).zip(&step.predecessors) {
                let (slot, _, jumps) = find(&rows[frame + 1], triangle).expect("is shown");
                assert!(!jumps);
                match before {
                    Some(before) => {
                        let was = find(&rows[frame], before.triangle).expect("was shown");
                        assert_eq!(was.0, slot, "stays in its slot");
                    }
                    None => {
                        let born = step.births.iter().find(|b| b.triangle == triangle);
                        let point = born.expect("is born").point;
                        assert_eq!(
                            rows[frame][slot],
                            Slot::Born(point),
                            "waits where it is born"
                        );
                    }
                }
            }
        }
    }
}
