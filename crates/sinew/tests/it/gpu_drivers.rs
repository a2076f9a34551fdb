//! Drivers on the host beside the GPU: the same numbers as on the processor, and what is refused.

use crate::common::drivers;
use sinew::deform::{Par, ParameterValue};
use sinew::geom::{
    Affine, Influences, Joint, LocalTransform, Mesh, MorphTarget, Node, Pose, Rig, Trs,
};
use sinew::graph::{
    BoundGraph, Frame, InputBinding, InputType, Instance, NoNesting, OutputData, compile_with_nodes,
};
use sinew_gpu::{Gpu, GpuError, GpuGraph, GpuInstances, LaunchStyle};
use sinew_testkit::meshes;
use std::sync::Arc;

/// A grid on one joint, with two targets: all vertices by 1 in x, all by 1 in z.
fn body() -> Mesh {
    let mut mesh = meshes::grid(9, 6);
    let count = mesh.vertex_count();
    mesh.influences = Some(Influences::rigid(count, 0));
    let target = |delta: [f32; 3]| MorphTarget {
        name: format!("{delta:?}"),
        vertices: (0..count as u32).collect(),
        positions: vec![delta; count],
        normals: Vec::new(),
        tangents: Vec::new(),
    };
    mesh.morph_targets = vec![target([1.0, 0.0, 0.0]), target([0.0, 0.0, 1.0])];
    mesh
}

fn rig() -> Rig {
    let node = Node {
        name: "root".into(),
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

fn pose(moved: [f32; 3]) -> Pose {
    let mut pose = rig().rest_pose();
    for (row, moved) in pose.palette[0].rows.iter_mut().zip(moved) {
        row[3] = moved;
    }
    pose
}

fn bound(text: &str) -> Arc<BoundGraph> {
    let plan = compile_with_nodes("g.json", text, &NoNesting, &drivers::nodes());
    let plan = plan.unwrap_or_else(|e| panic!("{e}"));
    let (mesh, rig) = (Arc::new(body()), Arc::new(rig()));
    let bind = |ty| match ty {
        InputType::Mesh | InputType::Strands => InputBinding::Mesh(mesh.clone()),
        InputType::Pose => InputBinding::Pose(rig.clone()),
        InputType::Values | InputType::VertexAnimation => InputBinding::Values,
    };
    let inputs: Vec<InputBinding> = plan.inputs().iter().map(|i| bind(i.ty)).collect();
    let graph = BoundGraph::bind(Arc::new(plan), &inputs, &[], Par::Seq);
    Arc::new(graph.unwrap_or_else(|e| panic!("{e}")))
}

/// Inputs `body`, `pose` and `numbers`, parameters `w` and `g`.
fn document(nodes: &str, outputs: &str) -> String {
    format!(
        "{{\"sinew\": \"1.0\",
 \"inputs\": {{\"body\": {{\"type\": \"mesh\"}}, \"pose\": {{\"type\": \"pose\"}}, \"numbers\": {{\"type\": \"values\", \"count\": 2}}}},
 \"parameters\": {{\"w\": {{\"type\": \"float\", \"default\": 1}}, \"g\": {{\"type\": \"float\", \"default\": 1}}}},
 \"nodes\": {{
{nodes}}},
 \"outputs\": {{{outputs}}}}}"
    )
}

/// Characters on both devices.
struct Both {
    cpu: Vec<Instance>,
    gpu: GpuInstances,
    device: Gpu,
    frames_done: u32,
}

impl Both {
    /// `None` without an adapter.
    fn new(text: &str, count: usize) -> Option<Self> {
        Self::with_style(text, count, LaunchStyle::Auto)
    }

    fn with_style(text: &str, count: usize, style: LaunchStyle) -> Option<Self> {
        let device = sinew_gpu::test_support::gpu()?;
        let graph = bound(text);
        let shared = GpuGraph::with_style(&device, &graph, style);
        let shared = shared.unwrap_or_else(|e| panic!("{e}"));
        let instance = || graph.instance();
        Some(Self {
            cpu: std::iter::repeat_with(instance).take(count).collect(),
            gpu: shared.instances(count).expect("fits"),
            device,
            frames_done: 0,
        })
    }

    /// What comes with the next frame: something else for each character. Translation and numbers.
    fn moment(&self, instance: usize) -> ([f32; 3], [f32; 2]) {
        let (f, i) = (self.frames_done as f32, instance as f32);
        let moved = [0.3 * f - 0.7 * i, 0.1 + 0.2 * f * i, 0.05 * i];
        (moved, [0.25 * i + 0.1 * f, 1.0 - 0.5 * i])
    }

