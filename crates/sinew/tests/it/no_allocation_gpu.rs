//! Updates on the GPU allocate nothing of ours, compile nothing and make no buffer.
//!
//! wgpu allocates whenever it uploads, records or submits, and its calls are in the midst of ours. So the allocator keeps
//! the stack of each allocation that the updating thread makes: the innermost function of a crate that is not the standard library's tells who
//! asked for the memory. Ours must have asked for none; what wgpu and the driver ask for is counted and printed.

use crate::common::allocations::watch;
use crate::common::devices::{posed, poses};
use crate::common::drivers;
use crate::common::{assets, bindings, numbers, on_devices};
use sinew::deform::{Par, ParameterValue};
use sinew::graph::{BoundGraph, Frame, NoNesting, compile_with_nodes};
use sinew_gpu::{GpuGraph, GpuInstances};
use std::backtrace::Backtrace;
use std::cell::RefCell;
use std::sync::Arc;

thread_local! {
    static STACKS: RefCell<Vec<Backtrace>> = const { RefCell::new(Vec::new()) };
}

fn keep_stack() {
    let stack = Backtrace::force_capture();
    STACKS.with(|stacks| stacks.borrow_mut().push(stack));
}

/// The stacks of all allocations that `work` makes in this thread.
fn allocations<R>(work: impl FnOnce() -> R) -> Vec<Backtrace> {
    watch(Some(&keep_stack));
    let result = work();
    watch(None);
    drop(result);
    STACKS.with(RefCell::take)
}

/// A function on a stack and its file, where that is known.
struct Function {
    name: String,
    file: Option<String>,
}

impl Function {
    /// Code that works for whoever calls it, and the allocator itself.
    fn is_library(&self) -> bool {
        const LIBRARIES: [&str; 6] = ["std", "core", "alloc", "hashbrown", "arrayvec", "smallvec"];
        let name = self.name.trim_start_matches(['<', '&', '*']);
        // `__rust_alloc` and the like.
        if name.starts_with("__r") {
            return true;
        }
        let is_from = |library: &&str| match &self.file {
            None => name.starts_with(&format!("{library}::")),
            Some(file) => file.contains("/rustc/") || file.contains(&format!("/{library}-")),
        };
        LIBRARIES.iter().any(is_from)
    }

    /// Dependencies are built without their files' names, but for what is inlined into our functions.
    fn is_ours(&self) -> bool {
        match &self.file {
            None => self
                .name
                .trim_start_matches(['<', '&', '*'])
                .starts_with("sinew"),
            Some(file) => !file.contains("/registry/"),
        }
    }
}

/// The innermost function that is not a library's.
fn asked_by(stack: &Backtrace) -> Function {
    let text = stack.to_string();
    let mut functions: Vec<Function> = Vec::new();
    for line in text.lines().map(str::trim_start) {
        if let (Some(file), Some(last)) = (line.strip_prefix("at "), functions.last_mut()) {
            last.file = Some(file.to_owned());
        } else if let Some((_, name)) = line.split_once(": ") {
            let name = name.to_owned();
            functions.push(Function { name, file: None });
        }
    }
    // The allocator of these tests is innermost; a frame of `__rust_alloc` behind it is there or not, as the linker has it.
    let is_allocator = |f: &Function| {
        let file = f.file.as_deref().unwrap_or_default();
        file.contains("common/allocations.rs")
    };
    let asked = functions.iter().rposition(is_allocator);
    let mut functions = functions.into_iter().skip(asked.map_or(0, |at| at + 1));
    let found = functions.find(|f| !f.is_library());
    found.unwrap_or_else(|| panic!("nobody asked:\n{text}"))
}

