//! Node `squash_stretch`: Stretches or squashes along an axis and thins or bulges across it, rigid outside its limits.

mod debug;
mod even;
#[cfg(test)]
mod node_tests;
mod published;
#[cfg(test)]
mod tests;
mod volume;

use crate::local_frame::{
    self, DeviceMap, LaneReal, LocalDeformer, MapUniforms, MapVisitor, Placement, Region,
};
use crate::{
    Choice, DefaultValue, Example, Line, MASK_PORT, MaskWeight, MeshEffect, NodeDesc, NodeDocs,
    NodeKind, ParameterDesc, Parameters, PortDesc, PortType, Preset,
};

pub(crate) use even::EvenMap;
pub(crate) use published::PublishedMap;
pub(crate) use volume::VolumeMap;

/// Registry entry.
pub static DESC: NodeDesc = NodeDesc {
    name: "squash_stretch",
    kind: NodeKind::Deformer,
    summary: "Stretches or squashes along an axis and thins or bulges across it, rigid outside its limits.",
    docs: NodeDocs::page(include_str!("README.md"))
        .pictures(include_str!("pictures.txt"))
        .examples(&[Example {
            name: "squash_stretch",
            graph: include_str!("squash_stretch.json"),
            sample: "ball",
            before: "rest",
            frame: 24,
        }])
        .presets(&[
            Preset {
                name: "cartoon",
                doc: "Bulges and thins most in the middle, as rubber does between two hands. The ends keep their width.",
                values: &[("mode", DefaultValue::Text("volume_preserving"))],
            },
            Preset {
                name: "subtle",
                doc: "A third of the effect; a tenth of the length at each end stays rigid.",
                values: &[
                    ("limit_bottom", DefaultValue::Float(0.1)),
                    ("limit_top", DefaultValue::Float(0.1)),
                    ("weight", DefaultValue::Float(0.33)),
                ],
            },
        ]),
    rows: &[56, 57, 58, 59, 60, 61, 62, 63, 64, 65],
    inputs: &[
        PortDesc::input("mesh", PortType::Mesh, "Mesh to deform."),
        MASK_PORT,
    ],
    outputs: &[
        PortDesc::mesh_output(MeshEffect::MOVES_FRAMES, "The deformed mesh."),
        PortDesc::output(
            "debug",
            PortType::Lines,
            "The axis, and planes with their axes at both limits and at the widest section.",
        ),
    ],
    parameters: &[
        Placement::TRANSFORM,
        Placement::AXIS,
        MODE,
        CONVENTION,
        STRETCH,
        Region::LENGTH,
        Region::LIMIT_BOTTOM,
        Region::LIMIT_TOP,
        AXIS_BIAS,
        CROSS_BIAS,
        PREVENT_FOLD,
        DEBUG_SIZE,
        MaskWeight::WEIGHT,
        MaskWeight::INVERT,
    ],
    bind: local_frame::bind::<SquashStretch>,
    restore: None,
};

const MODE: ParameterDesc = ParameterDesc::choice(
    "mode",
    "even",
    &[
        Choice {
            name: "even",
            doc: "Scales the region evenly: a ball becomes an ellipsoid of the same volume.",
        },
        Choice {
            name: "volume_preserving",
            doc: "Keeps the volume at every point and is smooth at the limits. The middle changes most.",
        },
        Choice {
            name: "published",
            doc: "The published formula: uniform stretch, sine bulge, volume kept approximately.",
        },
    ],
    "How the cross section follows the stretch.",
);

const CONVENTION: ParameterDesc = ParameterDesc::choice(
    "stretch_convention",
    "one_at_rest",
    &[
        Choice {
            name: "one_at_rest",
            doc: "New length divided by old length: 1 is rest.",
        },
        Choice {
            name: "half_at_rest",
            doc: "Half of that, as in the published formula: 0.5 is rest.",
        },
    ],
    "Meaning of `stretch`.",
);

const STRETCH: ParameterDesc = ParameterDesc::float(
    "stretch",
    1.0,
    0.0,
    1000.0,
    "New length of the region divided by its old length (see `stretch_convention`). Mode `published` keeps it at 0.0001 or \
     more, the other modes within 0.01 to 100.",
);

const AXIS_BIAS: ParameterDesc = ParameterDesc::float(
    "axis_bias",
    0.5,
    0.0,
    1.0,
    "Height in the region where the section changes most, as a fraction: 0.5 is the middle. Mode `volume_preserving` \
     keeps it within 0.05 to 0.95; mode `even` does not use it.",
);

const CROSS_BIAS: ParameterDesc = ParameterDesc::float(
    "cross_bias",
    0.5,
    0.0,
    1.0,
    "How the two cross axes share the change: 0.5 equally, 0 only the first axis, 1 only the second.",
);

