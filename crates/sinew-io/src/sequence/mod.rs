//! Numbered mesh files: `splash_0001.ply`, `splash_0002.ply`, .. or `frame_1_mesh.obj`, `frame_2_mesh.obj`, ..

use crate::fault::{cannot_read, file_stem, malformed, warning};
use crate::obj::{parse_obj_from, write_obj};
use crate::ply::{PlyOptions, parse_ply_from, write_ply};
use crate::{AtomicDir, FileBox, IoError, Surface};
use sinew_geom::{Asset, MeshSequence, Warning};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// The files of a sequence, found but not read.
#[derive(Clone, Debug, Default)]
pub struct SequenceFiles {
    /// Common part of the names before the number, without trailing separators.
    pub name: String,
    /// Frame number and path of each file, by increasing number.
    pub files: Vec<(i64, PathBuf)>,
    /// Gaps in the frame numbers.
    pub warnings: Vec<Warning>,
}

/// A file name around its frame number.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Pattern {
    prefix: String,
    suffix: String,
}

impl Pattern {
    /// True if a minus after the prefix is a sign, as in `splash_-003.ply`, and not a separator, as in
    /// `splash-003.ply`.
    fn takes_sign(prefix: &str) -> bool {
        prefix.is_empty() || prefix.ends_with(SEPARATORS)
    }

    /// The frame number of a file name; `None` if the name does not match.
    fn number_in(&self, name: &str) -> Option<i64> {
        let middle = name.strip_prefix(self.prefix.as_str())?;
        let number = middle.strip_suffix(self.suffix.as_str())?;
        let digits = match number.strip_prefix('-') {
            Some(digits) if Self::takes_sign(&self.prefix) => digits,
            _ => number,
        };
        let are_digits = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
        are_digits.then(|| number.parse().ok()).flatten()
    }

    /// True if the number is directly before the extension.
    fn ends_with_number(&self) -> bool {
        self.suffix.rfind('.').is_none_or(|dot| dot == 0)
    }
}

impl std::fmt::Display for Pattern {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}#{}", self.prefix, self.suffix)
    }
}

/// Characters that separate a number from the rest of a file name.
const SEPARATORS: [char; 4] = ['_', '.', '-', ' '];

/// Finds the files of a sequence.
///
/// | `path` | example |
/// |---|---|
/// | one of the files | `splash_0007.ply` |
/// | a pattern with `#` for the number; any number of digits matches | `splash_####.ply`, `frame_####_mesh.ply` |
/// | a folder with one sequence of OBJ or PLY files | `splash` |
///
/// If a name has several numbers, the frame number is the one in which most files of the folder differ, else the last.
/// A minus after a separator is a sign: `splash_-003.ply` comes before `splash_0000.ply`.
///
/// # Errors
/// [`IoError::Read`] if the folder or the file cannot be read; [`IoError::Unsupported`] for other kinds of file;
/// [`IoError::NoPlainFile`] for a pipe or a device among the files; [`IoError::Malformed`] if no file matches, two
/// files have the same number (`a_1.ply`, `a_01.ply`), or a folder contains several sequences.
pub fn find_sequence(path: &Path) -> Result<SequenceFiles, IoError> {
    let name = path
        .file_name()
        .map(|n| n.to_string_lossy().into_owned())
        .unwrap_or_default();
    let is_folder = path.is_dir();
    let folder = match path.parent() {
        _ if is_folder => path,
        Some(p) if !p.as_os_str().is_empty() => p,
        _ => Path::new("."),
    };
    let given = hash_pattern(&name).filter(|_| !is_folder);
    if !is_folder && given.is_none() {
        if let Err(source) = std::fs::metadata(path) {
            return Err(cannot_read(path)(source));
        } else if MeshFormat::of(path).is_none() {
            return Err(not_a_mesh(path));
        } else if patterns(&name).is_empty() {
            return Err(malformed(
                path,
                "file name",
                format!("'{}'", name.escape_debug()),
                "a sequence: a frame number in the name, for example square_0001.obj, or #### in its place",
            ));
        }
    }
    let mut names = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(cannot_read(folder))? {
        let entry = entry.map_err(cannot_read(folder))?;
        names.extend(entry.file_name().into_string());
    }
    names.sort();
    let found = match given {
        Some(pattern) => vec![pattern],
        None => {
            names.retain(|n| MeshFormat::of(Path::new(n)).is_some());
            sequences(&names, (!is_folder).then_some(&name))
        }
    };
    let mut files: Vec<(i64, &String)> = match found.as_slice() {
        [pattern] => {
            let numbered = names.iter().map(|n| (pattern.number_in(n), n));
            numbered.filter_map(|(k, n)| Some((k?, n))).collect()
        }
        _ => Vec::new(),
    };
    files.sort();
    if let Some([one, other]) = files.array_windows().find(|[a, b]| a.0 == b.0) {
        return Err(malformed(
            path,
            "file names",
            format!(
                "'{}' and '{}' with the same frame number {}",
                one.1, other.1, one.0
            ),
            "one file per frame number; rename or remove one of them",
        ));
    }
    match found.as_slice() {
        [pattern] if !files.is_empty() => {
            let numbers: Vec<i64> = files.iter().map(|f| f.0).collect();
            let files: Vec<_> = files
                .into_iter()
                .map(|(k, n)| (k, folder.join(n)))
                .collect();
            // A pipe would wait for its writer, a device may have no end.
            let is_other = |f: &&(i64, PathBuf)| f.1.metadata().is_ok_and(|m| !m.is_file());
            if let Some((_, path)) = files.iter().find(is_other) {
                return Err(IoError::NoPlainFile { path: path.clone() });
            }
            Ok(SequenceFiles {
                name: pattern.prefix.trim_end_matches(SEPARATORS).to_owned(),
                warnings: gaps(&numbers),
                files,
            })
        }
        [] if is_folder => Err(malformed(
            path,
            "folder",
            content_of(folder),
            "OBJ or PLY files with a frame number in their names (splash_0001.ply)",
        )),
        [] | [_] => Err(malformed(
            path,
            "file name",
            "no matching files",
            "numbered files",
        )),
        several => {
            let several: Vec<String> = several.iter().map(Pattern::to_string).collect();
            Err(malformed(
                path,
                "folder",
                several.join(", "),
                "one sequence; give the path of one of its files instead of the folder",
            ))
        }
    }
}

