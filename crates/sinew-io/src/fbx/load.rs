//! Options of the library, and its errors and warnings in our words.

use super::document::allowance;
use super::skins::is_uneven;
use crate::IoError;
use crate::fault::{malformed, warning};
use sinew_geom::Warning;
use std::cell::Cell;
use std::path::Path;
use ufbx::{
    AllocatorOpts, ErrorType, FileFormat, IndexErrorHandling, InheritModeHandling, LoadOpts,
    ProgressCb, ProgressResult, Scene, SceneRoot, SpaceConversion,
};

/// Maximum depth of the node tree.
const MOST_DEPTH: u32 = 4096;
/// Bytes between two reports of the location in the file.
const STEP: u64 = 1024;

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
    let scene = parse(bytes, path, false)?;
    // The link modes of clusters are in the raw document only.
    match scene.skin_deformers.iter().any(|s| is_uneven(s)) {
        true => parse(bytes, path, true),
        false => Ok(scene),
    }
}

fn parse(bytes: &[u8], path: &Path, retain_dom: bool) -> Result<SceneRoot, IoError> {
    let read = Cell::new(0);
    let progress = |p: &ufbx::Progress| {
        read.set(p.bytes_read);
        ProgressResult::Continue
    };
    let opts = LoadOpts {
        temp_allocator: memory(bytes.len()),
        result_allocator: memory(bytes.len()),
        use_blender_pbr_material: true,
        index_error_handling: IndexErrorHandling::AbortLoading,
        node_depth_limit: MOST_DEPTH,
        progress_cb: ProgressCb::Ref(&progress),
        progress_interval_hint: STEP,
        inherit_mode_handling: InheritModeHandling::Compensate,
        space_conversion: SpaceConversion::ModifyGeometry,
        target_axes: ufbx::axes_right_handed_y_up(),
        target_unit_meters: 1.0,
        normalize_normals: true,
        normalize_tangents: true,
        generate_missing_normals: true,
        retain_dom,
        file_format: FileFormat::Fbx,
        ..LoadOpts::default()
    };
    ufbx::load_memory(bytes, opts).map_err(|e| error(&e, path, bytes.len(), read.get()))
}

fn error(error: &ufbx::Error, path: &Path, size: usize, read: u64) -> IoError {
    let near = format!("near byte {read} of {size}");
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
        _ => (
            format!("invalid data{info}"),
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
