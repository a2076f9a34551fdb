//! Lists of vectors as NumPy arrays.

use crate::errors::usage;
use numpy::{Element, PyArray1, PyArray2, PyArray3, PyArrayMethods, PyUntypedArrayMethods};
use pyo3::prelude::*;
use sinew::geom::Affine;

/// A new array (n, N).
pub(crate) fn rows<'py, T: Element + Copy, const N: usize>(
    py: Python<'py>,
    rows: &[[T; N]],
) -> PyResult<Bound<'py, PyArray2<T>>> {
    PyArray1::from_slice(py, rows.as_flattened()).reshape([rows.len(), N])
}

/// The rows in `out`, or in a new array.
pub(crate) fn rows_into<'py, const N: usize>(
    py: Python<'py>,
    rows: &[[f32; N]],
    out: Option<Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let Some(out) = out else {
        return Ok(self::rows(py, rows)?.into_any());
    };
    fill(py, rows.as_flattened(), &[rows.len(), N], out)
}

/// Moves points (n, 3), in place.
pub(crate) fn move_rows(array: &Bound<'_, PyAny>, transform: &Affine<f64>) -> PyResult<()> {
    let mut points = array.cast::<numpy::PyArrayDyn<f32>>()?.try_readwrite()?;
    let (points, _) = points.as_slice_mut()?.as_chunks_mut::<3>();
    let m = transform.linear.map(|n| n as f32);
    let t = transform.translation.map(|n| n as f32);
    for p in points {
        let [x, y, z] = *p;
        for (row, out) in p.iter_mut().enumerate() {
            *out = m[(row, 0)] * x + m[(row, 1)] * y + m[(row, 2)] * z + t[row];
        }
    }
    Ok(())
}

/// The numbers in `out`, or in a new array of one axis.
pub(crate) fn floats_into<'py>(
    py: Python<'py>,
    floats: &[f32],
    out: Option<Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    match out {
        None => Ok(PyArray1::from_slice(py, floats).into_any()),
        Some(out) => fill(py, floats, &[floats.len()], out),
    }
}

/// Copies numbers into a caller's array of this shape.
pub(crate) fn fill<'py>(
    py: Python<'py>,
    numbers: &[f32],
    shape: &[usize],
    out: Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    let wrong = |found: String| {
        let expected = format!("a writeable, C-contiguous float32 array of shape {shape:?}");
        usage(
            py,
            "out",
            format!("out: found {found}, expected {expected}"),
        )
    };
    let Ok(array) = out.cast::<numpy::PyArrayDyn<f32>>() else {
        let dtype = out.getattr("dtype").and_then(|d| Ok(d.str()?.to_string()));
        return Err(wrong(
            dtype.map_or("no array".into(), |d| format!("dtype {d}")),
        ));
    };
    if array.shape() != shape {
        return Err(wrong(format!("shape {:?}", array.shape())));
    }
    let Ok(mut writer) = array.try_readwrite() else {
        return Err(wrong("a read-only array".into()));
    };
    // `as_slice_mut` takes the order of Fortran, too.
    match writer.as_slice_mut() {
        Ok(slice) if array.is_c_contiguous() => slice.copy_from_slice(numbers),
        _ => return Err(wrong("an array that is not C-contiguous".into())),
    }
    drop(writer);
    Ok(out)
}

/// Matrices (n, 4, 4) with the translation in the last column.
pub(crate) fn matrices<'py>(
    py: Python<'py>,
    all: impl Iterator<Item = Affine<f64>>,
) -> PyResult<Bound<'py, PyArray3<f64>>> {
    let flat: Vec<f64> = all.flat_map(|m| to_rows(&m)).collect();
    PyArray1::from_slice(py, &flat).reshape([flat.len() / 16, 4, 4])
}

/// Makes an array read-only: a change of it would change nothing else.
pub(crate) fn frozen<'py>(array: Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    array.getattr("flags")?.setattr("writeable", false)?;
    Ok(array)
}

/// A matrix (4, 4).
pub(crate) fn matrix<'py>(py: Python<'py>, m: &Affine<f64>) -> PyResult<Bound<'py, PyArray2<f64>>> {
    PyArray1::from_slice(py, &to_rows(m)).reshape([4, 4])
}

fn to_rows(m: &Affine<f64>) -> [f64; 16] {
    std::array::from_fn(|i| match (i / 4, i % 4) {
        (3, column) => f64::from(u8::from(column == 3)),
        (row, 3) => m.translation[row],
        (row, column) => m.linear[(row, column)],
    })
}

/// Whether the last row is that of a transform. A transposed matrix has its translation there.
pub(crate) fn is_affine(numbers: &[f64]) -> bool {
    let last = [0.0, 0.0, 0.0, 1.0];
    numbers[12..16]
        .iter()
        .zip(last)
        .all(|(n, l)| (n - l).abs() < 1e-6)
}

/// What to do about a matrix that is not affine.
pub(crate) const TRANSPOSE: &str = "0 0 0 1 (matrices have column vectors, with the translation in the last column; transpose those of Maya)";

/// A transform from 16 numbers, row after row. The last row is not read.
pub(crate) fn from_rows(numbers: &[f64]) -> Affine<f64> {
    let mut out = Affine::identity();
    for row in 0..3 {
        for column in 0..3 {
            out.linear[(row, column)] = numbers[row * 4 + column];
        }
        out.translation[row] = numbers[row * 4 + 3];
    }
    out
}