    /// A frame on both devices; everything that comes out of them agrees, numbers and poses to the bit.
    fn frame(&mut self) {
        let count = self.cpu.len();
        let moments: Vec<_> = (0..count).map(|i| self.moment(i)).collect();
        let poses: Vec<Pose> = moments.iter().map(|m| pose(m.0)).collect();
        let inputs = self.gpu.graph().plan().inputs();
        let numbers = inputs.iter().position(|i| i.name == "numbers");
        let values: Vec<[(usize, &[f32]); 1]> = moments
            .iter()
            .map(|m| [(numbers.expect("declared"), m.1.as_slice())])
            .collect();
        let frames: Vec<Frame<'_>> = poses
            .iter()
            .zip(&values)
            .map(|(pose, values)| {
                Frame::at(0.2 * f64::from(self.frames_done))
                    .dt(if self.frames_done == 0 { 0.0 } else { 0.2 })
                    .pose(pose)
                    .values(values)
            })
            .collect();
        self.gpu.update(&frames).unwrap_or_else(|e| panic!("{e}"));
        for (cpu, frame) in self.cpu.iter_mut().zip(&frames) {
            cpu.update(frame, Par::Seq)
                .unwrap_or_else(|e| panic!("{e}"));
        }
        self.frames_done += 1;
        for instance in 0..count {
            self.compare(instance);
        }
    }

    fn compare(&mut self, instance: usize) {
        let graph = self.gpu.graph().clone();
        let outputs = graph.plan().outputs().iter().zip(graph.program().outputs());
        for (output, place) in outputs {
            let name = output.name.as_str();
            let what = format!("{name} of {instance} after {} frames", self.frames_done);
            match place {
                OutputData::Mesh { .. } => self.compare_mesh(name, instance, &what),
                OutputData::Floats(_) => {
                    let expected = self.cpu[instance].float_output(name).expect("there");
                    let read = self.gpu.read_floats(name, instance).expect("reads");
                    assert_eq!(bits(&read.expect("there")), bits(expected), "{what}");
                    let on_device = self.on_device(name, instance);
                    assert_eq!(bits(&on_device), bits(expected), "{what}, in its buffer");
                }
                OutputData::Pose(_) => {
                    let expected = self.cpu[instance].pose_output(name).expect("made");
                    let found = self.gpu.pose_output(name, instance).expect("made");
                    assert_eq!(format!("{found:?}"), format!("{expected:?}"), "{what}");
                }
                OutputData::Lines(_) | OutputData::Field(_) => panic!("none here"),
            }
        }
    }

    fn compare_mesh(&mut self, name: &str, instance: usize, what: &str) {
        let expected = self.cpu[instance].mesh_output(name).expect("there");
        let read = self.gpu.read_mesh(name, instance).expect("reads");
        let found = read.expect("there");
        let apart = sinew_testkit::max_distance(expected.positions, &found.positions);
        assert!(apart < 1e-5, "{what}: {apart}");
        let before =
            sinew_testkit::max_distance(expected.previous_positions, &found.previous_positions);
        assert!(before < 1e-5, "{what}, the frame before: {before}");
    }

    /// Numbers of one character out of the buffer that engines bind.
    fn on_device(&self, name: &str, instance: usize) -> Vec<f32> {
        let output = self.gpu.floats_output(name).expect("there");
        let words = output.buffer.read(&self.device).expect("reads");
        let first = if output.per_instance {
            instance * output.len
        } else {
            0
        };
        let words = words[first..first + output.len].iter();
        words.map(|w| f32::from_bits(*w)).collect()
    }

    /// Where a mesh output of a character is, and where it was at rest.
    fn moved(&mut self, name: &str, instance: usize) -> [f32; 3] {
        let mesh = self.gpu.read_mesh(name, instance).expect("reads");
        let (found, rest) = (mesh.expect("there").positions, body().positions);
        let by = |v: usize| [0, 1, 2].map(|c| found[v][c] - rest[v][c]);
        for v in 0..rest.len() {
            assert!(near(by(v), by(0)), "{name} moves as a whole");
        }
        by(0)
    }
}

fn bits(values: &[f32]) -> Vec<u32> {
    values.iter().map(|v| v.to_bits()).collect()
}

fn near(a: [f32; 3], b: [f32; 3]) -> bool {
    (0..3).all(|c| (a[c] - b[c]).abs() < 1e-5)
}

