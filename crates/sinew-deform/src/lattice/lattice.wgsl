struct Uniforms {
    // Rows of the map from the scene to the unit cube, and back.
    unit_from_scene: array<vec4f, 3>,
    scene_from_unit: array<vec4f, 3>,
    falloff_distance: f32,
    weight: f32,
    mask_invert: u32,
    // Zero where this frame's lattice moves nothing.
    is_active: u32,
    // Displacements of the control points go along the box's axes, in fractions of it; otherwise along the scene's.
    along_box: u32,
    // How far outside of a face rounding may bring its points, in fractions of the box.
    edge_x: f32,
    edge_y: f32,
    edge_z: f32,
    // Rows of the motion of the box since setup; read where a mesh moves the control points.
    cage_motion: array<vec4f, 3>,
}

// Kinds of axes: one point of weight 1, Bernstein polynomials, B-splines, cardinal splines, eased lines.
const ONE: u32 = 0u;
const BERNSTEIN: u32 = 1u;
const BSPLINE: u32 = 2u;
const CARDINAL: u32 = 3u;
const EASED: u32 = 4u;

// How an axis turns a parameter into weights of `taps` control points. `r = s * scale + offset` counts intervals; the weights
// are those at `r` clamped to low..high, and go on with the slope there if `goes_on`. Beyond its borders the grid holds the
// points that stand in there: no tap is special.
struct Axis {
    kind: u32,
    taps: u32,
    scale: f32,
    offset: f32,
    low: f32,
    high: f32,
    // Added before a cell is looked up: B-splines of even degree have their cells around control points.
    shift: f32,
    last_cell: f32,
    // First control point of a cell minus its index.
    base: f32,
    goes_on: bool,
}

const AXIS_X = Axis(KIND_X, TAPS_X, SCALE_X, OFFSET_X, LOW_X, HIGH_X, SHIFT_X, LAST_CELL_X, BASE_X, GOES_ON_X);
const AXIS_Y = Axis(KIND_Y, TAPS_Y, SCALE_Y, OFFSET_Y, LOW_Y, HIGH_Y, SHIFT_Y, LAST_CELL_Y, BASE_Y, GOES_ON_Y);
const AXIS_Z = Axis(KIND_Z, TAPS_Z, SCALE_Z, OFFSET_Z, LOW_Z, HIGH_Z, SHIFT_Z, LAST_CELL_Z, BASE_Z, GOES_ON_Z);

// Where a parameter lies on its axis.
struct Cell {
    // First control point.
    start: u32,
    // Place in the cell, 0 to 1.
    t: f32,
    // How far beyond the ends of the axis, as far as weights go on there.
    beyond: f32,
    // Derivative of the place by the parameter.
    scale: f32,
}

fn cell_at(axis: Axis, s: f32) -> Cell {
    let r = s * axis.scale + axis.offset;
    let c = max(min(r, axis.high), axis.low);
    let cell = min(floor(c + axis.shift), axis.last_cell);
    let held = r != c && !axis.goes_on;
    return Cell(
        u32(cell + axis.base),
        c + axis.shift - cell,
        select(r - c, 0.0, held),
        select(axis.scale, 0.0, held),
    );
}

// A sum over control points, and its derivative: column a is that by parameter a.
struct Sum {
    value: vec3f,
    by_place: mat3x3f,
}

// The linear part of a map given by its rows.
fn rotate(rows: array<vec4f, 3>, v: vec3f) -> vec3f {
    return vec3f(dot(rows[0].xyz, v), dot(rows[1].xyz, v), dot(rows[2].xyz, v));
}
