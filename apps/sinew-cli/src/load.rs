//! Characters, documents and settings as the command line names them; tells what was repaired or is wrong.

use crate::args::Device;
use crate::exit::{Code, Failure, Outcome};
use crate::graph_args::GraphInputs;
use crate::reporter::Reporter;
use sinew::bake::{content_key, content_key_of};
use sinew::deform::{Example, ParameterValue, examples};
use sinew::geom::names::instead_of;
use sinew::graph::{KERNEL_EXAMPLE, Plan};
use sinew::io::Folders;
use sinew::play::{
    self, Character, Document, InputFiles, PlayError, PlayInputs, PointCacheFile, Values,
};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A file, or a built-in sample: `sample:NAME`. Of a sequence the first file.
pub(crate) fn character(path: &Path, reporter: &Reporter) -> Outcome<Arc<Character>> {
    let character = silent_rest(path, reporter)?;
    show_warnings(&character, reporter);
    Ok(character)
}

/// The same, nothing said.
pub(crate) fn silent_rest(path: &Path, reporter: &Reporter) -> Outcome<Arc<Character>> {
    match in_memory(path, reporter) {
        Some(found) => found,
        None => Ok(Arc::new(Character::load_rest(path)?)),
    }
}

/// The same with all files of a sequence, nothing said; for pictures, which need a GPU.
#[cfg(feature = "gpu")]
pub(crate) fn silent_character(path: &Path, reporter: &Reporter) -> Outcome<Arc<Character>> {
    match in_memory(path, reporter) {
        Some(found) => found,
        None => Ok(Arc::new(Character::load(path)?)),
    }
}

/// A character without a file: of the program that runs the command, or a built-in sample.
pub(crate) fn in_memory(path: &Path, reporter: &Reporter) -> Option<Outcome<Arc<Character>>> {
    let of_host = || reporter.host()?.character(path.to_str()?);
    let found = of_host().map(Ok);
    found.or_else(|| Some(built_in(path)?.map(Arc::new)))
}

/// The built-in sample that `sample:NAME` names.
pub(crate) fn built_in(path: &Path) -> Option<Outcome<Character>> {
    Some(sample(built_in_name(path)?))
}

/// Name of the built-in sample that a path names.
pub(crate) fn built_in_name(path: &Path) -> Option<&str> {
    path.to_str()?.strip_prefix("sample:")
}

/// Whether a character has no file, as built-in samples.
fn is_sample(character: &Character) -> bool {
    character.source.is_none() && !character.path.exists()
}

pub(crate) fn sample(name: &str) -> Outcome<Character> {
    let made = match name {
        "arm" => sinew_samples::arm_with_hand(),
        "creature" => sinew_samples::creature(),
        "ball" => sinew_samples::ball(),
        "head" => sinew_samples::head(),
        _ => {
            return Err(Failure::usage(format!(
                "there is no sample '{name}'; known: sample:arm, sample:creature, sample:ball, sample:head"
            )));
        }
    };
    made.map(Character::from_asset).map_err(Failure::input)
}

pub(crate) fn show_warnings(character: &Character, reporter: &Reporter) {
    for w in &character.asset.warnings {
        let path = character.path.display();
        reporter.warning(w.code, &format!("{path}: {}", w.message));
    }
}

/// What `--input NAME=FILE` and `--point-cache [INPUT=]FILE` name.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Given<'a> {
    pub(crate) files: &'a [String],
    pub(crate) point_caches: &'a [String],
    /// What `--expression NAME=WEIGHT` names.
    pub(crate) expressions: &'a [String],
}

impl<'a> From<&'a GraphInputs> for Given<'a> {
    fn from(inputs: &'a GraphInputs) -> Self {
        Self {
            files: &inputs.input_files,
            point_caches: &inputs.point_caches,
            expressions: &inputs.expressions,
        }
    }
}