/// A pose to values, through a second driver, to weights of targets; the first driver's parameter is animated.
#[test]
fn values_drive_morph_targets() {
    let text = document(
        r#""raw": {"node": "measure", "pose": "pose", "gain": {"keys": [[0, 1], [0.4, 3]]}},
           "mixed": {"node": "mix", "values": "raw", "gain": "$g"},
           "it": {"node": "morph", "mesh": "body", "weights": "mixed"},
           "soft": {"node": "smooth", "mesh": "it", "iterations": 3}"#,
        r#""body": "it", "mixed": "mixed", "soft": "soft""#,
    );
    for style in [LaunchStyle::Auto, LaunchStyle::Plain, LaunchStyle::Tiled] {
        if let Some(both) = Both::with_style(&text, 3, style) {
            run_morphs(both);
        }
    }
}

/// Workgroups that share memory and wait for each other, and counts that invocations of all groups raise.
#[test]
fn groups_work_together() {
    let text = document(
        r#""it": {"node": "groups", "mesh": "body", "gain": "$g"}"#,
        r#""sums": "it""#,
    );
    let Some(mut both) = Both::new(&text, 3) else {
        return;
    };
    let two = ParameterValue::Float(2.0);
    both.gpu.set_parameter(1, "g", &two).expect("fits");
    both.cpu[1].set_parameter("g", &two).expect("fits");
    // The second frame finds what the first one counted gone.
    both.frame();
    both.frame();
}

fn run_morphs(mut both: Both) {
    let two = ParameterValue::Float(2.0);
    both.gpu.set_parameter(1, "g", &two).expect("fits");
    both.cpu[1].set_parameter("g", &two).expect("fits");
    for frame in 0..5_u8 {
        let moments: Vec<_> = (0..3).map(|i| both.moment(i).0).collect();
        both.frame();
        let gain = 1.0 + 2.0 * (f32::from(frame) * 0.5).min(1.0);
        for (instance, [x, y, _]) in moments.into_iter().enumerate() {
            let gain = gain * if instance == 1 { 2.0 } else { 1.0 };
            let expected = [gain * (0.5 * x + 0.25 * y), 0.0, gain * (y - x)];
            let moved = both.moved("body", instance);
            assert!(near(moved, expected), "{moved:?} {expected:?}");
        }
    }
}

/// A pose and values to a pose, and another one from that; with what the caller brings among the values.
#[test]
fn poses_of_drivers_reach_skinning() {
    let text = document(
        r#""a": {"node": "push", "pose": "pose", "values": "numbers"},
           "m": {"node": "measure", "pose": "a", "gain": -0.5},
           "b": {"node": "push", "pose": "a", "values": "m", "gain": "$g"},
           "it": {"node": "skin", "mesh": "body", "pose": "b"}"#,
        r#""body": "it", "a": "a", "b": "b""#,
    );
    let Some(mut both) = Both::new(&text, 3) else {
        return;
    };
    for _ in 0..4 {
        let moments: Vec<_> = (0..3).map(|i| both.moment(i)).collect();
        both.frame();
        for (instance, ([x, y, z], [p, q])) in moments.into_iter().enumerate() {
            let expected = [0.5 * (x + p), 0.5 * (y + q), z];
            let moved = both.moved("body", instance);
            assert!(near(moved, expected), "{moved:?} {expected:?}");
        }
    }
    assert!(both.gpu.pose_output("a", 3).is_none(), "no fourth");
    assert!(both.gpu.pose_output("body", 0).is_none(), "a mesh");
    assert!(both.gpu.pose_output("pose", 0).is_none(), "no output");
}

