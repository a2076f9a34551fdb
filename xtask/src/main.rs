//! Chores of the workspace: `cargo xtask tidy`.

mod dependencies;
mod nodes;
mod text;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

const USAGE: &str = "\
usage: cargo xtask tidy

tidy   checks what the compiler does not: files of each deformer, leftovers, file lengths,
       who may open files, who may depend on what
";

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    match (arguments.next().as_deref(), arguments.next()) {
        (Some("tidy"), None) => tidy(),
        _ => {
            eprint!("{USAGE}");
            ExitCode::from(2)
        }
    }
}

fn tidy() -> ExitCode {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut problems = Vec::new();
    match files(&root) {
        Ok(files) => {
            for file in &files {
                let shown = relative(&root, file);
                // Pictures and the like are not text.
                if let Ok(content) = std::fs::read_to_string(file) {
                    problems.extend(text::check(&shown, &content));
                    problems.extend(dependencies::check_manifest(&shown, &content));
                }
            }
        }
        Err(error) => problems.push(format!("cannot list the workspace: {error}")),
    }
    problems.extend(nodes::check(&root.join("crates/sinew-deform/src")));
    problems.extend(dependencies::check(&root));
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
                && !matches!(name.as_str(), "target" | "out" | "node_modules")
                && (!name.starts_with('.') || name == ".ci")
            {
                folders.push(entry.path());
            }
        }
    }
    out.sort();
    Ok(out)
}
