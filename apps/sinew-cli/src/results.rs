//! Writes frames as they come: OBJ, PLY, TFX, PC2, MDD and CSV at once, NPZ and GLB at the end, from numbers that wait on disk. Memory does not grow with the
//! number of frames.

use crate::args::{Compress, Interpolation};
use crate::exit::{Failure, Outcome};
use crate::output::{ending_of, frame_file, is_sequence};
use crate::reporter::{Reporter, counted};
use crate::summary::RunSummary;
use crate::value_table::ValueTable;
use sinew::deform::Line;
use sinew::geom::{Mesh, Rig};
use sinew::graph::BoundGraph;
use sinew::io::gltf_write::{FrameInterpolation, GlbCompression, GlbOptions, GlbSource, write_glb};
use sinew::io::point_cache::PointCacheWriter;
use sinew::io::{
    CachedFrame, CachedMesh, ExtraArray, FrameCache, FrameData, MeshFormat, Numbers, Spool,
    Surface, write_npz_meshes,
};
use sinew::play::{FieldGrid, Output};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// How to write.
pub(crate) struct Options<'a> {
    pub(crate) source: Option<&'a GlbSource>,
    pub(crate) interpolation: Interpolation,
    pub(crate) compress: Compress,
    /// Name of the animation in a GLB.
    pub(crate) clip: String,
}

/// The files of a run, and what they hold so far.
pub(crate) struct Results<'a> {
    paths: &'a [PathBuf],
    /// Frames that are written.
    numbers: &'a [i64],
    /// Frames that were asked for: others were written before.
    asked: &'a [i64],
    options: &'a Options<'a>,
    reporter: &'a Reporter,
    times_secs: Vec<f32>,
    /// Name and rest mesh of each mesh output.
    meshes: Vec<(String, Mesh)>,
    point_caches: Vec<PointCacheWriter>,
    values: ValueTable,
    /// For NPZ and GLB.
    kept: Option<Kept>,
    done: usize,
    summary: RunSummary,
}

/// Numbers that wait on disk.
struct Kept {
    spool: Spool,
    /// Of each mesh output.
    meshes: Vec<Vec<CachedFrame>>,
    extras: Vec<ExtraArray>,
    /// Output name, a grid per frame.
    fields: Vec<(String, Vec<KeptGrid>)>,
}

struct KeptGrid {
    nodes: [u32; 3],
    distances: Numbers,
    scene_from_node: Vec<f32>,
}

impl<'a> Results<'a> {
    /// `times_secs` are those of the frames `numbers`, which are some of `asked`.
    pub(crate) fn begin(
        paths: &'a [PathBuf],
        graph: &BoundGraph,
        (numbers, asked): (&'a [i64], &'a [i64]),
        times_secs: Vec<f32>,
        options: &'a Options<'a>,
        reporter: &'a Reporter,
    ) -> Outcome<Self> {
        let program = graph.program();
        let outputs = graph.plan().outputs().iter().zip(program.outputs());
        let meshes: Vec<(String, Mesh)> = outputs
            .filter_map(|(output, data)| {
                let mesh = program.shown_mesh(data)?;
                Some((output.name.clone(), Arc::unwrap_or_clone(mesh)))
            })
            .collect();
        let points = meshes.iter().map(|m| m.1.vertex_count()).sum();
        let mut point_caches = Vec::new();
        for path in paths {
            let writer = match ending_of(path).as_str() {
                "pc2" => {
                    let start = numbers.first().map_or(0.0, |n| *n as f32);
                    let rate = match numbers {
                        [first, second, ..] => (second - first) as f32,
                        _ => 1.0,
                    };
                    PointCacheWriter::pc2(path, points, numbers.len(), start, rate)
                }
                "mdd" => PointCacheWriter::mdd(path, points, &times_secs),
                _ => continue,
            };
            point_caches.push(writer.map_err(Failure::output)?);
        }
        let waits = |p: &&PathBuf| ["glb", "npz"].contains(&ending_of(p).as_str());
        let kept = match paths.iter().find(waits) {
            Some(path) => Some(Kept {
                spool: Spool::beside(path).map_err(Failure::output)?,
                meshes: vec![Vec::new(); meshes.len()],
                extras: Vec::new(),
                fields: Vec::new(),
            }),
            None => None,
        };
        Ok(Self {
            paths,
            numbers,
            asked,
            options,
            reporter,
            times_secs,
            meshes,
            point_caches,
            values: ValueTable::begin(paths, graph.plan())?,
            kept,
            done: 0,
            summary: RunSummary::begin(),
        })
    }

