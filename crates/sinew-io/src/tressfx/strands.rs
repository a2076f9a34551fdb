//! `.tfx`: guide strands.

use super::cursor::floats;
use crate::IoError;
use crate::fault::{cannot_read, malformed, warning};
use sinew_geom::Warning;
use std::path::Path;

/// Bytes of the header.
pub(super) const HEADER: usize = 160;
/// Bytes of a vertex: place and inverse mass.
const VERTEX: u64 = 16;
/// Shorter than this, in the unit of the file, a strand has no direction.
const NO_LENGTH: f32 = 1e-6;

/// What a `.tfx` file holds. All strands have the same number of vertices, root first.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TfxStrands {
    /// Of the format: 4 or later.
    pub version: f32,
    /// Vertices of each strand, 2 or more.
    pub vertices_per_strand: usize,
    /// Strand after strand: place in the file's unit and axes, then the inverse mass (0: does not move by itself).
    pub vertices: Vec<[f32; 4]>,
    /// Where each root is on the scalp's texture; V may be turned over already.
    pub root_uvs: Option<Vec<[f32; 2]>>,
    /// The same for each vertex. No known program writes them.
    pub vertex_uvs: Option<Vec<[f32; 2]>>,
    /// Thickness of each strand. No known program writes it.
    pub thickness: Option<Vec<f32>>,
    /// Colour of each vertex. No known program writes it.
    pub colors: Option<Vec<[f32; 4]>>,
    /// What was odd: strands of no length, fewer strands than the header says, bytes that belong to nothing.
    pub warnings: Vec<Warning>,
}

impl TfxStrands {
    /// How many strands there are.
    pub fn strand_count(&self) -> usize {
        self.vertices.len() / self.vertices_per_strand.max(1)
    }
    /// The vertices of each strand.
    pub fn strands(&self) -> impl ExactSizeIterator<Item = &[[f32; 4]]> {
        self.vertices.chunks_exact(self.vertices_per_strand.max(1))
    }
}

/// Reads a `.tfx` file.
///
/// # Errors
/// [`IoError::Read`]; as [`parse_tfx`].
pub fn read_tfx(path: &Path) -> Result<TfxStrands, IoError> {
    parse_tfx(&std::fs::read(path).map_err(cannot_read(path))?, path)
}

/// [`read_tfx`] on bytes; `path` appears in errors.
///
/// # Errors
/// [`IoError::Malformed`] where counts and offsets do not fit the bytes or a number is not finite; [`IoError::Unsupported`] for versions before 4.
pub fn parse_tfx(bytes: &[u8], path: &Path) -> Result<TfxStrands, IoError> {
    let header = Header::read(bytes, path)?;
    let mut warnings = Vec::new();
    let (header, exact_end) = header.fitted(bytes, path, &mut warnings)?;
    let section = |section: &Section| section.read(bytes, path);
    let [vertices, root_uvs, vertex_uvs, thickness, colors] = header.sections();
    let vertices = section(&vertices)?.unwrap_or_default();
    let out = TfxStrands {
        version: header.version,
        vertices_per_strand: header.vertices_per_strand,
        vertices: vertices.as_chunks::<4>().0.to_vec(),
        root_uvs: section(&root_uvs)?.map(|v| v.as_chunks::<2>().0.to_vec()),
        vertex_uvs: section(&vertex_uvs)?.map(|v| v.as_chunks::<2>().0.to_vec()),
        thickness: section(&thickness)?,
        colors: section(&colors)?.map(|v| v.as_chunks::<4>().0.to_vec()),
        warnings,
    };
    let used = header.sections().iter().map(Section::end).max();
    let unused = bytes.len() as u64 - used.unwrap_or(0).min(bytes.len() as u64);
    Ok(out.warned(if exact_end { unused } else { 0 }))
}

impl TfxStrands {
    /// With warnings for what is odd in the content.
    fn warned(mut self, unused: u64) -> Self {
        let length = |strand: &[[f32; 4]]| -> f32 {
            let steps = strand.windows(2);
            let apart = |w: &[[f32; 4]]| (0..3).map(|c| (w[1][c] - w[0][c]).powi(2)).sum::<f32>();
            steps.map(|w| apart(w).sqrt()).sum()
        };
        let short = self.strands().filter(|s| length(s) < NO_LENGTH).count();
        if short > 0 {
            let message = format!("{short} strands are shorter than {NO_LENGTH:e}");
            self.warnings
                .push(warning("strands_without_length", message));
        }
        if unused > 0 {
            let message = format!("{unused} bytes at the end belong to nothing");
            self.warnings.push(warning("bytes_behind_the_end", message));
        }
        self
    }
}

/// The first numbers of a file.
#[derive(Clone, Debug)]
struct Header {
    version: f32,
    strand_count: u64,
    vertices_per_strand: usize,
    /// Of vertices, UVs of roots, UVs of vertices, thickness, colours; 0 for none but the first.
    offsets: [u64; 5],
}

/// A part of the file.
struct Section {
    what: &'static str,
    /// Of its offset in the header.
    offset_at: usize,
    offset: u64,
    count: u64,
    /// Floats of each.
    width: u64,
    must_be: bool,
}

