//! A bake and its work folder.

use super::records::{FRAMES, KINDS, MeshRecord, PLAN_FILE};
use super::settings::{VatSettings, is_device_of_windows, is_plain};
use crate::work::{Work, hash_of, unsealed};
use crate::{BakeError, CarrierMaterial, FrameRange, FrameSource};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use sinew_geom::{Mesh, Warning};
use sinew_io::SequenceFiles;
use std::path::{Path, PathBuf};

/// File that says what a work folder is for.
const FILE: &str = "job.json";
const FORMAT: &str = "sinew_vat_work";
const VERSION: u32 = 2;

/// A bake and its work folder: all that steps after the scan need to know.
#[derive(Clone, Debug)]
pub struct VatJob {
    pub(crate) work: Work,
    pub(crate) content: JobContent,
    /// Changes with the settings, the frames and this program's version.
    pub(crate) key: String,
    /// What another job in the folder had otherwise.
    replaced: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct JobContent {
    format: String,
    version: u32,
    program: String,
    pub(crate) name: String,
    /// What the sequence is called, with characters that files may not have.
    #[serde(default)]
    pub(crate) sequence: String,
    pub(crate) settings: VatSettings,
    pub(crate) frames: Vec<JobFrame>,
    /// None where all frames are one clip.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    clips: Vec<FrameRange>,
    /// Where positions are counted from, metres in the axes of glTF.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    origin: Option<[f64; 3]>,
    /// Materials of the source.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) materials: Vec<CarrierMaterial>,
}

/// What a frame is called, and what it is made from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct JobFrame {
    pub(crate) number: i64,
    pub(crate) key: String,
    /// The name of its file, where it has one of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) file: Option<String>,
}

impl VatJob {
    /// Says in a work folder what it is for; makes the folder where it is missing. Records of other settings or frames stay, and
    /// are replaced one by one.
    ///
    /// # Errors
    /// [`BakeError::Setting`], [`BakeError::NoFrames`], [`BakeError::Io`].
    pub fn begin(
        folder: &Path,
        source: &dyn FrameSource,
        settings: &VatSettings,
    ) -> Result<Self, BakeError> {
        settings.check()?;
        check_folder(folder)?;
        let frame = |i| {
            let (number, key) = (source.number(i), source.key(i)?);
            let file = source.file(i);
            let file = file.and_then(|p| Some(p.file_name()?.to_string_lossy().into_owned()));
            Ok::<_, BakeError>(JobFrame { number, key, file })
        };
        // Keys of files cost reading them.
        let frames: Vec<_> = (0..source.frame_count())
            .into_par_iter()
            .map(frame)
            .collect::<Result<_, _>>()?;
        if frames.is_empty() {
            let name = source.name().to_owned();
            return Err(BakeError::NoFrames { name });
        }
        let content = JobContent {
            format: FORMAT.into(),
            version: VERSION,
            program: env!("CARGO_PKG_VERSION").into(),
            name: name_of(source.name(), settings),
            sequence: source.name().into(),
            settings: settings.clone(),
            frames,
            clips: source.clips(),
            origin: source.origin(),
            materials: source.materials(),
        };
        content.check_clips().map_err(|found| BakeError::Setting {
            setting: "clips",
            found,
            expected: "clips of one frame at least, one behind the other, that are all frames together",
        })?;
        let text = serde_json::to_string_pretty(&content).unwrap_or_default();
        let work = Work::at(folder);
        let before = sinew_io::read_text(&work.file(FILE)).ok();
        let is_other = work.write_text(FILE, &text)?;
        let replaced = before.filter(|_| is_other);
        let key = hash_of(text.as_bytes());
        Ok(Self {
            work,
            key,
            replaced: replaced.map(|text| content.differences_from(&text)),
            content,
        })
    }

    /// What is other than in the job that the folder held before, in words; the records of that count for nothing now.
    pub fn replaced(&self) -> Option<&str> {
        self.replaced.as_deref()
    }

    /// The job of a work folder.
    ///
    /// # Errors
    /// [`BakeError::Io`], and [`BakeError::Json`] where the folder's `job.json` is none of this version.
    pub fn open(folder: &Path) -> Result<Self, BakeError> {
        check_links(folder)?;
        let work = Work::at(folder);
        let path = work.file(FILE);
        if !path.exists() {
            let folder = folder.to_owned();
            return Err(BakeError::NoJob { folder, file: FILE });
        }
        let text = sinew_io::read_text(&path)?;
        let fault = |message: String| BakeError::Json {
            path: path.clone(),
            message,
        };
        let content: JobContent = serde_json::from_str(&text).map_err(|e| fault(e.to_string()))?;
        let (found, program) = (content.version, env!("CARGO_PKG_VERSION"));
        if content.format != FORMAT || found != VERSION {
            let format = &content.format;
            let message =
                format!("a {format} of version {found}, expected a {FORMAT} of version {VERSION}");
            return Err(fault(message));
        }
        if content.program != program {
            let found = &content.program;
            return Err(fault(format!(
                "made by version {found} of this program, which is {program}"
            )));
        }
        content.settings.check()?;
        content.check_clips().map_err(&fault)?;
        let key = hash_of(text.as_bytes());
        Ok(Self {
            work,
            content,
            key,
            replaced: None,
        })
    }

