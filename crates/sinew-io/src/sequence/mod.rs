//! Numbered mesh files: `splash_0001.ply`, `splash_0002.ply`, ..

use crate::fault::{cannot_read, file_stem, malformed, warning};
use crate::obj::{read_obj, write_obj};
use crate::ply::{PlyOptions, read_ply, write_ply};
use crate::{AtomicDir, FrameCache, IoError, Surface};
use sinew_geom::{Asset, Mesh, MeshSequence, Warning};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The files of a sequence, found but not read.
#[derive(Clone, Debug, Default)]
pub struct SequenceFiles {
    /// What the names have in common, without separators at its end.
    pub name: String,
    /// Number and path of each file, by rising number.
    pub files: Vec<(i64, PathBuf)>,
    /// Gaps in the numbers.
    pub warnings: Vec<Warning>,
}

/// A file name around its last run of digits.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Pattern {
    prefix: String,
    suffix: String,
}

/// Finds the files of a sequence. `path` is one of them (`splash_0007.ply`), a pattern with `#` in the place of the
/// number (`splash_####.ply`, any number of digits matches), or a folder that holds one sequence of OBJ or PLY files.
///
/// # Errors
/// [`IoError::Read`] where the folder or the file that is named cannot be read, [`IoError::Unsupported`] for files of other kinds,
/// [`IoError::Malformed`] where no file fits or a folder holds several sequences.
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
    let wanted = if is_folder {
        None
    } else if let Some(pattern) = hash_pattern(&name) {
        Some(pattern)
    } else if let Err(source) = std::fs::metadata(path) {
        return Err(cannot_read(path)(source));
    } else if MeshFormat::of(path).is_none() {
        return Err(not_a_mesh(path));
    } else if let Some((pattern, _)) = numbered(&name) {
        Some(pattern)
    } else {
        return Err(malformed(
            path,
            "file name",
            format!("'{}'", name.escape_debug()),
            "a number or #### before the extension",
        ));
    };
    let mut found: BTreeMap<Pattern, BTreeMap<i64, PathBuf>> = BTreeMap::new();
    for entry in std::fs::read_dir(folder).map_err(cannot_read(folder))? {
        let entry = entry.map_err(cannot_read(folder))?;
        let Some((pattern, number)) = entry.file_name().to_str().and_then(numbered) else {
            continue;
        };
        let fits = match &wanted {
            Some(wanted) => pattern == *wanted,
            None => MeshFormat::of(Path::new(&pattern.suffix)).is_some(),
        };
        if fits {
            found
                .entry(pattern)
                .or_default()
                .insert(number, entry.path());
        }
    }
    let several: Vec<String> = found
        .keys()
        .map(|p| format!("{}#{}", p.prefix, p.suffix))
        .collect();
    match (found.pop_first(), several.as_slice()) {
        (Some((pattern, files)), [_]) => Ok(SequenceFiles {
            name: pattern
                .prefix
                .trim_end_matches(['_', '.', '-', ' '])
                .to_owned(),
            warnings: gaps(&files),
            files: files.into_iter().collect(),
        }),
        (None, _) if is_folder => Err(malformed(
            path,
            "folder",
            content_of(folder),
            "OBJ or PLY files with a number before the extension (splash_0001.ply)",
        )),
        (None, _) => Err(malformed(
            path,
            "file name",
            "no file that fits it",
            "numbered files",
        )),
        _ => Err(malformed(
            path,
            "folder",
            several.join(", "),
            "one sequence; name one of its files",
        )),
    }
}

/// What is in a folder, for people who named the wrong one: endings and folders, with their numbers.
fn content_of(folder: &Path) -> String {
    let mut kinds: BTreeMap<String, usize> = BTreeMap::new();
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        let ending = path.extension().map(|e| e.to_string_lossy().into_owned());
        let kind = match ending {
            _ if path.is_dir() => "folders".into(),
            Some(ending) => format!(".{} files without a number", ending.escape_debug()),
            None => "files without ending".into(),
        };
        let kind = match MeshFormat::of(&path) {
            None => kind.replace(" without a number", ""),
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
        place: "extension".into(),
        feature: "this kind of mesh file".into(),
        help: "OBJ and PLY are read as meshes".into(),
    }
}

