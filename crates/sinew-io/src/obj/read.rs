use crate::bytes::without_mark;
use crate::fault::{cannot_read, malformed, quoted, warning};
use crate::polygon;
use crate::surface::{
    Corner, NONE, asset_of, linear_from_srgb, repair_normals, repair_numbers, split,
};
use crate::{FileBox, IoError};
use sinew_geom::{Asset, Mesh, MeshPart, Polygons, Topology, Warning};
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

/// Reads an OBJ file as an asset of one mesh. Lengths are taken as metres.
///
/// # Errors
/// [`IoError::Read`] if the file does not exist; [`IoError::Malformed`] with the line of invalid data.
pub fn read_obj(path: &Path) -> Result<Asset, IoError> {
    parse_obj(&std::fs::read(path).map_err(cannot_read(path))?, path)
}

/// [`read_obj`] from bytes. `path` gives the asset its name and appears in errors.
///
/// # Errors
/// [`IoError::Malformed`].
pub fn parse_obj(bytes: &[u8], path: &Path) -> Result<Asset, IoError> {
    Ok(parse_obj_from(bytes, path, [0.0; 3])?.0)
}

/// [`parse_obj`] with positions relative to `origin`, subtracted in double precision. Also gives the bounding box and
/// the rounding error.
pub(crate) fn parse_obj_from(
    bytes: &[u8],
    path: &Path,
    origin: [f64; 3],
) -> Result<(Asset, FileBox), IoError> {
    let mut parser = Parser {
        path,
        line: 0,
        raw: Raw::default(),
        origin,
        file_box: FileBox::default(),
    };
    let mut joined = Vec::new();
    for (number, line) in without_mark(bytes).split(|&b| b == b'\n').enumerate() {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        if joined.is_empty() {
            parser.line = number + 1;
        }
        if let Some(part) = line.strip_suffix(b"\\") {
            joined.extend_from_slice(part);
            joined.push(b' ');
        } else if joined.is_empty() {
            parser.statement(line)?;
        } else {
            joined.extend_from_slice(line);
            parser.statement(&joined)?;
            joined.clear();
        }
    }
    parser.statement(&joined)?;
    let file_box = parser.file_box;
    let (mesh, mut warnings) = parser.raw.build(path)?;
    warnings.extend(file_box.warning(path));
    if bytes.iter().all(u8::is_ascii_whitespace) {
        let name = path.file_name().unwrap_or_default();
        let message = format!(
            "'{}' is empty ({} bytes); if it should contain a mesh, export it again",
            name.display(),
            bytes.len()
        );
        warnings.push(warning("empty_file", message));
    }
    Ok((asset_of(path, mesh, warnings), file_box))
}

#[derive(Default)]
struct Raw {
    positions: Vec<[f32; 3]>,
    colors: Vec<[f32; 4]>,
    coloured: usize,
    uvs: Vec<[f32; 2]>,
    normals: Vec<[f32; 3]>,
    corners: Vec<Corner>,
    face_ends: Vec<u32>,
    skipped_faces: usize,
    /// Name and first face of each `o` or `g`.
    groups: Vec<(String, usize)>,
}

struct Parser<'a> {
    path: &'a Path,
    line: usize,
    raw: Raw,
    origin: [f64; 3],
    file_box: FileBox,
}

