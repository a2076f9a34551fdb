//! Numbers for the `values` inputs of a graph: JSON lists and NumPy arrays.

use crate::fault::{malformed, quoted};
use crate::{IoError, read_bytes, read_text};
use serde_json::Value;
use std::path::Path;

/// Rows of finite numbers, all of one length.
#[derive(Clone, Debug, PartialEq)]
pub struct ValueTable {
    /// All rows, one after another.
    pub values: Vec<f32>,
    /// Numbers per row.
    pub columns: usize,
    /// True if the file is one plain list, which is then the only row.
    pub is_list: bool,
}

impl ValueTable {
    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.values.len().checked_div(self.columns).unwrap_or(0)
    }
    /// One row; `None` if `row` is out of range.
    pub fn row(&self, row: usize) -> Option<&[f32]> {
        let start = row.checked_mul(self.columns)?;
        self.values.get(start..start.checked_add(self.columns)?)
    }
}

/// Reads `.json` or `.npy`.
///
/// | extension | content |
/// |---|---|
/// | `.json` | a list of numbers, or a list of lists of one length |
/// | `.npy` | one or two dimensions, C order, little endian; float32, float64, int32, int64 or uint8 |
///
/// # Errors
/// [`IoError::Read`]; [`IoError::Malformed`] if rows differ in length, if there is no number, or if one is not finite
/// in single precision; [`IoError::Unsupported`] for other extensions and element types.
pub fn read_values(path: &Path) -> Result<ValueTable, IoError> {
    let ending = path
        .extension()
        .and_then(|e| e.to_str())
        .unwrap_or_default()
        .to_lowercase();
    let table = match ending.as_str() {
        "json" => from_json(path, &read_text(path)?)?,
        "npy" => from_npy(path, &read_bytes(path)?)?,
        _ => {
            return Err(IoError::Unsupported {
                path: path.to_owned(),
                location: "file name".into(),
                feature: format!("the file extension '{ending}'"),
                help: "use .json or .npy".into(),
            });
        }
    };
    if table.values.is_empty() {
        return Err(malformed(path, "content", "no numbers", "at least one"));
    }
    if let Some(bad) = table.values.iter().position(|v| !v.is_finite()) {
        let location = format!(
            "row {}, column {}",
            bad / table.columns,
            bad % table.columns
        );
        let found = table.values[bad].to_string();
        return Err(malformed(path, location, found, "a finite number"));
    }
    Ok(table)
}

fn single(v: f64) -> f32 {
    v as f32
}

fn from_json(path: &Path, text: &str) -> Result<ValueTable, IoError> {
    let json: Value = serde_json::from_str(text).map_err(|e| {
        let location = format!("line {}, column {}", e.line(), e.column());
        malformed(path, location, "invalid JSON", "a list of numbers")
    })?;
    // As JSON, which escapes control characters, cut to what fits into a message.
    let what = |v: &Value| format!("'{}'", v.to_string().chars().take(40).collect::<String>());
    let Value::Array(list) = &json else {
        return Err(malformed(path, "content", what(&json), "a list"));
    };
    let is_list = !list.first().is_some_and(Value::is_array);
    let mut rows: Vec<&[Value]> = Vec::new();
    if is_list {
        rows.push(list);
    } else {
        for (i, v) in list.iter().enumerate() {
            let row = v
                .as_array()
                .ok_or_else(|| malformed(path, format!("row {i}"), what(v), "a list of numbers"))?;
            rows.push(row);
        }
    }
    let columns = rows.first().map_or(0, |r| r.len());
    let mut values = Vec::new();
    for (i, row) in rows.iter().enumerate() {
        if row.len() != columns {
            let expected = format!("{columns} numbers as in row 0");
            let found = format!("{} numbers", row.len());
            return Err(malformed(path, format!("row {i}"), found, expected));
        }
        for (column, v) in row.iter().enumerate() {
            let location = || format!("row {i}, column {column}");
            let number = v
                .as_f64()
                .ok_or_else(|| malformed(path, location(), what(v), "a number"))?;
            values.push(single(number));
        }
    }
    Ok(ValueTable {
        values,
        columns,
        is_list,
    })
}