const PREVENT_FOLD: ParameterDesc = ParameterDesc::bool(
    "prevent_fold",
    true,
    "For mode `published`: stops thinning before a section turns inside out. If false, all numbers are the published \
     ones.",
)
.in_update();

const DEBUG_SIZE: ParameterDesc = ParameterDesc::float(
    "debug_size",
    0.3,
    0.0,
    1e6,
    "Half the side length of the debug planes, in units of the local frame.",
)
.with_unit("m");

/// How the cross section follows the stretch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// Affine in the region: determinant of the Jacobian 1 there.
    #[default]
    Even,
    /// Determinant of the Jacobian 1 everywhere.
    VolumePreserving,
    /// The published formula.
    Published,
}

/// Settings of the node.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SquashStretch {
    /// How the section follows.
    pub mode: Mode,
    /// New length over old length; 1 at rest.
    pub stretch: f64,
    /// Length to deform, m.
    pub length: f64,
    /// Fraction at the bottom that stays rigid.
    pub limit_bottom: f64,
    /// Fraction at the top that moves rigidly.
    pub limit_top: f64,
    /// Height in the region at which the section changes most, 0 to 1.
    pub axis_bias: f64,
    /// Distribution between the two cross axes, 0 to 1.
    pub cross_bias: f64,
    /// Whether to keep the published mode from folding.
    pub prevent_fold: bool,
}

impl Default for SquashStretch {
    fn default() -> Self {
        Self {
            mode: Mode::Even,
            stretch: 1.0,
            length: 1.0,
            limit_bottom: 0.0,
            limit_top: 0.0,
            axis_bias: 0.5,
            cross_bias: 0.5,
            prevent_fold: true,
        }
    }
}

impl LocalDeformer for SquashStretch {
    const DEBUG_LINES: usize = debug::LINES;

    fn from_parameters(parameters: &Parameters<'_>) -> Self {
        let scale = match parameters.text("stretch_convention") {
            "half_at_rest" => 2.0,
            _ => 1.0,
        };
        Self {
            mode: match parameters.text("mode") {
                "published" => Mode::Published,
                "volume_preserving" => Mode::VolumePreserving,
                _ => Mode::Even,
            },
            stretch: scale * parameters.float("stretch"),
            length: parameters.float("length"),
            limit_bottom: parameters.float("limit_bottom"),
            limit_top: parameters.float("limit_top"),
            axis_bias: parameters.float("axis_bias"),
            cross_bias: parameters.float("cross_bias"),
            prevent_fold: parameters.bool("prevent_fold"),
        }
    }

    fn with_map<R: LaneReal, V: MapVisitor<R>>(&self, visitor: V) -> V::Output {
        match self.mode {
            Mode::VolumePreserving if self.stretch != 1.0 => visitor.visit(VolumeMap::new(self)),
            Mode::Even => visitor.visit(EvenMap::new(self)),
            // At rest both are the identity; this one to the last bit.
            _ => visitor.visit(PublishedMap::new(self)),
        }
    }

    fn device_map(&self) -> DeviceMap {
        let bezier = include_str!("bezier.wgsl");
        let (map, text) = match self.mode {
            Mode::Even => (EvenMap::MAP, include_str!("even.wgsl")),
            Mode::VolumePreserving => (VolumeMap::MAP, include_str!("volume.wgsl")),
            Mode::Published => (PublishedMap::MAP, include_str!("published.wgsl")),
        };
        DeviceMap {
            name: "squash_stretch",
            map,
            texts: match self.mode {
                Mode::Even => vec![text],
                Mode::VolumePreserving | Mode::Published => vec![bezier, text],
            },
            settings: vec![],
        }
    }

    fn map_uniforms(&self) -> MapUniforms {
        match self.mode {
            Mode::Even => EvenMap::new(self).uniforms(),
            Mode::VolumePreserving => VolumeMap::new(self).uniforms(),
            Mode::Published => PublishedMap::new(self).uniforms(),
        }
    }

    fn debug_lines(&self, placement: &Placement, parameters: &Parameters<'_>, out: &mut [Line]) {
        debug::draw(self, placement, parameters.float("debug_size"), out);
    }
}

impl SquashStretch {
    /// The deformed part of the axis, as the mode understands the limits.
    pub fn region(&self) -> Region {
        match self.mode {
            Mode::Even | Mode::VolumePreserving => {
                Region::new(self.length, self.limit_bottom, self.limit_top)
            }
            // The published formula keeps both limits 1e-4 off the ends.
            Mode::Published => {
                let keep = |limit: f64| limit.clamp(1e-4, 1.0 - 1e-4);
                Region::new(self.length, keep(self.limit_bottom), keep(self.limit_top))
            }
        }
    }
}
