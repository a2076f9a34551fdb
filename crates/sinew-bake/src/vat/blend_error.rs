//! How good in-betweens are: every second frame is left out, and blends are compared with it.

use super::mode;
use super::pictures::{camera_of, flat};
use super::preparation::Preparation;
use super::settings::Convention;
use super::settings::{Mode, Space, VatSettings};
use super::verify::pieces_of;
use super::{bake, read_animation, read_manifest};
use crate::vat::maker::matching::{SurfaceDistance, surface_distance};
use crate::work::ranges_of;
use crate::{BakeError, FrameRange, FrameSource, LoadOrder, LoadedFrame, Watch};
use rayon::prelude::*;
use serde::Serialize;
use sinew_geom::{Image, Mesh, bounds};
use sinew_vat::animation::VertexAnimation;
use sinew_vat::playback::FrameBlend;
use sinew_vat::played::PlayedPieces;
use sinew_vat::quantity::Quantity;
use std::path::Path;

/// Distances of surfaces, both ways, over all frames that were held back.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct BlendError {
    /// Frames that were held back and compared.
    pub frames: usize,
    /// Of what blending shows halfway.
    #[serde(skip)]
    pub blended: SurfaceDistance,
    /// Of the frame before, which is what stepping shows.
    #[serde(skip)]
    pub stepped: SurfaceDistance,
    /// Of what blending would show without matching, triangle by triangle as they stand in the frames; nothing where triangles stay the same, and of
    /// sources that give frames only in their order.
    #[serde(skip)]
    pub unmatched: Option<SurfaceDistance>,
    /// The frame that stepping is farthest from (rms): its place in the sequence.
    pub fastest: usize,
}

/// A frame that was held back, and what is shown halfway there.
#[derive(Clone, Debug)]
pub struct HeldBackPictures {
    /// The frame itself.
    pub truth: Image,
    /// The frame before it, which is what stepping shows.
    pub stepped: Image,
    /// What blending would show without matching, where that was compared.
    pub unmatched: Option<Image>,
    /// What blending shows.
    pub blended: Image,
}

impl HeldBackPictures {
    /// All of them, from the worst to the best behind the frame itself, each with what it is.
    pub fn panels(&self) -> Vec<(&'static str, &Image)> {
        let mut out = vec![("as it is", &self.truth), ("stepping", &self.stepped)];
        out.extend(self.unmatched.as_ref().map(|u| ("blending unmatched", u)));
        out.push(("blending", &self.blended));
        out
    }
}

/// A bake of every second frame of a sequence, and the frames between that were held back.
///
/// Steps are twice as long as those of a bake of all frames, whose in-betweens are better than that.
pub struct HeldBack<'a> {
    source: &'a dyn FrameSource,
    preparation: Preparation<'a>,
    /// Frames of the source that were baked.
    baked: Vec<usize>,
    /// Those between: which baked one each is behind, and its own place in the source.
    held: Vec<(usize, usize)>,
    animation: VertexAnimation,
    carrier: Mesh,
}

impl std::fmt::Debug for HeldBack<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut out = f.debug_struct("HeldBack");
        out.field("source", &self.source.name());
        out.field("frames", &self.held.len())
            .finish_non_exhaustive()
    }
}

impl<'a> HeldBack<'a> {
    /// Bakes frames 0, 2, 4 and so on of each clip into `work`, as half as many frames a second.
    ///
    /// # Errors
    /// [`BakeError`]; sequences of fewer than three frames have nothing to hold back, points no surface.
    pub fn bake(
        source: &'a dyn FrameSource,
        settings: &'a VatSettings,
        work: &Path,
        watch: &Watch<'_>,
    ) -> Result<Self, BakeError> {
        let (half, held) = EverySecond::new(source);
        if held.is_empty() {
            return Err(BakeError::TooFewFrames {
                found: source.frame_count(),
                expected: 3,
            });
        }
        let out = work.join("bake");
        // In the axes of the frames that it is compared with.
        let plain = VatSettings {
            space: Space::default(),
            convention: Convention::default(),
            // Velocities go as far as it is to the next frame of the bake.
            frames_per_second: settings.frames_per_second * 0.5,
            ..settings.clone()
        };
        bake(&half, &plain, &work.join("work"), &out, watch)?;
        let (animation, carrier) = (read_animation(&out)?, carrier_of(&out)?);
        if mode::of(animation.manifest().mode).is_points() {
            return Err(BakeError::NoSurface);
        }
        Ok(Self {
            source,
            preparation: Preparation::new(&half, settings)?,
            baked: half.frames,
            held,
            animation,
            carrier,
        })
    }

