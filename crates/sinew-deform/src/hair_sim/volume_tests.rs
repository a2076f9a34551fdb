//! Hair that keeps its volume: densities against closed forms, and heaps of hair against counted neighbours.

use super::test_scene::{Scene, line};
use super::volume::Grid;
use super::{HairBind, HairSettings, HairState};
use crate::Par;
use crate::collide::{Collider, Contact, Plane};
use sinew_geom::{Strands, Vec3};

/// Strands that stand on a square of the ground, `side` of them along it.
fn brush(side: usize, spacing: f32, length: f32, vertices: usize) -> (Strands, Vec<[f32; 3]>) {
    let strands = Strands::new(vec![vertices; side * side]).expect("valid");
    let step = [0.0, length / (vertices - 1) as f32, 0.0];
    let at = |i: usize| (i as f32 - 0.5 * (side - 1) as f32) * spacing;
    let rest =
        (0..side * side).flat_map(|s| line([at(s % side), 0.0, at(s / side)], step, vertices));
    (strands, rest.collect())
}

/// A brush with its volumes, and the grid with its vertices where `map` takes them.
fn squeezed(map: impl Fn([f32; 3]) -> [f32; 3]) -> (HairBind, Grid, Vec<[f32; 3]>) {
    let (strands, rest) = brush(16, 0.008, 0.16, 21);
    let bind = HairBind::new(&strands, &rest, None)
        .expect("valid")
        .with_volume();
    let volume = bind.volume.as_ref().expect("has one");
    let grid = Grid::new(volume);
    let places: Vec<[f32; 3]> = rest.into_iter().map(map).collect();
    for (&at, &v) in places.iter().zip(&volume.volumes) {
        volume.add(&grid, at, v);
    }
    (bind, grid, places)
}

/// Whether a vertex of the brush is well inside of it at rest.
fn is_inner(rest: &[f32; 3]) -> bool {
    let cell = 0.017;
    rest[0].abs() < 0.06 - 1.5 * cell
        && rest[2].abs() < 0.06 - 1.5 * cell
        && (rest[1] - 0.08).abs() < 0.08 - 1.5 * cell
}

#[test]
fn hair_at_rest_has_the_density_one_and_no_pressure() {
    let (bind, grid, places) = squeezed(|p| p);
    let volume = bind.volume.as_ref().expect("has one");
    for at in &places {
        let density = volume.density(&grid, *at);
        let least = if is_inner(at) { 0.9 } else { 0.1 };
        assert!(density > least && density < 1.0001, "{at:?}: {density}");
        let slope = volume.slope(&grid, *at);
        assert!(slope.iter().all(|s| s.abs() < 2e-3), "{at:?}: {slope:?}");
    }
    // All hair together takes up about the box that it is in.
    let total: f32 = volume.volumes.iter().sum();
    let taken = total * volume.cell.powi(3) / (0.128 * 0.128 * 0.168);
    assert!((0.9..1.7).contains(&taken), "{taken}");
}

/// Half as wide along one axis is twice as dense; half as wide along all is eight times.
#[test]
fn densities_are_those_of_the_squeeze() {
    for (squeeze, expected) in [
        ([0.5, 1.0, 1.0], 2.0),
        ([1.0, 0.5, 1.0], 2.0),
        ([0.6, 1.0, 0.6], 1.0 / 0.36),
    ] {
        let map = |p: [f32; 3]| [0, 1, 2].map(|k| p[k] * squeeze[k]);
        let (bind, grid, places) = squeezed(map);
        let volume = bind.volume.as_ref().expect("has one");
        let (_, rest) = brush(16, 0.008, 0.16, 21);
        let (mut sum, mut count) = (0.0, 0.0);
        for (at, _) in places.iter().zip(&rest).filter(|(_, rest)| is_inner(rest)) {
            sum += volume.density(&grid, *at);
            count += 1.0;
        }
        assert!(count > 100.0);
        let mean = sum / count;
        assert!(
            (mean / expected - 1.0).abs() < 0.1,
            "{squeeze:?}: {mean} {expected}"
        );
    }
}

/// Along a line from the middle to far outside, slopes add up to the pressure in the middle, and point back to it.
#[test]
fn slopes_add_up_to_the_pressure() {
    let (bind, grid, _) = squeezed(|[x, y, z]| [0.5 * x, y, z]);
    let volume = bind.volume.as_ref().expect("has one");
    let steps = 4000;
    let mut sum = 0.0;
    for i in 0..steps {
        let x = 0.15 * (i as f32 + 0.5) / steps as f32;
        sum += volume.slope(&grid, [x, 0.08, 0.001])[0] * (0.15 / steps as f32) / volume.cell;
    }
    // Of a surface that is smoothed over a cell the pressure at its nodes is that of their densities.
    let middle = volume.density(&grid, [0.0, 0.08, 0.001]) - 1.0;
    assert!((sum + middle).abs() < 0.03, "{sum} {middle}");
}

/// What pushes pushes back: all hair together feels nothing.
#[test]
fn pushes_add_up_to_nothing() {
    let (bind, grid, places) = squeezed(|[x, y, z]| [0.5 * x, y, z * (1.0 - 3.0 * x)]);
    let volume = bind.volume.as_ref().expect("has one");
    let (mut sum, mut all) = (Vec3::zeros(), 0.0);
    for (at, v) in places.iter().zip(&volume.volumes) {
        let push = Vec3::from(volume.slope(&grid, *at)) * *v;
        sum += push;
        all += push.norm();
    }
    assert!(all > 10.0 && sum.norm() < 0.1 * all, "{sum} of {all}");
}

