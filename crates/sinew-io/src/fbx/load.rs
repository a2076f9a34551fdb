//! Options of the library, and its errors and warnings in our words.

use super::document::allowance;
use super::skins::is_uneven;
use crate::IoError;
use crate::fault::{malformed, quoted, warning};
use sinew_geom::Warning;
use std::cell::Cell;
use std::path::Path;
use ufbx::{
    AllocatorOpts, ErrorType, FileFormat, IndexErrorHandling, InheritModeHandling, LoadOpts,
    MirrorAxis, ProgressCb, ProgressResult, Scene, SceneRoot, SpaceConversion,
};

/// Maximum depth of the node tree.
const MOST_DEPTH: u32 = 4096;
/// Bytes between two reports of the location in the file.
const STEP: u64 = 1024;

/// Bytes at the begin of a file that name its format.
const LOOKAHEAD: usize = 4096;

/// Memory of the library for a file of `size` bytes.
pub(super) fn memory(size: usize) -> AllocatorOpts {
    AllocatorOpts {
        memory_limit: usize::try_from(allowance(size)).unwrap_or(usize::MAX),
        ..AllocatorOpts::default()
    }
}

/// Parses a file. Nodes keep their names, tree and local axes: only nodes of the top level are rotated to Y up, and
/// translations and geometry are scaled to metres. No other file is opened.
///
/// # Errors
/// [`IoError::Malformed`] with the byte offset near the error.
pub(super) fn scene(bytes: &[u8], path: &Path) -> Result<SceneRoot, IoError> {
    let begin = &bytes[..bytes.len().min(LOOKAHEAD)];
    if !begin.is_empty() && !begin.windows(3).any(|w| w == b"FBX") {
        return Err(malformed(path, "byte 0", quoted(bytes), "an FBX file"));
    }
    let scene = parse(bytes, path, Content::Whole)?;
    // The link modes of clusters are in the raw document only.
    match scene.skin_deformers.iter().any(|s| is_uneven(s)) {
        true => parse(bytes, path, Content::WithRawDocument),
        false => Ok(scene),
    }
}

fn parse(bytes: &[u8], path: &Path, content: Content) -> Result<SceneRoot, IoError> {
    let read = Cell::new(0);
    let progress = |p: &ufbx::Progress| {
        read.set(p.bytes_read);
        ProgressResult::Continue
    };
    let opts = LoadOpts {
        progress_cb: ProgressCb::Ref(&progress),
        progress_interval_hint: STEP,
        ..options(bytes.len(), content)
    };
    ufbx::load_memory(bytes, opts).map_err(|e| {
        let part = match e.type_ {
            ErrorType::Unknown => part_of(bytes),
            _ => None,
        };
        error(&e, path, bytes.len(), read.get(), part)
    })
}

/// The part of a file that is invalid, if the rest of it is valid.
fn part_of(bytes: &[u8]) -> Option<&'static str> {
    let is_valid = |content| ufbx::load_memory(bytes, options(bytes.len(), content)).is_ok();
    if is_valid(Content::WithoutGeometry) {
        return Some("geometry that contradicts itself, such as an index out of range");
    }
    is_valid(Content::WithoutAnimation).then_some("animation curves that contradict themselves")
}

/// What to parse.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Content {
    Whole,
    WithRawDocument,
    WithoutGeometry,
    WithoutAnimation,
}

fn options<'a>(size: usize, content: Content) -> LoadOpts<'a> {
    LoadOpts {
        temp_allocator: memory(size),
        result_allocator: memory(size),
        use_blender_pbr_material: true,
        index_error_handling: IndexErrorHandling::AbortLoading,
        node_depth_limit: MOST_DEPTH,
        generate_missing_normals: true,
        inherit_mode_handling: InheritModeHandling::Compensate,
        space_conversion: SpaceConversion::ModifyGeometry,
        target_axes: ufbx::axes_right_handed_y_up(),
        target_unit_meters: 1.0,
        // Left-handed files are mirrored.
        handedness_conversion_axis: MirrorAxis::Z,
        normalize_normals: true,
        normalize_tangents: true,
        file_format: FileFormat::Fbx,
        retain_dom: content == Content::WithRawDocument,
        ignore_geometry: content == Content::WithoutGeometry,
        ignore_animation: content == Content::WithoutAnimation,
        ..LoadOpts::default()
    }
}

fn error(error: &ufbx::Error, path: &Path, size: usize, read: u64, part: Option<&str>) -> IoError {
    let near = match error.type_ {
        ErrorType::TruncatedFile => format!("byte {size}"),
        _ => format!("near byte {read} of {size}"),
    };
    let info = match error.info() {
        "" => String::new(),
        info => format!(" ({})", info.escape_debug()),
    };
    let (found, expected) = match error.type_ {
        ErrorType::EmptyFile => ("an empty file".to_owned(), "an FBX file"),
        ErrorType::TruncatedFile => (
            "the end of the file".to_owned(),
            "more bytes, as its headers say",
        ),
        ErrorType::MemoryLimit | ErrorType::AllocationLimit | ErrorType::OutOfMemory => (
            format!("data that needs more than {} MiB", allowance(size) >> 20),
            "at most 1024 bytes of memory per byte of the file, plus 64 MiB",
        ),
        ErrorType::BadIndex => (
            format!("an index out of range{info}"),
            "indices below the number of elements",
        ),
        ErrorType::NodeDepthLimit => (
            format!("nodes deeper than {MOST_DEPTH} levels"),
            "a flatter node tree",
        ),
        ErrorType::UnsupportedVersion | ErrorType::UnrecognizedFileFormat => (
            format!("another format or version{info}"),
            "an FBX file of version 6.1 to 7.7; export it again as FBX 2014 or later",
        ),
        _ if part.is_some() => (
            part.unwrap_or_default().to_owned(),
            "counts and indices that fit; export it again",
        ),
        _ => (
            format!("invalid data: {}{info}", error.description),
            "a complete FBX file; export it again as FBX 2014 or later",
        ),
    };
    malformed(path, near, found, expected)
}

/// What the library repaired.
pub(super) fn warn(scene: &Scene, warnings: &mut Vec<Warning>) {
    for repair in scene.metadata.warnings.iter() {
        let element = scene.elements.get(repair.element_id as usize);
        let name = element.map(|e| e.name.as_ref()).filter(|n| !n.is_empty());
        let place = name.map_or_else(String::new, |n| format!(" in '{}'", n.escape_debug()));
        let times = match repair.count {
            0 | 1 => String::new(),
            count => format!(", {count} times"),
        };
        let message = format!(
            "the file was repaired{place}: {}{times}",
            repair.description
        );
        warnings.push(warning("fbx_repaired", message));
    }
}
