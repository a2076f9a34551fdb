//! Point caches that animate mesh inputs.

use super::{Character, PlayError};
use crate::geom::{Mesh, Warning};
use crate::graph::{InputDecl, InputType, Plan, Source};
use crate::io::{IoError, PointCacheReader};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// A point cache for inputs of a graph.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PointCacheFile {
    /// Name of the mesh or strands input; `None` for all inputs that take their mesh from the main character.
    pub input: Option<String>,
    /// `.pc2`, `.mdd`, `.npz`, or numbered OBJ or PLY files, as [`PointCacheReader::open`] takes them. Relative to the working
    /// folder.
    pub path: PathBuf,
}

impl PointCacheFile {
    /// A point cache for this input, or with `None` for all inputs of the main character.
    pub fn new(input: Option<String>, path: impl Into<PathBuf>) -> Self {
        let path = path.into();
        Self { input, path }
    }
}

/// All open point caches of a graph and the inputs that they animate.
#[derive(Clone, Debug, Default)]
pub(super) struct PointCaches {
    caches: Vec<OpenCache>,
    inputs: Vec<AnimatedInput>,
}

/// An input and its positions in the last frame.
#[derive(Clone, Debug)]
struct AnimatedInput {
    input: usize,
    cache: usize,
    /// Point of each vertex; `None` if the points are the vertices.
    points: Option<Arc<Vec<u32>>>,
    positions: Vec<[f32; 3]>,
}

/// A cache, and the samples around the last frame.
#[derive(Clone, Debug)]
struct OpenCache {
    path: PathBuf,
    /// Clones for other players share the open file.
    reader: Arc<Mutex<PointCacheReader>>,
    before: Sample,
    after: Sample,
    share: f32,
}

#[derive(Clone, Debug)]
struct Sample {
    number: Option<usize>,
    positions: Vec<[f32; 3]>,
}

impl Sample {
    fn read(&mut self, number: usize, reader: &mut PointCacheReader) -> Result<(), IoError> {
        if self.number != Some(number) {
            self.number = None;
            reader.read(number, &mut self.positions)?;
            self.number = Some(number);
        }
        Ok(())
    }
}

impl OpenCache {
    fn open(path: &Path) -> Result<Self, IoError> {
        let reader = PointCacheReader::open(path)?;
        let sample = || Sample {
            number: None,
            // Reserved here, so that frames do not allocate.
            positions: Vec::with_capacity(reader.points()),
        };
        Ok(Self {
            path: path.to_owned(),
            before: sample(),
            after: sample(),
            share: 0.0,
            reader: Arc::new(Mutex::new(reader)),
        })
    }

    fn with_reader<T>(&self, take: impl FnOnce(&mut PointCacheReader) -> T) -> T {
        // A reader is whole at any time.
        let mut reader = self.reader.lock().unwrap_or_else(PoisonError::into_inner);
        take(&mut reader)
    }

    fn seek(&mut self, number: i64, time_secs: f64) -> Result<(), IoError> {
        let reader = self.reader.clone();
        let mut reader = reader.lock().unwrap_or_else(PoisonError::into_inner);
        let blend = reader.blend(number, time_secs);
        if self.before.number != Some(blend.before) && self.after.number == Some(blend.before) {
            std::mem::swap(&mut self.before, &mut self.after);
        }
        self.before.read(blend.before, &mut reader)?;
        if blend.after != blend.before {
            self.after.read(blend.after, &mut reader)?;
        }
        self.share = blend.share;
        Ok(())
    }

    fn point(&self, index: usize) -> [f32; 3] {
        let before = self.before.positions[index];
        match self.share {
            0.0 => before,
            share => {
                let after = self.after.positions[index];
                std::array::from_fn(|c| before[c] + (after[c] - before[c]) * share)
            }
        }
    }
}

