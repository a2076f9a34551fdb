//! The TressFX step, against a second implementation on plain arrays that follows the description line by line.

use super::{TressFxJob, TressFxSettings, TressFxState};
use crate::Par;
use crate::collide::{Capsule, Collider, GradientMode, Plane};
use crate::hair_sim::test_scene::followers;
use crate::hair_sim::{HairBind, place_followers};
use sinew_geom::vec3::{add_scaled as add, cross, dot, length, sub};
use sinew_geom::{Affine, PackedAffine, Quat, Strands, Vec3};

type P = [f64; 3];

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
        s: &TressFxSettings,
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
    fn blow(&mut self, s: &TressFxSettings, h: f64, frame: u32, guide: usize) {
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

fn settings() -> TressFxSettings {
    TressFxSettings {
        damping: 0.068,
        gravity: 9.81,
        global_stiffness: 0.2,
        global_range: 0.5,
        wind_magnitude: 30.0,
        wind_direction: [0.0, 1.0, 0.0],
        shock_threshold: 0.06,
        ..TressFxSettings::default()
    }
}

fn scripts(strands: &Strands, rest: &[[f32; 3]]) -> Vec<Script> {
    let script = |r: std::ops::Range<usize>| Script {
        rest: rest[r].iter().map(|p| p.map(f64::from)).collect(),
        now: Vec::new(),
        last: Vec::new(),
        before: vec![[0.0; 3]; 9],
    };
    strands.ranges().map(script).collect()
}

/// Where the head is, and the time of the frame. The second half is slow: longer than the longest step.
fn head_at(frame: u32) -> (PackedAffine, f32) {
    let time = f64::from(frame) / 60.0;
    let rotation = Quat::from_euler_angles(0.4 * (time * 9.0).sin(), 0.9 * time, 0.1);
    let shift = Vec3::new((time * 11.0).sin(), 0.0, time);
    let head = Affine::from_trs(shift, rotation, Vec3::new(1.0, 1.0, 1.0));
    let dt = if frame < 20 { 1.0 / 60.0 } else { 0.2 };
    (PackedAffine::from(head), dt)
}

/// Goes on with the scripts by a frame and compares.
fn assert_follows(scripts: &mut [Script], frame: u32, positions: &[[f32; 3]], tolerance: f64) {
    let (packed, dt) = head_at(frame);
    let rows = packed.rows.map(|r| r.map(f64::from));
    for (g, script) in scripts.iter_mut().enumerate() {
        script.step(&rows, &settings(), f64::from(dt.min(0.05)), frame, g);
        for (i, p) in script.now.iter().enumerate() {
            let found = positions[9 * g + i].map(f64::from);
            let off = length(sub(found, *p));
            assert!(
                off < tolerance,
                "frame {frame}, strand {g}, vertex {i}: {found:?} {p:?}"
            );
        }
    }
}

/// Each vertex has the direction of the segment behind it as lengths leave it, the last one that of the segment before.
fn assert_tangents(scripts: &[Script], tangents: &[[f32; 3]]) {
    for (g, script) in scripts.iter().enumerate() {
        for i in 0..9 {
            let k = i.min(7);
            let expected = unit(sub(script.now[k + 1], script.now[k]));
            let found = tangents[9 * g + i].map(f64::from);
            let off = length(sub(found, expected));
            assert!(off < 2e-4, "strand {g}, vertex {i}: {found:?} {expected:?}");
        }
    }
}

#[test]
fn agrees_with_the_script() {
    let (strands, rest) = hair();
    let bind = HairBind::new(&strands, &rest, None).expect("valid");
    let settings = settings();
    let mut state = TressFxState::<f64>::new(&bind);
    let mut scripts = scripts(&strands, &rest);
    let mut positions = vec![[0.0; 3]; 27];
    let mut tangents = vec![[0.0; 3]; 27];
    for frame in 0..40_u32 {
        let (packed, dt) = head_at(frame);
        TressFxJob {
            bind: &bind,
            transforms: &[packed; 3],
            dt_secs: dt,
            settings: &settings,
            colliders: &[],
            margins_cells: &[],
            state: &mut state,
            positions: &mut positions,
            tangents: Some(&mut tangents),
            par: Par::Seq,
        }
        .run()
        .expect("fits");
        assert_follows(&mut scripts, frame, &positions, 2e-5);
        assert_tangents(&scripts, &tangents);
    }
}

/// One strand, one step after the two of the reset, by hand: nothing but gravity and lengths.
#[test]
fn agrees_with_a_step_worked_out_by_hand() {
    let strands = Strands::new([3]).expect("valid");
    let rest = [[0.0; 3], [1.0, 0.0, 0.0], [2.0, 0.0, 0.0]];
    let bind = HairBind::new(&strands, &rest, None).expect("valid");
    let settings = TressFxSettings {
        gravity: 100.0,
        damping: 0.0,
        local_iterations: 0,
        length_iterations: 1,
        ..TressFxSettings::default()
    };
    let mut state = TressFxState::<f64>::new(&bind);
    let mut positions = [[0.0; 3]; 3];
    let mut tangents = [[0.0; 3]; 3];
    let mut frame = || {
        TressFxJob {
            bind: &bind,
            transforms: &[PackedAffine::from(Affine::<f32>::identity())],
            dt_secs: 0.05,
            settings: &settings,
            colliders: &[],
            margins_cells: &[],
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

/// Positions and tangents of the last vertex of three, level from the origin, frame after frame: it falls by `gravity / 400` a frame, and
/// nothing else but solids moves it.
fn fallen(gravity: f32, colliders: &[Collider<'_>], frames: usize) -> Vec<[[f32; 3]; 2]> {
    let strands = Strands::new([3]).expect("valid");
    let rest = [[0.0; 3], [1.0, 0.0, 0.0], [2.0, 0.0, 0.0]];
    let bind = HairBind::new(&strands, &rest, None).expect("valid");
    let settings = TressFxSettings {
        gravity,
        damping: 0.0,
        local_iterations: 0,
        length_iterations: 0,
        gradient: GradientMode::Analytic,
        ..TressFxSettings::default()
    };
    let mut state = TressFxState::<f64>::new(&bind);
    let mut frame = || {
        let (mut positions, mut tangents) = ([[0.0; 3]; 3], [[0.0; 3]; 3]);
        TressFxJob {
            bind: &bind,
            transforms: &[PackedAffine::from(Affine::<f32>::identity())],
            dt_secs: 0.05,
            settings: &settings,
            colliders,
            margins_cells: &[],
            state: &mut state,
            positions: &mut positions,
            tangents: Some(&mut tangents),
            par: Par::Seq,
        }
        .run()
        .expect("fits");
        [positions[2], tangents[2]]
    };
    (0..frames).map(|_| frame()).collect()
}

/// Of a way `d` beyond 20 is left `400 / d`: the less, the longer it was. Tangents were taken before.
#[test]
fn the_clamp_leaves_the_less_the_faster_it_was() {
    for (way, left) in [(16.0, 16.0), (100.0, 4.0), (200.0, 2.0)] {
        let [position, tangent] = fallen(400.0 * way, &[], 1)[0];
        assert!((position[1] + left).abs() < 1e-4, "{way}: {position:?}");
        let slope = -tangent[1] / tangent[0];
        assert!((slope / way - 1.0).abs() < 1e-3, "{way}: {tangent:?}");
    }
}

/// On a slope each frame begins at rest: what falls by `g h^2` = 0.25 and is pushed out along the normal goes as far along the slope in
/// each frame. The first two frames begin at the rest shape.
#[test]
fn contacts_take_all_velocity() {
    let slope = Plane {
        normal: [0.8, 0.6, 0.0],
        offset: 1.6,
    };
    let found = fallen(100.0, &[Collider::still(&slope)], 5);
    for (steps, [[x, y, _], _]) in [1.0, 1.0, 2.0, 3.0, 4.0].into_iter().zip(found) {
        let along = steps * 0.25 * 0.6;
        assert!((x - 2.0 - 0.8 * along).abs() < 1e-4, "{steps}: {x}");
        assert!(
            (y + 0.25 * steps - 0.6 * along).abs() < 1e-4,
            "{steps}: {y}"
        );
    }
}

#[test]
fn followers_keep_their_direction_and_collision_comes_last() {
    let (guides, rest) = hair();
    let (strands, all) =
        place_followers(&guides, &rest, &followers(1, 0.2, 0.0, 3), None).expect("places");
    let bind = HairBind::new(&strands, &all, None).expect("valid");
    let settings = TressFxSettings {
        tip_separation: 2.0,
        gradient: GradientMode::Analytic,
        ..TressFxSettings::default()
    };
    let half_turn = Quat::from_axis_angle(&Vec3::y_axis(), 3.0);
    let head = Affine::from_trs(Vec3::zeros(), half_turn, Vec3::new(1.0, 1.0, 1.0));
    let run = |colliders: &[Collider<'_>], par: Par| {
        let mut state = TressFxState::<f32>::new(&bind);
        let mut positions = vec![[0.0; 3]; all.len()];
        for _ in 0..3 {
            TressFxJob {
                bind: &bind,
                transforms: &[PackedAffine::from(head); 6],
                dt_secs: 1.0 / 60.0,
                settings: &settings,
                colliders,
                margins_cells: &[],
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

/// The node through its description, on the strands of the script.
mod node {
    use super::*;
    use crate::tressfx_hair::DESC;
    use crate::tressfx_sdf::CompatibilityField;
    use crate::{
        BindContext, BindInput, BindWarnings, BoundNode, InputValue, Inputs, MeshViewMut,
        NodeError, NodeScratch, OutputValue, Outputs, ParameterValue, Parameters, ReadLog,
        UpdateContext,
    };
    use sinew_geom::{Joint, LocalTransform, Mesh, Node, Rig, Topology, Trs};

    fn rig() -> Rig {
        let node = Node {
            name: "head".into(),
            parent: None,
            local: LocalTransform::Trs(Trs::default()),
            morph_weights: Vec::new(),
            morph_offset: 0,
        };
        let joint = Joint {
            node: 0,
            joint_from_bind: Affine::identity(),
        };
        Rig::new(vec![node], vec![joint]).expect("valid")
    }

    fn values(set: &[(&str, ParameterValue)]) -> Vec<ParameterValue> {
        let value = |d: &crate::ParameterDesc| {
            let given = set.iter().find(|(name, _)| *name == d.name);
            given.map_or_else(|| d.default_value(), |(_, v)| v.clone())
        };
        DESC.parameters.iter().map(value).collect()
    }

    /// [`settings`] as a document says them.
    fn documented() -> Vec<ParameterValue> {
        let float = |v: f32| ParameterValue::Float(f64::from(v));
        let s = settings();
        values(&[
            ("joint", ParameterValue::Text("head".into())),
            ("damping", float(s.damping)),
            ("gravity", float(s.gravity)),
            ("global_stiffness", float(s.global_stiffness)),
            ("global_range", float(s.global_range)),
            ("wind_magnitude", float(s.wind_magnitude)),
            ("wind_direction", ParameterValue::Vec3([0.0, 1.0, 0.0])),
            ("shock_threshold", float(s.shock_threshold)),
        ])
    }

    fn bind(values: &[ParameterValue], colliders: usize) -> Result<Box<dyn BoundNode>, NodeError> {
        let (strands, rest) = hair();
        let mesh = Mesh::new("hair", Topology::from_strands(strands), rest);
        let rig = rig();
        let mut inputs = vec![None; DESC.inputs.len()];
        inputs[0] = Some(BindInput::Mesh(&mesh));
        inputs[1] = Some(BindInput::Pose(&rig));
        inputs[2..2 + colliders].fill(Some(BindInput::Field(1)));
        let log = ReadLog::new();
        let bound = (DESC.bind)(&BindContext {
            inputs: &inputs,
            ports: DESC.inputs,
            parameters: Parameters {
                descs: DESC.parameters,
                values,
                log: &log,
            },
            fixed: &vec![true; values.len()],
            warnings: &BindWarnings::new(),
            par: crate::Par::Seq,
            watch: crate::BindWatch::NONE,
        });
        log.check().expect("reads what it declares");
        bound
    }

    /// A node that plays.
    struct Played {
        node: Box<dyn BoundNode>,
        values: Vec<ParameterValue>,
        scratch: Box<NodeScratch>,
        tangents: Vec<[f32; 4]>,
    }

    impl Played {
        fn new(values: Vec<ParameterValue>, colliders: usize) -> Self {
            let node = bind(&values, colliders).expect("binds");
            Self {
                scratch: node.new_scratch(),
                tangents: vec![[0.0; 4]; 27],
                node,
                values,
            }
        }

        fn frame(&mut self, frame: u32, is_first: bool, words: Option<&[u32]>) -> Vec<[f32; 3]> {
            let (packed, dt) = head_at(frame);
            let mut pose = rig().rest_pose();
            pose.palette[0] = packed;
            let mut inputs = vec![None; DESC.inputs.len()];
            inputs[1] = Some(InputValue::Pose(&pose));
            inputs[2] = words.map(InputValue::Field);
            let mut positions = vec![[0.0; 3]; 27];
            let log = ReadLog::new();
            let strands = OutputValue::Mesh(MeshViewMut {
                positions: Some(&mut positions),
                tangents: Some(&mut self.tangents),
                ..MeshViewMut::default()
            });
            self.node.update(UpdateContext {
                time_secs: 0.0,
                dt_secs: f64::from(dt),
                is_first,
                reach: None,
                par: Par::Seq,
                parameters: Parameters {
                    descs: DESC.parameters,
                    values: &self.values,
                    log: &log,
                },
                inputs: Inputs {
                    values: &inputs,
                    ports: DESC.inputs,
                    log: &log,
                },
                outputs: Outputs {
                    values: [Some(strands)].into_iter().collect(),
                    ports: DESC.outputs,
                    log: &log,
                },
                scratch: self.scratch.as_mut(),
            });
            log.check().expect("reads what it declares");
            positions
        }

        fn frames(&mut self, frames: std::ops::Range<u32>) -> Vec<[f32; 3]> {
            let run = |f| self.frame(f, f == 0, None);
            frames.map(run).last().unwrap_or_default()
        }
    }

    #[test]
    fn agrees_with_the_script() {
        let (strands, rest) = hair();
        let mut scripts = scripts(&strands, &rest);
        let mut played = Played::new(documented(), 0);
        for frame in 0..40 {
            let positions = played.frame(frame, frame == 0, None);
            // In single precision.
            assert_follows(&mut scripts, frame, &positions, 1e-4);
        }
        for [x, y, z, w] in played.tangents {
            assert!(((x * x + y * y + z * z).sqrt() - 1.0).abs() < 1e-5 && w == 1.0);
        }
    }

    #[test]
    fn states_are_brought_back_bit_for_bit() {
        let mut one = Played::new(documented(), 0);
        let expected = one.frames(0..25);
        let saved = one.node.save_state(one.scratch.as_ref());
        let later = one.frames(25..40);
        let mut other = Played::new(documented(), 0);
        other.frames(0..4);
        let restore =
            |bytes: &[u8], to: &mut Played| to.node.restore_state(bytes, to.scratch.as_mut());
        restore(&saved, &mut other).expect("of these strands");
        assert_eq!(other.frames(25..40), later, "goes on");
        assert_eq!(other.frames(0..25), expected, "begins again");
        // What does not fit is refused, and changes nothing.
        let before = other.node.save_state(other.scratch.as_ref());
        let mut no_number = saved.clone();
        no_number[32 + 12 * 5..][..4].copy_from_slice(&f32::NAN.to_le_bytes());
        let mut counts = saved.clone();
        counts[8] += 1;
        let mut version = saved.clone();
        version[4] = 9;
        let mut format = saved.clone();
        format[0] = 0;
        for (bytes, expected) in [
            (&no_number[..], "position of guide vertex 5 is not finite"),
            (
                &counts,
                "found a state of 4 guides with 27 vertices, expected 3 guides with 27",
            ),
            (&version, "found a state of version 9, expected version 1"),
            (&format, "not a saved state of hair"),
            (&saved[..saved.len() - 1], "found 679 bytes, expected 680"),
            (&saved[..20], "not a saved state of hair"),
        ] {
            let found = restore(bytes, &mut other).expect_err(expected).to_string();
            assert!(found.contains(expected), "{found}");
        }
        assert_eq!(other.node.save_state(other.scratch.as_ref()), before);
    }

    /// One vertex that a TressFX field has within its margin goes where the field's own differences say.
    #[test]
    fn the_tressfx_field_pushes_by_its_own_differences() {
        let mesh = sinew_testkit::meshes::sphere(24, 48);
        let mut field = CompatibilityField::new(&mesh.positions, 20).expect("extent");
        field.build(&mesh.topology, &mesh.positions);
        let layout = crate::tressfx_sdf::TressFxLayout::new(&field);
        let mut words = vec![0; layout.words()];
        layout.write(&field, &mut words);
        let run = |gradient: &str, words: Option<&[u32]>| {
            let values = values(&[
                ("gradient", ParameterValue::Text(gradient.into())),
                ("margins", ParameterValue::Floats(vec![0.5])),
            ]);
            Played::new(values, 1).frame(0, true, words)
        };
        let free = run("forward", None);
        let margin = 0.5 * field.cell;
        let mut pushed = 0;
        for gradient in ["forward", "mixed"] {
            let found = run(gradient, Some(&words));
            for (v, (p, found)) in free.iter().zip(&found).enumerate() {
                let distance = field.sample(*p);
                let mut expected = Vec3::from(*p);
                if v % 9 >= 2 && distance < margin {
                    let away = match gradient {
                        "forward" => field.forward_gradient(*p),
                        _ => field.mixed_gradient(*p).expect("set"),
                    };
                    expected += Vec3::from(away).normalize() * (margin - distance);
                    pushed += 1;
                }
                let off = (Vec3::from(*found) - expected).norm();
                assert!(off < 1e-3, "{gradient}, vertex {v}: {found:?} {expected:?}");
            }
        }
        assert!(pushed >= 2, "{pushed}");
    }

    #[test]
    fn what_cannot_be_is_told() {
        let refused = |name: &'static str, value: ParameterValue, colliders: usize| {
            let error = bind(&values(&[(name, value)]), colliders).expect_err("refused");
            assert!(
                matches!(&error, NodeError::Parameter { name: found, .. } if *found == name),
                "{error}"
            );
            error.to_string()
        };
        let found = refused("margins", ParameterValue::Floats(vec![0.5, 0.0]), 1);
        assert!(found.contains("for each collider (1)"), "{found}");
        let found = refused("margins", ParameterValue::Floats(vec![-1.0]), 2);
        assert!(found.contains("numbers of 0 or more"), "{found}");
        let found = refused("joint", ParameterValue::Text("haed".into()), 0);
        assert!(found.contains("'haed', expected the name of"), "{found}");
        assert!(
            bind(
                &values(&[("margins", ParameterValue::Floats(vec![0.5, 0.0]))]),
                2
            )
            .is_ok()
        );
    }
}

/// Planes and balls have no cells: they are left along their exact gradients, and planes without a margin.
#[test]
fn solids_have_no_cells() {
    let (strands, rest) = hair();
    let bind = HairBind::new(&strands, &rest, None).expect("valid");
    let mut state = TressFxState::<f32>::new(&bind);
    let mut positions = vec![[0.0; 3]; 27];
    let floor = crate::collide::Plane {
        normal: [0.0, 1.0, 0.0],
        offset: 1.0,
    };
    for gradient in [
        GradientMode::Forward,
        GradientMode::Mixed { origin: [0.0; 3] },
    ] {
        let settings = TressFxSettings {
            gradient,
            ..TressFxSettings::default()
        };
        TressFxJob {
            bind: &bind,
            transforms: &[PackedAffine::default(); 3],
            dt_secs: 0.0,
            settings: &settings,
            colliders: &[Collider::still(&floor)],
            margins_cells: &[0.5],
            state: &mut state,
            positions: &mut positions,
            tangents: None,
            par: Par::Seq,
        }
        .run()
        .expect("fits");
        for (v, (p, rest)) in positions.iter().zip(&rest).enumerate() {
            let y = if v % 9 < 2 { rest[1] } else { rest[1].max(1.0) };
            assert!((p[1] - y).abs() < 1e-5, "{v}: {p:?} {rest:?}");
        }
    }
}
