//! Setup: whether a bake can be played on a mesh.

use super::pieces::PieceCarrier;
use super::reference::BakedTexture;
use sinew_geom::Mesh;
use sinew_vat::animation::VertexAnimation;
use sinew_vat::manifest::{Mode, NamedClip, Space};
use sinew_vat::playback::{ClipFrames, FrameBlend};
use sinew_vat::quantity::Quantity;
use std::sync::Arc;

/// Why a bake cannot be played on a mesh.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub(crate) enum VatPlaybackError {
    /// Another mesh than the one that was made for the bake.
    #[error(
        "the mesh has {found} vertices, but the vertex animation is for {expected}; link its carrier '{carrier}'"
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
        "the axes of the vertex animation are {found:?}, expected {:?}; bake it with those axes",
        Space::YUpRightHanded
    )]
    Space {
        /// What the manifest says.
        found: Space,
    },
    /// No clip of that name.
    #[error("the vertex animation has no clip '{name}'; known: {}", .known.join(", "))]
    Clip {
        /// What was asked for.
        name: String,
        /// The names there are.
        known: Vec<String>,
    },
    /// Squares that face a camera, of which this node knows nothing.
    #[error(
        "the vertex animation has particles (quads that face the camera), which this node does not support; use the players that come with the bake"
    )]
    Particles,
    /// A mesh that does not say which piece its vertices belong to.
    #[error(
        "texture coordinate set {set} of the mesh {found}, expected texels of pieces; link the carrier '{carrier}'"
    )]
    Pieces {
        /// What is wrong with them.
        found: String,
        /// Which set, from 0.
        set: u32,
        /// File of the mesh that carries the bake.
        carrier: String,
    },
    /// A texture that holds no vectors.
    #[error("the vertex animation has no texture with three channels for {what}")]
    Texture {
        /// What it should hold.
        what: &'static str,
    },
}

/// A bake and the clip of it that plays.
#[derive(Clone, Debug)]
pub(crate) struct VatPlaybackBind {
    pub(super) animation: Arc<VertexAnimation>,
    pub(super) clip: ClipFrames,
    /// Texture of positions or offsets.
    pub(super) places: usize,
    /// Texture of normals, where there is one.
    pub(super) normals: Option<usize>,
    /// Whether places are offsets from the mesh.
    pub(super) has_offsets: bool,
    /// Where a texel is a piece.
    pub(super) pieces: Option<PieceCarrier>,
}

impl VatPlaybackBind {
    /// Playback on the mesh that carries the bake. `clip` is the name of one; the first where it is empty.
    ///
    /// # Errors
    /// [`VatPlaybackError`].
    pub(crate) fn new(
        animation: &Arc<VertexAnimation>,
        mesh: &Mesh,
        clip: &str,
    ) -> Result<Self, VatPlaybackError> {
        let manifest = animation.manifest();
        if manifest.space != Space::YUpRightHanded {
            let found = manifest.space;
            return Err(VatPlaybackError::Space { found });
        }
        if manifest.mode == Mode::Particles {
            return Err(VatPlaybackError::Particles);
        }
        let pieces = match manifest.texture(&Quantity::Rotation) {
            Some(rotations) if manifest.mode == Mode::Rigid => {
                Some(PieceCarrier::new(manifest, rotations, mesh)?)
            }
            _ => None,
        };
        let (found, expected) = (mesh.vertex_count(), manifest.layout.vertices as usize);
        if pieces.is_none() && found != expected {
            return Err(VatPlaybackError::Vertices {
                found,
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
        let places = manifest.positions().ok_or(no_texture("positions"))?;
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
            pieces,
        })
    }

    /// Frames of the layout that are seen at a moment of the clip, seconds; one without `blend`, or where the in-betweens of two mean
    /// nothing.
    pub(crate) fn frames(&self, secs: f64, blend: bool) -> FrameBlend {
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

    /// Whether the bake has normals, or turns those of its carrier.
    pub(crate) fn has_normals(&self) -> bool {
        match &self.pieces {
            Some(pieces) => pieces.normals.is_some(),
            None => self.normals.is_some(),
        }
    }

    pub(super) fn texture(&self, index: usize) -> Option<BakedTexture<'_>> {
        BakedTexture::new(&self.animation, index)
    }

    pub(super) fn textures(&self) -> (Option<BakedTexture<'_>>, Option<BakedTexture<'_>>) {
        let normals = self.normals.and_then(|n| self.texture(n));
        (self.texture(self.places), normals)
    }
}
