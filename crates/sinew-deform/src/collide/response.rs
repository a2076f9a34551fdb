//! The response of TressFX, for files that were tuned with it.

use super::shape::Distance;
use crate::Choice;
use sinew_geom::vec3::{add_scaled, length};

/// How the gradient of a distance is taken.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) enum GradientMode {
    /// What the field itself gives.
    #[default]
    Analytic,
    /// Forward differences with a tenth of a cell, as TressFX ships it. Beside an unknown value (1e10)
    /// the gradient is that value's.
    Forward,
    /// Its second scheme: one fetch of a cell's corners, with the step of the scene taken for a share of the cell.
    /// Backward where forward would leave the cell.
    Mixed {
        /// First node of the grid, in the shape's frame; a shape that [has one](Distance::grid_origin) knows better.
        origin: [f32; 3],
    },
}

/// The choices of a parameter that says which.
pub(crate) const CHOICES: &[Choice] = &[
    Choice {
        name: "analytic",
        doc: "Derivative of the interpolated field.",
    },
    Choice {
        name: "forward",
        doc: "Forward differences over a tenth of a cell, as TressFX computes them.",
    },
    Choice {
        name: "mixed",
        doc: "The variant that TressFX has but does not use: differences within one cell, backward where forward would leave the cell.",
    },
];

impl GradientMode {
    /// One of [`CHOICES`].
    pub(crate) fn named(name: &str) -> Self {
        match name {
            "forward" => Self::Forward,
            "mixed" => Self::Mixed { origin: [0.0; 3] },
            _ => Self::Analytic,
        }
    }

    /// What a shape is asked: differences need cells.
    fn of(self, shape: &dyn Distance) -> Self {
        let cell = shape.feature_size();
        match (self, shape.grid_origin()) {
            _ if !(cell > 0.0 && cell.is_finite()) => Self::Analytic,
            (Self::Mixed { .. }, Some(origin)) => Self::Mixed { origin },
            (mode, _) => mode,
        }
    }
}

/// Step of the differences, in cells.
const STEP: f32 = 0.1;

/// Gradient at a point by one of the schemes; `distance` is the value there. Not unit, may be zero.
pub(crate) fn tressfx_gradient(
    shape: &dyn Distance,
    point: [f32; 3],
    distance: f32,
    mode: GradientMode,
) -> [f32; 3] {
    let cell = shape.feature_size();
    let difference = |axis: usize, by: f32, over: f32| {
        let mut moved = point;
        moved[axis] += by;
        (shape.tressfx_distance(moved) - distance) / over
    };
    match mode.of(shape) {
        GradientMode::Analytic => shape.distance_and_gradient(point).1,
        GradientMode::Forward => {
            let step = STEP * cell;
            [0, 1, 2].map(|axis| difference(axis, step, step))
        }
        GradientMode::Mixed { origin } => [0, 1, 2].map(|axis| {
            // The world step is added to the coordinate inside the unit cell: as far as this in the scene.
            let step = STEP * cell;
            let inside = ((point[axis] - origin[axis]) / cell).fract();
            let signed = if inside + step > 1.0 { -step } else { step };
            difference(axis, signed * cell, signed)
        }),
    }
}

/// A point after the TressFX response: out along the gradient where it is closer than `margin`. `None` where it is not; the
/// caller then sets the previous position to the same point, which takes all velocity.
pub(crate) fn tressfx_response(
    shape: &dyn Distance,
    point: [f32; 3],
    margin: f32,
    mode: GradientMode,
) -> Option<[f32; 3]> {
    let distance = shape.tressfx_distance(point);
    if distance.is_nan() || distance >= margin {
        return None;
    }
    let gradient = tressfx_gradient(shape, point, distance, mode);
    let length = length(gradient);
    if !(length > 0.0 && length.is_finite()) {
        return None;
    }
    let push = (margin - distance) / length;
    Some(add_scaled(point, gradient, push))
}