    /// Takes the outputs of the next frame.
    pub(crate) fn add(
        &mut self,
        outputs: Vec<(String, Output)>,
        fields: Vec<(String, FieldGrid)>,
    ) -> Outcome {
        let mut frames: Vec<Option<FrameData>> = vec![None; self.meshes.len()];
        for (name, output) in outputs {
            match output {
                Output::Mesh(data) => {
                    if let Some(at) = self.meshes.iter().position(|m| m.0 == name) {
                        frames[at] = Some(data);
                    }
                }
                Output::Floats(v) => {
                    self.values.add(&name, &v);
                    self.keep_extra(&name, vec![v.len()], &v)?;
                }
                Output::Lines(lines) => {
                    let numbers: Vec<f32> = lines.iter().flat_map(numbers_of).collect();
                    self.keep_extra(&name, vec![lines.len(), 10], &numbers)?;
                }
            }
        }
        let (number, secs) = (self.numbers[self.done], self.times_secs[self.done]);
        self.values.end_frame(number, secs)?;
        let frames: Vec<FrameData> = frames.into_iter().flatten().collect();
        self.summary.add_frame();
        for ((name, mesh), frame) in self.meshes.iter().zip(&frames) {
            let number = self.numbers[self.done];
            self.summary
                .add_mesh((number, name), &mesh.positions, &frame.positions);
        }
        for writer in &mut self.point_caches {
            let positions = frames.iter().map(|f| &f.positions[..]);
            writer.frame(positions).map_err(Failure::output)?;
        }
        for path in self.paths.iter().filter(|p| is_sequence(p)) {
            let file = self.write_frame(path, &frames)?;
            self.summary.add_file(&file);
        }
        if let Some(kept) = &mut self.kept {
            for (mesh, frame) in kept.meshes.iter_mut().zip(&frames) {
                let frame = CachedFrame::spooled(frame, &mut kept.spool);
                mesh.push(frame.map_err(Failure::output)?);
            }
            kept.add_fields(fields)?;
        }
        self.done += 1;
        Ok(())
    }

    fn keep_extra(&mut self, name: &str, shape: Vec<usize>, values: &[f32]) -> Outcome {
        let Some(kept) = &mut self.kept else {
            return Ok(());
        };
        let numbers = kept.spool.put(values).map_err(Failure::output)?;
        match kept.extras.iter_mut().find(|e| e.name == name) {
            Some(extra) => extra.frames.push(numbers),
            None => kept.extras.push(ExtraArray {
                name: name.to_owned(),
                shape,
                frames: vec![numbers],
            }),
        }
        Ok(())
    }

    /// One OBJ, PLY or TFX per frame: `name_0021.ply`; a single frame keeps the plain name.
    fn write_frame(&self, path: &Path, frames: &[FrameData]) -> Outcome<PathBuf> {
        let file = frame_file(path, self.numbers[self.done], self.asked);
        if ending_of(path) == "tfx" {
            self.write_strands(&file, frames)?;
        } else {
            let meshes = self.meshes.iter().zip(frames);
            let surfaces: Vec<Surface<'_>> = meshes
                .map(|((name, mesh), frame)| Surface::of_frame(name, mesh, frame))
                .collect();
            // The extension was checked before any work.
            let format = MeshFormat::of(path).unwrap_or(MeshFormat::Obj);
            format.write(&file, &surfaces).map_err(Failure::output)?;
        }
        self.reporter.wrote_file();
        Ok(file)
    }