fn from_npy(path: &Path, bytes: &[u8]) -> Result<ValueTable, IoError> {
    let wrong =
        |location: &str, found: String, expected: &str| malformed(path, location, found, expected);
    let head = || {
        let start = quoted(&bytes[..bytes.len().min(8)]);
        wrong("byte 0", start, "the header of a NumPy array")
    };
    let (header, data) = split(bytes).ok_or_else(head)?;
    let descr = after(header, "descr")
        .and_then(|t| t.strip_prefix('\'')?.split('\'').next())
        .ok_or_else(head)?;
    let read = element(descr).ok_or_else(|| IoError::Unsupported {
        path: path.to_owned(),
        location: "header".into(),
        feature: format!("the element type {}", quoted(descr.as_bytes())),
        help: "save float32, for example with a.astype(numpy.float32)".into(),
    })?;
    let shape = after(header, "shape")
        .and_then(|t| t.strip_prefix('(')?.split(')').next())
        .ok_or_else(head)?;
    let sizes: Option<Vec<usize>> = shape
        .split(',')
        .map(str::trim)
        .filter(|s| !s.is_empty())
        .map(|s| s.parse().ok())
        .collect();
    let columns = match sizes.as_deref() {
        Some([n] | [_, n]) => *n,
        _ => {
            let found = format!("shape {}", quoted(shape.as_bytes()));
            return Err(wrong("header", found, "one or two dimensions"));
        }
    };
    let sizes = sizes.unwrap_or_default();
    let fortran = after(header, "fortran_order").is_some_and(|t| t.starts_with("True"));
    if fortran && sizes.len() == 2 {
        return Err(wrong(
            "header",
            "Fortran order".into(),
            "C order (convert with numpy.ascontiguousarray)",
        ));
    }
    let count = sizes.iter().try_fold(1_usize, |n, &s| n.checked_mul(s));
    let expected = count.and_then(|n| n.checked_mul(read.size));
    if expected != Some(data.len()) {
        let found = format!("{} bytes of data", data.len());
        return Err(wrong("data", found, &format!("shape ({shape}) of {descr}")));
    }
    Ok(ValueTable {
        values: data.chunks_exact(read.size).map(read.read).collect(),
        columns,
        is_list: sizes.len() == 1,
    })
}

/// Header text and data of a NumPy array.
pub(crate) fn split(bytes: &[u8]) -> Option<(&str, &[u8])> {
    let rest = bytes.strip_prefix(b"\x93NUMPY")?;
    let (len, rest) = match rest.first()? {
        1 => {
            let (len, rest) = rest.get(2..)?.split_first_chunk::<2>()?;
            (usize::from(u16::from_le_bytes(*len)), rest)
        }
        2 | 3 => {
            let (len, rest) = rest.get(2..)?.split_first_chunk::<4>()?;
            (usize::try_from(u32::from_le_bytes(*len)).ok()?, rest)
        }
        _ => return None,
    };
    let (header, data) = rest.split_at_checked(len)?;
    Some((std::str::from_utf8(header).ok()?, data))
}

/// What follows `'key':` in the header of a NumPy array.
pub(crate) fn after<'a>(header: &'a str, key: &str) -> Option<&'a str> {
    let at = header.find(&format!("'{key}'"))? + key.len() + 2;
    let rest = header.get(at..)?.trim_start().strip_prefix(':')?;
    Some(rest.trim_start())
}

/// How to read one element.
struct Element {
    size: usize,
    read: fn(&[u8]) -> f32,
}

fn element(descr: &str) -> Option<Element> {
    let (size, read): (usize, fn(&[u8]) -> f32) = match descr {
        "<f4" => (4, |b| fixed(b).map_or(f32::NAN, f32::from_le_bytes)),
        "<f8" => (8, |b| {
            fixed(b).map_or(f32::NAN, |b| single(f64::from_le_bytes(b)))
        }),
        "<i4" => (4, |b| {
            fixed(b).map_or(f32::NAN, |b| i32::from_le_bytes(b) as f32)
        }),
        "<i8" => (8, |b| {
            fixed(b).map_or(f32::NAN, |b| i64::from_le_bytes(b) as f32)
        }),
        "|u1" => (1, |b| b.first().map_or(f32::NAN, |&b| f32::from(b))),
        _ => return None,
    };
    Some(Element { size, read })
}

