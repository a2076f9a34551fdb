//! The response of the documented system, for files that were tuned with it.

use super::shape::Distance;

/// How the gradient of a distance is taken.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum GradientMode {
    /// What the field itself gives.
    #[default]
    Analytic,
    /// Forward differences with a tenth of a cell, as the documented system ships it. Beside an unknown value (1e10)
    /// the gradient is that value's.
    Forward,
    /// Its second scheme: one fetch of a cell's corners, with the step of the scene taken for a share of the cell.
    /// Backward where forward would leave the cell. `origin` is that of the grid.
    Mixed {
        /// First node of the grid, in the shape's frame.
        origin: [f32; 3],
    },
}

/// Step of the differences, in cells.
const STEP: f32 = 0.1;

/// Gradient at a point by one of the schemes; `distance` is the value there. Not unit, may be zero.
pub fn documented_gradient(
    shape: &dyn Distance,
    point: [f32; 3],
    distance: f32,
    mode: GradientMode,
) -> [f32; 3] {
    let cell = shape.feature_size();
    let difference = |axis: usize, by: f32, over: f32| {
        let mut moved = point;
        moved[axis] += by;
        (shape.distance(moved) - distance) / over
    };
    match mode {
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

/// A point after the documented response: out along the gradient where it is closer than `margin`. `None` where it is not; the
/// caller then sets the previous position to the same point, which takes all velocity.
pub fn documented_response(
    shape: &dyn Distance,
    point: [f32; 3],
    margin: f32,
    mode: GradientMode,
) -> Option<[f32; 3]> {
    let distance = shape.distance(point);
    if distance.is_nan() || distance >= margin {
        return None;
    }
    let gradient = documented_gradient(shape, point, distance, mode);
    let length = gradient.iter().map(|g| g * g).sum::<f32>().sqrt();
    if !(length > 0.0 && length.is_finite()) {
        return None;
    }
    let push = (margin - distance) / length;
    Some([0, 1, 2].map(|c| point[c] + gradient[c] * push))
}
