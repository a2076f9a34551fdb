//! A bake and its work folder.

use super::settings::VatSettings;
use crate::work::{Work, hash_of};
use crate::{BakeError, FrameSource};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// File that says what a work folder is for.
const FILE: &str = "job.json";
const FORMAT: &str = "sinew_vat_work";
const VERSION: u32 = 1;

/// A bake and its work folder: all that steps after the scan need to know.
#[derive(Clone, Debug)]
pub struct VatJob {
    pub(crate) work: Work,
    pub(crate) content: JobContent,
    /// Changes with the settings, the frames and this program's version.
    pub(crate) key: String,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct JobContent {
    format: String,
    version: u32,
    program: String,
    pub(crate) name: String,
    pub(crate) settings: VatSettings,
    pub(crate) frames: Vec<JobFrame>,
}

/// What a frame is called, and what it is made from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct JobFrame {
    pub(crate) number: i64,
    pub(crate) key: String,
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
        let frame = |i| {
            let (number, key) = (source.number(i), source.key(i)?);
            Ok::<_, BakeError>(JobFrame { number, key })
        };
        let frames: Vec<_> = (0..source.frame_count())
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
            name: file_name_of(source.name()),
            settings: settings.clone(),
            frames,
        };
        let text = serde_json::to_string_pretty(&content).unwrap_or_default();
        let work = Work::at(folder);
        work.write_text(FILE, &text)?;
        let key = hash_of(text.as_bytes());
        Ok(Self { work, content, key })
    }

    /// The job of a work folder.
    ///
    /// # Errors
    /// [`BakeError::Io`], and [`BakeError::Json`] where the folder's `job.json` is none of this version.
    pub fn open(folder: &Path) -> Result<Self, BakeError> {
        let work = Work::at(folder);
        let path = work.file(FILE);
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
        let key = hash_of(text.as_bytes());
        Ok(Self { work, content, key })
    }

    /// Number of frames.
    pub fn frame_count(&self) -> usize {
        self.content.frames.len()
    }

    /// Name of the bake.
    pub fn name(&self) -> &str {
        &self.content.name
    }

    /// What is wanted.
    pub fn settings(&self) -> &VatSettings {
        &self.content.settings
    }

    /// Number of a frame, as the user knows it.
    pub(crate) fn number(&self, frame: usize) -> i64 {
        self.content.frames[frame].number
    }
}

/// A name that files may have everywhere.
fn file_name_of(name: &str) -> String {
    let plain = |c: char| match c.is_ascii_alphanumeric() || matches!(c, '-' | '_') {
        true => c,
        false => '_',
    };
    let name: String = name.chars().map(plain).collect();
    match name.is_empty() {
        true => "sequence".into(),
        false => name,
    }
}
