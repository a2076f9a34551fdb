//! Characters on the GPU: launches, parameters of their own, wrong frames.

use sinew::deform::{Par, ParameterValue};
use sinew::geom::Mesh;
use sinew::graph::{BoundGraph, Frame, InputBinding, InputType, NoNesting, compile};
use sinew_gpu::{Access, Gpu, GpuError, GpuGraph, GpuInstances, KernelBinding};
use sinew_testkit::meshes;
use std::sync::Arc;

fn bound(text: &str, mesh: Mesh) -> Arc<BoundGraph> {
    let plan = compile("g.json", text, &NoNesting).unwrap_or_else(|e| panic!("{e}"));
    let mesh = Arc::new(mesh);
    let inputs: Vec<InputBinding> = plan
        .inputs()
        .iter()
        .map(|i| match i.ty {
            InputType::Mesh | InputType::Strands => InputBinding::Mesh(mesh.clone()),
            InputType::Pose => InputBinding::Pose(Arc::default()),
            InputType::Values | InputType::VertexAnimation => InputBinding::Values,
        })
        .collect();
    let graph = BoundGraph::bind(Arc::new(plan), &inputs, &[], Par::Seq);
    Arc::new(graph.unwrap_or_else(|e| panic!("{e}")))
}

fn is_written(binding: &&KernelBinding) -> bool {
    binding.access == Access::ReadWrite
}

/// A shift by 1 in x with weight `w`, then one by 10 in y and one by 100 in z.
const SHIFTS: &str = r#"{"sinew": "1.0", "inputs": {"body": {"type": "mesh"}},
 "parameters": {"w": {"type": "float", "default": 1, "min": 0, "max": 1}},
 "nodes": {
   "x": {"node": "transform", "mesh": "body", "transform": {"translation": [1, 0, 0]}, "weight": "$w"},
   "y": {"node": "transform", "mesh": "x", "transform": {"translation": [0, 10, 0]}, "weight": "$w"},
   "z": {"node": "transform", "mesh": "y", "transform": {"translation": [0, 0, 100]}, "weight": "$w"}},
 "outputs": {"body": "z"}}"#;

fn instances(gpu: &Gpu, text: &str, count: usize) -> GpuInstances {
    let graph = GpuGraph::new(gpu, &bound(text, meshes::grid(9, 6))).expect("all nodes run");
    graph.instances(count).expect("fits")
}

