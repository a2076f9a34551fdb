//! Comparing what the processor and the GPU made of the same frame.

use crate::common::{bindings, inputs, needed, numbers};
use sinew::deform::{NodeDesc, Par, PortType};
use sinew::geom::{Asset, Mesh, Pose, Vec3, WeldMap};
use sinew::graph::{BoundGraph, Frame, Instance, NoNesting, OutputMesh, compile};
use sinew_gpu::{GpuError, GpuGraph, GpuInstances, GpuMesh, LaunchStyle};
use std::sync::Arc;

/// No node may differ by more, in bounding boxes and degrees.
pub(crate) const POSITIONS: f64 = 1e-4;
pub(crate) const NORMALS_DEGREES: f64 = 0.1;

/// Share of a mesh's normals that may be counted apart.
const MOST_LEVERED: f64 = 0.1;

/// Largest differences of a graph so far.
#[derive(Clone, Debug, Default)]
pub(crate) struct Worst {
    pub(crate) positions: f64,
    pub(crate) normals_degrees: f64,
    tangents_degrees: f64,
    others: f64,
    /// Where positions, normals and tangents differ most.
    on: [String; 3],
    /// Normals that turn by more than they may because the triangles around them do: how many, and the largest angle.
    levered: (u32, f64),
}

/// The angle between two unit vectors; infinite where exactly one of them is none, or anything is no number.
pub(crate) fn angle_degrees(a: [f32; 3], b: [f32; 3]) -> f64 {
    let [a, b] = [a, b].map(|v| v.map(f64::from));
    let is_unit = |v: [f64; 3]| (v.iter().map(|c| c * c).sum::<f64>() - 1.0).abs() < 1e-3;
    if a == b {
        return 0.0;
    }
    if !is_unit(a) || !is_unit(b) {
        return f64::INFINITY;
    }
    let cross = [
        a[1] * b[2] - a[2] * b[1],
        a[2] * b[0] - a[0] * b[2],
        a[0] * b[1] - a[1] * b[0],
    ];
    let sine = cross.iter().map(|c| c * c).sum::<f64>().sqrt();
    let cosine: f64 = (0..3).map(|c| a[c] * b[c]).sum();
    sine.atan2(cosine).to_degrees()
}

pub(crate) fn largest<T: Copy>(
    a: &[T],
    b: &[T],
    what: &str,
    mut f: impl FnMut(T, T) -> f64,
) -> f64 {
    assert_eq!(a.len(), b.len(), "{what}");
    let largest = a.iter().zip(b).map(|(&a, &b)| f(a, b));
    largest.fold(
        0.0,
        |m, d| if d.is_nan() { f64::INFINITY } else { m.max(d) },
    )
}

pub(crate) fn distance<const N: usize>(a: [f32; N], b: [f32; N]) -> f64 {
    let squares = (0..N).map(|c| (f64::from(a[c]) - f64::from(b[c])).powi(2));
    let distance = squares.sum::<f64>().sqrt();
    // Else the maximum with anything would be that.
    if distance.is_nan() {
        f64::INFINITY
    } else {
        distance
    }
}

/// Below this share of the sum of angles, unit normals weighted with angles have cancelled.
const CANCELLED: f64 = 1e-3;

/// Below this share of its longest edge's square, twice the area of a triangle is made of rounding: it has one or none, as the order
/// of additions wants it.
const LINE: f64 = 3e-6;

/// Sum of the unit normals of triangles around a point, weighted with their angles, and sum of the angles.
#[derive(Clone, Debug)]
pub(crate) struct VertexNormal {
    pub(crate) sum: Vec3<f64>,
    pub(crate) angles: f64,
    /// Whether one of the triangles is so thin that its own normal is made of rounding.
    pub(crate) has_needle: bool,
    /// Whether rounding tells if one of the triangles has an area at all.
    has_line: bool,
}

/// Normals of triangles weighted by the angle at the corner, over all vertices at one rest position; double precision.
pub(crate) fn vertex_normals(mesh: &Mesh, points: &[[f32; 3]]) -> Vec<VertexNormal> {
    let weld = WeldMap::by_position(&mesh.positions, 0.0);
    let none = VertexNormal {
        sum: Vec3::zeros(),
        angles: 0.0,
        has_needle: false,
        has_line: false,
    };
    let mut sums = vec![none; weld.class_count()];
    let at = |v: u32| Vec3::from(points[v as usize].map(f64::from));
    for &[a, b, c] in mesh.topology.triangles() {
        for [a, b, c] in [[a, b, c], [b, c, a], [c, a, b]] {
            let (u, v): (Vec3<f64>, Vec3<f64>) = (at(b) - at(a), at(c) - at(a));
            let cross = u.cross(&v);
            let length = cross.norm();
            let out = &mut sums[weld.class_of_vertex[a as usize] as usize];
            out.has_needle |= length < 1e-4 * u.norm_squared().max(v.norm_squared());
            let longest = [u, v, u - v].map(|e| e.norm_squared());
            let longest = longest.into_iter().fold(0.0, f64::max);
            out.has_line |= length > 0.0 && length < LINE * longest;
            if length > 0.0 {
                let angle = length.atan2(u.dot(&v));
                out.sum += cross / length * angle;
                out.angles += angle;
            }
        }
    }
    let of_vertex = weld.class_of_vertex.iter();
    of_vertex
        .map(|&class| sums[class as usize].clone())
        .collect()
}

