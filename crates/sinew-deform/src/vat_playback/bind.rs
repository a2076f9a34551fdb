//! Setup: whether a bake can be played on a mesh.

use super::reference::BakedTexture;
use sinew_vat::animation::VertexAnimation;
use sinew_vat::manifest::{Mode, NamedClip, Space};
use sinew_vat::playback::{ClipFrames, FrameBlend};
use sinew_vat::quantity::Quantity;
use std::sync::Arc;

/// Why a bake cannot be played on a mesh.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum VatPlaybackError {
    /// Another mesh than the one that was made for the bake.
    #[error(
        "the mesh has {found} vertices, the vertex animation is for {expected}; link its carrier '{carrier}'"
    )]
    Vertices {
        /// Of the mesh.
        found: usize,
        /// In each frame.
        expected: usize,
        /// File of the mesh that carries the bake.
        carrier: String,
    },
    /// Values in other axes or another unit than everything else here.
    #[error(
        "the values of the vertex animation are in {found:?}, expected {:?}; bake it with those axes",
        Space::YUpRightHanded
    )]
    Space {
        /// What the manifest says.
        found: Space,
    },
    /// No clip of that name.
    #[error("the vertex animation has no clip '{name}'; it has {}", .known.join(", "))]
    Clip {
        /// What was asked for.
        name: String,
        /// The names there are.
        known: Vec<String>,
    },
    /// A texel stands for something else than a vertex.
    #[error(
        "the vertex animation is of mode {found:?}, which this node does not play; bake it with --mode soft or remesh, or use the players beside it"
    )]
    Mode {
        /// What the manifest says.
        found: Mode,
    },
    /// Texels are points that a lookup gives to vertices.
    #[error(
        "the vertex animation has a lookup ('{file}'), which this node does not play; bake it with --points corners, or use the players beside it"
    )]
    Lookup {
        /// File of the lookup.
        file: String,
    },
    /// A texture that holds no vectors.
    #[error("the vertex animation has no texture of three channels for {what}")]
    Texture {
        /// What it should hold.
        what: &'static str,
    },
}

/// A bake and the clip of it that plays.
#[derive(Clone, Debug)]
pub struct VatPlaybackBind {
    pub(super) animation: Arc<VertexAnimation>,
    pub(super) clip: ClipFrames,
    /// Texture of positions or offsets.
    pub(super) places: usize,
    /// Texture of normals, where there is one.
    pub(super) normals: Option<usize>,
    /// Whether places are offsets from the mesh.
    pub(super) has_offsets: bool,
}

impl VatPlaybackBind {
    /// Playback on a mesh of `vertex_count` vertices. `clip` is the name of one; the first where it is empty.
    ///
    /// # Errors
    /// [`VatPlaybackError`].
    pub fn new(
        animation: &Arc<VertexAnimation>,
        vertex_count: usize,
        clip: &str,
    ) -> Result<Self, VatPlaybackError> {
        let manifest = animation.manifest();
        if manifest.space != Space::YUpRightHanded {
            let found = manifest.space;
            return Err(VatPlaybackError::Space { found });
        }
        if !manifest.mode.has_texel_per_vertex() {
            let found = manifest.mode;
            return Err(VatPlaybackError::Mode { found });
        }
        if let Some(lookup) = &manifest.lookup {
            let file = lookup.file.clone();
            return Err(VatPlaybackError::Lookup { file });
        }
        let expected = manifest.layout.vertices as usize;
        if vertex_count != expected {
            return Err(VatPlaybackError::Vertices {
                found: vertex_count,
                expected,
                carrier: manifest.carrier.clone(),
            });
        }
        let is_it = |c: &&NamedClip| clip.is_empty() || c.name == clip;
        let found = manifest.clips.iter().find(is_it);
        let found = found.ok_or_else(|| VatPlaybackError::Clip {
            name: clip.to_owned(),
            known: manifest.clips.iter().map(|c| c.name.clone()).collect(),
        })?;
        let no_texture = |what| VatPlaybackError::Texture { what };
        let places = manifest.places().ok_or(no_texture("positions"))?;
        let normals = manifest.texture(&Quantity::Normal);
        for (texture, what) in [(Some(places), "positions"), (normals, "normals")] {
            if texture.is_some_and(|t| BakedTexture::new(animation, t).is_none()) {
                return Err(no_texture(what));
            }
        }
        Ok(Self {
            clip: found.frames,
            places,
            normals,
            has_offsets: manifest.textures[places].spec.quantity == Quantity::Offset,
            animation: animation.clone(),
        })
    }

    /// Frames of the layout that are seen at a moment of the clip, seconds; one without `blend`, or where the in-betweens of two mean nothing.
    pub fn frames(&self, secs: f64, blend: bool) -> FrameBlend {
        let (manifest, at) = (self.animation.manifest(), self.clip.at(secs));
        let blends = blend && manifest.can_blend;
        manifest.in_layout(match blends {
            true => at,
            false => FrameBlend {
                next: at.frame,
                weight: 0.0,
                ..at
            },
        })
    }

    /// Whether the bake has normals.
    pub fn has_normals(&self) -> bool {
        self.normals.is_some()
    }

    pub(super) fn textures(&self) -> (Option<BakedTexture<'_>>, Option<BakedTexture<'_>>) {
        let texture = |index| BakedTexture::new(&self.animation, index);
        (texture(self.places), self.normals.and_then(texture))
    }
}