impl Parser<'_> {
    fn wrong(&self, found: &[u8], expected: impl Into<String>) -> IoError {
        malformed(
            self.path,
            format!("line {}", self.line),
            quoted(found),
            expected,
        )
    }

    fn statement(&mut self, line: &[u8]) -> Result<(), IoError> {
        let text = line.split(|&b| b == b'#').next().unwrap_or_default();
        let mut words = text
            .split(u8::is_ascii_whitespace)
            .filter(|w| !w.is_empty());
        match words.next() {
            Some(b"v") => self.vertex(words),
            Some(b"vt") => {
                let (n, count) = self.numbers::<3>(words, 1, "one to three numbers")?;
                let v = if count > 1 { n[1] as f32 } else { 0.0 };
                self.raw.uvs.push([n[0] as f32, 1.0 - v]);
                Ok(())
            }
            Some(b"vn") => {
                let (n, _) = self.numbers::<3>(words, 3, "three numbers")?;
                self.raw.normals.push(n.map(|c| c as f32));
                Ok(())
            }
            Some(b"f") => self.face(words),
            Some(b"o" | b"g") => {
                let rest = text.trim_ascii();
                let name = String::from_utf8_lossy(rest[1..].trim_ascii()).into_owned();
                self.raw.groups.push((name, self.raw.face_ends.len()));
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// Up to `N` numbers, at least `least`.
    fn numbers<'w, const N: usize>(
        &self,
        words: impl Iterator<Item = &'w [u8]>,
        least: usize,
        expected: &str,
    ) -> Result<([f64; N], usize), IoError> {
        let mut out = [0.0; N];
        let mut count = 0;
        for word in words {
            let number = std::str::from_utf8(word).ok().and_then(|w| w.parse().ok());
            match (number, out.get_mut(count)) {
                (Some(number), Some(slot)) => *slot = number,
                _ => return Err(self.wrong(word, expected)),
            }
            count += 1;
        }
        if count < least {
            return Err(self.wrong(b"end of line", expected));
        }
        Ok((out, count))
    }

    fn vertex<'w>(&mut self, words: impl Iterator<Item = &'w [u8]>) -> Result<(), IoError> {
        let (n, count) = self.numbers::<7>(
            words,
            3,
            "three numbers (x y z), optionally followed by a weight or a colour",
        )?;
        let exact = [n[0], n[1], n[2]];
        let position = self.file_box.take(exact, self.origin);
        if !position.iter().all(|c| c.is_finite()) {
            let text = format!("{position:?}");
            return Err(self.wrong(text.as_bytes(), "finite coordinates"));
        }
        if self.raw.positions.len() >= NONE as usize {
            return Err(self.wrong(b"one more vertex", "fewer than 2^32 vertices"));
        }
        self.raw.positions.push(position);
        let alpha = match count {
            6 => Some(1.0),
            7 => Some(n[6] as f32),
            _ => None,
        };
        let color = alpha.map(|alpha| {
            let [r, g, b] = [n[3], n[4], n[5]].map(|c| linear_from_srgb(c as f32));
            [r, g, b, alpha]
        });
        self.raw.coloured += usize::from(color.is_some());
        self.raw.colors.push(color.unwrap_or([1.0; 4]));
        Ok(())
    }

    fn face<'w>(&mut self, words: impl Iterator<Item = &'w [u8]>) -> Result<(), IoError> {
        let start = self.raw.corners.len();
        for word in words {
            let corner = self.corner(word)?;
            self.raw.corners.push(corner);
        }
        if self.raw.corners.len() - start < 3 {
            self.raw.corners.truncate(start);
            self.raw.skipped_faces += 1;
            return Ok(());
        }
        let Ok(end) = u32::try_from(self.raw.corners.len()) else {
            return Err(self.wrong(b"one more face", "fewer than 2^32 face corners"));
        };
        self.raw.face_ends.push(end);
        Ok(())
    }

    fn corner(&self, word: &[u8]) -> Result<Corner, IoError> {
        let mut corner = [NONE; 3];
        let limits = [
            ("vertex", self.raw.positions.len()),
            ("texture coordinate", self.raw.uvs.len()),
            ("normal", self.raw.normals.len()),
        ];
        for (k, part) in word.split(|&b| b == b'/').enumerate() {
            let Some(&(what, limit)) = limits.get(k) else {
                return Err(self.wrong(word, "v, v/vt, v//vn or v/vt/vn"));
            };
            if part.is_empty() && k > 0 {
                continue;
            }
            let number = std::str::from_utf8(part)
                .ok()
                .and_then(|p| p.parse::<i64>().ok());
            let index = match number {
                Some(n) if n > 0 => usize::try_from(n - 1).ok(),
                Some(n) if n < 0 => usize::try_from(n.unsigned_abs())
                    .ok()
                    .and_then(|n| limit.checked_sub(n)),
                _ => None,
            };
            match index
                .filter(|&i| i < limit)
                .and_then(|i| u32::try_from(i).ok())
            {
                Some(i) => corner[k] = i,
                None => {
                    let expected = format!(
                        "a {what} index: {limit} are defined up to this line, counted from 1"
                    );
                    return Err(self.wrong(word, expected));
                }
            }
        }
        Ok(corner)
    }
}