#[test]
fn nodes_that_read_their_own_vertex_share_a_launch() {
    let Some(gpu) = sinew_gpu::test_support::gpu() else {
        return;
    };
    let fused = instances(&gpu, SHIFTS, 1);
    let labels: Vec<&str> = fused.launch_labels().collect();
    assert_eq!(labels, ["x + y + z"]);
    // What only the next node reads never reaches memory: rest and result are there, and what comes with the frame.
    let bindings = &fused.kernels()[0].bindings;
    let names: Vec<&str> = bindings.iter().map(|b| b.holds.as_str()).collect();
    let written = bindings.iter().filter(is_written).count();
    assert_eq!(written, 2, "positions and normals of the output: {names:?}");
    // An output in between is stored.
    let between = SHIFTS.replace(r#""body": "z""#, r#""body": "z", "x": "x""#);
    let fused = instances(&gpu, &between, 1);
    assert_eq!(fused.launch_labels().len(), 1);
    let written = fused.kernels()[0]
        .bindings
        .iter()
        .filter(is_written)
        .count();
    assert_eq!(written, 4);
}

#[test]
fn characters_move_on_their_own_in_the_same_launches() {
    let Some(gpu) = sinew_gpu::test_support::gpu() else {
        return;
    };
    let count = 37;
    let mut crowd = instances(&gpu, SHIFTS, count);
    assert_eq!(crowd.launch_labels().len(), 1);
    for i in 0..count {
        let value = ParameterValue::Float(i as f64 / 36.0);
        crowd.set_parameter(i, "w", &value).expect("in range");
    }
    let frames = vec![Frame::default(); count];
    crowd.update(&frames).expect("runs");
    let compiled = gpu.pipelines_created();
    let bytes = crowd.memory_bytes();
    for _ in 0..3 {
        crowd.update(&frames).expect("runs");
    }
    assert_eq!(gpu.pipelines_created(), compiled, "no frame compiles");
    assert_eq!(crowd.memory_bytes(), bytes, "no frame makes buffers");
    let rest = meshes::grid(9, 6).positions;
    for i in [0, 1, 18, 36] {
        let w = i as f32 / 36.0;
        let mesh = crowd.read_mesh("body", i).expect("reads").expect("there");
        for (p, q) in mesh.positions.iter().zip(&rest) {
            let expected = [q[0] + w, q[1] + 10.0 * w, q[2] + 100.0 * w];
            for c in 0..3 {
                assert!((p[c] - expected[c]).abs() < 1e-4, "{i}: {p:?} {expected:?}");
            }
        }
    }
    assert_eq!(crowd.read_mesh("body", count).expect("reads"), None);
    assert_eq!(crowd.read_mesh("nobody", 0).expect("reads"), None);
}

/// A graph may hand on what it was given.
#[test]
fn values_that_no_node_reads_are_there() {
    let Some(gpu) = sinew_gpu::test_support::gpu() else {
        return;
    };
    let document = r#"{"sinew": "1.0", "inputs": {"body": {"type": "mesh"}, "numbers": {"type": "values", "count": 3}},
        "nodes": {"moved": {"node": "transform", "mesh": "body", "transform": {"translation": [1, 2, 3]}}},
        "outputs": {"body": "moved", "numbers": "numbers"}}"#;
    let mut two = instances(&gpu, document, 2);
    let numbers = [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]];
    let input = two
        .graph()
        .plan()
        .inputs()
        .iter()
        .position(|i| i.name == "numbers");
    let given = numbers.map(|n| [(input.expect("declared"), n)]);
    let links: Vec<[(usize, &[f32]); 1]> =
        given.iter().map(|[(i, n)]| [(*i, n.as_slice())]).collect();
    let frame = |values| Frame::default().values(values);
    two.update(&[frame(&links[0]), frame(&links[1])])
        .expect("runs");
    for (i, expected) in numbers.iter().enumerate() {
        let read = two.read_floats("numbers", i).expect("reads");
        assert_eq!(read.as_deref(), Some(expected.as_slice()));
    }
    assert_eq!(two.read_floats("numbers", 2).expect("reads"), None);
}

#[test]
fn previous_is_the_frame_before() {
    let Some(gpu) = sinew_gpu::test_support::gpu() else {
        return;
    };
    let mut one = instances(&gpu, SHIFTS, 1);
    let mut before: Option<Vec<[f32; 3]>> = None;
    for i in 0..5 {
        if i == 3 {
            one.reset();
            before = None;
        }
        let value = ParameterValue::Float(f64::from(i) / 4.0);
        one.set_parameter(0, "w", &value).expect("in range");
        one.update(&[Frame::default()]).expect("runs");
        let mesh = one.read_mesh("body", 0).expect("reads").expect("there");
        let expected = before.as_ref().unwrap_or(&mesh.positions);
        assert_eq!(&mesh.previous_positions, expected, "frame {i}");
        before = Some(mesh.positions);
    }
}