    /// Compares what is shown halfway between two frames of the bake with the frame that is there.
    ///
    /// # Errors
    /// [`BakeError`] of frames that cannot be read, and where nobody wants to go on.
    pub fn compare(&self, watch: &Watch<'_>) -> Result<BlendError, BakeError> {
        let shown = Shown::new(&self.animation, &self.carrier)?;
        let stage = watch.stage("compare", self.held.len());
        let has_unmatched = self.has_unmatched();
        let compare = |&(i, frame): &(usize, usize)| {
            stage.go_on()?;
            let truth = corners(&self.truth(frame)?);
            let off = |drawn: &[Corners]| {
                surface_distance(drawn, &truth).and(&surface_distance(&truth, drawn))
            };
            let found = OneFrame {
                frame,
                blended: off(&shown.triangles(i, 0.5)),
                stepped: off(&shown.triangles(i, 0.0)),
                unmatched: match has_unmatched {
                    true => Some(off(&self.unmatched_halfway(i)?)),
                    false => None,
                },
            };
            stage.step();
            Ok(found)
        };
        let all: Result<Vec<OneFrame>, BakeError> = match self.source.order() {
            LoadOrder::Any => self.held.par_iter().map(compare).collect(),
            LoadOrder::Rising => self.held.iter().map(compare).collect(),
        };
        Ok(sum_of(&all?))
    }

    /// Whether blends without matching can be made: triangles change, and frames come in any order.
    fn has_unmatched(&self) -> bool {
        self.animation.manifest().mode == Mode::Remesh && self.source.order() == LoadOrder::Any
    }

    /// Halfway between two baked frames, triangle by triangle as they stand in them; those that only one has are left out.
    fn unmatched_halfway(&self, before: usize) -> Result<Vec<Corners>, BakeError> {
        let [from, to] = [before, before + 1].map(|i| self.truth(self.baked[i]));
        let pairs = corners(&from?).into_iter().zip(corners(&to?));
        let middle = |a: [f32; 3], b: [f32; 3]| [0, 1, 2].map(|k| f32::midpoint(a[k], b[k]));
        let halfway = |(a, b): (Corners, Corners)| [0, 1, 2].map(|k| middle(a[k], b[k]));
        Ok(pairs.map(halfway).collect())
    }

    /// Draws a frame of the sequence that was held back, and what is shown halfway there.
    ///
    /// # Errors
    /// [`BakeError::NotHeldBack`] of frames that were baked or are not there; [`BakeError`] of frames that cannot be read.
    pub fn pictures(&self, frame: usize, side: usize) -> Result<HeldBackPictures, BakeError> {
        let Some(&(before, _)) = self.held.iter().find(|h| h.1 == frame) else {
            let all = self.held.iter().map(|h| h.1 as i64).collect::<Vec<_>>();
            return Err(BakeError::NotHeldBack {
                found: frame,
                held: ranges_of(&all),
            });
        };
        let shown = Shown::new(&self.animation, &self.carrier)?;
        let truth = corners(&self.truth(frame)?);
        let places: Vec<[f32; 3]> = truth.iter().flatten().copied().collect();
        let camera = camera_of(&bounds(&places).unwrap_or_default());
        let unmatched = self.has_unmatched();
        let unmatched = unmatched.then(|| flat(&self.unmatched_halfway(before)?, &camera, side));
        Ok(HeldBackPictures {
            truth: flat(&truth, &camera, side)?,
            stepped: flat(&shown.triangles(before, 0.0), &camera, side)?,
            unmatched: unmatched.transpose()?,
            blended: flat(&shown.triangles(before, 0.5), &camera, side)?,
        })
    }

    fn truth(&self, frame: usize) -> Result<Mesh, BakeError> {
        let number = self.source.number(frame);
        let loaded = self.source.load(frame)?.mesh;
        Ok(self.preparation.prepare(&loaded, number)?.mesh)
    }
}

type Corners = [[f32; 3]; 3];

struct OneFrame {
    /// Its place in the source.
    frame: usize,
    blended: SurfaceDistance,
    stepped: SurfaceDistance,
    unmatched: Option<SurfaceDistance>,
}

fn sum_of(all: &[OneFrame]) -> BlendError {
    let stepped = |one: &&OneFrame| one.stepped.rms();
    let fastest = all.iter().max_by(|a, b| stepped(a).total_cmp(&stepped(b)));
    let mut sum = BlendError {
        frames: all.len(),
        fastest: fastest.map_or(0, |one| one.frame),
        ..BlendError::default()
    };
    for one in all {
        sum.blended = sum.blended.and(&one.blended);
        sum.stepped = sum.stepped.and(&one.stepped);
        if let Some(unmatched) = &one.unmatched {
            sum.unmatched = Some(sum.unmatched.unwrap_or_default().and(unmatched));
        }
    }
    sum
}