impl Raw {
    fn build(mut self, path: &Path) -> Result<(Mesh, Vec<Warning>), IoError> {
        let mut warnings = Vec::new();
        if self.skipped_faces > 0 {
            let message = format!(
                "{} faces with fewer than three corners were skipped",
                self.skipped_faces
            );
            warnings.push(warning("faces_skipped", message));
        }
        let keep = [
            self.complete(1, "texture_coordinates_incomplete", &mut warnings),
            self.complete(2, "normals_incomplete", &mut warnings),
        ];
        let kept = |[v, t, n]: Corner| {
            let [t, n] = [keep[0].then_some(t), keep[1].then_some(n)];
            [v, t.unwrap_or(NONE), n.unwrap_or(NONE)]
        };
        let corners = self.corners.iter().map(|c| kept(*c));
        let (vertices, indices) = split(self.positions.len(), corners).ok_or_else(|| {
            malformed(
                path,
                "faces",
                "2^32 or more vertices after splitting",
                "fewer",
            )
        })?;
        let pick = |k: usize| vertices.iter().map(move |c| c[k]);
        let mut mesh = Mesh {
            positions: pick(0).map(|v| self.positions[v as usize]).collect(),
            ..Mesh::default()
        };
        if vertices.len() > self.positions.len() {
            mesh.points = pick(0).collect();
        }
        if keep[0] {
            // Vertices without a face get texture coordinates (0, 0).
            let mut uvs: Vec<[f32; 2]> = pick(1)
                .map(|t| self.uvs.get(t as usize).copied().unwrap_or_default())
                .collect();
            repair_numbers(
                "texture coordinates",
                uvs.iter_mut().flatten(),
                &mut warnings,
            );
            mesh.uvs.push(uvs);
        }
        if keep[1] {
            repair_normals(&mut self.normals, &mut warnings);
            let normal = |n: u32| {
                self.normals
                    .get(n as usize)
                    .copied()
                    .unwrap_or([0.0, 1.0, 0.0])
            };
            mesh.normals = Some(pick(2).map(normal).collect());
        }
        if self.coloured > 0 {
            let mut colors: Vec<[f32; 4]> = pick(0).map(|v| self.colors[v as usize]).collect();
            repair_numbers("colours", colors.iter_mut().flatten(), &mut warnings);
            mesh.colors.push(colors);
        }
        let offsets = std::iter::once(0)
            .chain(self.face_ends.iter().copied())
            .collect();
        let count = mesh.positions.len();
        let polygons = Polygons { offsets, indices };
        let topology = polygon::topology(&mesh.positions, polygons, &mut warnings)
            .map_err(|e| malformed(path, "faces", e.to_string(), "valid faces"))?;
        mesh.parts = self.parts(&topology, count);
        match self.groups.as_slice() {
            [(name, _)] => mesh.name.clone_from(name),
            _ => mesh.name.clear(),
        }
        mesh.topology = Arc::new(topology);
        Ok((mesh, warnings))
    }

    /// True if every corner has index `k`. Warns if only some corners have it.
    fn complete(&self, k: usize, code: &'static str, warnings: &mut Vec<Warning>) -> bool {
        let with = self.corners.iter().filter(|c| c[k] != NONE).count();
        let all = with == self.corners.len() && with > 0;
        if !all && with > 0 {
            let message = format!(
                "only {with} of {} face corners have them; they are dropped",
                self.corners.len()
            );
            warnings.push(warning(code, message));
        }
        all
    }

    /// Groups as parts, if each has its own contiguous vertices; empty otherwise.
    fn parts(&self, topology: &Topology, vertex_count: usize) -> Vec<MeshPart> {
        if self.groups.len() < 2 {
            return Vec::new();
        }
        // Number of triangles before each face.
        let mut before = vec![0_usize];
        let mut start = 0;
        for &end in &self.face_ends {
            before.push(before[before.len() - 1] + (end - start) as usize - 2);
            start = end;
        }
        let mut parts: Vec<MeshPart> = Vec::new();
        let ends = self
            .groups
            .iter()
            .skip(1)
            .map(|g| g.1)
            .chain([self.face_ends.len()]);
        for ((name, first), last) in self.groups.iter().zip(ends) {
            // Faces before the first group belong to it.
            let first = if parts.is_empty() { 0 } else { *first };
            let triangles = before[first]..before[last];
            let corners = || topology.triangles()[triangles.clone()].iter().flatten();
            let (Some(&low), Some(&high)) = (corners().min(), corners().max()) else {
                continue;
            };
            let vertices: Range<usize> = low as usize..high as usize + 1;
            if let Some(previous) = parts.last_mut() {
                if previous.vertices.end > vertices.start {
                    return Vec::new();
                }
                previous.vertices.end = vertices.start;
            }
            parts.push(MeshPart {
                name: name.clone(),
                source_mesh: parts.len(),
                material: None,
                vertices,
                triangles,
                flat_shaded: false,
            });
        }
        if let Some(first) = parts.first_mut() {
            first.vertices.start = 0;
        }
        if let Some(last) = parts.last_mut() {
            last.vertices.end = vertex_count;
        }
        parts
    }
}