/// What `docs/engines.md` promises to engines that bind the buffers.
#[test]
fn buffers_lie_as_documented() {
    use sinew_gpu::wgpu::BufferUsages;
    let Some(gpu) = sinew_gpu::test_support::gpu() else {
        return;
    };
    let mut three = instances(&gpu, SHIFTS, 3);
    three.make_bounds().expect("fits");
    let mut before = None;
    for frame in 0..4_u8 {
        for i in 0..3 {
            let w = f64::from(frame) / 8.0 + 0.1 * i as f64;
            let set = three.set_parameter(i, "w", &ParameterValue::Float(w));
            set.expect("in range");
        }
        // The engine's encoder, and its own submission.
        three.send(&[Frame::default(); 3]).expect("fits");
        let mut encoder = gpu.device().create_command_encoder(&Default::default());
        three.record(&mut encoder);
        gpu.queue().submit([encoder.finish()]);

        let output = three.mesh_output("body").expect("there");
        let (count, per_instance) = (output.vertex_count, output.per_instance);
        assert_eq!((count, per_instance[0], per_instance[1]), (70, true, true));
        let normals = output.normals.expect("made");
        let floats = |b: &sinew_gpu::Buffer<u32>| -> Vec<f32> {
            let words = b.read(&gpu).expect("reads");
            words.into_iter().map(f32::from_bits).collect()
        };
        let buffers = [output.positions, output.previous_positions, normals];
        for buffer in buffers {
            let usage = buffer.raw().usage();
            assert!(usage.contains(BufferUsages::VERTEX | BufferUsages::STORAGE));
            assert!(usage.contains(BufferUsages::COPY_SRC));
            // Three floats a vertex, the characters one after another, nothing in between.
            assert_eq!(buffer.raw().size(), 3 * 4 * 70 * 3);
        }
        // What was current is previous now; two buffers change places.
        let (now, then) = (
            output.positions.raw().clone(),
            output.previous_positions.raw().clone(),
        );
        if let Some((a, b)) = before.replace((now.clone(), then.clone())) {
            assert_eq!((then, now), (a, b), "frame {frame}");
        }
        let [positions, previous, normals] = buffers.map(floats);
        let bounds = output.bounds.expect("made").read(&gpu).expect("reads");
        for i in 0..3 {
            let mesh = three.read_mesh("body", i).expect("reads").expect("there");
            let part = |all: &[f32]| all[3 * count * i..3 * count * (i + 1)].to_vec();
            assert_eq!(part(&positions), mesh.positions.as_flattened());
            assert_eq!(part(&previous), mesh.previous_positions.as_flattened());
            assert_eq!(part(&normals), mesh.normals.expect("made").as_flattened());
            let (low, high) = brute_force(&mesh.positions);
            assert_eq!(bounds[2 * i], [low[0], low[1], low[2], 0.0]);
            assert_eq!(bounds[2 * i + 1], [high[0], high[1], high[2], 0.0]);
        }
    }
}

#[test]
fn frames_that_do_not_fit_are_refused() {
    let Some(gpu) = sinew_gpu::test_support::gpu() else {
        return;
    };
    let mut two = instances(&gpu, SHIFTS, 2);
    let error = two.update(&[Frame::default()]).expect_err("one frame");
    assert_eq!(
        error.to_string(),
        "found 1 frames, expected 2, one for each instance"
    );
    let error = two.set_parameter(2, "w", &ParameterValue::Float(0.0));
    assert_eq!(
        error.expect_err("no third").to_string(),
        "there is no instance 2; there are 2, counted from 0"
    );
    let error = two.set_parameter(0, "w", &ParameterValue::Float(2.0));
    assert!(matches!(error, Err(GpuError::Parameter(_))), "{error:?}");
    let values: [(usize, &[f32]); 1] = [(0, &[1.0])];
    let frame = Frame::default().values(&values);
    let error = two.update(&[frame, frame]).expect_err("a mesh input");
    assert!(matches!(error, GpuError::Frame(_)), "{error}");
}

/// Two smoothing nodes with as many passes as parameters say.
const PASSES: &str = r#"{"sinew": "1.0", "inputs": {"body": {"type": "mesh"}},
 "parameters": {"n": {"type": "int", "default": 2, "min": 0, "max": 99},
                "m": {"type": "int", "default": 1, "min": 0, "max": 99}},
 "nodes": {"soft": {"node": "smooth", "mesh": "body", "iterations": "$n", "pin_border": false},
           "moved": {"node": "transform", "mesh": "soft", "transform": {"translation": [1, 2, 3]}},
           "softer": {"node": "smooth", "mesh": "moved", "iterations": "$m", "pin_border": false}},
 "outputs": {"body": "softer"}}"#;

