//! Collecting frames and writing them in the format that the file name asks for.

use crate::args::Interpolation;
use crate::exit::{Failure, Outcome};
use crate::reporter::{Reporter, counted};
use sinew::deform::Line;
use sinew::geom::Mesh;
use sinew::graph::{BoundGraph, OutputPlace};
use sinew::io::gltf_write::{FrameInterpolation, GlbOptions, GlbSource, write_glb};
use sinew::io::point_cache::{write_mdd, write_pc2};
use sinew::io::{CachedMesh, ExtraArray, FrameCache, FrameData, Surface, write_npz_meshes};
use sinew::play::{FieldGrid, Output};
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Formats by file ending.
pub(crate) const ENDINGS: [&str; 7] = ["glb", "npz", "pc2", "mdd", "obj", "ply", "tfx"];

/// Refuses an ending that no writer knows, before any work is done.
pub(crate) fn check_ending(path: &Path) -> Outcome {
    let ending = path
        .extension()
        .and_then(|e| e.to_str())
        .unwrap_or_default()
        .to_lowercase();
    if ENDINGS.contains(&ending.as_str()) {
        return Ok(());
    }
    Err(Failure::usage(format!(
        "{}: unknown file extension, expected .{}",
        path.display(),
        ENDINGS.join(", .")
    )))
}

/// The results of all frames.
#[derive(Default)]
pub(crate) struct Collected {
    /// Output name, rest mesh, frames.
    meshes: Vec<(String, Mesh, Vec<FrameData>)>,
    extras: Vec<ExtraArray>,
    /// Output name, a grid a frame.
    fields: Vec<(String, Vec<FieldGrid>)>,
    pub(crate) times_secs: Vec<f32>,
    pub(crate) numbers: Vec<i64>,
}

impl Collected {
    /// Takes the outputs of one frame.
    pub(crate) fn add(
        &mut self,
        graph: &BoundGraph,
        outputs: Vec<(String, Output)>,
        number: i64,
        time_secs: f64,
    ) {
        self.times_secs.push(time_secs as f32);
        self.numbers.push(number);
        for (name, output) in outputs {
            match output {
                Output::Mesh(data) => match self.meshes.iter_mut().find(|x| x.0 == name) {
                    Some(entry) => entry.2.push(data),
                    None => self
                        .meshes
                        .extend(rest(graph, &name).map(|rest| (name, rest, vec![data]))),
                },
                Output::Floats(v) => self.add_extra(&name, vec![v.len()], v),
                Output::Lines(l) => {
                    let numbers = l.iter().flat_map(numbers_of).collect();
                    self.add_extra(&name, vec![l.len(), 10], numbers);
                }
            }
        }
    }

    /// Takes the fields of the frame that was added last.
    pub(crate) fn add_fields(&mut self, fields: Vec<(String, FieldGrid)>) {
        for (name, grid) in fields {
            match self.fields.iter_mut().find(|f| f.0 == name) {
                Some(entry) => entry.1.push(grid),
                None => self.fields.push((name, vec![grid])),
            }
        }
    }

    /// Fields as arrays. A grid follows its mesh, so that its size differs from frame to frame: all have the largest, and NaN beyond their own.
    fn take_fields(&mut self) -> Vec<ExtraArray> {
        let arrays = |(name, grids): (String, Vec<FieldGrid>)| {
            let largest =
                [0, 1, 2].map(|axis| grids.iter().map(|g| g.nodes[axis]).max().unwrap_or(0));
            let matrices = grids
                .iter()
                .map(|g| g.scene_from_node.into_iter().flatten().collect());
            [
                ExtraArray {
                    name: format!("{name}_matrix"),
                    shape: vec![3, 4],
                    frames: matrices.collect(),
                },
                ExtraArray {
                    name,
                    shape: largest.map(|n| n as usize).to_vec(),
                    frames: grids.iter().map(|g| padded(g, largest)).collect(),
                },
            ]
        };
        std::mem::take(&mut self.fields)
            .into_iter()
            .flat_map(arrays)
            .collect()
    }

    fn add_extra(&mut self, name: &str, shape: Vec<usize>, values: Vec<f32>) {
        match self.extras.iter_mut().find(|e| e.name == name) {
            Some(e) => e.frames.push(values),
            None => self.extras.push(ExtraArray {
                name: name.to_owned(),
                shape,
                frames: vec![values],
            }),
        }
    }