/// The sequences in a list of names, or that of one name. Each name belongs to the pattern that most names match; of
/// equal ones, to that of the last number. A single file with a number inside its name does not count if there are
/// others.
fn sequences(names: &[String], of: Option<&String>) -> Vec<Pattern> {
    let mut counts: BTreeMap<Pattern, usize> = BTreeMap::new();
    for pattern in names.iter().flat_map(|n| patterns(n)) {
        *counts.entry(pattern).or_default() += 1;
    }
    let count = |p: &Pattern| counts.get(p).copied().unwrap_or(0);
    // `max_by_key` gives the last of equal ones.
    let best = |n: &String| patterns(n).into_iter().max_by_key(count);
    let wanted = names.iter().filter(|n| of.is_none_or(|of| of == *n));
    let found: BTreeSet<Pattern> = wanted.filter_map(best).collect();
    let is_plain = |p: &&Pattern| p.ends_with_number() || count(p) > 1;
    match found.iter().any(|p| is_plain(&p)) {
        true => found.iter().filter(is_plain).cloned().collect(),
        false => found.into_iter().collect(),
    }
}

/// Content of a folder for an error message: counts of extensions and folders.
fn content_of(folder: &Path) -> String {
    let mut kinds: BTreeMap<String, usize> = BTreeMap::new();
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        let ending = path.extension().map(|e| e.to_string_lossy().into_owned());
        let kind = match ending {
            _ if path.is_dir() => "folders".into(),
            Some(ending) => format!(".{} files without a frame number", ending.escape_debug()),
            None => "files without an extension".into(),
        };
        let kind = match MeshFormat::of(&path) {
            None => kind.replace(" without a frame number", ""),
            Some(_) => kind,
        };
        *kinds.entry(kind).or_default() += 1;
    }
    let all: Vec<String> = kinds.into_iter().map(|(k, n)| format!("{n} {k}")).collect();
    match all.is_empty() {
        true => "nothing".into(),
        false => all.join(", "),
    }
}

fn not_a_mesh(path: &Path) -> IoError {
    IoError::Unsupported {
        path: path.to_owned(),
        location: "extension".into(),
        feature: "this format of mesh file".into(),
        help: "use OBJ or PLY".into(),
    }
}

