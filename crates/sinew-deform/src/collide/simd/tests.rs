//! Eight strands side by side against one at a time.

use super::{ContactLanes, StrandGroup, WIDTH};
use crate::collide::contact::{ContactVertex, most_margin, push_out};
use crate::collide::settle::settle_lengths;
use crate::collide::test_shapes::Grid;
use crate::collide::{Capsule, Collider, Contact, Plane, Rigid, RigidMotion, Solids};
use crate::hair_sim::mixed;
use crate::lanes::{point, put};
use sinew_geom::{Quat, Vec3};

const COUNTS: [usize; WIDTH] = [12, 3, 20, 1, 16, 2, 9, 20];
const EXEMPT: usize = 2;

/// A random number from 0 to 1 that depends on all three.
fn random(seed: u64, strand: usize, number: usize) -> f32 {
    let key = mixed(seed ^ mixed((strand * 1000 + number) as u64));
    (key >> 40) as f32 / (1_u64 << 24) as f32
}

/// A strand that wanders about over a ball of 10 cm and through it, with places from which it came.
fn strand(seed: u64, index: usize, count: usize) -> Vec<ContactVertex<f32>> {
    let at = |number: usize| random(seed, index, number) * 2.0 - 1.0;
    let out = Vec3::new(at(0), at(1).abs() + 0.2, at(2)).normalize();
    let mut x = out * 0.1;
    let mut way = 0.0;
    let vertex = (0..count).map(|i| {
        let length = 0.002 + 0.02 * random(seed, index, 10 + i);
        let aside = Vec3::new(at(100 + 3 * i), at(101 + 3 * i), at(102 + 3 * i));
        if i > 0 {
            x += (aside - out * 0.2).normalize() * length;
            way += if i < EXEMPT { 0.0 } else { length };
        }
        let moved = Vec3::new(at(300 + 3 * i), at(301 + 3 * i), at(302 + 3 * i)) * 0.01;
        ContactVertex {
            x,
            start: x - moved,
            inverse_mass: if i < EXEMPT || i == 7 { 0.0 } else { 1.0 },
            length: if i == 0 { 0.0 } else { length },
            most_margin: most_margin(way),
            ..ContactVertex::default()
        }
    });
    vertex.collect()
}

fn loaded(strands: &[Vec<ContactVertex<f32>>]) -> Vec<ContactLanes> {
    let longest = strands.iter().map(Vec::len).max().unwrap_or(0);
    let mut lanes = vec![ContactLanes::default(); longest];
    for (lane, strand) in strands.iter().enumerate() {
        for (to, v) in lanes.iter_mut().zip(strand) {
            put(&mut to.x, lane, v.x);
            put(&mut to.start, lane, v.start);
            to.inverse_mass[lane] = v.inverse_mass;
            to.length[lane] = v.length;
            to.most_margin[lane] = v.most_margin;
        }
    }
    lanes
}

/// Steps one after another, as a frame has them: what is known of distances goes on from one to the next.
const STEPS: usize = 3;

