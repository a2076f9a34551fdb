//! Chores of the workspace: `cargo xtask tidy`, `book`, `snippets`, `pictures`, `soak`.

mod book;
mod dependencies;
mod links;
mod markdown;
mod nodes;
mod pictures;
mod snippets;
mod soak;
mod text;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

const USAGE: &str = "\
usage: cargo xtask tidy
       cargo xtask book
       cargo xtask snippets [FILTER...]
       cargo xtask pictures [NAME...]
       cargo xtask soak [FILTER...]

tidy      checks what the compiler does not: files of each deformer, leftovers, file lengths,
          who may open files, who may depend on what, links and pictures of the docs
book      makes web pages of docs/ in target/book and checks every link in them; needs mdBook
snippets  runs the commands and graphs of README, docs/graph.md and the tutorials, all pages or those
          with FILTER in their path; SINEW names the program (target/debug/sinew)
pictures  makes the pictures of README and docs anew, all of them or those named, as
          docs/pictures/commands.txt says
soak      runs the tests in their long form, all of them or those with FILTER in their names
";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR"));
    let root = manifest.parent().unwrap_or(manifest);
    match arguments.split_first() {
        Some((word, [])) if word == "tidy" => tidy(root),
        Some((word, [])) if word == "book" => done(word, book::build(root)),
        Some((word, filters)) if word == "snippets" => done(word, snippets::run(root, filters)),
        Some((word, names)) if word == "pictures" => done(word, pictures::make(root, names)),
        Some((word, filters)) if word == "soak" => done(word, soak::run(root, filters)),
        _ => {
            eprint!("{USAGE}");
            ExitCode::from(2)
        }
    }
}

fn done(word: &str, result: Result<(), String>) -> ExitCode {
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{word}: {error}");
            ExitCode::FAILURE
        }
    }
}

fn tidy(root: &Path) -> ExitCode {
    let (mut problems, mut pages) = (Vec::new(), Vec::new());
    match files(root) {
        Ok(files) => {
            for file in &files {
                let shown = relative(root, file);
                let bytes = std::fs::metadata(file).map_or(0, |m| m.len());
                problems.extend(text::check_size(&shown, bytes));
                // Pictures and the like are not text.
                if let Ok(content) = std::fs::read_to_string(file) {
                    problems.extend(text::check(&shown, &content));
                    problems.extend(dependencies::check_manifest(&shown, &content));
                    if shown.ends_with(".md") {
                        pages.push((shown, content));
                    }
                }
            }
        }
        Err(error) => problems.push(format!("cannot list the workspace: {error}")),
    }
    problems.extend(nodes::check(&root.join("crates/sinew-deform/src")));
    problems.extend(dependencies::check(root));
    problems.extend(links::check(root, &pages));
    problems.extend(pictures::check(root, &pages));
    problems.extend(pictures::missing(root));
    for problem in &problems {
        eprintln!("tidy: {problem}");
    }
    if problems.is_empty() {
        eprintln!("tidy: all in order");
        ExitCode::SUCCESS
    } else {
        eprintln!("tidy: {} problems", problems.len());
        ExitCode::FAILURE
    }
}

/// Path from the root, with `/` on every system.
fn relative(root: &Path, file: &Path) -> String {
    let path = file.strip_prefix(root).unwrap_or(file);
    let parts: Vec<_> = path.iter().map(|p| p.to_string_lossy()).collect();
    parts.join("/")
}

/// All files of the workspace in order, without build output and hidden folders other than `.ci`.
fn files(root: &Path) -> std::io::Result<Vec<PathBuf>> {
    let mut out = Vec::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder)? {
            let entry = entry?;
            let name = entry.file_name().to_string_lossy().into_owned();
            let kind = entry.file_type()?;
            if kind.is_file() {
                out.push(entry.path());
            } else if kind.is_dir()
                && !matches!(
                    name.as_str(),
                    "target" | "out" | "node_modules" | "sinew-demo"
                )
                && (!name.starts_with('.') || name == ".ci")
            {
                folders.push(entry.path());
            }
        }
    }
    out.sort();
    Ok(out)
}