    /// Number of frames.
    pub fn frame_count(&self) -> usize {
        self.content.frames.len()
    }

    /// Its clips, one behind the other; one at least.
    pub fn clips(&self) -> Vec<FrameRange> {
        if !self.content.clips.is_empty() {
            return self.content.clips.clone();
        }
        vec![FrameRange {
            name: self.content.name.clone(),
            first: 0,
            count: self.frame_count(),
        }]
    }

    /// Whether a frame is the last one of its clip: what is behind it has nothing to do with it.
    pub(crate) fn ends_clip(&self, frame: usize) -> bool {
        let clips = self.content.clips.iter();
        let ends = |c: &FrameRange| frame + 1 == c.first + c.count;
        frame + 1 >= self.frame_count() || clips.into_iter().any(ends)
    }

    /// Name of the bake.
    pub fn name(&self) -> &str {
        &self.content.name
    }

    /// What the sequence is called.
    pub fn sequence(&self) -> &str {
        &self.content.sequence
    }

    /// What is wanted.
    pub fn settings(&self) -> &VatSettings {
        &self.content.settings
    }

    /// Where positions are counted from, metres in the axes of glTF.
    pub(crate) fn origin(&self) -> Option<[f64; 3]> {
        self.content.origin
    }

    /// Names the files without triangles between others of their clip; `triangles` has the number of each frame.
    pub(crate) fn empty_frames(&self, triangles: &[usize]) -> Vec<Warning> {
        let clips = self.clips().into_iter();
        let of_clip = |clip: FrameRange| {
            let frames = clip.first..clip.first + clip.count;
            let files = self.content.frames.get(frames.clone())?.iter();
            let files = files.map(|f| Some((f.number, PathBuf::from(f.file.as_ref()?))));
            let files = SequenceFiles {
                files: files.collect::<Option<_>>()?,
                ..SequenceFiles::default()
            };
            files.empty_frames(triangles.get(frames)?)
        };
        clips.filter_map(of_clip).collect()
    }

    /// Number of a frame, as the user knows it; records may name frames that are not there.
    pub(crate) fn number(&self, frame: usize) -> i64 {
        let found = self.content.frames.get(frame);
        found.map_or(frame as i64, |f| f.number)
    }
}

impl JobContent {
    /// What is other than in the text of another job.
    fn differences_from(&self, before: &str) -> String {
        let Ok(before) = serde_json::from_str::<Self>(before) else {
            return "the job of another version of this program".into();
        };
        let mut out = Vec::new();
        if before.program != self.program {
            out.push(format!("version {} of this program", before.program));
        }
        if before.settings != self.settings {
            let names = differing_fields(&before.settings, &self.settings);
            out.push(format!("other settings ({})", names.join(", ")));
        }
        if (&before.sequence, &before.name) != (&self.sequence, &self.name) {
            out.push(format!("the name '{}' ({})", before.name, before.sequence));
        }
        if before.clips != self.clips {
            out.push("other clips".into());
        }
        if before.frames.len() != self.frames.len() {
            out.push(format!("{} frames", before.frames.len()));
        } else if before.frames != self.frames {
            let pairs = before.frames.iter().zip(&self.frames);
            let others = pairs.filter(|(a, b)| a != b).map(|(_, b)| b.number);
            let others = crate::work::frames_words(&others.collect::<Vec<_>>());
            out.push(format!("other content of {others}"));
        }
        out.join(", ")
    }

    fn check_clips(&self) -> Result<(), String> {
        let mut end = 0;
        for clip in &self.clips {
            if clip.first != end || clip.count == 0 {
                let FrameRange { name, first, count } = clip;
                return Err(format!("clip '{name}' of {count} frames from {first} on"));
            }
            end += clip.count;
        }
        match self.clips.is_empty() || end == self.frames.len() {
            true => Ok(()),
            false => Err(format!(
                "clips of {end} frames, {} frames",
                self.frames.len()
            )),
        }
    }
}

