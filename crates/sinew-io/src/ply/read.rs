use super::columns::{Column, Columns, mesh_of};
use super::header::{self, Element, Format, Kind, Property, Scalar};
use crate::bytes::without_mark;
use crate::fault::{cannot_read, malformed, quoted, warning};
use crate::polygon;
use crate::surface::{Corner, NONE, asset_of, repair_numbers, split};
use crate::{FileBox, IoError};
use sinew_geom::{Asset, Attribute, Mesh, Polygons, Warning, index32};
use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

/// Reads a PLY file as an asset of one mesh. Without faces, it is a point cloud. Lengths are taken as metres.
///
/// # Errors
/// [`IoError::Read`] if the file does not exist; [`IoError::Malformed`] for invalid data; [`IoError::Unsupported`] for
/// triangle strips.
pub fn read_ply(path: &Path) -> Result<Asset, IoError> {
    parse_ply(&std::fs::read(path).map_err(cannot_read(path))?, path)
}

/// [`read_ply`] from bytes. `path` gives the asset its name and appears in errors.
///
/// # Errors
/// As [`read_ply`], except [`IoError::Read`].
pub fn parse_ply(bytes: &[u8], path: &Path) -> Result<Asset, IoError> {
    Ok(parse_ply_from(bytes, path, [0.0; 3])?.0)
}

/// [`parse_ply`] with positions relative to `origin`, subtracted in double precision. Also gives the bounding box and
/// the rounding error.
pub(crate) fn parse_ply_from(
    bytes: &[u8],
    path: &Path,
    origin: [f64; 3],
) -> Result<(Asset, FileBox), IoError> {
    let mut file_box = FileBox::default();
    let bytes = without_mark(bytes);
    let header = header::parse(bytes, path)?;
    let mut body = Body {
        rest: &bytes[header.body..],
        format: header.format,
    };
    let mut columns = Vec::new();
    let mut vertex_count = 0;
    let mut faces = Faces::default();
    let mut has_faces = false;
    let mut warnings = Vec::new();
    for element in &header.elements {
        body.check_room(element, path)?;
        match element.name.as_str() {
            "vertex" if columns.is_empty() => {
                vertex_count = element.count;
                columns = body.vertices(element, path, (origin, &mut file_box), &mut warnings)?;
            }
            "face" if !has_faces => {
                has_faces = element.count > 0;
                faces = body.faces(element, path, &mut warnings)?;
            }
            "tristrips" => {
                return Err(IoError::Unsupported {
                    path: path.to_owned(),
                    location: "element tristrips".into(),
                    feature: "a triangle strip".into(),
                    help: "export faces instead".into(),
                });
            }
            _ => body.skip(element, path)?,
        }
    }
    if header.format != Format::Ascii && !body.rest.is_empty() {
        let message = format!(
            "{} bytes after the last element are ignored",
            body.rest.len()
        );
        warnings.push(warning("trailing_bytes", message));
    }
    let mut mesh = mesh_of(Columns(columns), vertex_count, path, &mut warnings)?;
    if u32::try_from(vertex_count).is_err() {
        let found = vertex_count.to_string();
        return Err(malformed(path, "element vertex", found, "fewer than 2^32"));
    }
    if faces.are_in_range(vertex_count) && !faces.uvs.is_empty() {
        faces.give_uvs_to(&mut mesh, path, &mut warnings)?;
    }
    let topology =
        polygon::topology(&mesh.positions, faces.polygons, &mut warnings).map_err(|e| {
            malformed(
                path,
                "element face",
                e.to_string(),
                "vertex indices in range",
            )
        })?;
    mesh.topology = Arc::new(topology);
    warnings.extend(file_box.warning(path));
    Ok((asset_of(path, mesh, warnings), file_box))
}

struct Body<'a> {
    rest: &'a [u8],
    format: Format,
}