/// Splits at the last run of digits before the extension.
fn numbered(name: &str) -> Option<(Pattern, i64)> {
    let stem_end = name.rfind('.').unwrap_or(name.len());
    let stem = &name[..stem_end];
    let start = stem.trim_end_matches(|c: char| c.is_ascii_digit()).len();
    let number = stem[start..].parse().ok()?;
    let pattern = Pattern {
        prefix: stem[..start].to_owned(),
        suffix: name[stem_end..].to_owned(),
    };
    Some((pattern, number))
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

fn gaps(files: &BTreeMap<i64, PathBuf>) -> Vec<Warning> {
    let numbers: Vec<i64> = files.keys().copied().collect();
    let missing: Vec<String> = numbers
        .windows(2)
        .filter(|w| w[1] - w[0] > 1)
        .map(|w| match w[1] - w[0] {
            2 => (w[0] + 1).to_string(),
            _ => format!("{}-{}", w[0] + 1, w[1] - 1),
        })
        .collect();
    if missing.is_empty() {
        return Vec::new();
    }
    let message = match missing.as_slice() {
        [one] if !one[1..].contains('-') => format!("number {one} is missing"),
        several => format!("numbers {} are missing", several.join(", ")),
    };
    vec![warning("sequence_gaps", message)]
}

/// A format of mesh files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MeshFormat {
    /// Wavefront OBJ.
    Obj,
    /// Stanford PLY.
    Ply(PlyOptions),
}

impl MeshFormat {
    /// By extension; `None` for others than `obj` and `ply`.
    pub fn of(path: &Path) -> Option<Self> {
        // An extension alone (`.ply`) counts as well.
        let name = path.file_name()?.to_str()?.to_ascii_lowercase();
        match name.rsplit_once('.')?.1 {
            "obj" => Some(Self::Obj),
            "ply" => Some(Self::Ply(PlyOptions::default())),
            _ => None,
        }
    }

    fn write(self, path: &Path, surfaces: &[Surface<'_>]) -> Result<(), IoError> {
        match self {
            Self::Obj => write_obj(path, surfaces),
            Self::Ply(options) => write_ply(path, surfaces, options),
        }
    }
}

/// Reads an OBJ or PLY file by its extension.
///
/// # Errors
/// Those of the reader; [`IoError::Unsupported`] for other extensions.
pub fn read_mesh(path: &Path) -> Result<Asset, IoError> {
    match MeshFormat::of(path) {
        Some(MeshFormat::Obj) => read_obj(path),
        Some(MeshFormat::Ply(_)) => read_ply(path),
        None => Err(not_a_mesh(path)),
    }
}

impl SequenceFiles {
    /// Reads all files. Warnings that several frames share are said once, with the number of frames.
    ///
    /// # Errors
    /// Those of [`read_mesh`] for the first file that fails.
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
        warnings.extend(repeated.into_values().map(|(w, frames)| match frames {
            1 => w,
            _ => warning(w.code, format!("in {frames} frames, first: {}", w.message)),
        }));
        Ok((sequence, warnings))
    }
}

/// Reads a sequence (see [`find_sequence`]) as an asset whose one mesh is the first frame.
///
/// # Errors
/// Those of [`find_sequence`] and [`SequenceFiles::read`].
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

/// Writes each frame of a cache as a file numbered from `first_number`. `path` is a pattern (`out_####.obj`) or a name
/// (`out.obj`, which becomes `out_0001.obj` and so on); its extension chooses nothing. All files appear at the end.
///
/// # Errors
/// [`IoError::Malformed`] where the cache's counts do not fit each other, [`IoError::Write`] where the disk refuses.
pub fn write_frame_sequence(
    path: &Path,
    format: MeshFormat,
    cache: &FrameCache<'_>,
    first_number: i64,
) -> Result<(), IoError> {
    cache.check(path)?;
    let frames = 0..cache.times_secs.len();
    write_numbered(path, format, (first_number..).zip(frames), |k| {
        let of = |m| Surface::of_frame(m, &m.frames[k]);
        cache.meshes.iter().map(of).collect()
    })
}

/// Writes a sequence whose topology may change, with its own numbers; `path` as in [`write_frame_sequence`].
///
/// # Errors
/// As [`write_frame_sequence`].
pub fn write_mesh_sequence(
    path: &Path,
    format: MeshFormat,
    sequence: &MeshSequence,
) -> Result<(), IoError> {
    let (frames, numbers) = (sequence.frames.len(), sequence.numbers.len());
    if frames != numbers {
        return Err(malformed(
            path,
            "numbers of the sequence",
            numbers.to_string(),
            frames.to_string(),
        ));
    }
    let numbered = sequence.numbers.iter().copied().zip(&sequence.frames);
    write_numbered(path, format, numbered, |mesh: &Mesh| {
        vec![Surface::from(mesh)]
    })
}

fn write_numbered<'a, F>(
    path: &Path,
    format: MeshFormat,
    frames: impl Iterator<Item = (i64, F)>,
    surfaces: impl Fn(F) -> Vec<Surface<'a>>,
) -> Result<(), IoError> {
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
    for (number, frame) in frames {
        let file = folder.stage(&format!(
            "{}{number:0digits$}{}",
            pattern.prefix, pattern.suffix
        ))?;
        format.write(&file, &surfaces(frame))?;
    }
    folder.commit()
}

#[cfg(test)]
mod tests;