/// With `RUST_BACKTRACE` set wgpu takes stacks, too, and one that is taken for an allocation in the midst of another waits for ever:
/// the test runs again, without. False where it is not set.
fn runs_without_backtraces(test: &str) -> bool {
    let is_set = |name| std::env::var_os(name).is_some_and(|value| value != "0");
    if !is_set("RUST_BACKTRACE") && !is_set("RUST_LIB_BACKTRACE") {
        return false;
    }
    let program = std::env::current_exe().expect("this program");
    let status = std::process::Command::new(program)
        .args([
            "--exact",
            &format!("no_allocation_gpu::{test}"),
            "--nocapture",
        ])
        .env("RUST_BACKTRACE", "0")
        .env_remove("RUST_LIB_BACKTRACE")
        .status();
    assert!(
        status.expect("starts").success(),
        "{test} without backtraces"
    );
    true
}

#[test]
fn who_asked_is_found() {
    if runs_without_backtraces("who_asked_is_found") {
        return;
    }
    let stacks = allocations(|| drop(std::hint::black_box(vec![1_u8; 100])));
    assert_eq!(stacks.len(), 1);
    let who = asked_by(&stacks[0]);
    assert!(who.is_ours(), "{}\n{}", who.name, stacks[0]);
    let file = who.file.expect("our code has its files' names");
    assert!(file.contains("no_allocation_gpu.rs"), "{file}");
    let Some(gpu) = sinew_gpu::test_support::gpu() else {
        return;
    };
    // wgpu's own.
    let stacks = allocations(|| drop(gpu.device().create_command_encoder(&Default::default())));
    assert!(!stacks.is_empty());
    for stack in stacks {
        let who = asked_by(&stack);
        assert!(!who.is_ours(), "{}\n{stack}", who.name);
    }
}

/// A smoothing with as many passes as a parameter says, rest shapes and bounds: what batches of characters can have.
const PASSES: &str = r#"{"sinew": "1.0",
 "parameters": {"n": {"type": "int", "default": 2, "min": 0, "max": 99}},
 "nodes": {"soft": {"node": "smooth", "mesh": "body", "iterations": "$n"},
           "posed": {"node": "skin", "mesh": "soft", "pose": "pose"}},
 "outputs": {"body": "posed"}}"#;

/// Drivers on the host: from a pose to values and back, into a kernel and to outputs.
const DRIVEN: &str = r#"{"sinew": "1.0",
 "nodes": {"m": {"node": "measure", "pose": "pose", "gain": {"keys": [[0, 1], [1, 2]]}},
           "n": {"node": "mix", "values": "m"}, "sum": {"node": "total", "values": "n"},
           "p": {"node": "push", "pose": "pose", "values": "sum"},
           "soft": {"node": "kernel", "domain": "vertex",
                    "inputs": {"mesh": {"type": "mesh", "link": "body"}, "n": {"type": "values", "link": "n"}},
                    "outputs": {"mesh": {"type": "mesh", "writes": ["positions"]}},
                    "text": "write_mesh_positions(index, read_mesh_positions(index) * read_n(0u));"},
           "posed": {"node": "skin", "mesh": "soft", "pose": "p"}},
 "outputs": {"body": "posed", "sum": "sum", "p": "p"}}"#;

/// A solver with state, whose first frame runs other passes than the others, and a field that the host makes.
const HAIR: &str = r#"{"sinew": "1.0",
 "inputs": {"body": {"type": "mesh"}, "pose": {"type": "pose"}, "hair": {"type": "strands"}},
 "nodes": {"ball": {"node": "solids", "capsules": [{"from": [0, 0, 0], "to": [0, 0, 0], "radius": 0.1}]},
           "sim": {"node": "hair_sim", "strands": "hair", "pose": "pose", "colliders": "ball", "wind": [0.5, 0, 0]}},
 "outputs": {"hair": "sim"}}"#;

