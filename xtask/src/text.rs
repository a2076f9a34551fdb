//! What can be seen in one file: leftovers, length, who opens files.

/// Longest source file.
const LONGEST: usize = 900;
/// Largest file in bytes: pictures are small, samples are generated.
const LARGEST: u64 = 1_500_000;
/// Endings of files whose text is checked.
const SOURCES: [&str; 9] = [
    ".rs", ".wgsl", ".py", ".cjs", ".js", ".sh", ".toml", ".md", "/run",
];
/// Folders whose code may open files; all tests, examples and benchmarks may, too.
const MAY_OPEN_FILES: [&str; 5] = [
    "crates/sinew-io/",
    "crates/sinew-testkit/",
    "apps/",
    "xtask/",
    "fuzz/",
];
/// How opening files looks in Rust.
const OPENS: [&str; 5] = ["std::fs", "File::", "fs::read", "fs::write", "OpenOptions"];

/// Problems of the file `path` (relative to the workspace, `/` between parts).
pub(crate) fn check(path: &str, content: &str) -> Vec<String> {
    if !SOURCES.iter().any(|e| path.ends_with(e)) {
        return Vec::new();
    }
    let mut out = leftovers(path, content);
    let lines = content.lines().count();
    // Prose may be long; code is split.
    if lines > LONGEST && !path.ends_with(".md") {
        out.push(format!("{path} has {lines} lines, at most {LONGEST}"));
    }
    if path.ends_with(".rs") && !may_open_files(path) {
        out.extend(opened_files(path, content));
    }
    out
}

/// A file that is too large to be kept with the sources: a download, a sample, a build.
pub(crate) fn check_size(path: &str, bytes: u64) -> Option<String> {
    let is_large = bytes > LARGEST;
    is_large.then(|| format!("{path} has {bytes} bytes, at most {LARGEST}; generate or fetch it"))
}

fn leftovers(path: &str, content: &str) -> Vec<String> {
    // Put together here so that this file does not report itself.
    let marks = [
        concat!("TO", "DO"),
        concat!("FIX", "ME"),
        concat!("to", "do!("),
        concat!("unimpl", "emented!("),
    ];
    let found = content.lines().enumerate().filter_map(|(i, line)| {
        let mark = marks.iter().find(|m| line.contains(*m))?;
        Some(format!("{path}:{} has '{mark}'", i + 1))
    });
    found.collect()
}

fn may_open_files(path: &str) -> bool {
    let test_code = path.split('/').any(|p| {
        matches!(
            p,
            "tests" | "benches" | "examples" | "tests.rs" | "build.rs"
        )
    });
    test_code || MAY_OPEN_FILES.iter().any(|f| path.starts_with(f))
}

fn opened_files(path: &str, content: &str) -> Vec<String> {
    content
        .lines()
        .enumerate()
        // Unit tests come last in a file.
        .take_while(|(_, line)| !line.starts_with("mod tests {"))
        .filter(|(_, line)| !line.trim_start().starts_with("//"))
        .filter(|(_, line)| OPENS.iter().any(|o| line.contains(o)))
        .map(|(i, _)| {
            format!(
                "{path}:{} opens files; that is for sinew-io and the applications",
                i + 1
            )
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn leftovers_are_found_with_their_line() {
        let text = format!("fn a() {{}}\n// {}: later\n", concat!("TO", "DO"));
        assert_eq!(
            check("crates/a/src/lib.rs", &text),
            [format!(
                "crates/a/src/lib.rs:2 has '{}'",
                concat!("TO", "DO")
            )]
        );
        assert!(check("picture.svg", &text).is_empty());
    }

    #[test]
    fn large_files_are_found() {
        assert_eq!(
            check_size("tool.whl", 1_500_001).as_deref(),
            Some("tool.whl has 1500001 bytes, at most 1500000; generate or fetch it")
        );
        assert_eq!(check_size("picture.png", 1_500_000), None);
    }

    #[test]
    fn long_files_are_found() {
        let text = "x\n".repeat(901);
        assert_eq!(check("a.rs", &text), ["a.rs has 901 lines, at most 900"]);
        assert!(check("a.rs", &text[2..]).is_empty());
        assert!(check("a.md", &text).is_empty());
    }

    #[test]
    fn only_some_may_open_files() {
        let text = "fn f() { std::fs::read(\"a\"); }\n";
        assert_eq!(check("crates/sinew-graph/src/a.rs", text).len(), 1);
        for path in [
            "crates/sinew-io/src/a.rs",
            "crates/sinew-graph/tests/a.rs",
            "crates/sinew-graph/src/a/tests.rs",
            "apps/sinew-cli/src/main.rs",
        ] {
            assert!(check(path, text).is_empty(), "{path}");
        }
        let in_test = format!("#[cfg(test)]\nmod tests {{\n{text}}}\n");
        assert!(check("crates/sinew-graph/src/a.rs", &in_test).is_empty());
        assert!(check("crates/sinew-graph/src/a.rs", &format!("// {text}")).is_empty());
    }
}