/// What `--point-cache` names.
pub(crate) fn point_caches(given: &[String]) -> Vec<PointCacheFile> {
    let parse = |argument: &String| match argument.split_once('=') {
        Some((input, path)) => PointCacheFile::new(Some(input.to_owned()), path),
        None => PointCacheFile::new(None, argument),
    };
    given.iter().map(parse).collect()
}

/// The characters of a plan's inputs; the files that they name lie in the folders of the document.
pub(crate) fn cast(
    main: Arc<Character>,
    plan: &Plan,
    document: &Document,
    given: Given<'_>,
    reporter: &Reporter,
) -> Outcome<PlayInputs> {
    // A built-in example on a built-in sample shows one node, and leaves out on purpose what the clip moves.
    let is_demo = example_name(&document.name).is_some() && is_sample(&main);
    let cast = gather(main, plan, &document.folders, given, reporter)?;
    for w in cast.unread(plan).into_iter().filter(|_| !is_demo) {
        reporter.warning(w.code, &w.message);
    }
    Ok(cast)
}

/// The same without warnings about what the graph does not read: for graphs that leave it out on purpose.
pub(crate) fn gather(
    main: Arc<Character>,
    plan: &Plan,
    folders: &Folders,
    given: Given<'_>,
    reporter: &Reporter,
) -> Outcome<PlayInputs> {
    let files = given.files.iter().map(|argument| {
        let (name, file) = argument
            .split_once('=')
            .ok_or_else(|| Failure::usage(format!("--input {argument}: expected NAME=FILE")))?;
        Ok((name.to_owned(), PathBuf::from(file)))
    });
    let files = files.collect::<Outcome<Vec<_>>>()?;
    let caches = point_caches(given.point_caches);
    let mut of_inputs = InputFiles::default();
    of_inputs.files = &files;
    of_inputs.point_caches = &caches;
    let mut cast = PlayInputs::load_with(main, plan, folders, &of_inputs)?;
    set_expressions(&mut cast, given.expressions)?;
    reporter.check_read(&folders.found())?;
    for character in cast.loaded() {
        show_warnings(character, reporter);
    }
    for w in cast.input_warnings(plan) {
        reporter.warning(w.code, &w.message);
    }
    Ok(cast)
}

fn set_expressions(cast: &mut PlayInputs, given: &[String]) -> Outcome {
    for argument in given {
        let parse = |(name, weight): (_, &str)| Some((name, weight.trim().parse().ok()?));
        let Some((name, weight)) = argument.rsplit_once('=').and_then(parse) else {
            return Err(Failure::usage(format!(
                "--expression {argument}: expected NAME=WEIGHT with a weight from 0 to 1, for example happy=0.5"
            )));
        };
        cast.set_expression(name, weight)?;
    }
    Ok(())
}

/// A file, or a built-in example: `example:NAME`.
pub(crate) fn document(path: &Path, reporter: &Reporter) -> Outcome<Document> {
    let of_host = || reporter.host()?.document(path.to_str()?);
    if let Some(document) = of_host() {
        return Ok(allowing(document, reporter));
    }
    let document = match path.to_str().and_then(example_name) {
        Some(name) => Document::from_text(path.display().to_string(), example(name)?.graph, ""),
        None if path.to_str().is_some_and(|p| p.starts_with("sample:")) => {
            let path = path.display();
            let message = format!("{path}: expected a graph document (.json or example:NAME)");
            return Err(Failure::usage(message));
        }
        None => Document::from_file(path).map_err(|e| Failure::new(Code::Graph, e))?,
    };
    Ok(allowing(document, reporter))
}

/// Whether a path is that of a graph document, not of a character.
pub(crate) fn is_document(path: &Path) -> bool {
    let is_json = |e: &std::ffi::OsStr| e.eq_ignore_ascii_case("json");
    path.extension().is_some_and(is_json) || path.to_str().and_then(example_name).is_some()
}

