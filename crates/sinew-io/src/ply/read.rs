use super::columns::{Column, Columns, mesh_of};
use super::header::{self, Element, Format, Kind, Property, Scalar};
use crate::IoError;
use crate::bytes::without_mark;
use crate::fault::{cannot_read, malformed, quoted, warning};
use crate::polygon;
use crate::surface::asset_of;
use sinew_geom::{Asset, Polygons, Warning};
use std::path::Path;
use std::sync::Arc;

/// Reads a PLY file as an asset of one mesh; without faces it is a point cloud.
///
/// # Errors
/// [`IoError::Read`] where there is no such file, [`IoError::Malformed`] where it breaks the format,
/// [`IoError::Unsupported`] for triangle strips.
pub fn read_ply(path: &Path) -> Result<Asset, IoError> {
    parse_ply(&std::fs::read(path).map_err(cannot_read(path))?, path)
}

/// [`read_ply`] on bytes; `path` names the asset and appears in errors.
///
/// # Errors
/// As [`read_ply`], except [`IoError::Read`].
pub fn parse_ply(bytes: &[u8], path: &Path) -> Result<Asset, IoError> {
    let bytes = without_mark(bytes);
    let header = header::parse(bytes, path)?;
    let mut body = Body {
        rest: &bytes[header.body..],
        format: header.format,
    };
    let mut columns = Vec::new();
    let mut vertex_count = 0;
    let mut polygons = Polygons {
        offsets: vec![0],
        indices: Vec::new(),
    };
    let mut warnings = Vec::new();
    for element in &header.elements {
        body.check_room(element, path)?;
        match element.name.as_str() {
            "vertex" if columns.is_empty() => {
                vertex_count = element.count;
                columns = body.vertices(element, path, &mut warnings)?;
            }
            "face" if polygons.is_empty() => {
                body.faces(element, &mut polygons, path, &mut warnings)?
            }
            "tristrips" => {
                return Err(IoError::Unsupported {
                    path: path.to_owned(),
                    place: "element tristrips".into(),
                    feature: "a triangle strip".into(),
                    help: "export faces instead".into(),
                });
            }
            _ => body.skip(element, path)?,
        }
    }
    if header.format != Format::Ascii && !body.rest.is_empty() {
        let message = format!(
            "{} bytes after the last element were ignored",
            body.rest.len()
        );
        warnings.push(warning("trailing_bytes", message));
    }
    let mut mesh = mesh_of(Columns(columns), vertex_count, path, &mut warnings)?;
    if u32::try_from(vertex_count).is_err() {
        let found = vertex_count.to_string();
        return Err(malformed(path, "element vertex", found, "fewer than 2^32"));
    }
    let topology = polygon::topology(&mesh.positions, polygons, &mut warnings)
        .map_err(|e| malformed(path, "element face", e.to_string(), "indices of vertices"))?;
    mesh.topology = Arc::new(topology);
    Ok(asset_of(path, mesh, warnings))
}

struct Body<'a> {
    rest: &'a [u8],
    format: Format,
}