/// [`HeldBack::bake`], and [`HeldBack::compare`].
///
/// # Errors
/// Theirs.
pub fn blend_error(
    source: &dyn FrameSource,
    settings: &VatSettings,
    work: &Path,
    watch: &Watch<'_>,
) -> Result<BlendError, BakeError> {
    HeldBack::bake(source, settings, work, watch)?.compare(watch)
}

/// Frames 0, 2, 4 and so on of each clip.
struct EverySecond<'a> {
    source: &'a dyn FrameSource,
    /// Their places in the source.
    frames: Vec<usize>,
    clips: Vec<FrameRange>,
}

impl<'a> EverySecond<'a> {
    /// And the frames between two of them: which of them each is behind, and its place in the source.
    fn new(source: &'a dyn FrameSource) -> (Self, Vec<(usize, usize)>) {
        let (mut frames, mut held, mut clips) = (Vec::new(), Vec::new(), source.clips());
        let whole = FrameRange {
            name: String::new(),
            first: 0,
            count: source.frame_count(),
        };
        let ranges = if clips.is_empty() {
            &mut vec![whole]
        } else {
            &mut clips
        };
        for clip in ranges {
            let (first, end) = (clip.first, clip.first + clip.count);
            clip.first = frames.len();
            for frame in (first..end).step_by(2) {
                if frame + 2 < end {
                    held.push((frames.len(), frame + 1));
                }
                frames.push(frame);
            }
            clip.count = frames.len() - clip.first;
        }
        let half = Self {
            source,
            frames,
            clips,
        };
        (half, held)
    }
}

impl FrameSource for EverySecond<'_> {
    fn name(&self) -> &str {
        self.source.name()
    }
    fn frame_count(&self) -> usize {
        self.frames.len()
    }
    fn clips(&self) -> Vec<FrameRange> {
        self.clips.clone()
    }
    fn number(&self, frame: usize) -> i64 {
        self.source.number(self.frames[frame])
    }
    fn key(&self, frame: usize) -> Result<String, BakeError> {
        self.source.key(self.frames[frame])
    }
    fn load(&self, frame: usize) -> Result<LoadedFrame, BakeError> {
        self.source.load(self.frames[frame])
    }
    fn order(&self) -> LoadOrder {
        self.source.order()
    }
}

fn corners(mesh: &Mesh) -> Vec<Corners> {
    let triangles = mesh.topology.triangles().iter();
    triangles
        .map(|t| t.map(|v| mesh.positions[v as usize]))
        .collect()
}

/// The mesh that carries a bake, from its file.
fn carrier_of(bake: &Path) -> Result<Mesh, BakeError> {
    let (path, manifest) = read_manifest(bake)?;
    let path = path.with_file_name(&manifest.carrier);
    let mut meshes = sinew_io::read_any(&path)?.asset.meshes;
    Ok(meshes.pop().unwrap_or_default())
}

struct Shown<'a> {
    animation: &'a VertexAnimation,
    carrier: &'a Mesh,
    /// Of a bake of pieces: these, and which each vertex belongs to.
    pieces: Option<(PlayedPieces<'a>, Vec<u32>)>,
}

impl<'a> Shown<'a> {
    fn new(animation: &'a VertexAnimation, carrier: &'a Mesh) -> Result<Self, BakeError> {
        let manifest = animation.manifest();
        let path = Path::new(&manifest.carrier).to_owned();
        let played = PlayedPieces::new(animation);
        let pieces = played.map(|p| Ok((p, pieces_of(manifest, carrier)?)));
        let pieces = pieces.transpose();
        Ok(Self {
            animation,
            carrier,
            pieces: pieces.map_err(|message| BakeError::Json { path, message })?,
        })
    }

    /// What a player draws `weight` of the way behind a frame.
    fn triangles(&self, frame: usize, weight: f32) -> Vec<Corners> {
        let manifest = self.animation.manifest();
        let blends = weight > 0.0 && manifest.can_blend;
        let at = FrameBlend {
            frame: frame as u32,
            next: frame as u32 + u32::from(blends),
            weight: if blends { weight } else { 0.0 },
        };
        let triangles = self.carrier.topology.triangles().iter();
        if let Some((played, pieces)) = &self.pieces {
            let place = |v: u32| {
                let pose = played.pose(pieces[v as usize], at);
                let place = pose.place(self.carrier.positions[v as usize]);
                place.map(|c| c as f32)
            };
            return triangles.map(|t| t.map(place)).collect();
        }
        let at = manifest.in_layout(at);
        let Some(places) = manifest.positions() else {
            return Vec::new();
        };
        let is_offset = manifest.textures[places].spec.quantity == Quantity::Offset;
        let place = |v: u32| {
            let rest = match is_offset {
                true => self.carrier.positions[v as usize],
                false => [0.0; 3],
            };
            [0, 1, 2].map(|c| rest[c] + self.animation.blended(places, v, at, c))
        };
        triangles.map(|t| t.map(place)).collect()
    }
}
