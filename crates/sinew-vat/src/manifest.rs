//! What a player must know of a bake: the file `NAME.vat.json` beside the textures.

use crate::layout::Layout;
use crate::playback::{AtEnd, ClipFrames, FrameBlend};
use crate::quantity::Quantity;
use crate::texture::TextureSpec;
use serde::{Deserialize, Serialize};
use sinew_geom::Bounds;

/// What `format` says.
pub const FORMAT: &str = "sinew_vat";
/// The version of manifests without a lookup.
pub const VERSION: u32 = 1;
/// The version of manifests with one, so that readers who know nothing of lookups refuse them. Others are not read.
pub const VERSION_WITH_LOOKUP: u32 = 2;

/// A bake: which vertex is where in which texture, and how texels become values.
///
/// Values are those of glTF: metres, right-handed, +Y up, unless [`Self::space`] says something else.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// [`FORMAT`].
    pub format: String,
    /// [`VERSION`], or [`VERSION_WITH_LOOKUP`].
    pub version: u32,
    /// Name of the bake; the names of its files begin with it.
    pub name: String,
    /// What a texel stands for.
    pub mode: Mode,
    /// Frames that belong together, one clip at least.
    pub clips: Vec<NamedClip>,
    /// Where texels are; the same for all textures. What it calls vertices is what has a texel: pieces or particles in these modes. With
    /// [`Self::lookup`] it is where the texels of that are, and the textures are elsewhere.
    pub layout: Layout,
    /// Box of all frames (metres), which is that of the carrier.
    pub bounds: Bounds,
    /// Axes and unit of the values.
    pub space: Space,
    /// File of the mesh that carries the textures, beside this one.
    pub carrier: String,
    /// Which of its sets of texture coordinates points at the texels of the first frame; for engines without numbers of vertices.
    #[serde(default)]
    pub uv_set: u32,
    /// The textures; one holds [`Quantity::Position`] or [`Quantity::Offset`].
    pub textures: Vec<TextureFile>,
    /// Whether the in-betweens of two frames mean something: vertices are the same points in both.
    pub can_blend: bool,
    /// Whether each frame is followed by its end: where its vertices are when the next frame begins. Frame `f` is the layout's frame `2 f`
    /// then, its end `2 f + 1`, and blends go from one to the other: triangles that are neighbours stay so.
    #[serde(default)]
    pub has_ends: bool,
    /// Of cloth that tears: vertices of which the first frame has one, and the carrier two or more, which lie on each other until they part.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub split_vertices: Option<u32>,
    /// Whether these are no tears: files split vertices at hard edges or seams, in each frame at others.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub splits_are_edges: bool,
    /// Where positions are counted from: adding it to positions in metres and the axes of glTF, whatever [`Self::space`] is, gives those of the
    /// source. Only where the source is so far from its origin that single precision would lose some of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<[f64; 3]>,
    /// Quads of the first frame that have a vertex in their middle: the numbers of their two triangles there, pair behind pair.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub middles: Vec<u32>,
    /// Where frames cut faces into other triangles than the carrier: how far its surface is from theirs at most, metres, in whatever space. Corners, and
    /// faces that are shown exactly, are no part of that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub surface_off: Option<f64>,
    /// Where textures have one texel a point and not one a corner ([`crate::lookup`]): which point a corner shows. Only of [`Mode::Remesh`],
    /// without ends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lookup: Option<Lookup>,
}

impl Manifest {
    /// Of a bake in metres and the axes of glTF that players step through, with nothing that only some bakes have.
    pub fn new(
        name: &str,
        mode: Mode,
        layout: Layout,
        bounds: Bounds,
        textures: Vec<TextureFile>,
        clips: Vec<NamedClip>,
    ) -> Self {
        Self {
            format: FORMAT.into(),
            version: VERSION,
            name: name.into(),
            mode,
            clips,
            layout,
            bounds,
            space: Space::default(),
            carrier: format!("{name}.glb"),
            uv_set: 0,
            textures,
            can_blend: false,
            has_ends: false,
            split_vertices: None,
            splits_are_edges: false,
            origin: None,
            middles: Vec::new(),
            surface_off: None,
            lookup: None,
        }
    }
}

/// The lookup of a bake with one texel a point: in frame `f`, vertex `v` of the carrier shows point `red + 256 * green + 65536 * blue` of the lookup's
/// texel of `(v, f)`, channels as whole numbers 0 to 255, and that point's texel in the textures is that of `(point, f)` in [`Self::points`]. Between two
/// frames the vertex goes from its point of the one to its point of the other.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Lookup {
    /// Its file, a PNG of three channels with 8 bits beside the manifest, laid out by [`Manifest::layout`].
    pub file: String,
    /// Where the points of each frame are in the textures.
    pub points: Layout,
}