impl Worst {
    /// Whether nothing differs by more than it may.
    pub(crate) fn fits(&self) -> bool {
        self.positions <= POSITIONS
            && self.normals_degrees <= NORMALS_DEGREES
            && self.tangents_degrees <= 10.0 * NORMALS_DEGREES
            && self.others <= POSITIONS
    }

    /// A line of the table.
    pub(crate) fn line(&self, name: &str) -> String {
        format!(
            "{name:24} positions {:8.1e}  normals {:8.1e} deg  tangents {:8.1e} deg  others {:8.1e}  levered {:4} {:8.1e} deg   {}\n",
            self.positions,
            self.normals_degrees,
            self.tangents_degrees,
            self.others,
            self.levered.0,
            self.levered.1,
            self.on.join(" | ")
        )
    }

    /// `driver` is the mesh that carries normals along, of the same vertices.
    fn mesh(
        &mut self,
        cpu: &OutputMesh<'_>,
        gpu: &GpuMesh,
        driver: Option<&(OutputMesh<'_>, GpuMesh)>,
        what: &str,
    ) {
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
            let angle = self.unlevered(cpu, gpu, driver, [a, b], what);
            if angle >= self.normals_degrees {
                (self.normals_degrees, self.on[1]) = (angle, what.to_owned());
            }
        }
        if let (Some(a), Some(b)) = (cpu.tangents, &gpu.tangents) {
            let direction = |t: [f32; 4]| [t[0], t[1], t[2]];
            let normals = cpu.normals.zip(gpu.normals.as_deref());
            let mut v = 0;
            let tangents = largest(a, b, what, |a, b| {
                let normals = normals.map(|(a, b)| angle_degrees(a[v], b[v]));
                v += 1;
                if normals.is_some_and(|angle| angle > NORMALS_DEGREES) {
                    // A tangent lies in the plane of its normal, and that one was looked at.
                    return 0.0;
                }
                let sign = if a[3] == b[3] { 0.0 } else { 180.0 };
                angle_degrees(direction(a), direction(b)).max(sign)
            });
            if tangents >= self.tangents_degrees {
                (self.tangents_degrees, self.on[2]) = (tangents, what.to_owned());
            }
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

    /// The largest angle between normals, without those that rounding of positions turns by as much: around a needle or where
    /// triangles cancel no device can know the normal any better.
    fn unlevered(
        &mut self,
        cpu: &OutputMesh<'_>,
        gpu: &GpuMesh,
        driver: Option<&(OutputMesh<'_>, GpuMesh)>,
        [a, b]: [&[[f32; 3]]; 2],
        what: &str,
    ) -> f64 {
        let all = largest(a, b, what, angle_degrees);
        if all.is_nan() || all <= NORMALS_DEGREES {
            return all;
        }
        let [on_cpu, on_gpu] = [cpu.positions, &gpu.positions].map(|p| vertex_normals(cpu.rest, p));
        // Normals that a driver carries along turn with its triangles.
        let of_driver = driver
            .map(|(cpu, gpu)| [cpu.positions, &gpu.positions].map(|p| vertex_normals(cpu.rest, p)));
        // Normals that are carried along are known as well as those at rest.
        let at_rest = vertex_normals(cpu.rest, &cpu.rest.positions);
        let mut rest = 0.0_f64;
        let mut levered = 0;
        for (v, (&a, &b)) in a.iter().zip(b).enumerate() {
            let angle = angle_degrees(a, b);
            if angle > NORMALS_DEGREES {
                let (n, m) = (&on_cpu[v], &on_gpu[v]);
                let turned = |a: &VertexNormal, b: &VertexNormal| a.sum.angle(&b.sum).to_degrees();
                let carried = of_driver.as_ref().map(|[a, b]| turned(&a[v], &b[v]));
                let lever = turned(n, m) + carried.unwrap_or(0.0);
                let cancel = |n: &VertexNormal| n.sum.norm() < CANCELLED * n.angles || n.has_line;
                let excused = cancel(n) || cancel(&at_rest[v]) || angle <= NORMALS_DEGREES + lever;
                if angle.is_finite() && excused {
                    levered += 1;
                    self.levered.1 = self.levered.1.max(angle);
                    continue;
                }
            }
            rest = rest.max(angle);
        }
        let share = f64::from(levered) / a.len() as f64;
        assert!(
            share <= MOST_LEVERED,
            "{what}: {share} of all normals counted apart"
        );
        self.levered.0 += levered;
        rest
    }

    pub(crate) fn compare(
        &mut self,
        cpu: &Instance,
        gpu: &mut GpuInstances,
        instance: usize,
        on: &str,
    ) {
        let size = f64::from(self::diagonal(cpu)).max(1e-30);
        for output in cpu.plan().outputs() {
            let what = format!("{on}, output {}, instance {instance}", output.name);
            let name = &output.name;
            if let Some(mesh) = cpu.mesh_output(name) {
                let read = gpu.read_mesh(name, instance).expect("reads");
                let driver = cpu.mesh_output("driver").map(|on_cpu| {
                    let read = gpu.read_mesh("driver", instance).expect("reads");
                    (on_cpu, read.expect("a mesh"))
                });
                self.mesh(&mesh, &read.expect("a mesh"), driver.as_ref(), &what);
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

/// Runs two characters through a frame for each pose, the second one frame ahead, on both devices.
pub(crate) fn run(
    gpu: &sinew_gpu::Gpu,
    asset: &Asset,
    text: &str,
    poses: &[(f64, Pose)],
    worst: &mut Worst,
) -> Result<(), GpuError> {
    run_in(gpu, style(), asset, text, poses, worst)
}

/// What `SINEW_STYLE` names, else what suits the device.
pub(crate) fn style() -> LaunchStyle {
    match std::env::var("SINEW_STYLE").unwrap_or_default().as_str() {
        "" => LaunchStyle::Auto,
        "compact" => LaunchStyle::Compact,
        "plain" => LaunchStyle::Plain,
        "tiled" => LaunchStyle::Tiled,
        other => panic!("SINEW_STYLE={other}: compact, plain or tiled"),
    }
}

/// The same with launches of a kind, and with five characters unless the device chooses: not all invocations take as many.
pub(crate) fn run_in(
    gpu: &sinew_gpu::Gpu,
    style: LaunchStyle,
    asset: &Asset,
    text: &str,
    poses: &[(f64, Pose)],
    worst: &mut Worst,
) -> Result<(), GpuError> {
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
    let count = if style == LaunchStyle::Auto { 2 } else { 5 };
    let mut on_gpu = GpuGraph::with_style(gpu, &graph, style)?.instances(count)?;
    let mut on_cpu: Vec<Instance> = (0..count).map(|_| graph.instance()).collect();
    for i in 0..poses.len() {
        let frame = |character: usize| {
            let (time_secs, pose) = &poses[(i + character) % poses.len()];
            Frame::at(*time_secs).dt(0.1).pose(pose).values(&values)
        };
        let frames: Vec<Frame<'_>> = (0..count).map(frame).collect();
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

/// The pose of the first clip at shares of its length, or at rest.
pub(crate) fn poses(asset: &Asset, shares: &[f64]) -> Vec<(f64, Pose)> {
    let range = asset.clips.first().map_or((0.0, 1.0), |c| c.range());
    let at = |share: &f64| {
        let time = f64::from(range.0) + f64::from(range.1 - range.0) * share;
        let mut pose = asset.rig.rest_pose();
        asset.rig.evaluate(asset.clips.first(), time, &mut pose);
        (time, pose)
    };
    shares.iter().map(at).collect()
}

/// The node behind skinning (or a morph, where the character has no joints): its first mesh is the posed one, a second mesh is the
/// one at rest; `turned` is the other way round.
pub(crate) fn posed(desc: &NodeDesc, pose_node: &str, turned: bool) -> String {
    let mut links = String::new();
    let mut meshes = 0;
    for port in desc.inputs {
        let link = match port.ty {
            // Its vertices are a grid, which no character is.
            PortType::Mesh if port.name == "cage" => continue,
            PortType::Mesh => {
                meshes += 1;
                let at_rest = desc.name == pose_node || (meshes == 1) == turned;
                if at_rest { "body" } else { "posed" }
            }
            PortType::Pose => "pose",
            PortType::Values if port.required => "values",
            PortType::VertexAnimation => "animation",
            _ => continue,
        };
        links += &format!(", \"{}\": \"{link}\"", port.name);
    }
    links += needed(desc);
    let outputs = desc.outputs.iter();
    let mut outputs: Vec<String> = outputs
        .map(|o| format!("\"{0}\": \"it.{0}\"", o.name))
        .collect();
    if turned {
        outputs.push("\"driver\": \"posed\"".to_owned());
    }
    format!(
        r#"{{"sinew": "1.0", {}"nodes": {{
 "posed": {{"node": "{pose_node}", "mesh": "body", "pose": "pose"}},
 "it": {{"node": "{}"{links}}}}}, "outputs": {{{}}}}}"#,
        inputs(desc),
        desc.name,
        outputs.join(", ")
    )
}

/// Names and texts of the graphs in `graphs/`, which switch the variants of nodes.
pub(crate) fn graph_files() -> Vec<(String, String)> {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/graphs");
    let mut files: Vec<_> = std::fs::read_dir(folder)
        .expect("graphs")
        .map(|entry| entry.expect("readable").path())
        .collect();
    files.sort();
    let read = |file: std::path::PathBuf| {
        let name = file.file_name().expect("a file").display().to_string();
        (name, std::fs::read_to_string(&file).expect("text"))
    };
    files.into_iter().map(read).collect()
}