    fn cached(&mut self) -> FrameCache<'_> {
        FrameCache {
            meshes: self
                .meshes
                .iter_mut()
                .map(|(name, mesh, frames)| CachedMesh {
                    name: name.clone(),
                    mesh,
                    frames: std::mem::take(frames),
                })
                .collect(),
            times_secs: self.times_secs.clone(),
        }
    }
}

/// The rest mesh of a mesh output.
fn rest(graph: &BoundGraph, name: &str) -> Option<Mesh> {
    let index = graph.plan().outputs().iter().position(|o| o.name == name)?;
    let program = graph.program();
    let mesh = program.shown_mesh(program.outputs().get(index)?)?;
    Some(Arc::unwrap_or_clone(mesh))
}

/// The distances of a grid in one of `nodes` nodes; NaN where it has none.
fn padded(grid: &FieldGrid, nodes: [u32; 3]) -> Vec<f32> {
    let [_, y, z] = nodes.map(|n| n as usize);
    let [own_x, own_y, own_z] = grid.nodes.map(|n| n as usize);
    let mut out = vec![f32::NAN; nodes.iter().map(|&n| n as usize).product()];
    for (row, from) in grid.distances.chunks_exact(own_z.max(1)).enumerate() {
        let (i, j) = (row / own_y, row % own_y);
        debug_assert!(i < own_x, "as many rows as nodes");
        let at = (i * y + j) * z;
        out[at..at + own_z].copy_from_slice(from);
    }
    out
}

fn numbers_of(l: &Line) -> [f32; 10] {
    let ([a, b, c], [d, e, f], [r, g, bl, al]) = (l.from, l.to, l.color);
    [a, b, c, d, e, f, r, g, bl, al]
}

/// How to write.
pub(crate) struct Options<'a> {
    pub(crate) source: Option<&'a GlbSource>,
    pub(crate) interpolation: Interpolation,
}

/// Whether one of the files is an NPZ archive, which holds numbers of any sort.
pub(crate) fn holds_numbers(paths: &[PathBuf]) -> bool {
    let is_npz = |p: &PathBuf| p.extension().is_some_and(|e| e.eq_ignore_ascii_case("npz"));
    paths.iter().any(is_npz)
}

/// Whether frames fit into the files, as far as that is known before the first one: GLB has less than 4 GiB, and a morph target for each frame.
pub(crate) fn check_size(paths: &[PathBuf], graph: &BoundGraph, frames: usize) -> Outcome {
    let is_glb = |p: &&PathBuf| p.extension().is_some_and(|e| e.eq_ignore_ascii_case("glb"));
    let Some(path) = paths.iter().find(is_glb) else {
        return Ok(());
    };
    let program = graph.program();
    let meshes = program
        .outputs()
        .iter()
        .filter_map(|o| program.shown_mesh(o));
    let vertices: usize = meshes.map(|m| m.positions.len()).sum();
    // Positions of each frame, and for each of them a weight at each time.
    let bytes = (12 * vertices)
        .saturating_add(4 * frames)
        .saturating_mul(frames);
    if bytes < u32::MAX as usize {
        return Ok(());
    }
    Err(Failure::output(format!(
        "{}: {frames} frames of {vertices} vertices need {:.1} GiB, but a GLB file holds less than 4 GiB; write .npz, .pc2 or .mdd, or fewer frames (--frames)",
        path.display(),
        bytes as f64 / f64::from(1 << 30)
    )))
}

/// Warns of outputs of the graph that none of the files holds.
pub(crate) fn tell_left_out(
    paths: &[PathBuf],
    collected: &Collected,
    graph: &BoundGraph,
    reporter: &Reporter,
) {
    if paths.is_empty() {
        return;
    }
    let holds_numbers = holds_numbers(paths);
    let only_npz = "can be stored in .npz only; add -o NAME.npz";
    let outputs = graph.plan().outputs().iter().zip(graph.program().outputs());
    for (output, place) in outputs {
        let name = &output.name;
        let is_there = collected.fields.iter().any(|f| f.0 == *name);
        let what = match place {
            OutputPlace::Mesh { .. } => continue,
            OutputPlace::Pose(_) => "a pose, which no file format stores".to_owned(),
            OutputPlace::Field(_) if !holds_numbers => format!("a field, which {only_npz}"),
            OutputPlace::Field(_) if !is_there => {
                "a field of solids, which no file format stores".into()
            }
            _ if !holds_numbers => format!("numbers, which {only_npz}"),
            _ => continue,
        };
        reporter.warning(
            "output_left_out",
            &format!("output '{name}' is not written: it is {what}"),
        );
    }
}

