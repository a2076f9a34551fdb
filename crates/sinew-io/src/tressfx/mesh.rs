//! `.tfxmesh` files: skinned collision meshes as text.

use crate::IoError;
use crate::bytes::without_mark;
use crate::fault::{cannot_read, file_stem, malformed, quoted, warning};
use crate::surface::{repair_normals, repair_numbers};
use sinew_geom::{
    Affine, Asset, Influences, Joint, LocalTransform, Mesh, Node, Rig, Topology, Trs, Warning,
};
use std::path::Path;
use std::str::FromStr;
use std::sync::Arc;

/// Reads a `.tfxmesh` file as an asset of one mesh. Vertices are in the bind pose, in the unit and axes of the file.
/// The rig has the bones by name, without parents and at the origin, since the file does not contain their positions.
///
/// # Errors
/// [`IoError::Read`]; as [`parse_tfx_mesh`].
pub fn read_tfx_mesh(path: &Path) -> Result<Asset, IoError> {
    parse_tfx_mesh(&std::fs::read(path).map_err(cannot_read(path))?, path)
}

/// [`read_tfx_mesh`] from bytes. `path` gives the asset its name and appears in errors. Weights that do not add up to 1
/// are normalised, with a warning. A bone of −1 means none.
///
/// # Errors
/// [`IoError::Malformed`] with the line: missing lines, invalid numbers, vertices and bones that do not exist.
pub fn parse_tfx_mesh(bytes: &[u8], path: &Path) -> Result<Asset, IoError> {
    let mut lines = Lines::new(bytes, path);
    let bones = lines.table("numOfBones", |lines, fields| lines.bone(fields))?;
    let vertices = lines.table("numOfVertices", |lines, fields| {
        lines.vertex(fields, bones.len())
    })?;
    let triangles = lines.table("numOfTriangles", |lines, fields| {
        lines.triangle(fields, vertices.len())
    })?;
    if let Some(line) = lines.next_line() {
        return Err(lines.wrong(line, "the end of the file after the triangles"));
    }
    asset(path, bones, &vertices, triangles)
}

/// A line with a vertex.
struct Vertex {
    position: [f32; 3],
    normal: [f32; 3],
    weights: Vec<(u32, f32)>,
}

type IsEnd = fn(&u8) -> bool;

/// Lines that are neither empty nor comments.
struct Lines<'a> {
    path: &'a Path,
    rest: std::iter::Enumerate<std::slice::Split<'a, u8, IsEnd>>,
    /// Number of the current line, from 1.
    number: usize,
    bytes: usize,
}

impl<'a> Lines<'a> {
    fn new(bytes: &'a [u8], path: &'a Path) -> Self {
        let is_end: IsEnd = |b| *b == b'\n';
        Self {
            path,
            rest: without_mark(bytes).split(is_end).enumerate(),
            number: 0,
            bytes: bytes.len(),
        }
    }

    fn next_line(&mut self) -> Option<&'a [u8]> {
        loop {
            let (index, line) = self.rest.next()?;
            self.number = index + 1;
            let line = line.trim_ascii();
            if !line.is_empty() && line[0] != b'#' {
                return Some(line);
            }
        }
    }

    fn wrong(&self, found: &[u8], expected: impl Into<String>) -> IoError {
        malformed(
            self.path,
            format!("line {}", self.number),
            quoted(found),
            expected,
        )
    }

    fn line(&mut self, expected: &str) -> Result<&'a [u8], IoError> {
        self.next_line()
            .ok_or_else(|| malformed(self.path, "end of the file", "no more lines", expected))
    }

    /// Reads a line `NAME COUNT` and the numbered lines after it. `read` gets each line without its number.
    fn table<T>(
        &mut self,
        name: &str,
        read: impl Fn(&Self, &'a [u8]) -> Result<T, IoError>,
    ) -> Result<Vec<T>, IoError> {
        let expected = format!("{name} and a count");
        let line = self.line(&expected)?;
        let (word, rest) = split(line);
        if word != name.as_bytes() {
            return Err(self.wrong(line, expected));
        }
        let count = count(rest).ok_or_else(|| self.wrong(line, expected))?;
        // Each line needs bytes: the reserved memory never exceeds the file size.
        let mut out = Vec::with_capacity(count.min(self.bytes / 4));
        for index in 0..count {
            let line = self.line(&format!("line {index} of the {count} of {name}"))?;
            let (number, rest) = split(line);
            if parsed::<usize>(number) != Some(index) {
                return Err(self.wrong(line, format!("line {index} of the {count} of {name}")));
            }
            out.push(read(self, rest)?);
        }
        Ok(out)
    }

    fn bone(&self, fields: &[u8]) -> Result<String, IoError> {
        match std::str::from_utf8(fields) {
            Ok(name) if !name.is_empty() => Ok(name.to_owned()),
            _ => Err(self.wrong(fields, "a bone name in UTF-8")),
        }
    }

    fn vertex(&self, fields: &[u8], bones: usize) -> Result<Vertex, IoError> {
        let expected = "14 numbers: position, normal, four bones, four weights";
        let wrong = || self.wrong(fields, expected);
        let fields_of = || {
            fields
                .split(u8::is_ascii_whitespace)
                .filter(|f| !f.is_empty())
        };
        if fields_of().count() != 14 {
            return Err(wrong());
        }
        let mut numbers = fields_of();
        let mut real = || numbers.next().and_then(parsed::<f32>).ok_or_else(wrong);
        let position = [real()?, real()?, real()?];
        let normal = [real()?, real()?, real()?];
        let mut weights = Vec::with_capacity(4);
        for (bone, weight) in fields_of().skip(6).zip(fields_of().skip(10)).take(4) {
            let bone = parsed::<i64>(bone).ok_or_else(wrong)?;
            let weight = parsed::<f32>(weight)
                .filter(|w| w.is_finite())
                .ok_or_else(wrong)?;
            if bone == -1 {
                continue;
            }
            let known = u32::try_from(bone).ok().filter(|b| (*b as usize) < bones);
            let bone = known.ok_or_else(|| {
                let expected = format!("-1 for none, or a bone index below {bones}");
                self.wrong(bone.to_string().as_bytes(), expected)
            })?;
            if weight != 0.0 {
                weights.push((bone, weight));
            }
        }
        Ok(Vertex {
            position,
            normal,
            weights,
        })
    }

    fn triangle(&self, fields: &[u8], vertices: usize) -> Result<[u32; 3], IoError> {
        let corners = fields
            .split(u8::is_ascii_whitespace)
            .filter(|f| !f.is_empty());
        let corners: Vec<Option<u32>> = corners.map(parsed::<u32>).collect();
        if let [Some(a), Some(b), Some(c)] = corners[..]
            && [a, b, c].iter().all(|v| (*v as usize) < vertices)
        {
            return Ok([a, b, c]);
        }
        let expected = format!("three vertex indices below {vertices}");
        Err(self.wrong(fields, expected))
    }
}

