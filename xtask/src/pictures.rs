//! The pictures of README and docs, each with the arguments of `sinew` or `node` that make it: `docs/pictures/commands.txt` lists those of README
//! and pages, `pictures.txt` in the folder of a node those of its page.

use std::path::{Path, PathBuf};
use std::process::Command;

/// Where pictures and their list are.
const FOLDER: &str = "docs/pictures";
const LIST: &str = "commands.txt";
/// Where nodes are, and their lists.
const NODES: &str = "crates/sinew-deform/src";
const LIST_OF_NODE: &str = "pictures.txt";
/// What arguments begin with that name a file of the optional data.
const OPTIONAL: &str = "../shared/";
/// The first of the arguments of what is no rendering: plots, slices of fields, in-betweens.
const OTHERS: [&str; 3] = ["psd", "field", "vat"];

/// The first of the arguments of what a script draws with the help of other programs.
const SCRIPT: &str = "node";

/// The first of the arguments of what is made by hand, with a program that this command does not start.
const BY_HAND: &str = "blender";

/// One picture of the list.
#[derive(Debug, PartialEq, Eq)]
struct Entry {
    file: String,
    /// It is on the page of a node.
    on_page: bool,
    arguments: Vec<String>,
}

/// A line for each picture, its arguments indented below it. `path`: that of the list, for messages.
fn parse(path: &str, list: &str, on_page: bool) -> Result<Vec<Entry>, String> {
    let mut out: Vec<Entry> = Vec::new();
    for (number, line) in (1..).zip(list.lines()) {
        if line.trim().is_empty() || line.starts_with('#') {
            continue;
        }
        if line.starts_with(' ') {
            let entry = out
                .last_mut()
                .ok_or_else(|| format!("{path}:{number} has arguments of no picture"))?;
            entry
                .arguments
                .extend(line.split_whitespace().map(str::to_owned));
            continue;
        }
        let (head, text) = line.split_once(": ").unwrap_or((line, ""));
        if text.trim().is_empty() {
            return Err(format!(
                "{path}:{number} does not say what is to be seen, expected FILE: TEXT"
            ));
        }
        let file = head.split_whitespace().next().unwrap_or_default();
        if out.iter().any(|e| e.file == file) {
            return Err(format!("{path}:{number} has {file} again"));
        }
        out.push(Entry {
            file: file.to_owned(),
            on_page,
            arguments: Vec::new(),
        });
    }
    Ok(out)
}

fn read(root: &Path) -> Result<Vec<Entry>, String> {
    let list = |path: &str, on_page| {
        let text = std::fs::read_to_string(root.join(path)).map_err(|e| format!("{path}: {e}"))?;
        parse(path, &text, on_page)
    };
    let mut out = list(&format!("{FOLDER}/{LIST}"), false)?;
    let nodes = std::fs::read_dir(root.join(NODES)).map_err(|e| format!("{NODES}: {e}"))?;
    let nodes = nodes.filter_map(|n| n.ok()?.file_name().into_string().ok());
    let mut lists: Vec<_> = nodes
        .map(|n| format!("{NODES}/{n}/{LIST_OF_NODE}"))
        .collect();
    lists.retain(|l| root.join(l).is_file());
    lists.sort();
    for path in lists {
        let of_node = list(&path, true)?;
        if let Some(twice) = of_node
            .iter()
            .find(|e| out.iter().any(|o| o.file == e.file))
        {
            return Err(format!("{path} has {}, which another list has", twice.file));
        }
        out.extend(of_node);
    }
    Ok(out)
}

