//! The documented step, against a second implementation on plain arrays that follows the description line by line.

use super::{DocumentedJob, DocumentedSettings, DocumentedState, HairBind, place_followers};
use crate::Par;
use crate::collide::{Capsule, Collider, GradientMode};
use sinew_geom::{Affine, PackedAffine, Quat, Strands, Vec3};

type P = [f64; 3];

fn add(a: P, b: P, f: f64) -> P {
    [a[0] + f * b[0], a[1] + f * b[1], a[2] + f * b[2]]
}
fn sub(a: P, b: P) -> P {
    add(a, b, -1.0)
}
fn dot(a: P, b: P) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}
fn cross(a: P, b: P) -> P {
    [
        a[1] * b[2] - a[2] * b[1],
        a[2] * b[0] - a[0] * b[2],
        a[0] * b[1] - a[1] * b[0],
    ]
}
fn length(a: P) -> f64 {
    dot(a, a).sqrt()
}
fn unit(a: P) -> P {
    a.map(|c| c / length(a))
}
/// `v` turned by the shortest rotation from one direction to another (Rodrigues' formula).
fn arc(from: P, to: P, v: P) -> P {
    let (a, b) = (unit(from), unit(to));
    let (axis, cosine) = (cross(a, b), dot(a, b));
    let f = dot(axis, v) / (1.0 + cosine);
    add(add(v.map(|c| c * cosine), cross(axis, v), 1.0), axis, f)
}

/// A strand of the script.
struct Script {
    rest: Vec<P>,
    now: Vec<P>,
    last: Vec<P>,
    before: Vec<P>,
}

impl Script {
    fn step(
        &mut self,
        rows: &[[f64; 4]; 3],
        s: &DocumentedSettings,
        h: f64,
        frame: u32,
        guide: usize,
    ) {
        let n = self.rest.len();
        let skin =
            |p: P| [0, 1, 2].map(|r| rows[r][3] + dot([rows[r][0], rows[r][1], rows[r][2]], p));
        let turned = |p: P| sub(skin(p), skin([0.0; 3]));
        let single = |v: f32| f64::from(v);
        if frame < 2 {
            self.now = self.rest.iter().map(|&r| skin(r)).collect();
            self.last = self.now.clone();
        }
        let mut x = Vec::new();
        for i in 0..n {
            let (p, old, goal) = (self.now[i], self.last[i], skin(self.rest[i]));
            let kept = (-60.0 * single(s.damping) * h).exp();
            let mut to = add(
                add(p, sub(p, old), kept),
                [0.0, -single(s.gravity) * h * h, 0.0],
                1.0,
            );
            if (i as f64) < single(s.global_range) * n as f64 {
                to = add(to, sub(goal, to), single(s.global_stiffness));
            }
            x.push(if i < 2 { goal } else { to });
        }
        self.before = std::mem::replace(&mut self.last, std::mem::replace(&mut self.now, x));
        let (u, v) = (
            sub(self.last[1], self.last[0]),
            sub(self.now[1], self.now[0]),
        );
        let t = sub(self.now[0], arc(u, v, self.last[0]));
        let jump = add(add(self.now[1], self.last[1], -2.0), self.before[1], 1.0);
        let c = if length(jump) > single(s.shock_threshold) {
            1.0
        } else {
            single(s.shock_coefficient)
        };
        for i in 2..n {
            for p in [&mut self.now[i], &mut self.last[i]] {
                let moved = add(arc(u, v, *p), t, 1.0);
                *p = add(p.map(|q| q * (1.0 - c)), moved, c);
            }
        }
        let k = 0.5 * single(s.local_stiffness).min(0.95);
        for _ in 0..s.local_iterations {
            for i in 1..n - 1 {
                let b = [i - 1, i, i + 1].map(|j| turned(self.rest[j]));
                let now = sub(self.now[i], self.now[i - 1]);
                let goal = add(self.now[i], arc(sub(b[1], b[0]), now, sub(b[2], b[1])), 1.0);
                let change = sub(goal, self.now[i + 1]);
                if i >= 2 {
                    self.now[i] = add(self.now[i], change, -k);
                }
                self.now[i + 1] = add(self.now[i + 1], change, k);
            }
        }
        self.blow(s, h, frame, guide);
        for _ in 0..s.length_iterations {
            for first in [0, 1] {
                for i in (first..n - 1).step_by(2) {
                    let e = sub(self.now[i + 1], self.now[i]);
                    let rest = length(sub(self.rest[i + 1], self.rest[i]));
                    let change = e.map(|c| c * (1.0 - rest / length(e)));
                    let (a, b) = match i {
                        0 => (0.0, 0.0),
                        1 => (0.0, 1.0),
                        _ => (0.5, 0.5),
                    };
                    self.now[i] = add(self.now[i], change, a);
                    self.now[i + 1] = add(self.now[i + 1], change, -b);
                }
            }
        }
    }

