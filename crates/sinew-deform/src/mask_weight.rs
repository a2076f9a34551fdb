//! How strongly a node acts on each vertex: a mask, its inverse, and one weight for all.

use crate::{ParameterDesc, PortDesc, PortType, UpdateContext};

/// The optional mask input that maskable nodes share.
pub(crate) const MASK_PORT: PortDesc = PortDesc::optional(
    "mask",
    PortType::Mask,
    "Strength for each vertex, 0 to 1. Without a link it is 1 everywhere.",
);

/// `fn masked_weight(index: u32, weight: f32, mask_invert: u32) -> f32` for kernels of nodes with [`MASK_PORT`].
pub(crate) const MASK_WEIGHT_WGSL: &str = include_str!("mask_weight.wgsl");

/// Per-vertex strength: `weight * mask` or, inverted, `weight * (1 - mask)`. Nothing is limited to 0..1.
#[derive(Clone, Copy, Debug)]
pub struct MaskWeight<'a> {
    /// One weight per vertex; `None` means 1 everywhere, also if inverted.
    pub mask: Option<&'a [f32]>,
    /// Use `1 - mask`.
    pub invert: bool,
    /// For all vertices.
    pub weight: f32,
}

impl<'a> MaskWeight<'a> {
    /// Full strength everywhere.
    pub const ONE: MaskWeight<'static> = MaskWeight {
        mask: None,
        invert: false,
        weight: 1.0,
    };
    /// The parameter `weight`.
    pub(crate) const WEIGHT: ParameterDesc = ParameterDesc::float(
        "weight",
        1.0,
        0.0,
        1.0,
        "Strength for all vertices, multiplied by the mask. 0 leaves the mesh unchanged.",
    );
    /// The parameter `mask_invert`.
    pub(crate) const INVERT: ParameterDesc = ParameterDesc::bool(
        "mask_invert",
        false,
        "Uses 1 minus the mask. Without a linked mask the strength stays 1.",
    )
    .in_update();

    /// From a context whose node has [`MASK_PORT`], [`Self::WEIGHT`] and [`Self::INVERT`].
    pub(crate) fn from_context(context: &UpdateContext<'a>) -> Self {
        Self {
            mask: context.inputs.mask("mask"),
            invert: context.parameters.bool("mask_invert"),
            weight: context.parameters.single("weight"),
        }
    }

    /// Weight and inversion (0 or 1) for GPU kernels, from parameters `weight` and `mask_invert`.
    pub fn uniforms(parameters: &crate::Parameters<'_>) -> (f32, u32) {
        (
            parameters.single("weight"),
            u32::from(parameters.bool("mask_invert")),
        )
    }

    /// Strength at vertex `v`.
    ///
    /// # Panics
    /// If the mask has no vertex `v`.
    #[inline(always)]
    pub fn at(&self, v: usize) -> f32 {
        match self.mask {
            None => self.weight,
            Some(m) if self.invert => self.weight * (1.0 - m[v]),
            Some(m) => self.weight * m[v],
        }
    }
}