/// Names of the settings that are not the same.
fn differing_fields(a: &VatSettings, b: &VatSettings) -> Vec<String> {
    let fields = |s: &VatSettings| serde_json::to_value(s).unwrap_or_default();
    let (a, b) = (fields(a), fields(b));
    let names = a.as_object().into_iter().flat_map(|o| o.keys());
    let differs = |name: &&String| a.get(name.as_str()) != b.get(name.as_str());
    names.filter(differs).cloned().collect()
}

/// Work would lie among the files of somebody else, or of a finished bake.
fn check_folder(folder: &Path) -> Result<(), BakeError> {
    let Some(first) = sinew_io::first_in_folder(folder)? else {
        return Ok(());
    };
    check_links(folder)?;
    let finished = sinew_io::files_ending_with(folder, ".vat.json")?;
    let found = match finished.first() {
        Some(manifest) => format!("the folder of a bake ({})", manifest.display()),
        None if is_work(folder) => return Ok(()),
        None => format!("a folder with other files in it ({})", first.display()),
    };
    Err(BakeError::Setting {
        setting: "work",
        found,
        expected: "an empty folder, or one with earlier work; name another one",
    })
}

/// Records would lie in somebody else's folder.
fn check_links(folder: &Path) -> Result<(), BakeError> {
    let folders = KINDS.iter().map(|kind| kind.0);
    match folders
        .into_iter()
        .find(|name| folder.join(name).is_symlink())
    {
        None => Ok(()),
        Some(name) => Err(BakeError::Setting {
            setting: "work",
            found: format!("a folder in which {name} is a link"),
            expected: "a folder that a bake made",
        }),
    }
}

/// Whether a folder says that it is for work, of whatever version.
fn is_work(folder: &Path) -> bool {
    let text = sinew_io::read_text(&folder.join(FILE)).unwrap_or_default();
    let job: serde_json::Value = serde_json::from_str(&text).unwrap_or_default();
    job["format"] == FORMAT
}

/// Removes what bakes leave in a work folder, and the folder. What else is in it stays, and with it the folder; gives whether it is gone.
///
/// # Errors
/// [`BakeError::Io`].
pub fn remove_work(folder: &Path) -> Result<bool, BakeError> {
    if !is_work(folder) {
        return Ok(!folder.exists());
    }
    for kind in KINDS {
        let records = folder.join(kind.0);
        if records.is_dir() {
            sinew_io::remove_files(&records, |name| kind.is_record(name) || is_left(name))?;
        }
    }
    Ok(sinew_io::remove_files(folder, |name| {
        [FILE, PLAN_FILE].contains(&name) || is_left(name)
    })?)
}

/// Whether a file is an unfinished one of a bake that was killed. No other bake can be at work: the folder is locked for the one that removes it.
fn is_left(name: &str) -> bool {
    name.starts_with(".sinew-") && name.ends_with(".tmp")
}

/// The record of a prepared frame.
pub(crate) fn mesh_of(job: &VatJob, frame: usize) -> Result<Mesh, BakeError> {
    let bytes = job.work.body(FRAMES, frame)?;
    let read: Option<MeshRecord> = bytes.and_then(|b| unsealed(&b, &job.key));
    read.map(Mesh::from)
        .ok_or_else(|| missing(job, &[frame], "prepared meshes", "scan"))
}

/// Records that a step needs and the step before did not leave.
pub(crate) fn missing(
    job: &VatJob,
    frames: &[usize],
    what: &'static str,
    step: &'static str,
) -> BakeError {
    let numbers: Vec<i64> = frames.iter().map(|f| job.number(*f)).collect();
    BakeError::Missing {
        folder: job.work.folder().to_owned(),
        what,
        frames: crate::work::frames_words(&numbers),
        step,
    }
}

/// What the files of a bake are called.
pub fn name_of(sequence: &str, settings: &VatSettings) -> String {
    match &settings.name {
        Some(name) => name.clone(),
        None => file_name_of(sequence),
    }
}

/// A name that files may have everywhere.
fn file_name_of(name: &str) -> String {
    let plain = |c: char| if is_plain(c) { c } else { '_' };
    let name: String = name.chars().map(plain).collect();
    match name.as_str() {
        "" => "sequence".into(),
        // `con.glb` is no file there.
        device if is_device_of_windows(device) => name + "_",
        _ => name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_of_all_scripts_stay() {
        for name in [
            "Wäsche",
            "Wa\u{308}sche",
            "水しぶき",
            "волна-2",
            "splash_01",
        ] {
            assert_eq!(file_name_of(name), name);
        }
        assert_eq!(file_name_of("take 1/a:b%20?"), "take_1_a_b_20_");
        assert_eq!(file_name_of(""), "sequence");
        assert_eq!(file_name_of("Con"), "Con_");
        assert_eq!(file_name_of("lpt9"), "lpt9_");
        assert_eq!(file_name_of("console"), "console");
    }
}