#[test]
fn frames_allocate_compile_and_make_nothing() {
    if runs_without_backtraces("frames_allocate_compile_and_make_nothing") {
        return;
    }
    let Some(gpu) = sinew_gpu::test_support::gpu() else {
        return;
    };
    let asset = assets().swap_remove(0);
    // Behind skinning, so that nothing is done in setup.
    let documents = on_devices().map(|desc| posed(desc, "skin", false));
    let mut documents: Vec<String> = documents.collect();
    documents.extend([PASSES, DRIVEN, HAIR].map(str::to_owned));
    let nodes = drivers::nodes();
    let count = 5;
    let poses = poses(&asset, &[0.0, 0.2, 0.4, 0.6, 0.8]);
    for text in documents {
        let plan = compile_with_nodes("g.json", &text, &NoNesting, &nodes);
        let plan = Arc::new(plan.unwrap_or_else(|e| panic!("{e}")));
        let inputs = bindings(&asset, &plan);
        let values = numbers(&plan);
        let values: Vec<(usize, &[f32])> = values.iter().map(|(i, v)| (*i, v.as_slice())).collect();
        let graph = BoundGraph::bind(plan, &inputs, &[], Par::Seq);
        let graph = Arc::new(graph.unwrap_or_else(|e| panic!("{e}")));
        let shared = GpuGraph::new(&gpu, &graph).unwrap_or_else(|e| panic!("{e}"));
        let mut crowd = shared.instances(count).expect("fits");
        crowd.make_bounds().expect("fits");
        if text == PASSES {
            let rest = asset.merged(&Default::default()).expect("a mesh").positions;
            let set = crowd.set_rest_offsets(3, "body", &rest);
            set.unwrap_or_else(|e| panic!("{e}"));
        }
        // Other passes for other characters in each round.
        let set_passes = |crowd: &mut GpuInstances, round: usize| {
            if text == PASSES {
                for i in 0..count {
                    let n = ParameterValue::Int([2, 5, 2, 0, 9, 7, 1][(i + round * round) % 7]);
                    crowd.set_parameter(i, "n", &n).expect("in range");
                }
            }
        };
        set_passes(&mut crowd, 0);
        let frame = |i: usize| {
            Frame::at(poses[i].0)
                .dt(0.1)
                .pose(&poses[i].1)
                .values(&values)
        };
        let frames: Vec<Frame<'_>> = (0..count).map(frame).collect();
        // The first frame, and one of the other parity.
        for _ in 0..2 {
            crowd.update(&frames).expect("runs");
        }
        let made = || (gpu.pipelines_created(), gpu.buffers_created());
        let before = made();
        let mut counts = [0; 3];
        for round in 0..4 {
            set_passes(&mut crowd, round);
            let send = allocations(|| crowd.send(&frames).expect("fits"));
            let device = gpu.device();
            let mut encoder = device.create_command_encoder(&Default::default());
            let record = allocations(|| crowd.record(&mut encoder));
            let commands = encoder.finish();
            let submit = allocations(|| gpu.queue().submit([commands]));
            for (stacks, count) in [send, record, submit].iter().zip(&mut counts) {
                *count = stacks.len();
                for stack in stacks {
                    let who = asked_by(stack);
                    assert!(
                        !who.is_ours(),
                        "frame {round} of {text}: {}\n{stack}",
                        who.name
                    );
                }
            }
            // All in one, as most callers do it.
            for stack in allocations(|| crowd.update(&frames).expect("runs")) {
                let who = asked_by(&stack);
                assert!(
                    !who.is_ours(),
                    "frame {round} of {text}: {}\n{stack}",
                    who.name
                );
            }
        }
        assert_eq!(made(), before, "{text}");
        let kinds = text.split("\"node\": \"").skip(1);
        let kind = kinds.last().and_then(|t| t.split('"').next());
        let dispatches = crowd.dispatches().len();
        let [send, record, submit] = counts;
        println!(
            "{:18} {dispatches:3} dispatches; of wgpu's: {send} to send, {record} to record, {submit} to submit",
            kind.unwrap_or_default()
        );
    }
}