impl Body<'_> {
    /// Compares counts with the file size before memory is allocated.
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
                format!("{} entries in {} bytes", element.count, self.rest.len()),
                format!("at least {least} bytes per entry"),
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

    /// The next number, or the text found instead.
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

    /// Reads one property and passes each of its numbers to `take`.
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
                // Every number needs bytes; a wrong length therefore stops at the end of the file.
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
        (origin, file_box): ([f64; 3], &mut FileBox),
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
        // Which of the columns are coordinates.
        let axis = |name: &str| {
            let mut all = element.properties.iter();
            all.position(|p| p.name == name && matches!(p.kind, Kind::Scalar(_)))
        };
        let axes = [axis("x"), axis("y"), axis("z")];
        let axis_of = |column: usize| axes.iter().position(|a| *a == Some(column));
        let axis_of: Vec<_> = (0..columns.len()).map(axis_of).collect();
        let mut exact = [0.0; 3];
        // Without properties there is nothing to read.
        let count = if columns.is_empty() { 0 } else { element.count };
        for i in 0..count {
            for (k, property) in element.properties.iter().enumerate() {
                self.property(property, |n| {
                    if let Some(c) = &mut columns[k] {
                        c.values.push(n as f32);
                    }
                    if let Some(axis) = axis_of[k] {
                        exact[axis] = n;
                    }
                })
                .map_err(wrong(path, element, i, property))?;
            }
            if let [Some(x), Some(y), Some(z)] = axes {
                let place = file_box.take(exact, origin);
                for (column, coordinate) in [x, y, z].into_iter().zip(place) {
                    if let Some(last) = columns[column].as_mut().and_then(|c| c.values.last_mut()) {
                        *last = coordinate;
                    }
                }
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
        path: &Path,
        warnings: &mut Vec<Warning>,
    ) -> Result<Faces, IoError> {
        let is_list = |p: &Property| matches!(p.kind, Kind::List { .. });
        let list = |names: &[&str]| {
            let mut all = element.properties.iter();
            all.position(|p| is_list(p) && names.contains(&p.name.as_str()))
        };
        let mut out = Faces::default();
        if element.count == 0 {
            return Ok(out);
        }
        let Some(corners) = list(&["vertex_indices", "vertex_index"]) else {
            let location = "element face";
            return Err(malformed(
                path,
                location,
                "no list vertex_indices",
                "a list vertex_indices",
            ));
        };
        let uvs = list(&["texcoord"]);
        let mut skipped = 0_usize;
        out.polygons.offsets.reserve(element.count);
        let mut row = Vec::new();
        for i in 0..element.count {
            let indices = &mut out.polygons.indices;
            let start = indices.len();
            row.clear();
            for (k, property) in element.properties.iter().enumerate() {
                let wrong = wrong(path, element, i, property);
                if k != corners {
                    let is_uv = Some(k) == uvs;
                    self.property(property, |n| row.extend(is_uv.then_some(n as f32)))
                        .map_err(wrong)?;
                    continue;
                }
                let mut bad = None;
                self.property(property, |n| {
                    let index = n as u32;
                    if f64::from(index) != n {
                        bad.get_or_insert(n);
                    }
                    indices.push(index);
                })
                .map_err(&wrong)?;
                if let Some(n) = bad {
                    return Err(wrong((n.to_string(), "a vertex index")));
                }
            }
            let count = indices.len() - start;
            if count < 3 {
                indices.truncate(start);
                skipped += 1;
                continue;
            }
            let end = u32::try_from(indices.len())
                .map_err(|_| malformed(path, "element face", "2^32 or more corners", "fewer"))?;
            out.polygons.offsets.push(end);
            if uvs.is_some() {
                let fits = row.len() == 2 * count;
                out.without_uvs += usize::from(!fits);
                row.resize(2 * count, 0.0);
                let pairs = row.as_chunks::<2>().0;
                out.uvs.extend(pairs.iter().map(|[u, v]| [*u, 1.0 - v]));
            }
        }
        if skipped > 0 {
            let message = format!("{skipped} faces with fewer than three corners were skipped");
            warnings.push(warning("faces_skipped", message));
        }
        if ["red", "green", "blue"]
            .iter()
            .any(|c| element.properties.iter().any(|p| p.name == *c))
        {
            let message =
                "face colours are not supported; convert them to vertex colours to keep them";
            warnings.push(warning("face_colors_skipped", message));
        }
        Ok(out)
    }
}