/// Sets parameters of all characters on both devices and compares a frame.
fn compare_passes(crowd: &mut GpuInstances, passes: &[[i64; 2]]) {
    for (i, values) in passes.iter().enumerate() {
        for (name, value) in ["n", "m"].into_iter().zip(values) {
            let set = crowd.set_parameter(i, name, &ParameterValue::Int(*value));
            set.expect("in range");
        }
    }
    crowd
        .update(&vec![Frame::default(); passes.len()])
        .expect("runs");
    for (i, values) in passes.iter().enumerate() {
        let mut cpu = crowd.graph().instance();
        for (name, value) in ["n", "m"].into_iter().zip(values) {
            let set = cpu.set_parameter(name, &ParameterValue::Int(*value));
            set.expect("in range");
        }
        cpu.update(&Frame::default(), Par::Seq).expect("fits");
        let expected = cpu.mesh_output("body").expect("there").positions;
        let found = crowd.read_mesh("body", i).expect("reads").expect("there");
        let apart = sinew_testkit::max_distance(expected, &found.positions);
        assert!(apart < 1e-5, "{i} of {passes:?}: {apart}");
    }
}

#[test]
fn characters_of_one_batch_may_run_different_passes() {
    let Some(gpu) = sinew_gpu::test_support::gpu() else {
        return;
    };
    let mut six = instances(&gpu, PASSES, 6);
    let all_alike = [[2, 1]; 6];
    compare_passes(&mut six, &all_alike);
    let dispatches = six.dispatches().len();
    let made = |gpu: &Gpu| (gpu.pipelines_created(), gpu.buffers_created());
    let before = made(&gpu);
    let mixed = [[2, 1], [5, 1], [2, 0], [0, 7], [5, 2], [9, 1]];
    compare_passes(&mut six, &mixed);
    // Two pairs of characters share what they run of a node.
    let names: Vec<&str> = six.launch_labels().collect();
    let labels: Vec<&str> = six.dispatches().into_iter().map(|i| names[i]).collect();
    let of = |node: &str| labels.iter().filter(|l| l.starts_with(node)).count();
    let passes = |iterations: &[usize]| iterations.iter().map(|i| i + 2).sum::<usize>();
    assert_eq!(of("soft."), passes(&[2, 5, 0, 9]), "{labels:?}");
    assert_eq!(of("softer."), passes(&[1, 0, 7, 2]), "{labels:?}");
    // Others in the next frame, and alike again: nothing of the frame before is left.
    compare_passes(&mut six, &[[9, 9], [0, 0], [9, 9], [1, 2], [2, 1], [0, 0]]);
    compare_passes(&mut six, &all_alike);
    assert_eq!(six.dispatches().len(), dispatches);
    // The readbacks of this test share one buffer, made with the first frame.
    assert_eq!(made(&gpu), before, "no frame compiles or makes buffers");
    // One character needs no list of numbers.
    compare_passes(&mut instances(&gpu, PASSES, 1), &[[3, 4]]);
}

#[test]
fn more_characters_than_a_binding_numbers() {
    let Some(gpu) = sinew_gpu::test_support::gpu() else {
        return;
    };
    let most = gpu.limits().uniform_binding_bytes / 4;
    let Ok(count) = usize::try_from(most).map(|most| most + 300) else {
        return;
    };
    if count > 60_000 {
        // One dispatch could not hold more either.
        return;
    }
    let graph = GpuGraph::new(&gpu, &bound(PASSES, meshes::grid(1, 1)));
    let mut crowd = graph.and_then(|g| g.instances(count)).expect("fits");
    let set = crowd.set_parameter(count - 1, "n", &ParameterValue::Int(7));
    set.expect("in range");
    crowd.update(&vec![Frame::default(); count]).expect("runs");
    let mut last = |i: usize, n: i64| {
        let mut cpu = crowd.graph().instance();
        cpu.set_parameter("n", &ParameterValue::Int(n))
            .expect("in range");
        cpu.update(&Frame::default(), Par::Seq).expect("fits");
        let expected = cpu.mesh_output("body").expect("there").positions;
        let found = crowd.read_mesh("body", i).expect("reads").expect("there");
        sinew_testkit::max_distance(expected, &found.positions)
    };
    for (i, n) in [
        (0, 2),
        (count - 301, 2),
        (count - 300, 2),
        (count - 2, 2),
        (count - 1, 7),
    ] {
        let apart = last(i, n);
        assert!(apart < 1e-6, "{i}: {apart}");
    }
    // What engines without wgpu are told.
    let kernels = crowd.kernels();
    let listed = kernels.iter().flat_map(|k| &k.bindings);
    let listed: Vec<&KernelBinding> = listed.filter(|b| b.access == Access::UniformAt).collect();
    assert!(!listed.is_empty() && listed.iter().all(|b| b.bytes == 4 * count as u64));
}

