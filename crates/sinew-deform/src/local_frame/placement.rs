//! Position and axis of a local deformation in the scene.

use super::LaneReal;
use crate::{Choice, ParameterDesc, Parameters};
use sinew_geom::{Affine, Mat3};

/// The axis of the local frame that a deformation runs along.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Axis {
    /// Along local x; the first cross axis is y, the second z.
    X,
    /// Along local y; the first cross axis is z, the second x.
    #[default]
    Y,
    /// Along local z; the first cross axis is x, the second y.
    Z,
}

/// Local frame and axis. The frame's origin is the bottom of the deformed region.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Placement {
    /// Local frame in scene space; scale and shear allowed.
    pub transform: Affine<f64>,
    /// Axis of the deformation in that frame.
    pub axis: Axis,
}

impl Placement {
    /// The parameter `transform`.
    pub(crate) const TRANSFORM: ParameterDesc = ParameterDesc::placement(
        "transform",
        crate::Region::Axis,
        "Local frame of the deformation, in scene space. Its origin is the bottom of the region. Scale and shear are \
         allowed. A flat frame leaves the mesh unchanged.",
    );
    /// The parameter `axis`.
    pub(crate) const AXIS: ParameterDesc = ParameterDesc::choice(
        "axis",
        "y",
        &[
            Choice {
                name: "x",
                doc: "Along local x. Cross axes: y, then z.",
            },
            Choice {
                name: "y",
                doc: "Along local y. Cross axes: z, then x.",
            },
            Choice {
                name: "z",
                doc: "Along local z. Cross axes: x, then y.",
            },
        ],
        "Axis of the local frame that the deformation runs along.",
    );

    /// From a node that has [`Self::TRANSFORM`] and [`Self::AXIS`].
    pub(crate) fn from_parameters(parameters: &Parameters<'_>) -> Self {
        Self {
            transform: parameters.transform("transform"),
            axis: match parameters.text("axis") {
                "x" => Axis::X,
                "z" => Axis::Z,
                _ => Axis::Y,
            },
        }
    }

    /// Scene from canonical coordinates (z along the axis).
    pub(crate) fn scene_from_canonical(&self) -> Affine<f64> {
        let m = self.transform.linear;
        let order = match self.axis {
            Axis::X => [1, 2, 0],
            Axis::Y => [2, 0, 1],
            Axis::Z => [0, 1, 2],
        };
        let columns = order.map(|c| m.column(c).into_owned());
        Affine {
            linear: Mat3::from_columns(&columns),
            translation: self.transform.translation,
        }
    }

    /// Both directions in the form of the kernels; `None` if the transform is singular or not finite.
    pub fn frame<R: LaneReal>(&self) -> Option<Frame<R>> {
        let forth = self.scene_from_canonical();
        let back = forth.inverse()?;
        if !(forth.is_finite() && back.is_finite()) {
            return None;
        }
        let (forth, back) = (forth.cast::<R>(), back.cast::<R>());
        if !(forth.is_finite() && back.is_finite()) {
            return None;
        }
        let columns = |m: &Mat3<R>| -> [[R; 3]; 3] {
            std::array::from_fn(|c| std::array::from_fn(|r| m[(r, c)]))
        };
        Some(Frame {
            scene_from_local: columns(&forth.linear),
            local_from_scene: columns(&back.linear),
            offset: std::array::from_fn(|r| back.translation[r]),
        })
    }
}

/// A [`Placement`] in the form of the kernels. Matrices are columns; canonical coordinates have z along the axis.
#[derive(Clone, Copy, Debug)]
pub struct Frame<R> {
    /// Linear part of scene from canonical.
    pub scene_from_local: [[R; 3]; 3],
    /// Linear part of canonical from scene.
    pub local_from_scene: [[R; 3]; 3],
    /// Translation of canonical from scene.
    pub offset: [R; 3],
}
