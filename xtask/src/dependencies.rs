//! Arrows point one way: what the inner crates must not depend on, directly or not.

use std::path::Path;
use std::process::Command;

/// Crates that only compute.
const INNER: [&str; 5] = [
    "sinew-geom",
    "sinew-deform",
    "sinew-graph",
    "sinew-samples",
    "sinew-wgsl",
];
/// Crates that read, write, decode or draw, as the whole name or up to a `-`.
const FORBIDDEN: [&str; 12] = [
    "sinew-io",
    "sinew-cli",
    "sinew-picture",
    "gltf",
    "meshopt",
    "npyz",
    "zip",
    "png",
    "tempfile",
    "wgpu",
    "winit",
    "clap",
];

/// What only some of them must not depend on. Kernel texts are checked by themselves, so that the graph can use the checks; nodes
/// are usable without any parser of WGSL.
const ALSO_FORBIDDEN: [(&str, &[&str]); 4] = [
    ("sinew-wgsl", &["sinew"]),
    ("sinew-geom", &["naga"]),
    ("sinew-deform", &["naga"]),
    ("sinew-samples", &["naga"]),
];

/// Problems in the dependency trees of the workspace at `root`.
pub(crate) fn check(root: &Path) -> Vec<String> {
    INNER
        .iter()
        .flat_map(|name| check_crate(root, name))
        .collect()
}

fn check_crate(root: &Path, name: &str) -> Vec<String> {
    let output = Command::new(env!("CARGO"))
        .args(["tree", "--package", name, "--edges", "normal"])
        .args(["--prefix", "none", "--all-features", "--locked"])
        .current_dir(root)
        .output();
    match output {
        Ok(o) if o.status.success() => forbidden_in(name, &String::from_utf8_lossy(&o.stdout))
            .into_iter()
            .map(|found| format!("{name} depends on {found}"))
            .collect(),
        Ok(o) => vec![format!(
            "cargo tree fails for {name}: {}",
            String::from_utf8_lossy(&o.stderr).trim()
        )],
        Err(error) => vec![format!("cargo tree cannot be started: {error}")],
    }
}

/// Crates in the output of `cargo tree --prefix none` that crate `of` must not have, each once.
fn forbidden_in<'a>(of: &str, tree: &'a str) -> Vec<&'a str> {
    let also = ALSO_FORBIDDEN.iter().filter(|(name, _)| *name == of);
    let forbidden: Vec<&str> = also
        .flat_map(|(_, more)| more.iter().copied())
        .chain(FORBIDDEN)
        .collect();
    let mut found: Vec<&str> = tree
        .lines()
        .filter_map(|line| line.split_whitespace().next())
        .filter(|name| *name != of)
        .filter(|name| {
            forbidden.iter().any(|f| {
                name.strip_prefix(f)
                    .is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
            })
        })
        .collect();
    found.sort_unstable();
    found.dedup();
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forbidden_crates_are_found_once() {
        let tree = "sinew-graph v0.1.0\nserde v1.0.0\ngltf-json v1.4.1\nwgpu v29.0.0\n\
                    gltf-json v1.4.1 (*)\npng-like-name-is-caught v1.0.0\nzipper v1.0.0\n";
        assert_eq!(
            forbidden_in("sinew-graph", tree),
            ["gltf-json", "png-like-name-is-caught", "wgpu"]
        );
    }
    #[test]
    fn some_crates_must_do_without_more() {
        let tree = "sinew-wgsl v0.1.0\nnaga v30.0.1\nsinew-deform v0.1.0\n";
        assert_eq!(forbidden_in("sinew-wgsl", tree), ["sinew-deform"]);
        assert_eq!(forbidden_in("sinew-deform", tree), ["naga"]);
        assert!(forbidden_in("sinew-graph", tree).is_empty());
    }
}
