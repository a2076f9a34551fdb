//! The conformance loop on a graphics device: every node of the registry and every graph in `graphs/`, on every sample and on awkward
//! meshes, against the processor.

mod common;

use common::{assets, bindings, document};
use sinew::deform::{Par, REGISTRY};
use sinew::geom::{Asset, Pose};
use sinew::graph::{BoundGraph, Frame, InputType, Instance, NoNesting, OutputMesh, Plan, compile};
use sinew_gpu::{GpuError, GpuGraph, GpuInstances, GpuMesh};
use std::fmt::Write;
use std::sync::Arc;

/// No node may differ by more, in bounding boxes and degrees.
const POSITIONS: f64 = 1e-4;
const NORMALS_DEGREES: f64 = 0.1;

/// Largest differences of a graph so far.
#[derive(Clone, Debug, Default)]
struct Worst {
    positions: f64,
    normals_degrees: f64,
    tangents_degrees: f64,
    others: f64,
    on: [String; 2],
}

/// A name and a document: the registry's nodes with their defaults, then the files.
fn documents() -> Vec<(String, String)> {
    let mut out: Vec<(String, String)> = REGISTRY
        .iter()
        .map(|desc| (desc.name.to_owned(), document(desc)))
        .collect();
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/graphs");
    let mut files: Vec<_> = std::fs::read_dir(folder)
        .expect("graphs")
        .map(|entry| entry.expect("readable").path())
        .collect();
    files.sort();
    for file in files {
        let name = file
            .file_name()
            .expect("a file")
            .to_string_lossy()
            .into_owned();
        out.push((name, std::fs::read_to_string(&file).expect("text")));
    }
    out
}

fn angle_degrees(a: [f32; 3], b: [f32; 3]) -> f64 {
    let [a, b] = [a, b].map(|v| v.map(f64::from));
    let cross = [
        a[1] * b[2] - a[2] * b[1],
        a[2] * b[0] - a[0] * b[2],
        a[0] * b[1] - a[1] * b[0],
    ];
    let sine = cross.iter().map(|c| c * c).sum::<f64>().sqrt();
    let cosine: f64 = (0..3).map(|c| a[c] * b[c]).sum();
    sine.atan2(cosine).to_degrees()
}

fn largest<T: Copy>(a: &[T], b: &[T], what: &str, f: impl Fn(T, T) -> f64) -> f64 {
    assert_eq!(a.len(), b.len(), "{what}");
    let largest = a.iter().zip(b).map(|(&a, &b)| f(a, b));
    largest.fold(
        0.0,
        |m, d| if d.is_nan() { f64::INFINITY } else { m.max(d) },
    )
}

fn distance<const N: usize>(a: [f32; N], b: [f32; N]) -> f64 {
    let squares = (0..N).map(|c| (f64::from(a[c]) - f64::from(b[c])).powi(2));
    squares.sum::<f64>().sqrt()
}

impl Worst {
    fn mesh(&mut self, cpu: &OutputMesh<'_>, gpu: &GpuMesh, what: &str) {
        let size = f64::from(cpu.rest.diagonal()).max(1e-30);
        let positions = largest(cpu.positions, &gpu.positions, what, distance) / size;
        let before = largest(
            cpu.previous_positions,
            &gpu.previous_positions,
            what,
            distance,
        );
        let positions = positions.max(before / size);
        if positions >= self.positions {
            (self.positions, self.on[0]) = (positions, what.to_owned());
        }
        assert_eq!(
            cpu.normals.is_some(),
            gpu.normals.is_some(),
            "{what}: normals"
        );
        assert_eq!(
            cpu.tangents.is_some(),
            gpu.tangents.is_some(),
            "{what}: tangents"
        );
        if let (Some(a), Some(b)) = (cpu.normals, &gpu.normals) {
            let angle = largest(a, b, what, angle_degrees);
            if angle >= self.normals_degrees {
                (self.normals_degrees, self.on[1]) = (angle, what.to_owned());
            }
        }
        if let (Some(a), Some(b)) = (cpu.tangents, &gpu.tangents) {
            let direction = |t: [f32; 4]| [t[0], t[1], t[2]];
            let tangents = largest(a, b, what, |a, b| {
                let sign = if a[3] == b[3] { 0.0 } else { 180.0 };
                angle_degrees(direction(a), direction(b)).max(sign)
            });
            self.tangents_degrees = self.tangents_degrees.max(tangents);
        }
        assert_eq!(
            cpu.colors.is_some(),
            gpu.colors.is_some(),
            "{what}: colours"
        );
        if let (Some(a), Some(b)) = (cpu.colors, &gpu.colors) {
            self.others = self.others.max(largest(a, b, what, distance));
        }
    }

