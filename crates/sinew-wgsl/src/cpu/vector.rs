//! Functions that mix components: products of vectors and matrices, lengths, determinants. Sums are in the order of components.

use naga::{MathFunction, RelationalFunction};

use super::code::{Mixed, Registers};
use super::component::f;
use super::packing;
use super::run::{get, set};

type MixFn = fn(Registers<'_>, &Mixed);

fn float(registers: Registers<'_>, slot: u32) -> f32 {
    f(get(registers, slot))
}

fn put(registers: Registers<'_>, slot: u32, value: f32) {
    set(registers, slot, value.to_bits());
}

/// The function of floats; `None` for those of one component.
pub(super) fn of_floats(function: MathFunction) -> Option<MixFn> {
    use MathFunction as M;
    Some(match function {
        M::Dot => |r, on| put(r, on.to, dot(r, on.args[0], on.args[1], on.rows)),
        M::Cross => cross,
        M::Length => |r, on| put(r, on.to, length(r, on.args[0], on.rows)),
        M::Distance => distance,
        M::Normalize => normalize,
        M::FaceForward => face_forward,
        M::Reflect => reflect,
        M::Refract => refract,
        M::Transpose => transpose,
        M::Determinant => determinant,
        other => return packing::function(other),
    })
}

/// The same for integers.
pub(super) fn of_integers(function: MathFunction) -> Option<MixFn> {
    match function {
        MathFunction::Dot => Some(|r, on| {
            let product = |i| {
                let [a, b, _] = on.args;
                get(r, a + i).wrapping_mul(get(r, b + i))
            };
            set(
                r,
                on.to,
                (0..on.rows).map(product).fold(0, u32::wrapping_add),
            );
        }),
        other => packing::function(other),
    }
}

pub(super) fn relational(function: RelationalFunction) -> Option<MixFn> {
    match function {
        RelationalFunction::All => Some(|r, on| {
            let all = (0..on.rows).all(|i| get(r, on.args[0] + i) != 0);
            set(r, on.to, all.into());
        }),
        RelationalFunction::Any => Some(|r, on| {
            let any = (0..on.rows).any(|i| get(r, on.args[0] + i) != 0);
            set(r, on.to, any.into());
        }),
        RelationalFunction::IsNan | RelationalFunction::IsInf => None,
    }
}

fn dot(r: Registers<'_>, a: u32, b: u32, count: u32) -> f32 {
    let product = |i| float(r, a + i) * float(r, b + i);
    (1..count).fold(product(0), |sum, i| sum + product(i))
}

fn length(r: Registers<'_>, a: u32, count: u32) -> f32 {
    match count {
        1 => float(r, a).abs(),
        _ => dot(r, a, a, count).sqrt(),
    }
}

fn cross(r: Registers<'_>, on: &Mixed) {
    let [a, b, _] = on.args.map(|slot| [0, 1, 2].map(|i| float(r, slot + i)));
    put(r, on.to, a[1] * b[2] - a[2] * b[1]);
    put(r, on.to + 1, a[2] * b[0] - a[0] * b[2]);
    put(r, on.to + 2, a[0] * b[1] - a[1] * b[0]);
}

fn distance(r: Registers<'_>, on: &Mixed) {
    let [a, b, _] = on.args;
    let apart = |i| float(r, a + i) - float(r, b + i);
    let square = |i| apart(i) * apart(i);
    let far = match on.rows {
        1 => apart(0).abs(),
        count => (1..count).fold(square(0), |sum, i| sum + square(i)).sqrt(),
    };
    put(r, on.to, far);
}

fn normalize(r: Registers<'_>, on: &Mixed) {
    let length = length(r, on.args[0], on.rows);
    for i in 0..on.rows {
        put(r, on.to + i, float(r, on.args[0] + i) / length);
    }
}

fn face_forward(r: Registers<'_>, on: &Mixed) {
    let [normal, incident, reference] = on.args;
    let away = dot(r, incident, reference, on.rows) < 0.0;
    for i in 0..on.rows {
        let n = float(r, normal + i);
        put(r, on.to + i, if away { n } else { -n });
    }
}

fn reflect(r: Registers<'_>, on: &Mixed) {
    let [incident, normal, _] = on.args;
    let twice = 2.0 * dot(r, normal, incident, on.rows);
    for i in 0..on.rows {
        put(
            r,
            on.to + i,
            float(r, incident + i) - twice * float(r, normal + i),
        );
    }
}

fn refract(r: Registers<'_>, on: &Mixed) {
    let [incident, normal, ratio] = on.args;
    let ratio = float(r, ratio);
    let cosine = dot(r, normal, incident, on.rows);
    let k = 1.0 - ratio * ratio * (1.0 - cosine * cosine);
    for i in 0..on.rows {
        let bent = match k < 0.0 {
            true => 0.0,
            false => {
                ratio * float(r, incident + i) - (ratio * cosine + k.sqrt()) * float(r, normal + i)
            }
        };
        put(r, on.to + i, bent);
    }
}

fn transpose(r: Registers<'_>, on: &Mixed) {
    for column in 0..on.columns {
        for row in 0..on.rows {
            let value = get(r, on.args[0] + column * on.rows + row);
            set(r, on.to + row * on.columns + column, value);
        }
    }
}

/// Along the first column.
fn determinant(r: Registers<'_>, on: &Mixed) {
    let at = |column: u32, row: u32| float(r, on.args[0] + column * on.rows + row);
    let two = |c: [u32; 2], r: [u32; 2]| {
        at(c[0], r[0]) * at(c[1], r[1]) - at(c[1], r[0]) * at(c[0], r[1])
    };
    let three = |c: [u32; 3], r: [u32; 3]| {
        at(c[0], r[0]) * two([c[1], c[2]], [r[1], r[2]])
            - at(c[0], r[1]) * two([c[1], c[2]], [r[0], r[2]])
            + at(c[0], r[2]) * two([c[1], c[2]], [r[0], r[1]])
    };
    let value = match on.rows {
        2 => two([0, 1], [0, 1]),
        3 => three([0, 1, 2], [0, 1, 2]),
        _ => {
            let rest = [1, 2, 3];
            at(0, 0) * three(rest, [1, 2, 3]) - at(0, 1) * three(rest, [0, 2, 3])
                + at(0, 2) * three(rest, [0, 1, 3])
                - at(0, 3) * three(rest, [0, 1, 2])
        }
    };
    put(r, on.to, value);
}

/// `matrix * vector`, and `matrix * matrix` column by column.
pub(super) fn matrix_times(r: Registers<'_>, on: &Mixed) {
    let [matrix, vector, _] = on.args;
    for other in 0..on.others {
        for row in 0..on.rows {
            let product = |column| {
                let factor = float(r, vector + other * on.columns + column);
                float(r, matrix + column * on.rows + row) * factor
            };
            let sum = (1..on.columns).fold(product(0), |sum, column| sum + product(column));
            put(r, on.to + other * on.rows + row, sum);
        }
    }
}

/// `vector * matrix`.
pub(super) fn times_matrix(r: Registers<'_>, on: &Mixed) {
    let [vector, matrix, _] = on.args;
    for column in 0..on.columns {
        let value = dot(r, vector, matrix + column * on.rows, on.rows);
        put(r, on.to + column, value);
    }
}