impl Header {
    fn read(bytes: &[u8], path: &Path) -> Result<Self, IoError> {
        let Some((header, _)) = bytes.split_at_checked(HEADER) else {
            return Err(malformed(
                path,
                "header",
                format!("{} bytes", bytes.len()),
                format!("{HEADER} bytes at least"),
            ));
        };
        let words = header.as_chunks::<4>().0;
        let number = |at: usize| u32::from_le_bytes(words[at]);
        let version = f32::from_le_bytes(words[0]);
        if !version.is_finite() || version < 4.0 {
            return Err(IoError::Unsupported {
                path: path.to_owned(),
                place: "bytes 0 to 3".into(),
                feature: format!("version {version}"),
                help: "4.0 and later are".into(),
            });
        }
        let vertices_per_strand = number(2) as usize;
        if vertices_per_strand < 2 {
            return Err(malformed(
                path,
                "bytes 8 to 11, vertices of a strand",
                vertices_per_strand.to_string(),
                "2 or more",
            ));
        }
        Ok(Self {
            version,
            strand_count: u64::from(number(1)),
            vertices_per_strand,
            offsets: std::array::from_fn(|i| u64::from(number(3 + i))),
        })
    }

    fn sections(&self) -> [Section; 5] {
        let strands = self.strand_count;
        let vertices = strands.saturating_mul(self.vertices_per_strand as u64);
        let section = |which: usize, what, count, width| Section {
            what,
            offset_at: 12 + 4 * which,
            offset: self.offsets[which],
            count,
            width,
            must_be: which == 0,
        };
        [
            section(0, "vertices", vertices, 4),
            section(1, "texture coordinates of roots", strands, 2),
            section(2, "texture coordinates of vertices", vertices, 2),
            section(3, "thickness of strands", strands, 1),
            section(4, "colours of vertices", vertices, 4),
        ]
    }

    /// Itself where all is there. The exporter counts strands that it then leaves out when it starts with an offset: the header
    /// with as many as there are, if the file is just as long as those and their texture coordinates take. Also whether nothing
    /// of the header was changed.
    fn fitted(
        self,
        bytes: &[u8],
        path: &Path,
        warnings: &mut Vec<Warning>,
    ) -> Result<(Self, bool), IoError> {
        let there = bytes.len() as u64;
        let is_plain = self.offsets[0] == HEADER as u64 && self.offsets[2..] == [0; 3];
        let has_uvs = self.offsets[1] != 0;
        let each = self.vertices_per_strand as u64 * VERTEX + if has_uvs { 8 } else { 0 };
        let body = there - HEADER as u64;
        let count = body / each;
        let is_short =
            is_plain && count < self.strand_count && count > 0 && body.is_multiple_of(each);
        let ends = self.sections().iter().map(Section::end).max();
        if !is_short || ends.is_some_and(|end| end <= there) {
            return Ok((self, true));
        }
        // A file that was cut somewhere is as long as whole strands by accident only; but strands in the hundreds of millions are no mistake of an
        // exporter.
        if self.strand_count > count.saturating_mul(2).saturating_add(64) {
            return Err(malformed(
                path,
                "bytes 4 to 7, strands",
                format!("{} in a file of {there} bytes", self.strand_count),
                format!(
                    "{count} at most, or a file of {} bytes",
                    ends.unwrap_or(there)
                ),
            ));
        }
        warnings.push(warning(
            "fewer_strands",
            format!(
                "the header counts {} strands, the file has {count}",
                self.strand_count
            ),
        ));
        let vertices_end = HEADER as u64 + count * self.vertices_per_strand as u64 * VERTEX;
        let mut fitted = self;
        fitted.strand_count = count;
        if has_uvs {
            fitted.offsets[1] = vertices_end;
        }
        Ok((fitted, false))
    }
}

impl Section {
    fn is_there(&self) -> bool {
        self.offset != 0 || self.must_be
    }

    /// Byte behind it; 0 for one that is not there.
    fn end(&self) -> u64 {
        if !self.is_there() {
            return 0;
        }
        let bytes = self.count.saturating_mul(4 * self.width);
        self.offset.saturating_add(bytes)
    }

    fn read(&self, bytes: &[u8], path: &Path) -> Result<Option<Vec<f32>>, IoError> {
        if !self.is_there() {
            return Ok(None);
        }
        let place = || {
            format!(
                "bytes {} to {}, {}",
                self.offset_at,
                self.offset_at + 3,
                self.what
            )
        };
        if self.offset < HEADER as u64 {
            return Err(malformed(
                path,
                place(),
                format!("offset {}", self.offset),
                format!("{HEADER} or more, behind the header"),
            ));
        }
        let range = usize::try_from(self.offset)
            .ok()
            .zip(usize::try_from(self.end()).ok());
        let Some(part) = range.and_then(|(start, end)| bytes.get(start..end)) else {
            return Err(malformed(
                path,
                place(),
                format!("a file of {} bytes", bytes.len()),
                format!(
                    "{} bytes for {} from byte {}",
                    self.end(),
                    self.count,
                    self.offset
                ),
            ));
        };
        let numbers = floats(part);
        match numbers.iter().position(|n| !n.is_finite()) {
            None => Ok(Some(numbers)),
            Some(at) => Err(malformed(
                path,
                format!("byte {}, {}", self.offset + 4 * at as u64, self.what),
                numbers[at].to_string(),
                "a finite number",
            )),
        }
    }
}