/// The patterns of a name: one per number before the extension, the last number at the end.
fn patterns(name: &str) -> Vec<Pattern> {
    let stem_end = name.rfind('.').unwrap_or(name.len());
    let mut out = Vec::new();
    let mut rest = 0;
    while let Some(start) = name[rest..stem_end].find(|c: char| c.is_ascii_digit()) {
        let start = rest + start;
        let digits = name[start..stem_end].bytes();
        let end = start + digits.take_while(u8::is_ascii_digit).count();
        rest = end;
        let prefix = name[..start].strip_suffix('-');
        let pattern = Pattern {
            prefix: prefix
                .filter(|p| Pattern::takes_sign(p))
                .unwrap_or(&name[..start])
                .to_owned(),
            suffix: name[end..].to_owned(),
        };
        // Excludes digits that exceed the number type.
        if pattern.number_in(name).is_some() {
            out.push(pattern);
        }
    }
    out
}

fn hash_pattern(name: &str) -> Option<Pattern> {
    let (start, end) = (name.find('#')?, name.rfind('#')? + 1);
    let pattern = Pattern {
        prefix: name[..start].to_owned(),
        suffix: name[end..].to_owned(),
    };
    name[start..end]
        .bytes()
        .all(|b| b == b'#')
        .then_some(pattern)
}

fn gaps(numbers: &[i64]) -> Vec<Warning> {
    let missing: Vec<(i64, i64)> = numbers
        .windows(2)
        .filter(|w| w[0].abs_diff(w[1]) > 1)
        .map(|w| (w[0] + 1, w[1] - 1))
        .collect();
    let said = |&(first, last): &(i64, i64)| match first {
        _ if first == last => first.to_string(),
        ..0 => format!("{first} to {last}"),
        _ => format!("{first}-{last}"),
    };
    let message = match missing.as_slice() {
        [] => return Vec::new(),
        [(first, last)] if first == last => format!("frame number {first} is missing"),
        several => {
            let several: Vec<String> = several.iter().map(said).collect();
            format!("frame numbers {} are missing", several.join(", "))
        }
    };
    vec![warning("sequence_gaps", message)]
}

/// Format of mesh files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MeshFormat {
    /// Wavefront OBJ.
    Obj,
    /// Stanford PLY.
    Ply(PlyOptions),
}

impl MeshFormat {
    /// Format by extension: `obj` or `ply`, else `None`.
    pub fn of(path: &Path) -> Option<Self> {
        // An extension alone (`.ply`) counts, too.
        let name = path.file_name()?.to_str()?.to_ascii_lowercase();
        match name.rsplit_once('.')?.1 {
            "obj" => Some(Self::Obj),
            "ply" => Some(Self::Ply(PlyOptions::default())),
            _ => None,
        }
    }

    /// Writes meshes into one file, one object each in OBJ, all together in PLY.
    ///
    /// # Errors
    /// [`IoError::Malformed`] if counts of a mesh do not match; [`IoError::Write`] if the file cannot be written.
    pub fn write(self, path: &Path, surfaces: &[Surface<'_>]) -> Result<(), IoError> {
        match self {
            Self::Obj => write_obj(path, surfaces),
            Self::Ply(options) => write_ply(path, surfaces, options),
        }
    }
}

/// Reads an OBJ or PLY file by its extension.
///
/// # Errors
/// Errors of the reader; [`IoError::Unsupported`] for other extensions.
pub fn read_mesh(path: &Path) -> Result<Asset, IoError> {
    Ok(read_mesh_from(path, [0.0; 3])?.0)
}

/// [`read_mesh`] with positions relative to `origin`, subtracted in double precision. Also gives the file's bounding
/// box and rounding error. With [`FileBox::origin`] as `origin`, the rounding error is negligible.
///
/// # Errors
/// As [`read_mesh`].
pub fn read_mesh_from(path: &Path, origin: [f64; 3]) -> Result<(Asset, FileBox), IoError> {
    let bytes = || std::fs::read(path).map_err(cannot_read(path));
    match MeshFormat::of(path) {
        Some(MeshFormat::Obj) => parse_obj_from(&bytes()?, path, origin),
        Some(MeshFormat::Ply(_)) => parse_ply_from(&bytes()?, path, origin),
        None => Err(not_a_mesh(path)),
    }
}

impl SequenceFiles {
    /// Reads all files. A warning of several frames is given once, with the number of frames.
    ///
    /// # Errors
    /// Errors of [`read_mesh`] for the first file that fails.
    pub fn read(&self) -> Result<(MeshSequence, Vec<Warning>), IoError> {
        let mut sequence = MeshSequence::default();
        let mut repeated: BTreeMap<&'static str, (Warning, usize)> = BTreeMap::new();
        for (number, path) in &self.files {
            let asset = read_mesh(path)?;
            sequence.frames.extend(asset.meshes);
            sequence.numbers.push(*number);
            for w in asset.warnings {
                repeated.entry(w.code).or_insert((w, 0)).1 += 1;
            }
        }
        let mut warnings = self.warnings.clone();
        let triangles = sequence.frames.iter().map(|f| f.topology.triangles().len());
        warnings.extend(self.empty_frames(&triangles.collect::<Vec<_>>()));
        warnings.extend(repeated.into_values().map(|(w, frames)| match frames {
            1 => w,
            _ => warning(w.code, format!("in {frames} frames, first: {}", w.message)),
        }));
        Ok((sequence, warnings))
    }

