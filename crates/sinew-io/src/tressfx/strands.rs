//! `.tfx` files: guide strands.

use super::cursor::floats;
use crate::IoError;
use crate::fault::{cannot_read, malformed, warning};
use sinew_geom::Warning;
use std::path::Path;

/// Bytes of the header.
pub(super) const HEADER: usize = 160;
/// Bytes per vertex: position and inverse mass.
const VERTEX: u64 = 16;
/// Length below which a strand has no direction, in the unit of the file.
const NO_LENGTH: f32 = 1e-6;

/// Content of a `.tfx` file. All strands have the same number of vertices, root first.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TfxStrands {
    /// Format version: 4 or later.
    pub version: f32,
    /// Vertices per strand, 2 or more.
    pub vertices_per_strand: usize,
    /// Vertices of all strands, one strand after another: position in the file's unit and axes, then inverse mass (0:
    /// pinned).
    pub vertices: Vec<[f32; 4]>,
    /// Texture coordinates of each root on the scalp. V may be flipped already.
    pub root_uvs: Option<Vec<[f32; 2]>>,
    /// Texture coordinates of each vertex. No known program writes them.
    pub vertex_uvs: Option<Vec<[f32; 2]>>,
    /// Thickness of each strand. No known program writes it.
    pub thickness: Option<Vec<f32>>,
    /// Colour of each vertex. No known program writes it.
    pub colors: Option<Vec<[f32; 4]>>,
    /// Warnings of the reader: strands of zero length, fewer strands than the header states, unused bytes.
    pub warnings: Vec<Warning>,
}

impl TfxStrands {
    /// Number of strands.
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

/// [`read_tfx`] from bytes. `path` appears in errors.
///
/// # Errors
/// [`IoError::Malformed`] if counts and offsets do not match the file size or a number is not finite;
/// [`IoError::Unsupported`] for versions before 4.
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
    /// Adds warnings about the content.
    fn warned(mut self, unused: u64) -> Self {
        let length = |strand: &[[f32; 4]]| -> f32 {
            let steps = strand.windows(2);
            let apart = |w: &[[f32; 4]]| (0..3).map(|c| (w[1][c] - w[0][c]).powi(2)).sum::<f32>();
            steps.map(|w| apart(w).sqrt()).sum()
        };
        let short = self.strands().filter(|s| length(s) < NO_LENGTH).count();
        if short > 0 {
            let message = format!(
                "{short} strands are shorter than {NO_LENGTH:e} file units; they have no direction"
            );
            self.warnings
                .push(warning("strands_without_length", message));
        }
        if unused > 0 {
            let message = format!("{unused} bytes at the end of the file are unused");
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
    /// Offsets of vertices, root UVs, vertex UVs, thickness, colours; 0 if missing, except for vertices.
    offsets: [u64; 5],
}

/// A section of the file.
struct Section {
    what: &'static str,
    /// Position of its offset in the header.
    offset_at: usize,
    offset: u64,
    count: u64,
    /// Floats per entry.
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
                format!("at least {HEADER} bytes"),
            ));
        };
        let words = header.as_chunks::<4>().0;
        let number = |at: usize| u32::from_le_bytes(words[at]);
        let version = f32::from_le_bytes(words[0]);
        if !version.is_finite() || version < 4.0 {
            return Err(IoError::Unsupported {
                path: path.to_owned(),
                location: "bytes 0 to 3".into(),
                feature: format!(".tfx version {version}"),
                help: "use version 4.0 or later".into(),
            });
        }
        let vertices_per_strand = number(2) as usize;
        if vertices_per_strand < 2 {
            return Err(malformed(
                path,
                "bytes 8 to 11, vertices per strand",
                vertices_per_strand.to_string(),
                "at least 2",
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

    /// The header itself if the file has all strands. If the exporter starts with an offset, it counts strands that it
    /// leaves out. If the file length fits the existing strands and their texture coordinates exactly, gives a header
    /// with the number of existing strands. The flag is true if the header is unchanged.
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
        // A truncated file rarely has the length of whole strands. A count far above the existing strands is not that
        // exporter error.
        if self.strand_count > count.saturating_mul(2).saturating_add(64) {
            return Err(malformed(
                path,
                "bytes 4 to 7, strands",
                format!("{} strands in a file of {there} bytes", self.strand_count),
                format!(
                    "at most {count} strands, or a file of {} bytes",
                    ends.unwrap_or(there)
                ),
            ));
        }
        warnings.push(warning(
            "fewer_strands",
            format!(
                "the header states {} strands, but the file has {count}; Sinew reads {count}",
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

    /// End of the section in bytes; 0 if it is missing.
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
        let location = || {
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
                location(),
                format!("offset {}", self.offset),
                format!("an offset of at least {HEADER}, after the header"),
            ));
        }
        let range = usize::try_from(self.offset)
            .ok()
            .zip(usize::try_from(self.end()).ok());
        let Some(part) = range.and_then(|(start, end)| bytes.get(start..end)) else {
            return Err(malformed(
                path,
                location(),
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