/// The faces of a file.
struct Faces {
    polygons: Polygons,
    /// Texture coordinates of each corner, `v` down, if the file has them.
    uvs: Vec<[f32; 2]>,
    /// Number of faces whose list does not have two numbers per corner.
    without_uvs: usize,
}

impl Default for Faces {
    fn default() -> Self {
        let polygons = Polygons {
            offsets: vec![0],
            indices: Vec::new(),
        };
        Self {
            polygons,
            uvs: Vec::new(),
            without_uvs: 0,
        }
    }
}

impl Faces {
    fn are_in_range(&self, vertex_count: usize) -> bool {
        let mut all = self.polygons.indices.iter();
        all.all(|&v| (v as usize) < vertex_count)
    }

    /// Makes the corner texture coordinates the first set of the mesh. Splits vertices whose corners differ. All
    /// indices must be in range.
    fn give_uvs_to(
        &mut self,
        mesh: &mut Mesh,
        path: &Path,
        warnings: &mut Vec<Warning>,
    ) -> Result<(), IoError> {
        if self.without_uvs > 0 {
            let message = format!(
                "{} of {} faces do not have two texture coordinates per corner; the texture coordinates of faces are dropped",
                self.without_uvs,
                self.polygons.len()
            );
            warnings.push(warning("texture_coordinates_incomplete", message));
            return Ok(());
        }
        repair_numbers(
            "texture coordinates",
            self.uvs.iter_mut().flatten(),
            warnings,
        );
        let mut numbers: HashMap<[u32; 2], u32> = HashMap::new();
        let mut distinct = Vec::new();
        let mut number = |uv: [f32; 2]| {
            *numbers.entry(uv.map(f32::to_bits)).or_insert_with(|| {
                distinct.push(uv);
                index32(distinct.len() - 1)
            })
        };
        let corners = self.polygons.indices.iter().zip(&self.uvs);
        let corners = corners.map(|(&v, &uv)| [v, number(uv), NONE]);
        let count = mesh.positions.len();
        let (vertices, indices) = split(count, corners).ok_or_else(|| {
            malformed(
                path,
                "element face",
                "2^32 or more vertices after splitting",
                "fewer",
            )
        })?;
        self.polygons.indices = indices;
        let sources: Vec<usize> = vertices[count..].iter().map(|c| c[0] as usize).collect();
        repeat_vertices(mesh, &sources);
        if !sources.is_empty() {
            mesh.points = vertices.iter().map(|c| c[0]).collect();
        }
        // Vertices without a face get texture coordinates (0, 0).
        let uv = |c: &Corner| distinct.get(c[1] as usize).copied().unwrap_or_default();
        mesh.uvs.insert(0, vertices.iter().map(uv).collect());
        Ok(())
    }
}

/// Appends copies of vertices.
fn repeat_vertices(mesh: &mut Mesh, sources: &[usize]) {
    fn repeat<T: Copy>(list: &mut Vec<T>, sources: &[usize]) {
        list.reserve(sources.len());
        sources.iter().for_each(|&v| list.push(list[v]));
    }
    repeat(&mut mesh.positions, sources);
    mesh.normals.iter_mut().for_each(|n| repeat(n, sources));
    mesh.uvs.iter_mut().for_each(|set| repeat(set, sources));
    mesh.colors.iter_mut().for_each(|set| repeat(set, sources));
    for attribute in mesh.attributes.values_mut() {
        match attribute {
            Attribute::Scalar(v) => repeat(v, sources),
            Attribute::Vec2(v) => repeat(v, sources),
            Attribute::Vec3(v) => repeat(v, sources),
            Attribute::Vec4(v) => repeat(v, sources),
        }
    }
}

fn wrong<'a>(
    path: &'a Path,
    element: &'a Element,
    number: usize,
    property: &'a Property,
) -> impl Fn((String, &'static str)) -> IoError + 'a {
    move |(found, expected)| {
        let location = format!("{} {number}, property {}", element.name, property.name);
        malformed(path, location, found, expected)
    }
}