/// The name in `example:NAME`.
pub(crate) fn example_name(word: &str) -> Option<&str> {
    word.strip_prefix("example:")
}

/// The built-in example of a name.
pub(crate) fn example(name: &str) -> Outcome<&'static Example> {
    let all = || examples().chain([&KERNEL_EXAMPLE]);
    all().find(|e| e.name == name).ok_or_else(|| {
        let names: Vec<&str> = all().map(|e| e.name).collect();
        let help = instead_of(name, names.iter().copied());
        Failure::usage(format!("there is no example '{name}'; {help}"))
    })
}

/// With the folders of `--allow-folder`, and trusted by `--trust`.
fn allowing(mut document: Document, reporter: &Reporter) -> Document {
    document.folders = document.folders.allowing(&reporter.allowed.folders);
    document.trusted |= reporter.allowed.kernels;
    document
}

/// Refuses what is neither a GLB nor an FBX file before any work.
pub(crate) fn check_glb(character: &Path) -> Outcome {
    let ending = character.extension().unwrap_or_default();
    if ["glb", "vrm", "fbx"]
        .iter()
        .any(|e| ending.eq_ignore_ascii_case(e))
    {
        return Ok(());
    }
    let path = character.display();
    Err(Failure::usage(format!(
        "{path}: expected the GLB or FBX file of a character (.glb, .vrm or .fbx); `sinew convert` makes one of other files"
    )))
}

/// Refuses an output that is not named as a GLB file before any work.
pub(crate) fn check_glb_output(path: &Path) -> Outcome {
    let ending = path.extension().unwrap_or_default();
    if ending.eq_ignore_ascii_case("glb") || is_vrm_name(path) {
        return Ok(());
    }
    let path = path.display();
    Err(Failure::usage(format!(
        "{path}: expected a file that ends in .glb, or in .vrm for a VRM avatar"
    )))
}

/// Whether a file is named as a VRM avatar.
pub(crate) fn is_vrm_name(path: &Path) -> bool {
    path.extension()
        .is_some_and(|e| e.eq_ignore_ascii_case("vrm"))
}

/// Refuses to call a file a VRM avatar that is none.
pub(crate) fn check_vrm_output(path: &Path, character: &Character) -> Outcome {
    if !is_vrm_name(path) || character.source.as_ref().is_some_and(|s| s.is_vrm()) {
        return Ok(());
    }
    Err(Failure::usage(format!(
        "{}: {} has no VRM data; write a .glb file",
        path.display(),
        character.path.display()
    )))
}

/// The graph in a character's file.
pub(crate) fn embedded_document(path: &Path, reporter: &Reporter) -> Outcome<Document> {
    let character = character(path, reporter)?;
    let document = Document::embedded(&character).ok_or_else(|| {
        let path = path.display();
        Failure::new(
            Code::Graph,
            format!("{path}: the file has no embedded graph; expected a graph document (.json), or a character with an embedded graph"),
        )
    })?;
    Ok(allowing(document, reporter))
}

/// The graph of `--graph`, else the one in the character's file, else what the character has.
pub(crate) fn chosen_document(
    graph: Option<&Path>,
    character: &Character,
    reporter: &Reporter,
) -> Outcome<Document> {
    match graph {
        Some(path) => document(path, reporter),
        None => Ok(allowing(Document::of_character(character), reporter)),
    }
}

/// Compiles; shows the problems.
pub(crate) fn compile(document: &Document, reporter: &Reporter) -> Outcome<Plan> {
    match document.compile() {
        Ok(plan) => {
            reporter.diagnostics(plan.warnings());
            Ok(plan)
        }
        Err(problems) => {
            reporter.diagnostics(&problems.0);
            let message = format!("{} problems in {}", problems.0.len(), document.name);
            Err(Failure {
                shown: true,
                ..Failure::new(Code::Graph, message)
            })
        }
    }
}