/// Makes the pictures of these names (without ending), or all of them.
pub(crate) fn make(root: &Path, names: &[String]) -> Result<(), String> {
    let entries = read(root)?;
    let stem = |e: &Entry| e.file.split('.').next().unwrap_or_default().to_owned();
    let is = |e: &Entry, name: &String| *name == e.file || *name == stem(e);
    if let Some(name) = names.iter().find(|n| !entries.iter().any(|e| is(e, n))) {
        return Err(format!("no list of pictures has '{name}'"));
    }
    let program = build(root)?;
    for entry in &entries {
        if !names.is_empty() && !names.iter().any(|n| is(entry, n)) {
            continue;
        }
        if entry.arguments.first().is_some_and(|a| a == BY_HAND) {
            let by = entry.arguments.join(" ");
            eprintln!("skipped: {}, made by hand: {by}", entry.file);
            continue;
        }
        let needs = entry.arguments.iter().find(|a| a.starts_with(OPTIONAL));
        if let Some(missing) = needs.filter(|file| !root.join(file).exists()) {
            eprintln!("skipped: {}, there is no {missing}", entry.file);
            continue;
        }
        run(root, &program, entry)?;
    }
    Ok(())
}

/// The release program, built.
fn build(root: &Path) -> Result<PathBuf, String> {
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.args(["build", "--release", "-p", "sinew-cli"]);
    let built = cargo.current_dir(root).status();
    if !built.is_ok_and(|s| s.success()) {
        return Err("the program was not built".into());
    }
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or("target".into(), PathBuf::from);
    let name = format!("sinew{}", std::env::consts::EXE_SUFFIX);
    std::path::absolute(root.join(target).join("release").join(name)).map_err(|e| e.to_string())
}

/// What makes a picture, but for the file.
fn command(program: &Path, arguments: &[String]) -> Command {
    let first = arguments.first().map(String::as_str);
    if first == Some(SCRIPT) {
        let mut command = Command::new(SCRIPT);
        command.args(&arguments[1..]).env("SINEW", program);
        return command;
    }
    let mut command = Command::new(program);
    if !first.is_some_and(|a| OTHERS.contains(&a)) {
        command.args(["render", "--device", "cpu"]);
    }
    command.args(arguments).arg("--quiet");
    command
}

fn run(root: &Path, program: &Path, entry: &Entry) -> Result<(), String> {
    let path = format!("{FOLDER}/{}", entry.file);
    let mut command = command(program, &entry.arguments);
    command.args(["-o", &path]);
    // The same driver for everybody, as far as can be.
    if std::env::var_os("SINEW_ADAPTER").is_none() {
        command.env("SINEW_ADAPTER", "software");
    }
    let output = command.current_dir(root).output();
    let output = output.map_err(|e| format!("{}: {e}", program.display()))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        return Err(format!("{}: {}", entry.file, said.trim()));
    }
    let bytes = std::fs::metadata(root.join(&path)).map_or(0, |m| m.len());
    eprintln!("{path}: {} KB", bytes.div_ceil(1000));
    Ok(())
}

/// Pictures that the list lacks, that are not there or that nothing shows. `texts` are path and content of README and docs.
pub(crate) fn check(root: &Path, texts: &[(String, String)]) -> Vec<String> {
    let entries = match read(root) {
        Ok(entries) => entries,
        Err(error) => return vec![error],
    };
    let there: Vec<String> = std::fs::read_dir(root.join(FOLDER))
        .into_iter()
        .flatten()
        .flatten()
        .map(|f| f.file_name().to_string_lossy().into_owned())
        .filter(|f| f != LIST)
        .collect();
    problems(&entries, &there, texts)
}

fn problems(entries: &[Entry], there: &[String], texts: &[(String, String)]) -> Vec<String> {
    let listed = |file: &str| entries.iter().any(|e| e.file == file);
    let mut out = Vec::new();
    let mut there: Vec<&String> = there.iter().filter(|f| !listed(f)).collect();
    there.sort();
    for file in there {
        out.push(format!("{FOLDER}/{file} is not in {LIST}"));
    }
    let mut shown = Vec::new();
    for (path, content) in texts {
        for file in references(content) {
            if !listed(file) {
                out.push(format!(
                    "{path} shows pictures/{file}, which is not in {FOLDER}/{LIST}"
                ));
            }
            shown.push(file);
        }
    }
    for entry in entries {
        if !entry.on_page && !shown.contains(&entry.file.as_str()) {
            out.push(format!("{FOLDER}/{}: no page shows it", entry.file));
        }
    }
    out
}