/// What a texel stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// A corner of a loose triangle: vertex `3 * slot + corner` of the carrier. Triangles that are not there have their corners in one point.
    Remesh,
    /// A vertex of the carrier, which has the triangles of the sequence.
    Soft,
    /// A piece that moves without bending. The carrier is the first frame; its texture coordinates [`Manifest::uv_set`] point at the texel of
    /// the vertex' piece in the first frame, and the position there is the piece's pivot. With positions and [`Quantity::Rotation`], a vertex is at
    /// `rotation * (carrier - pivot) + position`, and its normal is `rotation * normal`. Between two frames positions are mixed evenly,
    /// rotations as the unit quaternion along `a + (b - a) * weight`, `b` with the sign that is nearer to `a`.
    Rigid,
    /// A particle: vertices `4 * slot + corner` of the carrier, a square for each. Texture coordinates 0 say which corner a vertex is (0 or 1 to the right and
    /// down), those of [`Manifest::uv_set`] point at the slot's texel in the first frame. With positions and [`Quantity::Size`], a vertex is at
    /// `position + (right * (u - 1/2) + up * (1/2 - v)) * size`, along two directions that the player chooses. Slots without a particle have size zero.
    Particles,
}

impl Mode {
    /// What its textures must hold beside a location.
    fn needs(self) -> Option<Quantity> {
        match self {
            Self::Remesh | Self::Soft => None,
            Self::Rigid => Some(Quantity::Rotation),
            Self::Particles => Some(Quantity::Size),
        }
    }

    /// Whether each vertex of the carrier has a texel of its own, in its order.
    pub fn has_texel_per_vertex(self) -> bool {
        matches!(self, Self::Remesh | Self::Soft)
    }
}

/// A clip and its name.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NamedClip {
    /// What players call it.
    pub name: String,
    /// Its frames.
    #[serde(flatten)]
    pub frames: ClipFrames,
}

impl NamedClip {
    /// So many frames from `first` on.
    pub fn new(name: &str, first: u32, count: u32, frames_per_second: f32, at_end: AtEnd) -> Self {
        Self {
            name: name.into(),
            frames: ClipFrames {
                first,
                count,
                frames_per_second,
                at_end,
            },
        }
    }
}

/// One texture and its file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TextureFile {
    /// What it holds and how.
    #[serde(flatten)]
    pub spec: TextureSpec,
    /// Its file, beside the manifest; of [`crate::texel::TexelFormat::TwoUnorm8`] the two files.
    pub files: Vec<String>,
}

/// Axes and unit of positions, normals and all other directions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Space {
    /// Metres, right-handed, +Y up: glTF, Godot, three.js, Bevy, this project.
    #[default]
    YUpRightHanded,
    /// Metres, right-handed, +Z up: Blender.
    ZUpRightHanded,
    /// Metres, left-handed, +Y up: Unity.
    YUpLeftHanded,
    /// Centimetres, left-handed, +Z up: Unreal.
    ZUpLeftHandedCentimeters,
}

