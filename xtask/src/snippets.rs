//! Runs what pages of the docs tell readers to run, each page in an empty folder, in order: files that it says to save, commands, and what they print.

use crate::markdown::{Block, blocks};
use crate::{files, relative};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

/// Pages whose blocks run; all pages of `TUTORIALS` do, too.
const PAGES: [&str; 3] = ["README.md", "docs/README.md", "docs/graph.md"];
const TUTORIALS: &str = "docs/tutorials";
/// The reader's own character, in the folder of each page, and the command that makes it.
const HERO: &str = "hero.glb";
const MAKE_HERO: &str =
    "sinew embed sample:creature --graph example:skin_linear --quiet -o hero.glb";
/// Marks a block that does not run: it needs what is not there.
const MARK: &str = "no_run";
/// What stands before the name of a file in the paragraph before its content.
const SAVE: &str = "ave this as `";
/// Stands for what differs from run to run in a block of output.
const ANYTHING: &str = "...";

/// A page, and what is left to compare of the last commands.
struct Reader<'a> {
    root: &'a Path,
    page: &'a str,
    folder: &'a Path,
    program: &'a Path,
    printed: String,
    commands: usize,
    documents: usize,
}

/// Runs the pages whose path has one of `filters` in it, all without.
///
/// # Errors
/// The first problem of each page, with its location.
pub(crate) fn run(root: &Path, filters: &[String]) -> Result<(), String> {
    let program = std::env::var_os("SINEW").map_or("target/debug/sinew".into(), PathBuf::from);
    let program = std::path::absolute(root.join(program)).map_err(|e| e.to_string())?;
    if !program.is_file() {
        let path = program.display();
        return Err(format!(
            "there is no {path}; build it, or say where it is with SINEW=FILE"
        ));
    }
    let room = root.join("target/snippets");
    let _ = fs::remove_dir_all(&room);
    let hero = fresh(&room.join("hero"))?;
    execute(&program, &hero, MAKE_HERO).map_err(|e| format!("{MAKE_HERO}: {e}"))?;
    let mut problems = Vec::new();
    for page in pages(root)? {
        if filters.is_empty() || filters.iter().any(|f| page.contains(f)) {
            let folder = fresh(&room.join(page.replace('/', "_")))?;
            fs::copy(hero.join(HERO), folder.join(HERO)).map_err(|e| e.to_string())?;
            problems.extend(read(root, &program, &folder, &page).err());
        }
    }
    if problems.is_empty() {
        return Ok(());
    }
    Err(format!("\n{}", problems.join("\n")))
}

/// Does what a page says, up to the first problem.
fn read(root: &Path, program: &Path, folder: &Path, page: &str) -> Result<(), String> {
    let text = fs::read_to_string(root.join(page)).map_err(|e| format!("{page}: {e}"))?;
    let start = Instant::now();
    let mut reader = Reader {
        root,
        page,
        folder,
        program,
        printed: String::new(),
        commands: 0,
        documents: 0,
    };
    for block in blocks(&text) {
        reader.follow(&block)?;
    }
    let (commands, documents) = (reader.commands, reader.documents);
    let seconds = start.elapsed().as_secs_f64();
    eprintln!("{page}: {commands} commands, {documents} documents, {seconds:.1} s");
    Ok(())
}

fn pages(root: &Path) -> Result<Vec<String>, String> {
    let tutorials = files(&root.join(TUTORIALS)).map_err(|e| format!("{TUTORIALS}: {e}"))?;
    let tutorials = tutorials.iter().map(|file| relative(root, file));
    let tutorials = tutorials.filter(|page| page.ends_with(".md"));
    Ok(PAGES
        .map(str::to_owned)
        .into_iter()
        .chain(tutorials)
        .collect())
}