/// How many other vertices are within a distance of each free vertex, over how many are at rest: sorted.
fn crowding(bind: &HairBind, rest: &[[f32; 3]], now: &[[f32; 3]], radius: f32) -> Vec<f32> {
    let near = |points: &[[f32; 3]], i: usize| {
        let at = Vec3::from(points[i]);
        let is_near = |p: &&[f32; 3]| (Vec3::from(**p) - at).norm() < radius;
        points.iter().filter(is_near).count() as f32
    };
    let ranges = bind.strands().ranges();
    let free = ranges.flat_map(|r| r.start + 2..r.end);
    let mut out: Vec<f32> = free.map(|i| near(now, i) / near(rest, i)).collect();
    out.sort_by(f32::total_cmp);
    out
}

/// A brush that falls over onto the ground.
fn fallen(volume: f32, par: Par) -> (Scene, Vec<[f32; 3]>) {
    let (strands, rest) = brush(10, 0.008, 0.1, 12);
    let mut scene = Scene::<f32>::new(&strands, &rest, None);
    scene.bind = scene.bind.clone().with_volume();
    scene.state = HairState::new(&scene.bind);
    scene.par = par;
    scene.settings = HairSettings {
        volume,
        gravity: [8.0, -8.0, 0.0],
        global_stiffness_hz: 0.0,
        local_stiffness_hz: 1.0,
        ..HairSettings::default()
    };
    scene.contacts = vec![Contact {
        collider: 0,
        margin: 1e-3,
        friction: 0.2,
    }];
    let ground = Plane {
        normal: [0.0, 1.0, 0.0],
        offset: -0.001,
    };
    scene.settle(6.0, &[Collider::still(&ground)]);
    (scene, rest)
}

#[test]
fn a_heap_of_hair_keeps_its_volume_and_comes_to_rest() {
    let median = |volume: f32| {
        let (scene, rest) = fallen(volume, Par::Seq);
        let fastest = scene.fastest();
        assert!(fastest < 1e-3, "{volume}: {fastest} m/s");
        assert!(scene.stretch() < 1e-4);
        let crowding = crowding(&scene.bind, &rest, &scene.positions, 0.016);
        crowding[crowding.len() / 2]
    };
    let (without, with) = (median(0.0), median(2.0));
    println!("{without} {with}");
    assert!(without > 2.5 && with < 0.6 * without, "{without} {with}");
}

#[test]
fn volume_has_the_same_bits_on_any_number_of_threads() {
    let (one, many) = (fallen(2.0, Par::Seq).0, fallen(2.0, Par::Rayon).0);
    assert_eq!(one.positions, many.positions);
}

/// Guides that are shown take up what hidden ones leave: hair does not fall together as it loses detail.
#[test]
fn shown_guides_stand_for_hidden_ones() {
    let (strands, rest) = brush(16, 0.008, 0.16, 21);
    let mut scene = Scene::<f32>::new(&strands, &rest, None);
    scene.bind = scene.bind.clone().with_volume();
    scene.state = HairState::new(&scene.bind);
    for detail in [1.0_f32, 0.8, 0.5, 0.3] {
        scene.settings = HairSettings {
            volume: 1.0,
            detail,
            ..super::test_scene::bare()
        };
        scene.settle(1.0 / 60.0 + 1e-4, &[]);
        let volume = scene.bind.volume.as_ref().expect("has one");
        let inner: Vec<&[f32; 3]> = rest.iter().filter(|p| is_inner(p)).collect();
        let densities = inner
            .iter()
            .map(|at| volume.density(&scene.state.grid, **at));
        let mean = densities.sum::<f32>() / inner.len() as f32;
        assert!((0.85..1.15).contains(&mean), "{detail}: {mean}");
    }
}

/// A wave in a brush without damping: its energy must not grow.
#[test]
fn pressure_gives_no_energy() {
    let (strands, rest) = brush(10, 0.008, 0.1, 12);
    let mut scene = Scene::<f32>::new(&strands, &rest, None);
    scene.bind = scene.bind.clone().with_volume();
    scene.state = HairState::new(&scene.bind);
    scene.settings = HairSettings {
        volume: 100.0,
        ..super::test_scene::bare()
    };
    // Thrown together.
    let state = &mut scene.state;
    state.make_room(&scene.bind, 0);
    scene.frame(&sinew_geom::Affine::identity(), 0.0, &[]);
    for (i, kept) in scene.state.kept.iter_mut().enumerate() {
        let [x, y, z] = rest[i];
        if i % 12 > 1 {
            kept.velocity = Vec3::new(-x, 0.0, -z) * (y * 120.0);
        }
    }
    let energy =
        |scene: &Scene| -> f32 { scene.state.velocities().map(|v| v.norm_squared()).sum() };
    let begin = energy(&scene);
    let mut most = 0.0_f32;
    for _ in 0..120 {
        scene.settle(1.0 / 60.0 + 1e-4, &[]);
        most = most.max(energy(&scene));
    }
    println!("{begin} {most} {}", energy(&scene));
    assert!(most < 1.02 * begin, "{begin} {most}");
    assert!(energy(&scene) < 0.2 * begin);
}