    /// The strands of one frame, at their positions in the scene; without joints, which would move them once more.
    fn write_strands(&self, file: &Path, frames: &[FrameData]) -> Outcome {
        let all = self.meshes.iter().zip(frames);
        let all: Vec<_> = all
            .filter(|((_, mesh), _)| mesh.topology.strands().is_some())
            .collect();
        let [((_, rest), frame)] = all.as_slice() else {
            let names: Vec<&str> = all.iter().map(|((name, _), _)| name.as_str()).collect();
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
        let mut mesh = rest.clone();
        mesh.positions.clone_from(&frame.positions);
        mesh.influences = None;
        let written = sinew::io::tressfx::write_tfx_asset(file, &mesh, &Rig::default());
        let warnings = written.map_err(Failure::output)?;
        for w in warnings.iter().filter(|_| self.done == 0) {
            self.reporter.warning(w.code, &w.message);
        }
        Ok(())
    }

    /// Whether a field output was brought back from a frame.
    pub(crate) fn has_field(&self, name: &str) -> bool {
        let kept = self.kept.iter();
        kept.flat_map(|k| &k.fields).any(|f| f.0 == name)
    }

    /// Writes what waits, and makes all files visible, each whole or not at all.
    pub(crate) fn finish(self) -> Outcome<RunSummary> {
        let Self {
            paths,
            numbers,
            asked,
            options,
            reporter,
            times_secs,
            meshes,
            point_caches,
            values,
            kept,
            mut summary,
            ..
        } = self;
        let mut point_caches = point_caches.into_iter();
        let (mut cache, mut extras) = (FrameCache::default(), Vec::new());
        if let Some(mut kept) = kept {
            extras = kept.take_arrays()?;
            let both = meshes.iter().zip(kept.meshes);
            let cached = both.map(|((name, mesh), frames)| CachedMesh {
                name: name.clone(),
                mesh,
                frames,
            });
            cache.meshes = cached.collect();
            cache.times_secs = times_secs;
        }
        summary.add_values(values.finish()?);
        for path in paths {
            reporter.check_interrupt()?;
            match ending_of(path).as_str() {
                "glb" => write_animation(path, &cache, options, reporter)?,
                "npz" => write_npz_meshes(path, &cache.meshes, &cache.times_secs, &extras)
                    .map_err(Failure::output)?,
                "pc2" | "mdd" => {
                    let writer = point_caches.next();
                    let finished = writer.map(PointCacheWriter::finish).transpose();
                    finished.map_err(Failure::output)?;
                }
                _ => {}
            }
            if !is_sequence(path) {
                reporter.wrote_file();
                summary.add_file(path);
            }
            let file = |number: &i64| frame_file(path, *number, asked).display().to_string();
            let message = match (is_sequence(path), numbers) {
                (false, _) => format!("wrote {}", path.display()),
                (true, []) => format!("all frames of {} are complete", path.display()),
                (true, [only]) => format!("wrote {}", file(only)),
                (true, [first, .., last]) => {
                    let files = counted(numbers.len() as u64, "file");
                    format!("wrote {files}, {} to {}", file(first), file(last))
                }
            };
            reporter.info("written", &message);
        }
        Ok(summary)
    }
}

fn write_animation(
    path: &Path,
    cache: &FrameCache<'_>,
    options: &Options<'_>,
    reporter: &Reporter,
) -> Outcome {
    if cache.meshes.is_empty() {
        return Err(Failure::bind(
            "the graph has no mesh output, but a .glb file needs one; add a mesh to its outputs, or write .npz",
        ));
    }
    let glb = GlbOptions {
        source: options.source,
        interpolation: match options.interpolation {
            Interpolation::Step => FrameInterpolation::Step,
            Interpolation::Linear => FrameInterpolation::Linear,
        },
        compression: match options.compress {
            Compress::None => GlbCompression::None,
            Compress::Quantize => GlbCompression::Quantize,
            Compress::Meshopt => GlbCompression::Meshopt,
        },
        clip: &options.clip,
        ..GlbOptions::default()
    };
    let written = write_glb(path, cache, &glb).map_err(Failure::output)?;
    for w in written.warnings {
        reporter.warning(w.code, &w.message);
    }
    if options.compress != Compress::None {
        let message = format!(
            "{}: positions are rounded by at most {:.4} mm",
            path.display(),
            written.error_metres * 1e3
        );
        reporter.info("positions_rounded", &message);
    }
    Ok(())
}

impl Kept {
    fn add_fields(&mut self, fields: Vec<(String, FieldGrid)>) -> Outcome {
        for (name, grid) in fields {
            let grid = KeptGrid {
                nodes: grid.nodes,
                distances: self.spool.put(&grid.distances).map_err(Failure::output)?,
                scene_from_node: grid.scene_from_node.into_iter().flatten().collect(),
            };
            match self.fields.iter_mut().find(|f| f.0 == name) {
                Some(entry) => entry.1.push(grid),
                None => self.fields.push((name, vec![grid])),
            }
        }
        Ok(())
    }