    /// Wind along +Y, which is +X turned by a right angle about +Z.
    fn blow(&mut self, s: &DocumentedSettings, h: f64, frame: u32, guide: usize) {
        let m = f64::from(s.wind_magnitude) * ((0.01 * f64::from(frame)).sin().powi(2) + 0.5);
        let (sine, cosine) = 40.0_f64.to_radians().sin_cos();
        let a = (guide % 20) as f64 / 20.0;
        // About Y: (cos, 0, -+sin) of X; about Z: (cos, +-sin, 0). Then X to Y and Y to -X.
        let corners = [
            [0.0, cosine, -sine],
            [0.0, cosine, sine],
            [-sine, cosine, 0.0],
            [sine, cosine, 0.0],
        ];
        let weights = [a, 1.0 - a, a, 1.0 - a];
        let mut w = [0.0; 3];
        for (corner, weight) in corners.iter().zip(weights) {
            w = add(w, *corner, m * weight);
        }
        for i in 2..self.now.len() - 1 {
            let e = sub(self.now[i], self.now[i + 1]);
            let push = sub(w.map(|c| c * dot(e, e)), e.map(|c| c * dot(e, w)));
            self.now[i] = add(self.now[i], push, -h * h);
        }
    }
}

fn hair() -> (Strands, Vec<[f32; 3]>) {
    let mut rest = Vec::new();
    for strand in 0..3 {
        for i in 0..9 {
            let t = i as f32 * 0.3;
            let bend = 0.1 * (t * (1.0 + strand as f32)).sin();
            rest.push([bend + strand as f32, t, 0.07 * t * t]);
        }
    }
    (Strands::new([9; 3]).expect("valid"), rest)
}

#[test]
fn agrees_with_the_script() {
    let (strands, rest) = hair();
    let bind = HairBind::new(&strands, &rest, None).expect("valid");
    let settings = DocumentedSettings {
        damping: 0.068,
        gravity: 9.81,
        global_stiffness: 0.2,
        global_range: 0.5,
        wind_magnitude: 30.0,
        wind_direction: [0.0, 1.0, 0.0],
        shock_threshold: 0.06,
        ..DocumentedSettings::default()
    };
    let mut state = DocumentedState::<f64>::new(&bind);
    let mut scripts: Vec<Script> = strands
        .ranges()
        .map(|r| Script {
            rest: rest[r].iter().map(|p| p.map(f64::from)).collect(),
            now: Vec::new(),
            last: Vec::new(),
            before: vec![[0.0; 3]; 9],
        })
        .collect();
    let mut positions = vec![[0.0; 3]; 27];
    for frame in 0..40_u32 {
        let time = f64::from(frame) / 60.0;
        let rotation = Quat::from_euler_angles(0.4 * (time * 9.0).sin(), 0.9 * time, 0.1);
        let shift = Vec3::new((time * 11.0).sin(), 0.0, time);
        let head = Affine::from_trs(shift, rotation, Vec3::new(1.0, 1.0, 1.0));
        let packed = PackedAffine::from(head);
        // The second half is slow: longer than the longest step.
        let dt = if frame < 20 { 1.0 / 60.0 } else { 0.2 };
        DocumentedJob {
            bind: &bind,
            transforms: &[packed; 3],
            dt_secs: dt,
            settings: &settings,
            colliders: &[],
            state: &mut state,
            positions: &mut positions,
            tangents: None,
            par: Par::Seq,
        }
        .run()
        .expect("fits");
        let rows = packed.rows.map(|r| r.map(f64::from));
        for (g, script) in scripts.iter_mut().enumerate() {
            script.step(&rows, &settings, f64::from(dt.min(0.05)), frame, g);
            for (i, p) in script.now.iter().enumerate() {
                let found = positions[9 * g + i].map(f64::from);
                let off = length(sub(found, *p));
                assert!(
                    off < 2e-5,
                    "frame {frame}, strand {g}, vertex {i}: {found:?} {p:?}"
                );
            }
        }
    }
}