/// The folder, made.
fn fresh(folder: &Path) -> Result<PathBuf, String> {
    fs::create_dir_all(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    Ok(folder.to_owned())
}

/// Runs a line of a shell. Returns what it printed; an error if it fails.
fn execute(program: &Path, folder: &Path, line: &str) -> Result<String, String> {
    let mut paths = vec![program.parent().unwrap_or(folder).to_owned()];
    paths.extend(std::env::split_paths(
        &std::env::var_os("PATH").unwrap_or_default(),
    ));
    let paths = std::env::join_paths(paths).map_err(|e| e.to_string())?;
    let mut command = Command::new("sh");
    command.arg("-c").arg(format!("exec 2>&1\n{line}"));
    command.current_dir(folder).env("PATH", paths);
    // The same driver on every machine.
    if std::env::var_os("SINEW_ADAPTER").is_none() {
        command.env("SINEW_ADAPTER", "software");
    }
    let output = command.output().map_err(|e| e.to_string())?;
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    match output.status.success() {
        true => Ok(printed),
        false => Err(format!("{}\n{printed}", output.status)),
    }
}

impl Reader<'_> {
    /// Does what a reader does with a block.
    fn follow(&mut self, block: &Block<'_>) -> Result<(), String> {
        if block.is_marked(MARK) {
            return Ok(());
        }
        if let Some((_, rest)) = block.before.split_once(SAVE) {
            let name = rest.split('`').next().unwrap_or_default();
            return self.save(name, block);
        }
        match block.language() {
            "sh" => self.run(block),
            "json" => {
                self.save("snippet.json", block)?;
                self.execute(block.line, "sinew check snippet.json --quiet")
                    .map(|_| ())
            }
            "text" => self.compare(block),
            _ => Ok(()),
        }
    }

    /// Writes a file that the page prints. If the same file lies beside the page, for a picture, both must be equal.
    fn save(&mut self, name: &str, block: &Block<'_>) -> Result<(), String> {
        self.documents += 1;
        let text = block.lines.join("\n") + "\n";
        let beside = self.root.join(self.page).with_file_name(name);
        if beside.is_file() && fs::read_to_string(&beside).ok() != Some(text.clone()) {
            let location = format!("{}:{}", self.page, block.line);
            return Err(format!("{location}: the {name} beside the page differs"));
        }
        fs::write(self.folder.join(name), text)
            .map_err(|e| format!("{}:{}: {name}: {e}", self.page, block.line))
    }

    fn run(&mut self, block: &Block<'_>) -> Result<(), String> {
        self.printed.clear();
        let (mut line, mut first) = (String::new(), None);
        for (number, text) in (block.line + 1..).zip(&block.lines) {
            line.push_str(text);
            let number = *first.get_or_insert(number);
            if line.ends_with('\\') {
                line.push('\n');
                continue;
            }
            first = None;
            let line = std::mem::take(&mut line);
            if !line.trim().is_empty() && !line.starts_with('#') {
                self.commands += 1;
                let printed = self.execute(number, &line)?;
                self.printed.push_str(&printed);
            }
        }
        Ok(())
    }

    fn execute(&self, number: usize, line: &str) -> Result<String, String> {
        execute(self.program, self.folder, line)
            .map_err(|e| format!("{}:{number}: `{line}` ends with {e}", self.page))
    }

    /// Compares a block of output with what the commands before it printed.
    fn compare(&self, block: &Block<'_>) -> Result<(), String> {
        for (number, line) in (block.line + 1..).zip(&block.lines) {
            if !self.printed.lines().any(|printed| is_like(printed, line)) {
                let (page, printed) = (self.page, &self.printed);
                return Err(format!(
                    "{page}:{number}: the commands before did not print `{line}`, but:\n{printed}"
                ));
            }
        }
        Ok(())
    }
}

/// Whether the page shows this line: its parts between dots, in order.
fn is_like(printed: &str, shown: &str) -> bool {
    let mut rest = printed;
    shown.trim().split(ANYTHING).all(|part| {
        let at = rest.find(part);
        rest = at.map_or("", |at| &rest[at + part.len()..]);
        at.is_some()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dots_stand_for_anything() {
        assert!(is_like(
            "wrote a.glb: 3 frames in 0.25 s",
            "wrote a.glb: 3 frames in ... s"
        ));
        assert!(is_like("  a  1", "a  1"));
        assert!(!is_like("wrote b.glb", "wrote a.glb"));
        assert!(!is_like("b then a", "a ... b"));
    }
}