/// Why a manifest does not describe a bake.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ManifestError {
    /// Another kind of file.
    #[error("`format` is \"{found}\", expected \"{FORMAT}\"")]
    Format {
        /// What it says.
        found: String,
    },
    /// Another version.
    #[error("`version` is {found}, expected {expected}")]
    Version {
        /// What it says.
        found: u32,
        /// What it should say, with a lookup or without.
        expected: u32,
    },
    /// A lookup for what has none, or one that does not fit.
    #[error("`lookup`: {what}")]
    Lookup {
        /// What is wrong.
        what: &'static str,
    },
    /// There is no clip.
    #[error("`clips` is empty, expected one at least")]
    NoClip,
    /// A clip has frames that the textures do not have, or none.
    #[error(
        "clip '{clip}' has {count} frames from {first} on at {frames_per_second} a second; the textures have {frames} frames"
    )]
    Clip {
        /// Its name.
        clip: String,
        /// Its first frame.
        first: u32,
        /// How many it has.
        count: u32,
        /// How fast they follow each other.
        frames_per_second: f32,
        /// Frames of the sequence.
        frames: u32,
    },
    /// Frames come with their ends, and one of them without.
    #[error(
        "`layout` has {frames} frames, expected an even number: `has_ends` says that each has its end"
    )]
    Ends {
        /// Frames of the layout.
        frames: u32,
    },
    /// The layout says one thing and its size another.
    #[error(
        "`layout`: vertex {vertex} of frame {frame} is at column {} and row {}, the textures have {} x {}",
        .at[0], .at[1], .size[0], .size[1]
    )]
    Layout {
        /// The last vertex.
        vertex: u32,
        /// The last frame.
        frame: u32,
        /// Where it would be.
        at: [u64; 2],
        /// Width and height.
        size: [u32; 2],
    },
    /// A texture has another number of files or channels than it should have.
    #[error("texture of {quantity}: {found} {what}, expected {expected}")]
    Texture {
        /// What the texture holds.
        quantity: Quantity,
        /// `files` or `channels`.
        what: &'static str,
        /// How many there are.
        found: usize,
        /// How many there should be.
        expected: usize,
    },
    /// A number of a texture or of the box is none.
    #[error("{location}: {found} is no finite number")]
    NotFinite {
        /// Where it stands.
        location: String,
        /// What stands there.
        found: f32,
    },
    /// No texture tells where vertices are, or more than one.
    #[error("{found} textures hold positions or offsets, expected one")]
    Positions {
        /// How many do.
        found: usize,
    },
    /// A texture is missing or holds what means nothing in this mode.
    #[error("mode {mode:?} {what} {quantity}")]
    Mode {
        /// The mode.
        mode: Mode,
        /// `needs a texture of` or `has no meaning for`.
        what: &'static str,
        /// What is missing or too much.
        quantity: Quantity,
    },
    /// The name of a file leads out of the folder.
    #[error("file \"{found}\": expected the name of a file beside the manifest, without folders")]
    FileName {
        /// What is there.
        found: String,
    },
}

/// For people: why the carrier has more vertices than the first frame.
pub fn split_words(split_vertices: u32, are_edges: bool) -> String {
    let vertices = match split_vertices {
        1 => "vertex",
        _ => "vertices",
    };
    match are_edges {
        true => format!(
            "{split_vertices} {vertices} of the first frame split, where corners have other normals or texture coordinates in some frame"
        ),
        false => format!("cloth that tears: {split_vertices} {vertices} split"),
    }
}

impl Manifest {
    /// Looks for contradictions; every texel that a clip can ask for is in the textures afterwards.
    ///
    /// # Errors
    /// [`ManifestError`] names the first.
    pub fn check(&self) -> Result<(), ManifestError> {
        if self.format != FORMAT {
            let found = self.format.clone();
            return Err(ManifestError::Format { found });
        }
        let expected = match self.lookup {
            Some(_) => VERSION_WITH_LOOKUP,
            None => VERSION,
        };
        if self.version != expected {
            let found = self.version;
            return Err(ManifestError::Version { found, expected });
        }
        if !self.layout.frames.is_multiple_of(self.frame_step()) {
            let frames = self.layout.frames;
            return Err(ManifestError::Ends { frames });
        }
        check_layout(&self.layout)?;
        self.check_lookup()?;
        self.check_clips()?;
        let mut ends = self.bounds.0.iter().chain(&self.bounds.1);
        ends.try_for_each(|v| check_finite("`bounds`", *v))?;
        let mut origin = self.origin.iter().flatten();
        origin.try_for_each(|v| check_finite("`origin`", *v as f32))?;
        check_file_name(&self.carrier)?;
        self.textures.iter().try_for_each(check_texture)?;
        let holds_places = |t: &&TextureFile| t.spec.quantity.is_position();
        match self.textures.iter().filter(holds_places).count() {
            1 => self.check_mode(),
            found => Err(ManifestError::Positions { found }),
        }
    }

    /// Where the texels of textures are; of the lookup they are where [`Self::layout`] says.
    pub fn texture_layout(&self) -> &Layout {
        self.lookup.as_ref().map_or(&self.layout, |l| &l.points)
    }

    fn check_lookup(&self) -> Result<(), ManifestError> {
        let Some(lookup) = &self.lookup else {
            return Ok(());
        };
        let wrong = |what| Err(ManifestError::Lookup { what });
        if self.mode != Mode::Remesh {
            return wrong("only mode remesh has one");
        }
        if self.has_ends {
            return wrong("a bake with `has_ends` has none");
        }
        if self.texture(&Quantity::Offset).is_some() {
            return wrong("points have positions, not offsets from a carrier");
        }
        if lookup.points.frames != self.layout.frames {
            return wrong("`points` has another number of frames than `layout`");
        }
        check_layout(&lookup.points)?;
        check_file_name(&lookup.file)
    }