impl Body<'_> {
    /// Refuses counts for which there are not enough bytes, before anything is allocated for them.
    fn check_room(&self, element: &Element, path: &Path) -> Result<(), IoError> {
        let least: usize = element
            .properties
            .iter()
            .map(|p| match (self.format, p.kind) {
                // A digit and a space.
                (Format::Ascii, _) => 2,
                (_, Kind::Scalar(s) | Kind::List { count: s, .. }) => s.size(),
            })
            .sum();
        let needed = element.count.checked_mul(least);
        // The last number of a text may end with the file.
        if needed.is_none_or(|n| n > self.rest.len() + 1) {
            return Err(malformed(
                path,
                format!("element {}", element.name),
                format!("{} of them in {} bytes", element.count, self.rest.len()),
                format!("at least {least} bytes each"),
            ));
        }
        Ok(())
    }

    fn word(&mut self) -> &[u8] {
        let start = self
            .rest
            .iter()
            .position(|b| !b.is_ascii_whitespace())
            .unwrap_or(self.rest.len());
        let rest = &self.rest[start..];
        let end = rest
            .iter()
            .position(u8::is_ascii_whitespace)
            .unwrap_or(rest.len());
        let (word, rest) = rest.split_at(end);
        self.rest = rest;
        word
    }

    /// The next number, or what stands there instead.
    fn number(&mut self, kind: Scalar) -> Result<f64, String> {
        if self.format == Format::Ascii {
            let word = self.word();
            return std::str::from_utf8(word)
                .ok()
                .and_then(|w| w.parse().ok())
                .ok_or_else(|| {
                    if word.is_empty() {
                        "end of file".into()
                    } else {
                        quoted(word)
                    }
                });
        }
        let Some((bytes, rest)) = self.rest.split_at_checked(kind.size()) else {
            return Err("end of file".into());
        };
        self.rest = rest;
        let mut b = [0_u8; 8];
        b[..bytes.len()].copy_from_slice(bytes);
        if self.format == Format::Big {
            b[..bytes.len()].reverse();
        }
        let [b0, b1, b2, b3, ..] = b;
        Ok(match kind {
            Scalar::I8 => f64::from(i8::from_le_bytes([b0])),
            Scalar::U8 => f64::from(b0),
            Scalar::I16 => f64::from(i16::from_le_bytes([b0, b1])),
            Scalar::U16 => f64::from(u16::from_le_bytes([b0, b1])),
            Scalar::I32 => f64::from(i32::from_le_bytes([b0, b1, b2, b3])),
            Scalar::U32 => f64::from(u32::from_le_bytes([b0, b1, b2, b3])),
            Scalar::F32 => f64::from(f32::from_le_bytes([b0, b1, b2, b3])),
            Scalar::F64 => f64::from_le_bytes(b),
        })
    }

    /// Reads one property and hands each number of it to `take`.
    fn property(
        &mut self,
        property: &Property,
        mut take: impl FnMut(f64),
    ) -> Result<(), (String, &'static str)> {
        match property.kind {
            Kind::Scalar(kind) => take(self.number(kind).map_err(|f| (f, "a number"))?),
            Kind::List { count, item } => {
                let length = self.number(count).map_err(|f| (f, "a list length"))?;
                if !(length >= 0.0 && length.fract() == 0.0) {
                    return Err((length.to_string(), "a list length"));
                }
                // Every number takes bytes, so a wrong length ends at the end of the file.
                for _ in 0..length as u64 {
                    take(self.number(item).map_err(|f| (f, "a list item"))?);
                }
            }
        }
        Ok(())
    }

    fn skip(&mut self, element: &Element, path: &Path) -> Result<(), IoError> {
        if element.properties.is_empty() {
            return Ok(());
        }
        for i in 0..element.count {
            for property in &element.properties {
                self.property(property, |_| {})
                    .map_err(wrong(path, element, i, property))?;
            }
        }
        Ok(())
    }

    fn vertices(
        &mut self,
        element: &Element,
        path: &Path,
        warnings: &mut Vec<Warning>,
    ) -> Result<Vec<Column>, IoError> {
        let mut columns: Vec<Option<Column>> = element
            .properties
            .iter()
            .map(|p| match p.kind {
                Kind::Scalar(kind) => Some(Column {
                    name: p.name.clone(),
                    kind,
                    values: Vec::with_capacity(element.count),
                }),
                Kind::List { .. } => None,
            })
            .collect();
        // Without properties there is nothing to read, however many there are.
        let count = if columns.is_empty() { 0 } else { element.count };
        for i in 0..count {
            for (property, column) in element.properties.iter().zip(&mut columns) {
                self.property(property, |n| {
                    if let Some(c) = column {
                        c.values.push(n as f32);
                    }
                })
                .map_err(wrong(path, element, i, property))?;
            }
        }
        let lists = columns.iter().filter(|c| c.is_none()).count();
        if lists > 0 {
            warnings.push(warning(
                "vertex_lists_skipped",
                format!("{lists} list properties of vertices were skipped"),
            ));
        }
        Ok(columns.into_iter().flatten().collect())
    }

    fn faces(
        &mut self,
        element: &Element,
        out: &mut Polygons,
        path: &Path,
        warnings: &mut Vec<Warning>,
    ) -> Result<(), IoError> {
        let is_corners = |p: &Property| {
            matches!(p.kind, Kind::List { .. })
                && matches!(p.name.as_str(), "vertex_indices" | "vertex_index")
        };
        let Some(corners) = element.properties.iter().position(is_corners) else {
            if element.count > 0 {
                return Err(malformed(
                    path,
                    "element face",
                    "no list vertex_indices",
                    "one",
                ));
            }
            return Ok(());
        };
        let mut skipped = 0_usize;
        out.offsets.reserve(element.count);
        for i in 0..element.count {
            for (k, property) in element.properties.iter().enumerate() {
                if k != corners {
                    self.property(property, |_| {})
                        .map_err(wrong(path, element, i, property))?;
                    continue;
                }
                let start = out.indices.len();
                let mut bad = None;
                self.property(property, |n| {
                    let index = n as u32;
                    if f64::from(index) != n {
                        bad.get_or_insert(n);
                    }
                    out.indices.push(index);
                })
                .map_err(wrong(path, element, i, property))?;
                if let Some(n) = bad {
                    return Err(wrong(path, element, i, property)((
                        n.to_string(),
                        "the index of a vertex",
                    )));
                }
                if out.indices.len() - start < 3 {
                    out.indices.truncate(start);
                    skipped += 1;
                    continue;
                }
                let end = u32::try_from(out.indices.len())
                    .map_err(|_| malformed(path, "element face", "2^32 corners", "fewer"))?;
                out.offsets.push(end);
            }
        }
        if skipped > 0 {
            let message = format!("{skipped} faces with fewer than three corners were skipped");
            warnings.push(warning("faces_skipped", message));
        }
        Ok(())
    }
}

fn wrong<'a>(
    path: &'a Path,
    element: &'a Element,
    number: usize,
    property: &'a Property,
) -> impl Fn((String, &'static str)) -> IoError + 'a {
    move |(found, expected)| {
        let place = format!("{} {number}, property {}", element.name, property.name);
        malformed(path, place, found, expected)
    }
}