/// One strand, one step after the two of the reset, by hand: nothing but gravity and lengths.
#[test]
fn agrees_with_a_step_worked_out_by_hand() {
    let strands = Strands::new([3]).expect("valid");
    let rest = [[0.0; 3], [1.0, 0.0, 0.0], [2.0, 0.0, 0.0]];
    let bind = HairBind::new(&strands, &rest, None).expect("valid");
    let settings = DocumentedSettings {
        gravity: 100.0,
        damping: 0.0,
        local_iterations: 0,
        length_iterations: 1,
        ..DocumentedSettings::default()
    };
    let mut state = DocumentedState::<f64>::new(&bind);
    let mut positions = [[0.0; 3]; 3];
    let mut tangents = [[0.0; 3]; 3];
    let mut frame = || {
        DocumentedJob {
            bind: &bind,
            transforms: &[PackedAffine::from(Affine::<f32>::identity())],
            dt_secs: 0.05,
            settings: &settings,
            colliders: &[],
            state: &mut state,
            positions: &mut positions,
            tangents: Some(&mut tangents),
            par: Par::Seq,
        }
        .run()
        .expect("fits");
        positions
    };
    // Falls by g h^2 = 0.25; the edge of (1, -0.25) is made 1 long by its end alone.
    let long = 1.0625_f32.sqrt();
    frame();
    let p = frame();
    assert!(
        (p[2][0] - (1.0 + 1.0 / long)).abs() < 1e-6 && (p[2][1] + 0.25 / long).abs() < 1e-6,
        "{p:?}"
    );
    // Without a reset the velocity adds up: twice the way so far, and g h^2.
    let (x, y) = (1.0 + 2.0 * (1.0 / long - 1.0), -0.5 / long - 0.25);
    let length = x.hypot(y);
    let p = frame();
    assert!(
        (p[2][0] - 1.0 - x / length).abs() < 1e-6 && (p[2][1] - y / length).abs() < 1e-6,
        "{p:?}"
    );
    assert!((tangents[1][0] - x / length).abs() < 1e-6, "{tangents:?}");
    assert_eq!(tangents[1], tangents[2]);
}

#[test]
fn followers_keep_their_direction_and_collision_comes_last() {
    let (guides, rest) = hair();
    let (strands, all) = place_followers(&guides, &rest, 1, 0.2, 0.0, 3).expect("places");
    let bind = HairBind::new(&strands, &all, None).expect("valid");
    let settings = DocumentedSettings {
        tip_separation: 2.0,
        gradient: GradientMode::Analytic,
        ..DocumentedSettings::default()
    };
    let half_turn = Quat::from_axis_angle(&Vec3::y_axis(), 3.0);
    let head = Affine::from_trs(Vec3::zeros(), half_turn, Vec3::new(1.0, 1.0, 1.0));
    let run = |colliders: &[Collider<'_>], par: Par| {
        let mut state = DocumentedState::<f32>::new(&bind);
        let mut positions = vec![[0.0; 3]; all.len()];
        for _ in 0..3 {
            DocumentedJob {
                bind: &bind,
                transforms: &[PackedAffine::from(head); 6],
                dt_secs: 1.0 / 60.0,
                settings: &settings,
                colliders,
                state: &mut state,
                positions: &mut positions,
                tangents: None,
                par,
            }
            .run()
            .expect("fits");
        }
        positions
    };
    let free = run(&[], Par::Seq);
    assert_eq!(run(&[], Par::Rayon), free);
    let offset = Vec3::from(all[9]) - Vec3::from(all[0]);
    for i in 0..9 {
        let off = Vec3::from(free[9 + i]) - Vec3::from(free[i]);
        let expected = offset * (1.0 + 2.0 * i as f32 / 9.0);
        assert!((off - expected).norm() < 1e-5, "{off:?} {expected:?}");
    }
    let ball = Capsule::sphere([0.0, 1.5, 0.0], 0.6);
    let pushed = run(&[Collider::still(&ball)], Par::Seq);
    let least = pushed
        .iter()
        .map(|p| (Vec3::from(*p) - Vec3::new(0.0, 1.5, 0.0)).norm());
    assert!(least.fold(f32::MAX, f32::min) > 0.6 - 1e-4, "out");
}