    /// Frames of the sequence.
    pub fn frame_count(&self) -> u32 {
        self.layout.frames / self.frame_step()
    }

    /// Frames of the layout for each frame of the sequence: two where frames have ends.
    pub fn frame_step(&self) -> u32 {
        if self.has_ends { 2 } else { 1 }
    }

    /// Frames of the layout that show what a clip says ([`ClipFrames::at`]).
    pub fn in_layout(&self, at: FrameBlend) -> FrameBlend {
        if !self.has_ends {
            return at;
        }
        let frame = at.frame.saturating_mul(2);
        let next = if at.weight > 0.0 { frame | 1 } else { frame };
        FrameBlend { frame, next, ..at }
    }

    /// Pieces and particles have positions and what belongs to them; nothing is offset from a carrier that is one frame or none.
    fn check_mode(&self) -> Result<(), ManifestError> {
        let wrong = |what, quantity| ManifestError::Mode {
            mode: self.mode,
            what,
            quantity,
        };
        let Some(needed) = self.mode.needs() else {
            return Ok(());
        };
        if self.texture(&Quantity::Offset).is_some() {
            return Err(wrong("has no meaning for", Quantity::Offset));
        }
        match self.texture(&needed) {
            Some(_) => Ok(()),
            None => Err(wrong("needs a texture of", needed)),
        }
    }

    /// The texture that tells where vertices are.
    pub fn positions(&self) -> Option<usize> {
        self.textures
            .iter()
            .position(|t| t.spec.quantity.is_position())
    }

    /// The texture of a quantity.
    pub fn texture(&self, quantity: &Quantity) -> Option<usize> {
        self.textures
            .iter()
            .position(|t| t.spec.quantity == *quantity)
    }

    fn check_clips(&self) -> Result<(), ManifestError> {
        if self.clips.is_empty() {
            return Err(ManifestError::NoClip);
        }
        for NamedClip { name, frames } in &self.clips {
            let end = frames.first.checked_add(frames.count);
            let has_frames = frames.count > 0 && end.is_some_and(|end| end <= self.frame_count());
            let rate = frames.frames_per_second;
            if !(has_frames && rate > 0.0 && rate.is_finite()) {
                return Err(ManifestError::Clip {
                    clip: name.clone(),
                    first: frames.first,
                    count: frames.count,
                    frames_per_second: rate,
                    frames: self.frame_count(),
                });
            }
        }
        Ok(())
    }
}

fn check_layout(layout: &Layout) -> Result<(), ManifestError> {
    let Layout {
        vertices,
        frames,
        size,
        ..
    } = *layout;
    let (vertex, frame) = (vertices.saturating_sub(1), frames.saturating_sub(1));
    let at = layout.farthest();
    let fits = at.is_some_and(|at| at[0] < u64::from(size[0]) && at[1] < u64::from(size[1]));
    if vertices > 0 && frames > 0 && fits {
        return Ok(());
    }
    let at = at.unwrap_or_default();
    Err(ManifestError::Layout {
        vertex,
        frame,
        at,
        size,
    })
}

fn check_texture(texture: &TextureFile) -> Result<(), ManifestError> {
    let spec = &texture.spec;
    let wrong = |what, found, expected| ManifestError::Texture {
        quantity: spec.quantity.clone(),
        what,
        found,
        expected,
    };
    let (found, expected) = (texture.files.len(), spec.format.file_count());
    if found != expected {
        return Err(wrong("files", found, expected));
    }
    let found = spec.ranges.len();
    let expected = spec.quantity.fixed_channels().unwrap_or(found.clamp(1, 4));
    if found != expected {
        return Err(wrong("channels", found, expected));
    }
    for range in &spec.ranges {
        check_finite("`scale`", range.scale)?;
        check_finite("`offset`", range.offset)?;
    }
    texture.files.iter().try_for_each(|f| check_file_name(f))
}

fn check_finite(location: &str, found: f32) -> Result<(), ManifestError> {
    let location = location.to_owned();
    match found.is_finite() {
        true => Ok(()),
        false => Err(ManifestError::NotFinite { location, found }),
    }
}

/// A plain name: players look for it beside the manifest, and nowhere else.
fn check_file_name(name: &str) -> Result<(), ManifestError> {
    let leads_away = name.contains(['/', '\\', ':']) || matches!(name, "" | "." | "..");
    match leads_away {
        true => Err(ManifestError::FileName { found: name.into() }),
        false => Ok(()),
    }
}