    /// Warns about frames without triangles between frames with triangles: their export may have failed. `triangles` is
    /// the triangle count of each file.
    pub fn empty_frames(&self, triangles: &[usize]) -> Option<Warning> {
        let first = triangles.iter().position(|n| *n > 0)?;
        let last = triangles.iter().rposition(|n| *n > 0)?;
        let between = self.files.iter().zip(triangles).take(last).skip(first);
        let mut empty: Vec<String> = between
            .filter(|(_, triangles)| **triangles == 0)
            .map(|((number, path), _)| {
                let name = path.file_name().unwrap_or_default();
                format!("{number} ('{}')", name.display())
            })
            .collect();
        let count = empty.len();
        empty.truncate(8);
        let frames = match count {
            0 => return None,
            1 => format!("frame {} has", empty[0]),
            2..=8 => format!("frames {} have", empty.join(", ")),
            _ => format!("frames {} and {} more have", empty.join(", "), count - 8),
        };
        let message = format!(
            "{frames} no triangles, but frames before and after have some; export these frames again if they should not be empty"
        );
        Some(warning("frames_without_triangles", message))
    }
}

/// Reads a sequence (see [`find_sequence`]) as an asset. Its mesh is the first frame.
///
/// # Errors
/// Errors of [`find_sequence`] and [`SequenceFiles::read`].
pub fn read_sequence(path: &Path) -> Result<Asset, IoError> {
    let files = find_sequence(path)?;
    let (sequence, warnings) = files.read()?;
    let name = if files.name.is_empty() {
        file_stem(path)
    } else {
        files.name
    };
    Ok(Asset {
        name,
        meshes: sequence.frames.first().cloned().into_iter().collect(),
        sequence: Some(sequence),
        warnings,
        ..Asset::default()
    })
}

/// Writes a sequence with its own frame numbers. Its topology may change. `path` is a pattern (`out_####.obj`) or a name
/// (`out.obj`, which gives `out_0001.obj` and so on). `format` chooses the format, not the extension. All files appear
/// at the end.
///
/// # Errors
/// [`IoError::Malformed`] if there are not as many numbers as frames; [`IoError::Write`] if the files cannot be written.
pub fn write_mesh_sequence(
    path: &Path,
    format: MeshFormat,
    sequence: &MeshSequence,
) -> Result<(), IoError> {
    let (frames, numbers) = (sequence.frames.len(), sequence.numbers.len());
    if frames != numbers {
        return Err(malformed(
            path,
            "frame numbers of the sequence",
            numbers.to_string(),
            frames.to_string(),
        ));
    }
    let name = path
        .file_name()
        .map(|n| n.to_string_lossy().into_owned())
        .unwrap_or_default();
    let (pattern, digits) = match hash_pattern(&name) {
        Some(pattern) => {
            let digits = name.len() - pattern.prefix.len() - pattern.suffix.len();
            (pattern, digits)
        }
        None => {
            let (stem, dot) = name.split_at(name.rfind('.').unwrap_or(name.len()));
            let pattern = Pattern {
                prefix: format!("{stem}_"),
                suffix: dot.to_owned(),
            };
            (pattern, 4)
        }
    };
    let mut folder = AtomicDir::create(path.parent().unwrap_or(Path::new(".")))?;
    for (number, mesh) in sequence.numbers.iter().zip(&sequence.frames) {
        let file = folder.stage(&format!(
            "{}{number:0digits$}{}",
            pattern.prefix, pattern.suffix
        ))?;
        format.write(&file, &[Surface::from(mesh)])?;
    }
    folder.commit()
}

#[cfg(test)]
mod tests;
