//! Collecting frames and writing them in the format that the file name asks for.

use crate::args::Interpolation;
use crate::exit::{Failure, Outcome};
use crate::talk::Talk;
use sinew::deform::Line;
use sinew::geom::Mesh;
use sinew::graph::{BoundGraph, OutputPlace};
use sinew::io::gltf_write::{FrameInterpolation, GlbOptions, GlbSource, write_glb};
use sinew::io::point_cache::{write_mdd, write_pc2};
use sinew::io::{CachedMesh, ExtraArray, FrameCache, FrameData, Surface, write_npz_meshes};
use sinew::play::Output;
use std::path::{Path, PathBuf};

/// Formats by file ending.
pub(crate) const ENDINGS: [&str; 6] = ["glb", "npz", "pc2", "mdd", "obj", "ply"];

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
        "cannot tell the format of {} by its ending; known are .{}",
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
    match graph.program().outputs().get(index)? {
        OutputPlace::Mesh { rest, .. } => {
            Some(graph.program().meshes().get(*rest)?.as_ref().clone())
        }
        _ => None,
    }
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

/// Writes all outputs; each appears whole or not at all.
pub(crate) fn write_all(
    paths: &[PathBuf],
    mut collected: Collected,
    options: &Options<'_>,
    talk: &Talk,
) -> Outcome {
    let numbers = std::mem::take(&mut collected.numbers);
    let extras = std::mem::take(&mut collected.extras);
    let times = collected.times_secs.clone();
    let cache = collected.cached();
    for path in paths {
        talk.check_interrupt()?;
        write_one(path, &cache, &extras, &times, &numbers, options, talk)?;
        talk.info("written", &format!("wrote {}", path.display()));
    }
    Ok(())
}

fn write_one(
    path: &Path,
    cache: &FrameCache<'_>,
    extras: &[ExtraArray],
    times: &[f32],
    numbers: &[i64],
    options: &Options<'_>,
    talk: &Talk,
) -> Outcome {
    let need_mesh = || {
        cache
            .meshes
            .first()
            .ok_or_else(|| Failure::bind("the graph has no mesh output, nothing to write"))
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
                talk.warning(w.code, &w.message);
            }
            Ok(())
        }
        "npz" => {
            need_mesh()?;
            write_npz_meshes(path, &cache.meshes, times, extras).map_err(Failure::output)
        }
        "pc2" => {
            let (start, rate) = (
                numbers[0] as f32,
                numbers.get(1).map_or(1, |n| n - numbers[0]) as f32,
            );
            write_pc2(path, cache, start, rate).map_err(Failure::output)
        }
        "mdd" => write_mdd(path, cache).map_err(Failure::output),
        _ => write_sequence(path, &ending, cache, numbers, talk),
    }
}

/// One OBJ or PLY a frame: `name_0021.ply`; a single frame keeps the plain name.
fn write_sequence(
    path: &Path,
    ending: &str,
    cache: &FrameCache<'_>,
    numbers: &[i64],
    talk: &Talk,
) -> Outcome {
    for (k, number) in numbers.iter().enumerate() {
        talk.check_interrupt()?;
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
        if ending == "obj" {
            sinew::io::obj::write_obj(&file, &surfaces).map_err(Failure::output)?;
        } else {
            sinew::io::ply::write_ply(&file, &surfaces, sinew::io::ply::PlyOptions::default())
                .map_err(Failure::output)?;
        }
    }
    Ok(())
}

fn numbered(path: &Path, number: i64) -> PathBuf {
    let stem = path.file_stem().and_then(|s| s.to_str()).unwrap_or("frame");
    let ending = path.extension().and_then(|s| s.to_str()).unwrap_or("ply");
    path.with_file_name(format!("{stem}_{number:04}.{ending}"))
}
