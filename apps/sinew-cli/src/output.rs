//! The files that frames go into: which formats there are, and what is checked before any work.

use crate::args::Compress;
use crate::exit::{Failure, Outcome};
use crate::reporter::{Reporter, counted};
use crate::value_table::values_outputs;
use sinew::graph::{BoundGraph, OutputData};
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// Formats by file ending.
pub(crate) const ENDINGS: [&str; 8] = ["glb", "npz", "pc2", "mdd", "obj", "ply", "tfx", "csv"];

/// Refuses an ending that no writer knows, before any work is done.
pub(crate) fn check_ending(path: &Path) -> Outcome {
    if ENDINGS.contains(&ending_of(path).as_str()) {
        return Ok(());
    }
    let path = path.display();
    let endings = ENDINGS.join(", .");
    let what = match path.to_string().to_lowercase().ends_with(".vrm") {
        true => "new frames do not fit into a VRM avatar",
        false => "unknown file extension",
    };
    Err(Failure::usage(format!(
        "{path}: {what}, expected .{endings}"
    )))
}

/// Refuses compression if no output is a GLB file.
pub(crate) fn check_compress(compress: Compress, paths: &[PathBuf]) -> Outcome {
    if compress == Compress::None || paths.iter().any(|p| ending_of(p) == "glb") {
        return Ok(());
    }
    let names: Vec<String> = paths.iter().map(|p| p.display().to_string()).collect();
    Err(Failure::usage(format!(
        "--compress is for .glb files, but the output is {}; leave out --compress, or add -o NAME.glb",
        names.join(", ")
    )))
}

/// Whether one of the files is an NPZ archive, which holds numbers of any sort.
pub(crate) fn holds_numbers(paths: &[PathBuf]) -> bool {
    paths.iter().any(|p| ending_of(p) == "npz")
}

/// Whether frames fit into the files, as far as that is known before the first one: GLB has less than 4 GiB, and a morph target for each frame.
pub(crate) fn check_size(
    paths: &[PathBuf],
    graph: &BoundGraph,
    frames: usize,
    compress: Compress,
) -> Outcome {
    let Some(path) = paths.iter().find(|p| ending_of(p) == "glb") else {
        return Ok(());
    };
    let program = graph.program();
    let meshes = program
        .outputs()
        .iter()
        .filter_map(|o| program.shown_mesh(o));
    let vertices: usize = meshes.map(|m| m.positions.len()).sum();
    // Positions of each frame, and for each of them a weight at each time. A stream may need next to nothing.
    let (position, weight) = match compress {
        Compress::None => (12, 4),
        Compress::Quantize => (6, 1),
        Compress::Meshopt => (0, 0),
    };
    let bytes = (position * vertices)
        .saturating_add(weight * frames)
        .saturating_mul(frames);
    if bytes < u32::MAX as usize {
        return Ok(());
    }
    Err(Failure::output(format!(
        "{}: {frames} frames of {vertices} vertices need {:.1} GiB, but a GLB file holds less than 4 GiB; write .npz, .pc2 or .mdd, or fewer frames (--frames)",
        path.display(),
        bytes as f64 / f64::from(1 << 30)
    )))
}

/// Warns of outputs of the graph that none of the files holds.
pub(crate) fn tell_left_out(
    paths: &[PathBuf],
    has_field: impl Fn(&str) -> bool,
    graph: &BoundGraph,
    reporter: &Reporter,
) {
    if paths.is_empty() {
        return;
    }
    let holds_numbers = holds_numbers(paths);
    let only_npz = "can be stored in .npz only; add -o NAME.npz";
    let in_csv: Vec<&str> = match paths.iter().any(|p| ending_of(p) == "csv") {
        true => values_outputs(graph.plan()).collect(),
        false => Vec::new(),
    };
    let outputs = graph.plan().outputs().iter().zip(graph.program().outputs());
    for (output, place) in outputs.filter(|(o, _)| !in_csv.contains(&o.name.as_str())) {
        let name = &output.name;
        let what = match place {
            OutputData::Mesh { .. } => continue,
            OutputData::Pose(_) => "a pose, which no file format stores".to_owned(),
            OutputData::Field(_) if !holds_numbers => format!("a field, which {only_npz}"),
            OutputData::Field(_) if !has_field(name) => {
                "a field of solids, which no file format stores".into()
            }
            OutputData::Floats(_)
                if !holds_numbers && values_outputs(graph.plan()).any(|n| n == name) =>
            {
                "values, which can be stored in .csv and .npz only; add -o NAME.csv".into()
            }
            _ if !holds_numbers => format!("numbers, which {only_npz}"),
            _ => continue,
        };
        reporter.warning(
            "output_left_out",
            &format!("output '{name}' is not written: it is {what}"),
        );
    }
}