/// Keeps the outputs of `--only`; all without it.
pub(crate) fn keep_outputs(plan: &mut Plan, only: &[String]) -> Outcome {
    if only.is_empty() {
        return Ok(());
    }
    let names: Vec<&str> = only.iter().map(|name| name.trim()).collect();
    let kept = plan.keep_outputs(&names);
    kept.map_err(|e| Failure::usage(format!("--only {}: {e}", only.join(","))))
}

/// What `--set NAME=VALUE` sets.
pub(crate) fn settings<'a>(
    plan: &Plan,
    set: &'a [String],
) -> Outcome<Vec<(&'a str, ParameterValue)>> {
    let given = set.iter().map(|s| {
        s.split_once('=')
            .ok_or_else(|| Failure::usage(format!("--set {s}: expected NAME=VALUE")))
    });
    let given = given.collect::<Outcome<Vec<_>>>()?;
    Ok(play::parse_settings(plan, &given)?)
}

/// Reads what `--values NAME=FILE` names, for all frames; each values input needs one.
pub(crate) fn values(plan: &Plan, given: &[String], frames: &[i64]) -> Outcome<Vec<Values>> {
    let given = values_files(given)?;
    let last = frames.iter().copied().max().unwrap_or(0);
    Ok(Values::read_all(plan, &given, last)?)
}

/// Refuses `--values` with names that the graph does not have, before any work.
pub(crate) fn check_values_names(plan: &Plan, given: &[String]) -> Outcome {
    let given = values_files(given)?;
    Ok(Values::check_names(plan, &given).map_err(PlayError::from)?)
}

fn values_files(given: &[String]) -> Outcome<Vec<(&str, &Path)>> {
    given
        .iter()
        .map(|argument| {
            let (name, file) = argument.split_once('=').ok_or_else(|| {
                Failure::usage(format!("--values {argument}: expected NAME=FILE"))
            })?;
            Ok((name, Path::new(file)))
        })
        .collect()
}

/// What the frames of a bound graph depend on beside it: the clip, and what is in the files that clips and values are in.
pub(crate) fn key_of(
    inputs: &PlayInputs,
    clip: Option<&str>,
    values: &[String],
    device: Device,
) -> Outcome<String> {
    let mut out = format!("clip {clip:?}, device {device:?}");
    for (name, weight) in inputs.expressions().filter(|e| e.1 != 0.0) {
        // Writing into a string cannot fail.
        let _ = write!(out, ", expression {name:?} {weight:?}");
    }
    let characters = inputs.characters().iter().map(|c| c.path.as_path());
    let values = values.iter().filter_map(|g| g.split_once('='));
    let cached = inputs.point_cache_files();
    let cached = cached.iter().map(PathBuf::as_path);
    // Those of a sequence are the files of a point cache.
    let characters = characters.filter(|path| !path.is_dir());
    let paths = characters
        .chain(values.map(|g| Path::new(g.1)))
        .chain(cached);
    for path in paths {
        for file in files_at(path)? {
            let name = file.file_name().unwrap_or_default().to_string_lossy();
            // Writing into a string cannot fail.
            let _ = write!(out, "\n{name}: {}", content_key(&file)?);
        }
    }
    // Those in files beside a document, too.
    let documents = inputs.characters().iter().filter_map(|c| c.source.as_ref());
    for buffer in documents.flat_map(|d| d.buffers.iter().flatten()) {
        let _ = write!(out, "\nbuffer: {}", content_key_of(buffer.bytes()));
    }
    Ok(out)
}

/// A file, those of a folder, or none: built-in samples have no file.
fn files_at(path: &Path) -> Outcome<Vec<PathBuf>> {
    if path.is_dir() {
        let mut files = sinew::io::files_ending_with(path, "").map_err(Failure::input)?;
        files.retain(|f| f.is_file());
        return Ok(files);
    }
    Ok(path
        .is_file()
        .then(|| path.to_owned())
        .into_iter()
        .collect())
}