fn fixed<const N: usize>(bytes: &[u8]) -> Option<[u8; N]> {
    bytes.try_into().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn npy(version: u8, header: &str, data: &[u8]) -> Vec<u8> {
        let mut out = b"\x93NUMPY".to_vec();
        out.extend([version, 0]);
        match version {
            1 => out.extend((header.len() as u16).to_le_bytes()),
            _ => out.extend((header.len() as u32).to_le_bytes()),
        }
        out.extend(header.as_bytes());
        out.extend(data);
        out
    }

    fn said(r: Result<ValueTable, IoError>) -> String {
        r.expect_err("refused").to_string()
    }

    #[test]
    fn arrays_that_numpy_writes() {
        // numpy.save of numpy.array([[1, 2.5], [3, -4]], dtype) with the header as NumPy 1.26 writes it.
        let p = Path::new("a.npy");
        let f8: Vec<u8> = [1.0_f64, 2.5, 3.0, -4.0]
            .iter()
            .flat_map(|v| v.to_le_bytes())
            .collect();
        let header = "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 2), }          \n";
        for version in [1, 2, 3] {
            let t = from_npy(p, &npy(version, header, &f8)).expect("valid");
            assert_eq!(
                (t.rows(), t.row(1), t.is_list),
                (2, Some(&[3.0, -4.0][..]), false)
            );
            assert_eq!(t.row(2), None);
        }
        let list = "{'descr': '|u1', 'fortran_order': False, 'shape': (3,), }\n";
        let t = from_npy(p, &npy(1, list, &[7, 8, 9])).expect("valid");
        assert_eq!(
            (t.values, t.columns, t.is_list),
            (vec![7.0, 8.0, 9.0], 3, true)
        );
        let ours = |descr: &str, shape: &str, order: &str| {
            format!("{{'descr': '{descr}', 'fortran_order': {order}, 'shape': ({shape}), }}\n")
        };
        for (header, data, expected) in [
            (
                ours(">f4", "2,", "False"),
                &[0; 8][..],
                "the element type '>f4' is not supported",
            ),
            (ours("<f4", "2, 2", "True"), &[0; 16], "found Fortran order"),
            (
                ours("<f4", "2, 2, 2", "False"),
                &[0; 32],
                "one or two dimensions",
            ),
            (ours("<f4", "", "False"), &[0; 4], "one or two dimensions"),
            (ours("<f4", "3,", "False"), &[0; 8], "found 8 bytes of data"),
            (
                ours("<f4", "18446744073709551615, 9", "False"),
                &[0; 8],
                "found 8 bytes of data",
            ),
            (
                ours("<f4", "-1,", "False"),
                &[0; 8],
                "one or two dimensions",
            ),
        ] {
            let message = said(from_npy(p, &npy(1, &header, data)));
            assert!(message.contains(expected), "{message}");
        }
    }

    #[test]
    fn json_lists() {
        let p = Path::new("a.json");
        let t = from_json(p, "[1, 2.5]").expect("valid");
        assert_eq!((t.values, t.columns, t.is_list), (vec![1.0, 2.5], 2, true));
        let t = from_json(p, "[[1], [2], [3]]").expect("valid");
        assert_eq!((t.rows(), t.columns, t.is_list), (3, 1, false));
        for (text, expected) in [
            ("{}", "a.json: content: found '{}', expected a list"),
            (
                "[1, \"x\"]",
                "a.json: row 0, column 1: found '\"x\"', expected a number",
            ),
            (
                "[[1, 2], [3]]",
                "a.json: row 1: found 1 numbers, expected 2 numbers as in row 0",
            ),
            (
                "[[1], 2]",
                "a.json: row 1: found '2', expected a list of numbers",
            ),
            ("[1,", "a.json: line 1, column 3: found invalid JSON"),
        ] {
            let message = said(from_json(p, text));
            assert!(message.starts_with(expected), "{message}");
        }
    }

    proptest::proptest! {
        #[test]
        fn damaged_arrays_give_an_error_and_no_panic(at in 0_usize..90, byte in 0_u8..=255, cut in 0_usize..90) {
            let header = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 2), }   \n";
            let mut bytes = npy(1, header, &[1; 16]);
            let at = at % bytes.len();
            bytes[at] = byte;
            let _ = from_npy(Path::new("a.npy"), &bytes);
            let _ = from_npy(Path::new("a.npy"), &bytes[..cut.min(bytes.len())]);
        }
    }
}