impl PointCaches {
    /// The cache of an input: the one given by name, the one given for the main character, that of the document, or the
    /// files of a sequence. `in_document`: its path from the document.
    pub(super) fn path_of<'a>(
        given: &'a [PointCacheFile],
        input: &InputDecl,
        is_main: bool,
        in_document: Option<&'a Path>,
        character: &'a Character,
    ) -> Option<&'a Path> {
        let named = given.iter().find(|g| g.input.as_ref() == Some(&input.name));
        let of_main = || given.iter().find(|g| g.input.is_none() && is_main);
        let found = named.or_else(of_main).map(|g| g.path.as_path());
        found.or(in_document).or(character.point_cache.as_deref())
    }

    /// Opens the cache at `path` for an input that is bound to `mesh`. A cache that several inputs use is opened once.
    pub(super) fn add(
        &mut self,
        path: &Path,
        (index, input): (usize, &InputDecl),
        mesh: &Mesh,
        character: &Character,
    ) -> Result<(), PlayError> {
        let cache = match self.caches.iter().position(|c| c.path == path) {
            Some(known) => known,
            None => {
                self.caches.push(OpenCache::open(path)?);
                self.caches.len() - 1
            }
        };
        let found = self.caches[cache].with_reader(|r| r.points());
        let points = points_of(found, input, mesh, character).ok_or_else(|| {
            let (vertices, points) = (mesh.vertex_count(), mesh.point_count());
            PlayError::PointCount {
                input: input.name.clone(),
                file: path.to_owned(),
                found,
                mesh: character.path.clone(),
                vertices,
                points,
            }
        })?;
        self.inputs.push(AnimatedInput {
            input: index,
            cache,
            points: points.map(Arc::new),
            positions: vec![[0.0; 3]; mesh.vertex_count()],
        });
        Ok(())
    }

    /// Reads the positions of a frame.
    pub(super) fn seek(&mut self, number: i64, time_secs: f64) -> Result<(), IoError> {
        let mut caches = self.caches.iter_mut();
        caches.try_for_each(|c| c.seek(number, time_secs))?;
        for input in &mut self.inputs {
            let cache = &self.caches[input.cache];
            let positions = input.positions.iter_mut().enumerate();
            match &input.points {
                None => positions.for_each(|(v, p)| *p = cache.point(v)),
                Some(points) => positions.for_each(|(v, p)| *p = cache.point(points[v] as usize)),
            }
        }
        Ok(())
    }

    /// Positions of each animated input in the last frame, by input.
    pub(super) fn positions(&self) -> impl Iterator<Item = (usize, &[[f32; 3]])> {
        self.inputs.iter().map(|i| (i.input, &i.positions[..]))
    }

    pub(super) fn is_empty(&self) -> bool {
        self.inputs.is_empty()
    }

    /// Files that they read, and the first and the last frame of each.
    pub(super) fn frames(&self, fps: f64) -> impl Iterator<Item = (&Path, (i64, i64))> {
        let frames = move |c: &OpenCache| c.with_reader(|r| r.frames(fps));
        self.caches
            .iter()
            .map(move |c| (c.path.as_path(), frames(c)))
    }

    /// Samples per second of those that store evenly spaced times.
    pub(super) fn rates(&self) -> impl Iterator<Item = (&Path, f64)> {
        let rate = |c: &OpenCache| c.with_reader(|r| r.timing().samples_per_second());
        let caches = self.caches.iter();
        caches.filter_map(move |c| Some((c.path.as_path(), rate(c)?)))
    }

    /// The files that they read.
    pub(super) fn files(&self) -> Vec<PathBuf> {
        let files = |c: &OpenCache| c.with_reader(|r| r.files().to_vec());
        self.caches.iter().flat_map(files).collect()
    }

    /// Warnings of the readers, and about nodes that move cached meshes by joints again.
    pub(super) fn warnings(&self, plan: &Plan) -> Vec<Warning> {
        let of_reader = |c: &OpenCache| {
            let path = c.path.display().to_string();
            let with_path = |w: &Warning| Warning {
                code: w.code,
                message: format!("{path}: {}", w.message),
            };
            c.with_reader(|r| r.warnings().iter().map(with_path).collect::<Vec<_>>())
        };
        let mut out: Vec<Warning> = self.caches.iter().flat_map(of_reader).collect();
        for input in &self.inputs {
            out.extend(posed_again(plan, input.input));
        }
        out
    }
}

/// A warning if a node poses the mesh of an input.
fn posed_again(plan: &Plan, input: usize) -> Option<Warning> {
    let poses = ["skin", "morph", "direct_delta_mush"];
    let node = plan.nodes().iter().find(|n| {
        let mesh = n.desc.inputs.iter().position(|p| p.name == "mesh");
        let linked = mesh.and_then(|m| n.inputs.get(m).copied().flatten());
        poses.contains(&n.desc.name) && linked == Some(Source::Input(input))
    })?;
    let name = &plan.inputs()[input].name;
    let message = format!(
        "input '{name}' has a point cache, and node '{}' ({}) poses it again; if the cache contains the pose already, use a graph without this node (--graph)",
        node.name, node.desc.name
    );
    Some(Warning {
        code: "posed_again",
        message,
    })
}

/// The point of each vertex of `mesh`, in a cache of `count` points; the inner `None` if points are vertices, the outer one
/// if the counts do not match.
#[expect(clippy::option_option, reason = "no map is needed, and none exists")]
fn points_of(
    count: usize,
    input: &InputDecl,
    mesh: &Mesh,
    character: &Character,
) -> Option<Option<Vec<u32>>> {
    if count == mesh.vertex_count() {
        return Some(None);
    }
    if count == mesh.point_count() {
        return Some(Some(mesh.points.clone()));
    }
    let all = match input.ty {
        InputType::Strands => &character.asset.strands,
        _ => &character.asset.meshes,
    };
    let mut first = 0_u32;
    let mut ranges = Vec::new();
    for m in all {
        let end = first.checked_add(u32::try_from(m.vertex_count()).ok()?)?;
        ranges.push(first..end);
        first = end;
    }
    let selected = input.selection.of(all).into_iter();
    let points: Vec<u32> = selected.flat_map(|i| ranges[i].clone()).collect();
    let fits = first as usize == count && points.len() == mesh.vertex_count();
    fits.then_some(Some(points))
}
