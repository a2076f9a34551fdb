//! Pose drivers: which joint is watched, in which poses, and what they drive.
//!
//! | format | read | written |
//! |---|---|---|
//! | *PSD* JSON, an exporter's solvers by name: [`psd`] | [`read_psd`], [`parse_psd`] | [`write_psd`], [`PsdDocument::to_json_string`] |
//! | JSON of PoseWrangler and Pose Driver Connect: [`pose_wrangler`] | [`read_pose_wrangler`], [`parse_pose_wrangler`] | [`write_pose_wrangler`], [`PoseWranglerDocument::to_json_string`] |
//! | plain samples, rotations by joint: [`samples`] | [`read_samples`], [`parse_samples`] | - |
//!
//! The types hold what the files hold: Maya's matrices ([`MayaMatrix`]), degrees, enumerations as numbers. Comments and trailing
//! commas are read, too. Fields that a format does not define are kept ([`ExtraFields`]) and written again, keys stay in order, and numbers are those that
//! were read (`0` may become `0.0`, digits beyond double precision go): only comments and white space are lost. Missing fields whose
//! default was taken are written out. Files have at most 64 MiB and 512 levels.
//!
//! What is written is read back before a file appears, so that nobody gets a file that would be refused.

mod error;
mod fields;
mod located;
mod matrix;
pub mod pose_wrangler;
pub mod psd;
pub mod samples;
#[cfg(test)]
mod tests;
mod written;

pub use error::{JsonPlace, PoseDriverFileError};
pub use matrix::{MayaMatrix, MayaScene, UpAxis};
pub use pose_wrangler::{
    PoseWranglerDocument, parse_pose_wrangler, read_pose_wrangler, write_pose_wrangler,
};
pub use psd::{PsdDocument, parse_psd, read_psd, write_psd};
pub use samples::{SamplesDocument, parse_samples, read_samples};

use crate::fault::cannot_read;
use crate::{IoError, read_text, write_text};
use fields::Notes;
use located::{Located, MAX_BYTES, too_large};
use serde_json::{Map, Value};
use std::path::Path;
use written::TwoOfOneName;

/// What a format does not define, and the order of all keys of the object.
///
/// Equal where the values are; the order does not count. A key of a defined field counts only while that field is not set.
#[derive(Clone, Debug, Default)]
pub struct ExtraFields {
    /// Keys and values, in the order of the file.
    pub values: Map<String, Value>,
    /// All keys, defined ones, too, as they were read.
    order: Vec<Box<str>>,
}

impl PartialEq for ExtraFields {
    fn eq(&self, other: &Self) -> bool {
        self.values == other.values
    }
}

/// A document of one of the formats.
trait Document: Sized {
    fn from_json(json: &Located<'_>) -> Result<Self, PoseDriverFileError>;
    fn to_value(&self) -> Result<Value, TwoOfOneName>;
}

fn read_json(path: &Path) -> Result<String, IoError> {
    let bytes = std::fs::metadata(path).map_err(cannot_read(path))?.len();
    if bytes > MAX_BYTES {
        return Err(too_large(path, bytes).into());
    }
    read_text(path)
}

fn parse<D: Document>(text: &str, path: &Path) -> Result<D, PoseDriverFileError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    D::from_json(&Located::parse(text, path)?)
}

fn to_text<D: Document>(document: &D, path: &Path) -> Result<String, PoseDriverFileError> {
    let value = document.to_value().map_err(|e| e.in_file(path))?;
    let text = written::text(&value);
    parse::<D>(&text, path)?;
    Ok(text)
}

fn write<D: Document>(path: &Path, document: &D) -> Result<(), IoError> {
    write_text(path, &to_text(document, path)?)
}

/// Mentions a matrix whose fourth column is not that of an affine transform.
fn note_last_column(matrix: &MayaMatrix, notes: &mut Notes, place: impl FnOnce() -> JsonPlace) {
    if !matrix.is_affine() {
        let said = "the fourth column of a matrix is not (0, 0, 0, 1); it is left out when the matrix is used";
        notes.note("matrix_not_affine", "", || said.into(), place);
    }
}