    fn compare(&mut self, cpu: &Instance, gpu: &mut GpuInstances, instance: usize, on: &str) {
        let size = f64::from(self::diagonal(cpu)).max(1e-30);
        for output in cpu.plan().outputs() {
            let what = format!("{on}, output {}, instance {instance}", output.name);
            let name = &output.name;
            if let Some(mesh) = cpu.mesh_output(name) {
                let read = gpu.read_mesh(name, instance).expect("reads");
                self.mesh(&mesh, &read.expect("a mesh"), &what);
            }
            if let Some(floats) = cpu.float_output(name) {
                let read = gpu.read_floats(name, instance).expect("reads");
                let difference = |a: f32, b: f32| f64::from((a - b).abs());
                let largest = largest(floats, &read.expect("floats"), &what, difference);
                self.others = self.others.max(largest);
            }
            if let Some(lines) = cpu.line_output(name) {
                let read = gpu.read_lines(name, instance).expect("reads");
                let read = read.expect("lines");
                let ends = largest(lines, &read, &what, |a, b| {
                    distance(a.from, b.from).max(distance(a.to, b.to)) / size
                });
                let colors = largest(lines, &read, &what, |a, b| distance(a.color, b.color));
                self.others = self.others.max(ends).max(colors);
            }
        }
    }
}

fn diagonal(cpu: &Instance) -> f32 {
    let meshes = cpu.graph().program().meshes().iter();
    meshes.map(|m| m.diagonal()).fold(0.0, f32::max)
}

/// Poses of a clip at times of 0, a third and two thirds, or at rest.
fn poses(asset: &Asset) -> Vec<(f64, Pose)> {
    let range = asset.clips.first().map_or((0.0, 1.0), |c| c.range());
    (0..3)
        .map(|i| {
            let time = f64::from(range.0) + f64::from(range.1 - range.0) * f64::from(i) / 3.0;
            let mut pose = asset.rig.rest_pose();
            asset.rig.evaluate(asset.clips.first(), time, &mut pose);
            (time, pose)
        })
        .collect()
}

/// Something for every input of numbers.
fn numbers(plan: &Plan) -> Vec<(usize, Vec<f32>)> {
    let wanted = plan.inputs().iter().enumerate();
    let wanted = wanted.filter(|(_, input)| input.ty == InputType::Values);
    wanted
        .map(|(i, input)| (i, (1..=input.count).map(|v| 0.75 / v as f32).collect()))
        .collect()
}

/// Runs two characters for three frames, the second one frame ahead, on both devices.
fn run(gpu: &sinew_gpu::Gpu, asset: &Asset, text: &str, worst: &mut Worst) -> Result<(), GpuError> {
    let plan = Arc::new(compile("test.json", text, &NoNesting).unwrap_or_else(|e| panic!("{e}")));
    let inputs = bindings(asset, &plan);
    let values = numbers(&plan);
    let values: Vec<(usize, &[f32])> = values.iter().map(|(i, v)| (*i, v.as_slice())).collect();
    let graph = match BoundGraph::bind(plan, &inputs, &[], Par::Seq) {
        Ok(graph) => Arc::new(graph),
        // What a graph wants and this mesh lacks.
        Err(_) if text.starts_with("//") => return Ok(()),
        Err(e) => panic!("{}: {e}", asset.name),
    };
    let mut on_gpu = GpuGraph::new(gpu, &graph)?.instances(2)?;
    let mut on_cpu = [0, 1].map(|_| graph.instance().expect("nodes of the processor"));
    let poses = poses(asset);
    for i in 0..3 {
        let frames = [i, (i + 1) % 3].map(|i| Frame {
            time_secs: poses[i].0,
            dt_secs: 0.1,
            pose: Some(&poses[i].1),
            values: &values,
            ..Frame::default()
        });
        on_gpu.update(&frames)?;
        for (instance, (cpu, frame)) in on_cpu.iter_mut().zip(&frames).enumerate() {
            cpu.update(frame, Par::Seq)
                .unwrap_or_else(|e| panic!("{e}"));
            let on = format!("{} at frame {i}", asset.name);
            worst.compare(cpu, &mut on_gpu, instance, &on);
        }
    }
    Ok(())
}

#[test]
fn every_node_gives_the_same_numbers_on_both_devices() {
    let Some(gpu) = sinew_gpu::test_support::gpu() else {
        return;
    };
    let only = std::env::var("SINEW_ONLY").ok();
    let mut table = String::new();
    let mut wrong = Vec::new();
    for (name, text) in documents() {
        if only
            .as_ref()
            .is_some_and(|only| !name.contains(only.as_str()))
        {
            continue;
        }
        let mut worst = Worst::default();
        for asset in assets() {
            match run(&gpu, &asset, &text, &mut worst) {
                Ok(()) => {}
                Err(error @ GpuError::NoDeviceSide { .. }) => {
                    wrong.push(format!("{name}: {error}"));
                    break;
                }
                Err(error) => {
                    wrong.push(format!("{name} on {}: {error}", asset.name));
                    break;
                }
            }
        }
        let _ = writeln!(
            table,
            "{name:24} positions {:8.1e}  normals {:8.1e} deg  tangents {:8.1e} deg  others {:8.1e}   {} | {}",
            worst.positions,
            worst.normals_degrees,
            worst.tangents_degrees,
            worst.others,
            worst.on[0],
            worst.on[1]
        );
        let fits = worst.positions <= POSITIONS
            && worst.normals_degrees <= NORMALS_DEGREES
            && worst.tangents_degrees <= 10.0 * NORMALS_DEGREES
            && worst.others <= POSITIONS;
        if !fits {
            wrong.push(format!("{name}: differs by more than it may"));
        }
    }
    println!("{}\n{table}", gpu.info().name);
    assert!(wrong.is_empty(), "{}\n{table}", wrong.join("\n"));
}