/// Writes all outputs; each appears whole or not at all.
pub(crate) fn write_all(
    paths: &[PathBuf],
    mut collected: Collected,
    options: &Options<'_>,
    reporter: &Reporter,
) -> Outcome {
    let numbers = std::mem::take(&mut collected.numbers);
    let mut extras = std::mem::take(&mut collected.extras);
    extras.extend(collected.take_fields());
    let times = collected.times_secs.clone();
    let cache = collected.cached();
    for path in paths {
        reporter.check_interrupt()?;
        write_one(path, &cache, &extras, &times, &numbers, options, reporter)?;
        if !is_sequence(path) {
            reporter.wrote_file();
        }
        reporter.info("written", &format!("wrote {}", path.display()));
    }
    Ok(())
}

/// Whether a file of this name is one of many, a frame each.
fn is_sequence(path: &Path) -> bool {
    let ending = path.extension().unwrap_or_default().to_string_lossy();
    ["obj", "ply", "tfx"].contains(&ending.to_lowercase().as_str())
}

/// Checks the files of formats with one file per frame before any work. Warns of files of an earlier, longer run, because programs that read the
/// sequence would play them, too.
pub(crate) fn check_frames(paths: &[PathBuf], numbers: &[i64], reporter: &Reporter) -> Outcome {
    for path in paths.iter().filter(|p| numbers.len() > 1 && is_sequence(p)) {
        let ours: BTreeSet<PathBuf> = numbers.iter().map(|n| numbered(path, *n)).collect();
        ours.iter()
            .try_for_each(|file| reporter.check_output(file))?;
        let others = earlier_frames(path)
            .into_iter()
            .filter(|f| !ours.contains(f));
        let others: Vec<PathBuf> = others.collect();
        if let [first, ..] = &others[..] {
            let message = format!(
                "found {} of an earlier run, for example {}; a program that reads the sequence reads them, too. Delete them if they do not belong to it",
                counted(others.len() as u64, "file"),
                first.display()
            );
            reporter.warning("earlier_frames", &message);
        }
    }
    Ok(())
}

/// The files that are there and called as frames of a sequence are.
fn earlier_frames(path: &Path) -> Vec<PathBuf> {
    let text = |s: Option<&OsStr>| s.unwrap_or_default().to_string_lossy().into_owned();
    let (begin, end) = (
        text(path.file_stem()) + "_",
        format!(".{}", text(path.extension())),
    );
    let is_frame = |name: &str| {
        let number = name.strip_prefix(&begin).and_then(|n| n.strip_suffix(&end));
        let digits = number.map(|n| n.strip_prefix('-').unwrap_or(n));
        digits.is_some_and(|d| d.len() >= 3 && d.bytes().all(|b| b.is_ascii_digit()))
    };
    let folder = match path.parent() {
        Some(p) if !p.as_os_str().is_empty() => p,
        _ => Path::new("."),
    };
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let names = entries.map(|e| e.file_name().to_string_lossy().into_owned());
    let mut found: Vec<PathBuf> = names
        .filter(|n| is_frame(n))
        .map(|n| path.with_file_name(n))
        .collect();
    found.sort();
    found
}

fn write_one(
    path: &Path,
    cache: &FrameCache<'_>,
    extras: &[ExtraArray],
    times: &[f32],
    numbers: &[i64],
    options: &Options<'_>,
    reporter: &Reporter,
) -> Outcome {
    let need_mesh = || {
        cache
            .meshes
            .first()
            .ok_or_else(|| Failure::bind("the graph has no mesh output, but a .glb file needs one; add a mesh to its outputs, or write .npz"))
    };
    let ending = path
        .extension()
        .and_then(|e| e.to_str())
        .unwrap_or_default()
        .to_lowercase();
    match ending.as_str() {
        "glb" => {
            let interpolation = match options.interpolation {
                Interpolation::Step => FrameInterpolation::Step,
                Interpolation::Linear => FrameInterpolation::Linear,
            };
            need_mesh()?;
            let glb = GlbOptions {
                source: options.source,
                interpolation,
                ..GlbOptions::default()
            };
            for w in write_glb(path, cache, &glb).map_err(Failure::output)? {
                reporter.warning(w.code, &w.message);
            }
            Ok(())
        }
        "npz" => write_npz_meshes(path, &cache.meshes, times, extras).map_err(Failure::output),
        "pc2" => {
            let (start, rate) = (
                numbers[0] as f32,
                numbers.get(1).map_or(1, |n| n - numbers[0]) as f32,
            );
            write_pc2(path, cache, start, rate).map_err(Failure::output)
        }
        "mdd" => write_mdd(path, cache).map_err(Failure::output),
        _ => write_sequence(path, &ending, cache, numbers, reporter),
    }
}