/// Whether a file of this name is one of many, a frame each.
pub(crate) fn is_sequence(path: &Path) -> bool {
    ["obj", "ply", "tfx"].contains(&ending_of(path).as_str())
}

/// What a file name ends with, in small letters: the format.
pub(crate) fn ending_of(path: &Path) -> String {
    let ending = path.extension().unwrap_or_default().to_string_lossy();
    ending.to_lowercase()
}

/// Checks the files of formats with one file per frame before any work. Warns of files of an earlier, longer run, because programs that read the
/// sequence would play them, too. Runs that continue may be chunks of one sequence: they only say so.
pub(crate) fn check_frames(
    paths: &[PathBuf],
    numbers: &[i64],
    continues: bool,
    reporter: &Reporter,
) -> Outcome {
    for path in paths
        .iter()
        .filter(|p| is_sequence(p) && has_numbers(p, numbers))
    {
        let files = numbers.iter().map(|n| frame_file(path, *n, numbers));
        let ours: BTreeSet<PathBuf> = files.collect();
        ours.iter()
            .try_for_each(|file| reporter.check_output(file))?;
        let others = earlier_frames(path)
            .into_iter()
            .filter(|f| !ours.contains(f));
        let others: Vec<PathBuf> = others.collect();
        if let [first, ..] = &others[..] {
            let count = counted(others.len() as u64, "other frame");
            if continues {
                let message = format!("{count} of this sequence exist, from other runs or chunks");
                reporter.info("other_frames", &message);
                continue;
            }
            let message = format!(
                "found {} of an earlier run, for example {}; a program that reads the sequence reads them, too. Delete them if they do not belong to it",
                counted(others.len() as u64, "file"),
                first.display()
            );
            reporter.warning("earlier_frames", &message);
        }
    }
    Ok(())
}

/// The files that are there and called as frames of a sequence are.
fn earlier_frames(path: &Path) -> Vec<PathBuf> {
    let (begin, end) = match name_around_number(path) {
        Some((begin, _, end)) => (begin, end),
        None => around_missing_number(path),
    };
    let is_frame = |name: &str| {
        let number = name.strip_prefix(&begin).and_then(|n| n.strip_suffix(&end));
        let digits = number.map(|n| n.strip_prefix('-').unwrap_or(n));
        digits.is_some_and(|d| d.len() >= 3 && d.bytes().all(|b| b.is_ascii_digit()))
    };
    let folder = match path.parent() {
        Some(p) if !p.as_os_str().is_empty() => p,
        _ => Path::new("."),
    };
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let names = entries.map(|e| e.file_name().to_string_lossy().into_owned());
    let mut found: Vec<PathBuf> = names
        .filter(|n| is_frame(n))
        .map(|n| path.with_file_name(n))
        .collect();
    found.sort();
    found
}

/// The file of a frame of a run over `numbers`: `out_####.ply` has the number where the # are, `out.ply` before its extension, and a single frame of
/// `out.ply` keeps that name.
pub(crate) fn frame_file(path: &Path, number: i64, numbers: &[i64]) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    match name_around_number(path) {
        Some((begin, digits, end)) => path.with_file_name(format!("{begin}{number:0digits$}{end}")),
        None if numbers.len() == 1 => path.with_file_name(&*name),
        None => {
            let (begin, end) = around_missing_number(path);
            path.with_file_name(format!("{begin}{number:04}{end}"))
        }
    }
}

/// The text before the last group of # in a file name, the number of #, and the text after it.
fn name_around_number(path: &Path) -> Option<(String, usize, String)> {
    let name = path.file_name()?.to_str()?;
    let end = name.rfind('#')? + 1;
    let begin = name[..end].trim_end_matches('#').len();
    Some((
        name[..begin].to_owned(),
        end - begin,
        name[end..].to_owned(),
    ))
}

/// The same of a name without #: the number goes before the extension.
fn around_missing_number(path: &Path) -> (String, String) {
    let text = |s: Option<&OsStr>| s.unwrap_or_default().to_string_lossy().into_owned();
    let (stem, ending) = (text(path.file_stem()), text(path.extension()));
    (stem + "_", format!(".{ending}"))
}

/// Whether the name says where the number of a frame goes.
pub(crate) fn is_numbered(path: &Path) -> bool {
    name_around_number(path).is_some()
}

/// Whether frames of a run over `numbers` have numbers in their names.
fn has_numbers(path: &Path, numbers: &[i64]) -> bool {
    numbers.len() > 1 || is_numbered(path)
}