/// The processor is done with the first driver's values before it makes the second's; a device gets both at once.
#[test]
fn values_of_drivers_lie_apart() {
    let morph = |name: &str, mesh: &str, weights: &str| {
        format!(
            r#""{name}": {{"node": "morph", "mesh": "{mesh}", "weights": "{weights}", "scale": "$w"}}"#
        )
    };
    let nodes = [
        r#""m": {"node": "measure", "pose": "pose"}"#.to_owned(),
        morph("x", "body", "m"),
        r#""n": {"node": "measure", "pose": "pose", "gain": 10}"#.to_owned(),
        morph("y", "x", "n"),
    ];
    let Some(mut both) = Both::new(&document(&nodes.join(",\n"), r#""body": "y""#), 2) else {
        return;
    };
    for _ in 0..3 {
        let moments: Vec<_> = (0..2).map(|i| both.moment(i).0).collect();
        both.frame();
        for (instance, [x, y, _]) in moments.into_iter().enumerate() {
            let moved = both.moved("body", instance);
            assert!(near(moved, [11.0 * x, 0.0, 11.0 * y]), "{moved:?}");
        }
    }
}

/// No node is left for the device.
#[test]
fn values_go_straight_to_outputs() {
    let text = document(
        r#""m": {"node": "measure", "pose": "pose"},
           "n": {"node": "mix", "values": "m"}, "p": {"node": "push", "pose": "pose", "values": "n"}"#,
        r#""m": "m", "n": "n", "p": "p""#,
    );
    let Some(mut both) = Both::new(&text, 3) else {
        return;
    };
    for _ in 0..3 {
        let moments: Vec<_> = (0..3).map(|i| both.moment(i).0).collect();
        both.frame();
        for (instance, [x, y, _]) in moments.into_iter().enumerate() {
            let read = both.gpu.read_floats("m", instance).expect("reads");
            assert_eq!(read, Some(vec![x, y]));
        }
    }
    assert_eq!(both.gpu.launch_labels().len(), 0);
}

/// What nothing changes is made once: for nodes of setup, nodes of frames, and outputs.
#[test]
fn constant_values_are_there() {
    let text = document(
        r#""c": {"node": "constant", "gain": 0.25}, "d": {"node": "mix", "values": "c"},
           "once": {"node": "morph", "mesh": "body", "weights": "d"},
           "each": {"node": "morph", "mesh": "once", "weights": "c", "scale": "$w"},
           "p": {"node": "push", "pose": "pose", "values": "c"},
           "soft": {"node": "smooth", "mesh": "once"}, "low": {"node": "lowest", "mesh": "soft"}"#,
        r#""body": "each", "once": "once", "c": "c", "p": "p", "low": "low""#,
    );
    let Some(mut both) = Both::new(&text, 2) else {
        return;
    };
    for _ in 0..2 {
        both.frame();
        // 0.25 and 0.5; mixed 0.25 and 0.25.
        assert!(near(both.moved("once", 1), [0.25, 0.0, 0.25]));
        assert!(near(both.moved("body", 1), [0.5, 0.0, 0.75]));
    }
}

/// Drivers on the host feed kernels on the GPU, in setup and in frames.
#[test]
fn drivers_feed_custom_kernels() {
    let text = document(
        r#""c": {"node": "constant", "gain": 0.25}, "m": {"node": "measure", "pose": "pose"},
           "it": {"node": "kernel", "domain": "vertex",
                  "inputs": {"mesh": {"type": "mesh", "link": "body"}, "c": {"type": "values", "link": "c"}, "m": {"type": "values", "link": "m"}},
                  "outputs": {"mesh": {"type": "mesh", "writes": ["positions"]}},
                  "text": "write_mesh_positions(index, read_mesh_positions(index) + vec3f(read_c(0u) + read_m(0u), read_c(1u), read_m(1u)));"}"#,
        r#""body": "it", "c": "c""#,
    );
    let Some(gpu) = sinew_gpu::test_support::gpu() else {
        return;
    };
    let graph = bound(&text);
    let shared = GpuGraph::new(&gpu, &graph).unwrap_or_else(|e| panic!("{e}"));
    let mut both = Both {
        cpu: Vec::new(),
        gpu: shared.instances(2).expect("fits"),
        device: gpu,
        frames_done: 0,
    };
    let poses = [pose([1.0, 2.0, 3.0]), pose([-4.0, 0.5, 0.0])];
    let frames = [0, 1].map(|i| Frame::default().pose(&poses[i]));
    both.gpu.update(&frames).unwrap_or_else(|e| panic!("{e}"));
    assert!(near(both.moved("body", 0), [1.25, 0.5, 2.0]));
    assert!(near(both.moved("body", 1), [-3.75, 0.5, 0.5]));
    let read = both.gpu.read_floats("c", 1).expect("reads");
    assert_eq!(read, Some(vec![0.25, 0.5]));
}

#[test]
fn drivers_keep_state_until_reset() {
    let text = document(
        r#""sum": {"node": "total", "values": "numbers"},
           "it": {"node": "morph", "mesh": "body", "weights": "sum"}"#,
        r#""body": "it", "sum": "sum""#,
    );
    let Some(mut both) = Both::new(&text, 3) else {
        return;
    };
    let mut sums = [0.0; 3];
    for frame in 0..6 {
        if frame == 4 {
            both.gpu.reset();
            both.cpu.iter_mut().for_each(Instance::reset);
            sums = [0.0; 3];
        }
        // Frames that are refused are none.
        let error = both.gpu.update(&[Frame::default(); 3]);
        assert!(matches!(error, Err(GpuError::Frame(_))), "{error:?}");
        for (instance, sum) in sums.iter_mut().enumerate() {
            *sum += both.moment(instance).1[0];
        }
        both.frame();
        for (instance, sum) in sums.iter().enumerate() {
            let moved = both.moved("body", instance);
            assert!((moved[0] - sum).abs() < 1e-5, "{moved:?} {sum}");
        }
    }
}

/// A mesh may be read at rest, or in setup alone wherever it comes from.
#[test]
fn drivers_read_meshes_that_the_host_has() {
    let text = document(
        r#""low": {"node": "lowest", "mesh": "body", "gain": "$g"},
           "posed": {"node": "skin", "mesh": "body", "pose": "pose"},
           "both": {"node": "spread", "mesh": "posed", "values": "low"},
           "it": {"node": "morph", "mesh": "posed", "weights": "both"}"#,
        r#""body": "it", "low": "low", "both": "both""#,
    );
    let Some(mut both) = Both::new(&text, 2) else {
        return;
    };
    both.frame();
    let rest = both.cpu[1].float_output("low").expect("there").to_vec();
    let offsets: Vec<[f32; 3]> = body()
        .positions
        .iter()
        .map(|p| [0.5 * p[0] - 1.0, 0.25, 0.0])
        .collect();
    let set = both.gpu.set_rest_offsets(1, "body", &offsets);
    set.unwrap_or_else(|e| panic!("{e}"));
    let set = both.cpu[1].set_rest_offsets("body", &offsets);
    set.unwrap_or_else(|e| panic!("{e}"));
    both.frame();
    both.frame();
    let read = |gpu: &mut GpuInstances, i| gpu.read_floats("low", i).expect("reads");
    let moved = vec![1.5 * rest[0] - 1.0, rest[1] + 0.25];
    assert_eq!(read(&mut both.gpu, 1), Some(moved));
    assert_eq!(read(&mut both.gpu, 0), Some(rest), "not the other one");
}

#[test]
fn a_driver_that_reads_what_it_does_not_declare_is_told() {
    let text = document(
        r#""s": {"node": "slip", "values": "numbers"}"#,
        r#""s": "s""#,
    );
    let Some(gpu) = sinew_gpu::test_support::gpu() else {
        return;
    };
    let shared = GpuGraph::new(&gpu, &bound(&text)).expect("runs");
    let mut one = shared.instances(1).expect("fits");
    let input = one.graph().plan().inputs().len() - 1;
    let values: [(usize, &[f32]); 1] = [(input, &[1.0, 2.0])];
    let frame = Frame::default().values(&values);
    let error = one.update(&[frame]).expect_err("a slip").to_string();
    assert_eq!(
        error,
        "node 's' (slip): this is a bug in the node: it reads the input 'vlaues' as values, but does not declare it that way"
    );
}

#[test]
fn what_neither_side_can_run_is_refused_with_the_reason() {
    let posed = r#""posed": {"node": "skin", "mesh": "body", "pose": "pose"}"#;
    let cases = [
        (
            r#""it": {"node": "lowest", "mesh": "posed"}"#,
            "lowest",
            "its input 'mesh' reads positions that node 'posed' computes on the GPU",
        ),
        (
            r#""it": {"node": "of_mask", "mesh": "body", "mask": "mask"}, "mask": {"node": "mask", "mesh": "posed"}"#,
            "of_mask",
            "its input 'mask' reads mask that node 'mask' computes on the GPU",
        ),
        (
            r#""it": {"node": "drives_mesh", "mesh": "posed"}"#,
            "drives_mesh",
            "its output 'mesh' is a mesh, which must be computed on the GPU",
        ),
        (
            r#""it": {"node": "processor_only", "mesh": "posed"}"#,
            "processor_only",
            "it is a deformer; beside the GPU, the CPU runs only drivers, fields and solvers",
        ),
        (
            r#""it": {"node": "kernel_pose", "pose": "pose"}"#,
            "kernel_pose",
            "its output 'pose' is a pose, which GPU kernels cannot compute",
        ),
    ];
    for (node, kind, why) in &cases {
        let graph = bound(&document(&format!("{node},\n{posed}"), r#""it": "it""#));
        let Some(gpu) = sinew_gpu::test_support::gpu() else {
            return;
        };
        let error = GpuGraph::new(&gpu, &graph).expect_err(kind).to_string();
        let expected = format!("g.json:5:1: node 'it' ({kind}) runs on the CPU only: {why}");
        assert_eq!(error, expected);
    }
}