/// Listed pictures that were never made.
pub(crate) fn missing(root: &Path) -> Vec<String> {
    let entries = read(root).unwrap_or_default();
    let gone = entries
        .iter()
        .filter(|e| !root.join(FOLDER).join(&e.file).is_file());
    gone.map(|e| {
        format!(
            "{FOLDER}/{} is not there; cargo xtask pictures makes it",
            e.file
        )
    })
    .collect()
}

/// Files that links of a text lead to in the folder of pictures.
fn references(text: &str) -> Vec<&str> {
    let after = text.split("](").skip(1);
    let targets = after.filter_map(|t| t.split_once(')').map(|t| t.0));
    targets
        .filter_map(|t| t.rsplit_once("pictures/").map(|t| t.1))
        .filter(|f| *f != LIST)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "# a comment\n\na.png twist: two\n    sample:arm --yaw 3\n    --pitch 4\nb.gif: turns\n    ../shared/x.glb\n";

    #[test]
    fn scripts_draw_with_the_program() {
        let words = |text: &str| -> Vec<String> { text.split(' ').map(str::to_owned).collect() };
        let shown = |text: &str| {
            let command = command(Path::new("sinew"), &words(text));
            let all = command.get_args().map(|a| a.to_string_lossy().into_owned());
            let program = command.get_program().to_string_lossy().into_owned();
            std::iter::once(program).chain(all).collect::<Vec<_>>()
        };
        assert_eq!(
            shown("sample:arm --yaw 3"),
            words("sinew render --device cpu sample:arm --yaw 3 --quiet")
        );
        assert_eq!(shown("field x.glb"), words("sinew field x.glb --quiet"));
        assert_eq!(shown("node x.mjs y"), words("node x.mjs y"));
        let script = command(Path::new("sinew"), &words("node x.mjs"));
        let (name, value) = script.get_envs().next().expect("one");
        assert_eq!(
            (name.to_str(), value),
            (Some("SINEW"), Some("sinew".as_ref()))
        );
    }

    #[test]
    fn lists_are_read() {
        let entries = parse("list", TEXT, false).expect("a list");
        assert_eq!(
            entries[0].arguments,
            ["sample:arm", "--yaw", "3", "--pitch", "4"]
        );
        assert_eq!(entries[1].file, "b.gif");
        for bad in ["  x\n", "a.png\n", "a.png twist:\n", "a.png: x\na.png: y\n"] {
            assert!(parse("list", bad, false).is_err(), "{bad}");
        }
    }

    #[test]
    fn unknown_and_unused_pictures_are_problems() {
        let mut entries = parse("list", TEXT, false).expect("a list");
        entries[0].on_page = true;
        let page = |text: &str| vec![("README.md".to_owned(), text.to_owned())];
        let there = ["a.png".to_owned(), "b.gif".to_owned()];
        let good = "![x](docs/pictures/b.gif) [y](docs/pictures/commands.txt)";
        assert_eq!(problems(&entries, &there, &page(good)), [""; 0]);
        assert_eq!(
            problems(&entries, &["c.png".to_owned()], &page(good)),
            ["docs/pictures/c.png is not in commands.txt"]
        );
        assert_eq!(
            problems(
                &entries,
                &there,
                &page("![x](docs/pictures/b.gif) ![y](../pictures/d.png)")
            ),
            ["README.md shows pictures/d.png, which is not in docs/pictures/commands.txt"]
        );
        assert_eq!(
            problems(&entries, &there, &page("no picture")),
            ["docs/pictures/b.gif: no page shows it"]
        );
    }
}