/// Per vertex something else, the same every time.
fn offsets(count: usize, size: f32) -> Vec<[f32; 3]> {
    let offset = |i: usize| [i % 7, i % 5, i % 3].map(|k| (k as f32 - 1.0) * size);
    (0..count).map(offset).collect()
}

/// Rest positions go to a node, to a node that gathers, and straight to an output.
const FROM_REST: &str = r#"{"sinew": "1.0", "inputs": {"body": {"type": "mesh"}, "other": {"type": "mesh"}},
 "parameters": {"w": {"type": "float", "default": 1}, "n": {"type": "int", "default": 3}},
 "nodes": {"x": {"node": "transform", "mesh": "body", "transform": {"translation": [1, 0, 0]}, "weight": "$w"},
           "soft": {"node": "smooth", "mesh": "body", "iterations": "$n"},
           "mush": {"node": "delta_mush", "mesh": "soft", "iterations": 2},
           "mix": {"node": "blend", "mesh": "mush", "target": "other", "factor": 0.5, "weight": "$w"}},
 "outputs": {"x": "x", "mush": "mush", "mix": "mix", "body": "body", "other": "other"}}"#;

#[test]
fn characters_may_differ_in_rest_shape() {
    let Some(gpu) = sinew_gpu::test_support::gpu() else {
        return;
    };
    let mut three = instances(&gpu, FROM_REST, 3);
    let mut cpu: Vec<_> = (0..3).map(|_| three.graph().instance()).collect();
    let frames = [Frame::default(); 3];
    three.update(&frames).expect("runs");
    let memory = three.memory_bytes();
    let count = meshes::grid(9, 6).vertex_count();
    let sets = [
        (1, "body", 0.1),
        (2, "other", 0.2),
        (1, "other", -0.3),
        (1, "body", 0.4),
    ];
    for (step, (instance, input, size)) in sets.into_iter().enumerate() {
        let offsets = offsets(count, size);
        let set = three.set_rest_offsets(instance, input, &offsets);
        set.unwrap_or_else(|e| panic!("{e}"));
        let set = cpu[instance].set_rest_offsets(input, &offsets);
        set.unwrap_or_else(|e| panic!("{e}"));
        let made = gpu.pipelines_created();
        three.update(&frames).expect("runs");
        for (i, cpu) in cpu.iter_mut().enumerate() {
            cpu.update(&Frame::default(), Par::Seq).expect("fits");
            for output in ["x", "mush", "mix", "body", "other"] {
                let expected = cpu.mesh_output(output).expect("there").positions;
                let found = three.read_mesh(output, i).expect("reads").expect("there");
                let apart = sinew_testkit::max_distance(expected, &found.positions);
                assert!(apart < 2e-6, "step {step}, {output} of {i}: {apart}");
            }
        }
        assert_eq!(gpu.pipelines_created(), made, "frames compile nothing");
    }
    // Moved by exactly as much, and only the one that was asked for.
    let rest = meshes::grid(9, 6).positions;
    let moved = three.read_mesh("body", 1).expect("reads").expect("there");
    for ((p, q), offset) in moved.positions.iter().zip(&rest).zip(offsets(count, 0.4)) {
        assert_eq!(*p, [0, 1, 2].map(|c| q[c] + offset[c]));
    }
    let untouched = three.read_mesh("body", 0).expect("reads").expect("there");
    assert_eq!(untouched.positions, rest);
    assert!(three.mesh_output("body").expect("there").per_instance[0]);
    // Twelve bytes a vertex, for each of the two inputs and three characters.
    assert_eq!(three.memory_bytes() - memory, 2 * 3 * 12 * count as u64);
    // Zeros bring the shape back.
    three
        .set_rest_offsets(1, "body", &vec![[0.0; 3]; count])
        .expect("fits");
    three.update(&frames).expect("runs");
    let back = three.read_mesh("body", 1).expect("reads").expect("there");
    assert_eq!(back.positions, rest);
}