/// How far vertices of both ways are from each other after each step, and how many touch something. The next step begins where single
/// strands are.
fn compare(seed: u64, colliders: &[Collider<'_>], contacts: &[Contact]) -> (Vec<f32>, usize) {
    let mut alone: Vec<_> = (COUNTS.iter().enumerate())
        .map(|(lane, &count)| strand(seed, lane, count))
        .collect();
    let mut lanes = loaded(&alone);
    lanes.iter_mut().for_each(ContactLanes::forget);
    let (mut off, mut touched) = (Vec::new(), 0);
    for step in 0..STEPS {
        let span = [step, step + 1].map(|s| s as f32 / STEPS as f32);
        let mut placements = vec![Default::default(); contacts.len()];
        let solids = Solids::place(colliders, contacts, &mut placements, span);
        let mut group = StrandGroup::new(&solids, EXEMPT);
        lanes.iter_mut().for_each(ContactLanes::free);
        for (lane, strand) in alone.iter_mut().enumerate() {
            if step > 0 {
                go_on(seed + step as u64 * 100, lane, strand, &mut lanes);
            }
            // One strand takes no part.
            if lane == 4 {
                continue;
            }
            let reach = if lane % 2 == 0 {
                solids
            } else {
                let reach = strand.iter().map(|v| v.length).sum();
                solids.in_reach(strand[0].start, strand[0].x, reach)
            };
            group.add(lane, strand.len(), &reach);
            push_out(&reach, strand, EXEMPT);
            settle_lengths(&reach, strand, EXEMPT);
        }
        let before = lanes.clone();
        group.push_out(&mut lanes, true);
        group.settle(&mut lanes);
        for (lane, strand) in alone.iter_mut().enumerate() {
            for (i, v) in strand.iter_mut().enumerate() {
                let found = lanes[i].get(lane);
                touched += usize::from(v.normal != Vec3::zeros());
                touched += usize::from(v.segment.normal != Vec3::zeros());
                let normals = (found.normal - v.normal).norm()
                    + (found.segment.normal - v.segment.normal).norm();
                let way = (found.x - v.x).norm();
                off.push(way.max(0.01 * normals).max((found.rub - v.rub).abs()));
                if lane == 4 {
                    assert_eq!(found.x, point(&before[i].x, lane), "takes no part");
                }
                // Not by more than roundings, or it counts above: both go on from one place.
                put(&mut lanes[i].x, lane, v.x);
            }
        }
    }
    (off, touched)
}

/// The next step of one strand: its vertices move on a little, most of them by less than they are away from solids.
fn go_on(seed: u64, lane: usize, strand: &mut [ContactVertex<f32>], lanes: &mut [ContactLanes]) {
    for (i, (v, to)) in strand.iter_mut().zip(lanes).enumerate() {
        let at = |axis: usize| random(seed, lane, 400 + 3 * i + axis) - 0.5;
        v.start = v.x;
        if v.inverse_mass > 0.0 {
            v.x += Vec3::new(at(0), at(1), at(2)) * 0.004;
        }
        v.free();
        put(&mut to.start, lane, v.start);
        put(&mut to.x, lane, v.x);
    }
}

fn spinning(shape: &dyn crate::collide::Distance) -> Collider<'_> {
    let turned = Rigid {
        rotation: Quat::from_euler_angles(0.02, 0.1, -0.05),
        translation: Vec3::new(0.002, 0.0, -0.003),
    };
    Collider {
        shape,
        motion: RigidMotion::between(Rigid::identity(), turned),
    }
}

/// Roundings alone decide at times whether something is touched, and what hangs on it goes another way then: few may. The others differ by
/// roundings.
#[test]
fn strands_side_by_side_go_where_they_go_alone() {
    let ball = Grid::new([-0.15; 3], [0.15; 3], 0.006, |p| Vec3::from(p).norm() - 0.1);
    let arm = Capsule {
        ends: [[0.05, 0.1, 0.0], [0.2, 0.15, 0.0]],
        radii: [0.03, 0.01],
    };
    let floor = Plane {
        normal: [0.0, 1.0, 0.0],
        offset: 0.02,
    };
    let colliders = [spinning(&ball), spinning(&arm), Collider::still(&floor)];
    let contact = |collider, margin, friction| Contact {
        collider,
        margin,
        friction,
    };
    let contacts = [
        contact(0, 0.003, 0.3),
        contact(1, 0.0, 0.1),
        contact(2, 0.002, 0.0),
    ];
    for count in 1..=3 {
        let (mut all, mut touched) = (Vec::new(), 0);
        for seed in 0..40 {
            let (off, touches) = compare(seed, &colliders, &contacts[..count]);
            all.extend(off);
            touched += touches;
        }
        let far = all.iter().filter(|&&off| off.is_nan() || off > 2e-6);
        let (far, len) = (far.count(), all.len());
        println!("{count} solids: {far} of {len} elsewhere, {touched} touch");
        assert!(touched * 5 > len, "{touched} of {len} touch");
        assert!(far * 100 < touched, "{far} of {touched} went another way");
    }
}