/// One OBJ, PLY or TFX a frame: `name_0021.ply`; a single frame keeps the plain name.
fn write_sequence(
    path: &Path,
    ending: &str,
    cache: &FrameCache<'_>,
    numbers: &[i64],
    reporter: &Reporter,
) -> Outcome {
    for (k, number) in numbers.iter().enumerate() {
        reporter.check_interrupt()?;
        let surfaces: Vec<Surface<'_>> = cache
            .meshes
            .iter()
            .map(|m| Surface::of_frame(m, &m.frames[k]))
            .collect();
        let file = if numbers.len() == 1 {
            path.to_owned()
        } else {
            numbered(path, *number)
        };
        if ending == "tfx" {
            write_strands(&file, cache, k, reporter)?;
        } else if ending == "obj" {
            sinew::io::obj::write_obj(&file, &surfaces).map_err(Failure::output)?;
        } else {
            sinew::io::ply::write_ply(&file, &surfaces, sinew::io::ply::PlyOptions::default())
                .map_err(Failure::output)?;
        }
        reporter.wrote_file();
    }
    Ok(())
}

/// The strands of one frame, as they lie in the scene; without joints, which would move them once more.
fn write_strands(
    file: &Path,
    cache: &FrameCache<'_>,
    frame: usize,
    reporter: &Reporter,
) -> Outcome {
    let is_strands = |m: &&CachedMesh<'_>| m.mesh.topology.strands().is_some();
    let all: Vec<&CachedMesh<'_>> = cache.meshes.iter().filter(is_strands).collect();
    let [one] = all.as_slice() else {
        let names: Vec<&str> = all.iter().map(|m| m.name.as_str()).collect();
        return Err(Failure::bind(match names.as_slice() {
            [] => {
                "the graph has no strands output, but a .tfx file holds strands only; write .glb or .npz".to_owned()
            }
            names => format!(
                "a .tfx file holds one strands output, but the graph has {}; write .npz or .glb",
                names.join(", ")
            ),
        }));
    };
    let mut mesh = one.mesh.clone();
    mesh.positions.clone_from(&one.frames[frame].positions);
    mesh.influences = None;
    let written = sinew::io::tressfx::write_tfx_asset(file, &mesh, &sinew::geom::Rig::default());
    let warnings = written.map_err(Failure::output)?;
    for w in warnings.iter().filter(|_| frame == 0) {
        reporter.warning(w.code, &w.message);
    }
    Ok(())
}

fn numbered(path: &Path, number: i64) -> PathBuf {
    let stem = path.file_stem().and_then(|s| s.to_str()).unwrap_or("frame");
    let ending = path.extension().and_then(|s| s.to_str()).unwrap_or("ply");
    path.with_file_name(format!("{stem}_{number:04}.{ending}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grids_of_other_sizes_become_one_array() {
        let grid = |nodes: [u32; 3]| FieldGrid {
            nodes,
            distances: (0..nodes.iter().product()).map(|n| n as f32).collect(),
            scene_from_node: [[0.0; 4]; 3],
        };
        let mut collected = Collected::default();
        for nodes in [[2, 1, 2], [1, 2, 3]] {
            collected.add_fields(vec![("field".into(), grid(nodes))]);
        }
        let arrays = collected.take_fields();
        let [matrix, field] = &arrays[..] else {
            panic!("two arrays");
        };
        assert_eq!(
            (matrix.name.as_str(), matrix.frames.len()),
            ("field_matrix", 2)
        );
        assert_eq!(field.shape, [2, 2, 3]);
        let none = f32::NAN;
        let expected = [
            [
                0.0, 1.0, none, none, none, none, 2.0, 3.0, none, none, none, none,
            ],
            [
                0.0, 1.0, 2.0, 3.0, 4.0, 5.0, none, none, none, none, none, none,
            ],
        ];
        for (found, expected) in field.frames.iter().zip(&expected) {
            let same = |(a, b): (&f32, &f32)| a == b || a.is_nan() && b.is_nan();
            assert!(found.iter().zip(expected).all(same), "{found:?}");
        }
    }
}