    /// Arrays beside meshes. A grid follows its mesh, so that its size differs from frame to frame: all have the largest, and NaN beyond their own.
    fn take_arrays(&mut self) -> Outcome<Vec<ExtraArray>> {
        let mut out = std::mem::take(&mut self.extras);
        for (name, grids) in std::mem::take(&mut self.fields) {
            let largest =
                [0, 1, 2].map(|axis| grids.iter().map(|g| g.nodes[axis]).max().unwrap_or(0));
            let mut frames = Vec::with_capacity(grids.len());
            for grid in &grids {
                let distances = grid.distances.all();
                let distances = distances.map_err(|e| Failure::output(e.to_string()))?;
                let padded = padded(grid.nodes, &distances, largest);
                frames.push(self.spool.put(&padded).map_err(Failure::output)?);
            }
            out.push(ExtraArray {
                name: format!("{name}_matrix"),
                shape: vec![3, 4],
                frames: grids
                    .into_iter()
                    .map(|g| g.scene_from_node.into())
                    .collect(),
            });
            out.push(ExtraArray {
                name,
                shape: largest.map(|n| n as usize).to_vec(),
                frames,
            });
        }
        Ok(out)
    }
}

/// The distances of a grid in one of `nodes` nodes; NaN where it has none.
fn padded(own: [u32; 3], distances: &[f32], nodes: [u32; 3]) -> Vec<f32> {
    let [_, y, z] = nodes.map(|n| n as usize);
    let [own_x, own_y, own_z] = own.map(|n| n as usize);
    let mut out = vec![f32::NAN; nodes.iter().map(|&n| n as usize).product()];
    for (row, from) in distances.chunks_exact(own_z.max(1)).enumerate() {
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
        let folder = tempfile::tempdir().expect("temp");
        let mut kept = Kept {
            spool: Spool::beside(&folder.path().join("x.npz")).expect("made"),
            meshes: Vec::new(),
            extras: Vec::new(),
            fields: Vec::new(),
        };
        for nodes in [[2, 1, 2], [1, 2, 3]] {
            let added = kept.add_fields(vec![("field".into(), grid(nodes))]);
            added.unwrap_or_else(|_| panic!("kept"));
        }
        let arrays = kept.take_arrays().unwrap_or_else(|_| panic!("taken"));
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
            let found = found.all().expect("here");
            let same = |(a, b): (&f32, &f32)| a == b || a.is_nan() && b.is_nan();
            assert!(found.iter().zip(expected).all(same), "{found:?}");
        }
    }
}