#[test]
fn offsets_that_do_not_fit_are_refused_on_both_devices() {
    let text = r#"{"sinew": "1.0",
     "inputs": {"body": {"type": "mesh"}, "pose": {"type": "pose"}, "fixed": {"type": "mesh"}},
     "parameters": {"w": {"type": "float", "default": 1}},
     "nodes": {"turn": {"node": "transform", "mesh": "fixed", "transform": {"translation": [1, 0, 0]}},
               "x": {"node": "transform", "mesh": "body", "weight": "$w"}},
     "outputs": {"x": "x", "turn": "turn"}}"#;
    let graph = bound(text, meshes::grid(9, 6));
    let mut cpu = graph.instance();
    let count = meshes::grid(9, 6).vertex_count();
    let good = vec![[0.0; 3]; count];
    let mut infinite = good.clone();
    infinite[3] = [0.0, f32::INFINITY, 0.0];
    let cases: [(&str, &[[f32; 3]], &str); 5] = [
        (
            "bodi",
            &good,
            "the graph has no input 'bodi'; mesh inputs: body, fixed",
        ),
        (
            "pose",
            &good,
            "input 'pose' is not a mesh and has no rest positions to offset",
        ),
        (
            "body",
            &good[1..],
            "input 'body': found 69 offsets, expected 70, one for each vertex",
        ),
        (
            "body",
            &infinite,
            "input 'body': the offset of vertex 3 is [0.0, inf, 0.0], which makes the position NaN or infinite",
        ),
        (
            "fixed",
            &good,
            "input 'fixed': rest offsets would have no effect, because no frame reads the rest positions: node 'turn' (transform) runs in \
             setup, once for all instances; use a parameter of the graph in that node to run it in every frame",
        ),
    ];
    for (input, offsets, message) in &cases {
        let error = cpu.set_rest_offsets(input, offsets).expect_err("refused");
        assert_eq!(error.to_string(), *message);
    }
    let Some(gpu) = sinew_gpu::test_support::gpu() else {
        return;
    };
    let shared = GpuGraph::new(&gpu, &graph).expect("all nodes run");
    let mut two = shared.instances(2).expect("fits");
    for (input, offsets, message) in &cases {
        let error = two.set_rest_offsets(1, input, offsets);
        assert_eq!(error.expect_err("refused").to_string(), *message);
    }
    let error = two
        .set_rest_offsets(2, "body", &good)
        .expect_err("no third");
    assert!(matches!(error, GpuError::NoInstance { .. }), "{error}");
}

fn brute_force(points: &[[f32; 3]]) -> ([f32; 3], [f32; 3]) {
    let along = |c: usize| points.iter().map(move |p| p[c]);
    let lowest = |c| along(c).fold(f32::INFINITY, f32::min);
    let highest = |c| along(c).fold(f32::NEG_INFINITY, f32::max);
    ([0, 1, 2].map(lowest), [0, 1, 2].map(highest))
}