/// The first word, and the text after it.
fn split(line: &[u8]) -> (&[u8], &[u8]) {
    let end = line.iter().position(u8::is_ascii_whitespace);
    let (word, rest) = line.split_at(end.unwrap_or(line.len()));
    (word, rest.trim_ascii())
}

fn parsed<T: FromStr>(field: &[u8]) -> Option<T> {
    std::str::from_utf8(field).ok()?.parse().ok()
}

/// A count. The exporter writes six digits: a million is `1e+06`.
fn count(field: &[u8]) -> Option<usize> {
    let number = parsed::<f64>(field)?;
    let is_count = number >= 0.0 && number.fract() == 0.0 && number < 4e9;
    is_count.then_some(number as usize)
}

fn asset(
    path: &Path,
    bones: Vec<String>,
    vertices: &[Vertex],
    triangles: Vec<[u32; 3]>,
) -> Result<Asset, IoError> {
    let wrong = |e: &dyn std::fmt::Display| malformed(path, "mesh", e.to_string(), "a valid mesh");
    let mut warnings = Vec::new();
    let mut positions: Vec<[f32; 3]> = vertices.iter().map(|v| v.position).collect();
    let numbers = positions.as_flattened_mut().iter_mut();
    repair_numbers("positions", numbers, &mut warnings);
    let count = u32::try_from(positions.len()).map_err(|e| wrong(&e))?;
    let topology = Topology::new(count, triangles).map_err(|e| wrong(&e))?;
    let mut mesh = Mesh::new(file_stem(path), topology, positions);
    let mut normals: Vec<[f32; 3]> = vertices.iter().map(|v| v.normal).collect();
    repair_normals(&mut normals, &mut warnings);
    mesh.normals = Some(normals);
    if !bones.is_empty() {
        let rows = vertices.iter().map(|v| v.weights.as_slice());
        let found = Influences::from_rows(rows, bones.len(), 0).map_err(|e| wrong(&e))?;
        warnings.extend(weight_warnings("vertices", &found.1, &found.2));
        mesh.influences = Some(found.0);
    }
    Ok(Asset {
        name: file_stem(path),
        meshes: vec![mesh],
        rig: Arc::new(rig(bones).map_err(|e| wrong(&e))?),
        joints_are_names: true,
        warnings,
        ..Asset::default()
    })
}

/// `what` names the objects with weights: vertices or strands.
pub(super) fn weight_warnings(what: &str, unnormalised: &[u32], empty: &[u32]) -> Vec<Warning> {
    let mut out = Vec::new();
    if !unnormalised.is_empty() {
        let message = format!(
            "{} {what} have weights that do not add up to 1; they were normalised",
            unnormalised.len()
        );
        out.push(warning("weights_not_normalised", message));
    }
    if !empty.is_empty() {
        let message = format!(
            "{} {what} have no weights; they follow the first bone",
            empty.len()
        );
        out.push(warning("weights_zero", message));
    }
    out
}

/// Joints with these names at the origin.
pub(super) fn rig(bones: Vec<String>) -> Result<Rig, sinew_geom::RigError> {
    let joints = (0..bones.len()).map(|node| Joint {
        node,
        joint_from_bind: Affine::identity(),
    });
    let joints = joints.collect();
    let nodes = bones.into_iter().map(|name| Node {
        name,
        parent: None,
        local: LocalTransform::Trs(Trs::default()),
        morph_weights: Vec::new(),
        morph_offset: 0,
    });
    Rig::new(nodes.collect(), joints)
}
