//! Files of pose drivers: the driver joint, its poses, and what they drive.
//!
//! | format | read | written |
//! |---|---|---|
//! | PSD JSON, an exporter's solvers by name: [`psd`] | [`read_psd`], [`parse_psd`] | [`write_psd`], [`PsdDocument::to_json_string`] |
//! | JSON of PoseWrangler and Pose Driver Connect: [`pose_wrangler`] | [`read_pose_wrangler`], [`parse_pose_wrangler`] | [`write_pose_wrangler`], [`PoseWranglerDocument::to_json_string`] |
//! | samples, rotations by joint: [`samples`] | [`read_samples`], [`parse_samples`] | - |
//!
//! The types hold the content of the files: Maya's matrices ([`MayaMatrix`]), degrees, enumerations as numbers.
//! Comments and trailing commas are allowed. Fields outside the format are kept ([`ExtraFields`]) and written again.
//! Keys keep their order. Numbers stay the same, except that `0` may become `0.0` and digits beyond double precision
//! are lost. Comments and white space are lost. Missing fields are written with the default that was used. A file may
//! have at most 64 MiB and 512 levels.
//!
//! Writers read their result back before the file appears. Thus every written file can be read.

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

pub use error::{JsonLocation, PoseDriverFileError};
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

/// Fields outside the format, and the order of all keys of the object.
///
/// Equal if the values are equal; order does not count. A key of a defined field counts only while that field is not
/// set.
#[derive(Clone, Debug, Default)]
pub struct ExtraFields {
    /// Keys and values, in file order.
    pub values: Map<String, Value>,
    /// All keys in file order, including defined ones.
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

/// Warns about a matrix whose fourth column is not that of an affine transform.
fn note_last_column(
    matrix: &MayaMatrix,
    notes: &mut Notes,
    location: impl FnOnce() -> JsonLocation,
) {
    if !matrix.is_affine() {
        let said = "the fourth column of a matrix is not (0, 0, 0, 1); Sinew ignores this column";
        notes.note("matrix_not_affine", "", || said.into(), location);
    }
}