#[test]
fn bounds_are_those_of_the_points() {
    let Some(gpu) = sinew_gpu::test_support::gpu() else {
        return;
    };
    // One workgroup for a character, and several: 70, 16 512 and 40 602 vertices.
    for (width, height) in [(9, 6), (128, 127), (201, 200)] {
        let graph = GpuGraph::new(&gpu, &bound(FROM_REST, meshes::grid(width, height)));
        let mut three = graph.and_then(|g| g.instances(3)).expect("fits");
        assert!(three.mesh_output("x").expect("there").bounds.is_none());
        assert_eq!(three.read_bounds("x", 0).expect("reads"), None);
        three.make_bounds().expect("fits");
        three.make_bounds().expect("twice is once");
        let count = meshes::grid(width, height).vertex_count();
        for frame in 0..3_u8 {
            for instance in 0..3 {
                let w = f64::from(frame) / 4.0 + 0.2 * instance as f64;
                let set = three.set_parameter(instance, "w", &ParameterValue::Float(w));
                set.expect("fits");
            }
            if frame == 2 {
                let set = three.set_rest_offsets(1, "body", &offsets(count, 0.25));
                set.expect("fits");
            }
            three.update(&[Frame::default(); 3]).expect("runs");
            for output in ["x", "mush", "mix", "body"] {
                for instance in 0..3 {
                    let mesh = three.read_mesh(output, instance).expect("reads");
                    let expected = brute_force(&mesh.expect("there").positions);
                    let found = three.read_bounds(output, instance).expect("reads");
                    assert_eq!(
                        found,
                        Some(expected),
                        "{output} of {instance}, frame {frame}"
                    );
                }
            }
        }
        let buffer = three.mesh_output("x").and_then(|m| m.bounds).expect("made");
        assert_eq!(buffer.len(), 6, "two vectors a character");
        assert_eq!(three.read_bounds("x", 3).expect("reads"), None);
        assert_eq!(three.read_bounds("nobody", 0).expect("reads"), None);
    }
}

#[test]
fn bounds_on_the_processor_are_those_of_the_points() {
    let mut one = bound(FROM_REST, meshes::tube(20, 12, 2.0, 0.2)).instance();
    one.update(&Frame::default(), Par::Seq).expect("fits");
    for output in ["x", "mush", "body"] {
        let mesh = one.mesh_output(output).expect("there");
        assert_eq!(mesh.bounds(), Some(brute_force(mesh.positions)));
    }
    let empty = Mesh::new(
        "empty",
        sinew::geom::Topology::new(0, Vec::new()).expect("valid"),
        Vec::new(),
    );
    let text =
        r#"{"sinew": "1.0", "inputs": {"body": {"type": "mesh"}}, "outputs": {"body": "body"}}"#;
    let mut one = bound(text, empty.clone()).instance();
    one.update(&Frame::default(), Par::Seq).expect("fits");
    assert_eq!(one.mesh_output("body").expect("there").bounds(), None);
    let Some(gpu) = sinew_gpu::test_support::gpu() else {
        return;
    };
    let graph = GpuGraph::new(&gpu, &bound(text, empty));
    let mut one = graph.and_then(|g| g.instances(1)).expect("fits");
    one.make_bounds().expect("fits");
    one.update(&[Frame::default()]).expect("runs");
    assert_eq!(one.read_bounds("body", 0).expect("reads"), None);
}

#[test]
fn a_mesh_that_nothing_moves_is_there_once() {
    let Some(gpu) = sinew_gpu::test_support::gpu() else {
        return;
    };
    let text = r#"{"sinew": "1.0", "inputs": {"body": {"type": "mesh"}},
     "nodes": {"x": {"node": "transform", "mesh": "body", "transform": {"translation": [1, 0, 0]}}},
     "outputs": {"moved": "x", "body": "body"}}"#;
    let mut three = instances(&gpu, text, 3);
    assert_eq!(three.launch_labels().len(), 0, "all of it ran in setup");
    three.update(&[Frame::default(); 3]).expect("runs");
    let rest = meshes::grid(9, 6).positions;
    let moved = three.read_mesh("moved", 2).expect("reads").expect("there");
    assert_eq!(moved.positions[0][0], rest[0][0] + 1.0);
    let body = three.read_mesh("body", 1).expect("reads").expect("there");
    assert_eq!(body.positions, rest);
    let output = three.mesh_output("moved").expect("there");
    assert_eq!(output.per_instance, [false; 4]);
    assert_eq!(output.positions.len(), 3 * rest.len());
}
