//! Points with known lives.

use super::*;
use proptest::prelude::*;
use sinew_geom::Topology;
use sinew_testkit::meshes::mesh_from;
use sinew_vat::texel::TexelFormat;
use sinew_vat::texture::Extent;

/// A frame: number and place of each point.
type Frame = Vec<(u32, [f32; 3])>;

fn split(frames: &[Frame]) -> Vec<(Vec<u32>, Vec<[f32; 3]>)> {
    frames.iter().map(|f| f.iter().copied().unzip()).collect()
}

fn follow(frames: &[(Vec<u32>, Vec<[f32; 3]>)]) -> ParticleSlots {
    ParticleSlots::new(frames.iter().map(|(n, p)| (n.as_slice(), p.as_slice())))
}

fn at(x: f32) -> [f32; 3] {
    [x, 0.0, 0.0]
}

#[test]
fn row_125_a_slot_stays_where_its_point_died_and_waits_where_the_next_is_born() {
    // Point 5 lives in frames 0 and 1, point 9 from frame 4: just long enough after.
    let frames = split(&[
        vec![(5, at(1.0))],
        vec![(5, at(2.0))],
        vec![],
        vec![],
        vec![(9, at(7.0))],
        vec![],
    ]);
    let slots = follow(&frames);
    assert_eq!(slots.count(), 1);
    let shown: Vec<_> = (0..6)
        .map(|f| slots.of_frame(f, &frames[f].0, [9.0; 3])[0])
        .collect();
    let absent = |x| ParticleSlot::Absent { position: at(x) };
    let alive = ParticleSlot::Alive { point: 0 };
    assert_eq!(
        shown,
        [alive, alive, absent(2.0), absent(7.0), alive, absent(7.0)]
    );
    // One frame sooner, and the slot has no time to rest.
    let mut sooner = frames.clone();
    sooner.remove(2);
    assert_eq!(follow(&sooner).count(), 2);
}

#[test]
fn sizes_are_zero_where_no_point_is() {
    let mut mesh = mesh_from("points", vec![at(1.0), at(2.0)], vec![]);
    mesh.attributes
        .insert("size".into(), Attribute::Scalar(vec![0.3, 0.4]));
    let extent = |n: usize, most: f32| Extent::between(0.0, most, n);
    let specs = [
        TextureSpec::new(Quantity::Position, TexelFormat::Unorm16, &extent(3, 3.0)),
        TextureSpec::new(
            Quantity::Attribute("size".into()),
            TexelFormat::Unorm8,
            &extent(1, 0.4),
        ),
    ];
    let slots = [
        ParticleSlot::Alive { point: 1 },
        ParticleSlot::Absent { position: at(1.5) },
    ];
    let texels = encode_points(&mesh, &slots, |_| 0.25, &specs);
    let size = |slot: usize| specs[1].decode(&texels[1][slot..], 0);
    assert!((size(0) - 0.4).abs() < 1e-3);
    assert_eq!(size(1), 0.0, "to the bit");
    let x = specs[0].decode(&texels[0][specs[0].vertex_bytes()..], 0);
    assert!((x - 1.5).abs() < 3.0 / 65535.0, "{x}");
}

#[test]
fn numbers_must_tell_points_apart() {
    let with = |numbers: Vec<f32>| {
        let count = numbers.len();
        let mut mesh = mesh_from("points", vec![[0.0; 3]; count], vec![]);
        mesh.attributes
            .insert("id".into(), Attribute::Scalar(numbers));
        mesh
    };
    assert_eq!(
        point_numbers(0, &with(vec![3.0, 16_777_216.0]), "id"),
        Ok(vec![3, 16_777_216])
    );
    for (numbers, message) in [
        (
            vec![1.0, 2.0, 1.0],
            "frame 4: points 0 and 2 both have the number 1",
        ),
        (
            vec![0.5],
            "frame 4, point 0: 0.5 is no number of a point; whole numbers from 0 to 16777216 are",
        ),
        (
            vec![7.0, -1.0],
            "frame 4, point 1: -1 is no number of a point; whole numbers from 0 to 16777216 are",
        ),
    ] {
        let error = point_numbers(4, &with(numbers), "id").expect_err("no numbers");
        assert_eq!(error.to_string(), message);
    }
    assert!(point_numbers(0, &with(vec![1.0]), "name").is_err());
    let empty = Mesh::new("none", Topology::default(), vec![]);
    assert_eq!(point_numbers(0, &empty, "id"), Ok(vec![]));
}

/// Lives with births and deaths at random, numbers never twice at a time.
fn any_frames() -> impl Strategy<Value = Vec<Frame>> {
    prop::collection::vec((0_u32..40, 0_usize..30, 1_usize..8), 0..60).prop_map(|lives| {
        let mut frames = vec![BTreeMap::new(); 40];
        for (number, first, length) in lives {
            for (f, frame) in frames.iter_mut().enumerate().skip(first).take(length) {
                frame.insert(number, at(f as f32 + 100.0 * number as f32));
            }
        }
        frames
            .into_iter()
            .map(|f| f.into_iter().collect())
            .collect()
    })
}

proptest! {
    #[test]
    fn every_point_has_one_slot_for_life_and_slots_rest_between(frames in any_frames()) {
        let frames = split(&frames);
        let slots = follow(&frames);
        let rows: Vec<_> = frames
            .iter()
            .enumerate()
            .map(|(f, (numbers, _))| slots.of_frame(f, numbers, [0.0; 3]))
            .collect();
        for (row, (numbers, _)) in rows.iter().zip(&frames) {
            let shown: BTreeSet<u32> = row.iter().filter_map(|s| match s {
                ParticleSlot::Alive { point } => Some(*point),
                ParticleSlot::Absent { .. } => None,
            }).collect();
            prop_assert_eq!(shown.len(), numbers.len());
        }
        let number = |f: usize, slot: usize| match rows[f][slot] {
            ParticleSlot::Alive { point } => Some(frames[f].0[point as usize]),
            ParticleSlot::Absent { .. } => None,
        };
        let position = |f: usize, slot: usize| match rows[f][slot] {
            ParticleSlot::Alive { point } => frames[f].1[point as usize],
            ParticleSlot::Absent { position } => position,
        };
        for slot in 0..slots.count() {
            for f in 1..rows.len() {
                let (before, now) = (number(f - 1, slot), number(f, slot));
                prop_assert!(before.is_none() || now.is_none() || before == now, "a slot changes hands at once");
                // Where a point is in either frame, the slot does not leave its path.
                if before.is_some() != now.is_some() {
                    prop_assert_eq!(position(f - 1, slot), position(f, slot));
                }
            }
        }
        // Never more than the fullest window of lives and rests.
        let busy = (0..rows.len()).map(|f| {
            let from = f.saturating_sub(REST);
            (from..=f).flat_map(|g| frames[g].0.iter().map(move |n| (*n, g))).count()
        });
        prop_assert!(slots.count() <= busy.max().unwrap_or(0));
    }
}
