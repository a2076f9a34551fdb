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
const READ_OR_DRAW: [&str; 18] = [
    "sinew-io",
    "sinew-cli",
    "sinew-picture",
    "gltf",
    "meshopt",
    "zip",
    "png",
    "exr",
    "image",
    "gif",
    "color_quant",
    "zune",
    "ab_glyph",
    "epaint_default_fonts",
    "colorous",
    "tempfile",
    "winit",
    "clap",
];
/// What those that draw leave to `sinew-io`.
const FILES: [&str; 7] = ["sinew-io", "png", "exr", "image", "gif", "zune", "tempfile"];
/// Nodes and what runs them.
const NODES: [&str; 2] = ["sinew-deform", "sinew-graph"];
/// Crates that reach GPUs.
const GRAPHICS: [&str; 2] = ["sinew-gpu", "wgpu"];
/// Folders whose `Cargo.toml` may name wgpu. The others take the types that they need from `sinew_gpu::wgpu`.
const MAY_NAME_WGPU: [&str; 1] = ["crates/sinew-gpu/"];

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
    let inner_forbidden = [&READ_OR_DRAW[..], &GRAPHICS].concat();
    let inner = INNER.map(|name| {
        let more = ALSO_FORBIDDEN.iter().filter(|also| also.0 == name);
        let more = more.flat_map(|also| also.1.iter().copied());
        (name, more.chain(inner_forbidden.iter().copied()).collect())
    });
    let outer = [
        ("sinew-io", [&GRAPHICS[..], &NODES].concat()),
        // The format of texture bakes: those who play it need no file and no picture library.
        ("sinew-vat", [&GRAPHICS[..], &READ_OR_DRAW, &NODES].concat()),
        // Bakes take frames from whoever has them; graphs are one source among others.
        ("sinew-bake", [&GRAPHICS[..], &NODES].concat()),
        ("sinew-picture", [&GRAPHICS[..], &FILES].concat()),
        ("sinew-render", FILES.to_vec()),
        ("sinew-gpu", READ_OR_DRAW.to_vec()),
    ];
    inner
        .into_iter()
        .chain(outer)
        .flat_map(|(name, forbidden): (&str, Vec<&str>)| check_crate(root, name, &forbidden))
        .collect()
}

/// A problem where the file `path` (relative to the workspace) is a `Cargo.toml` that names wgpu and may not.
pub(crate) fn check_manifest(path: &str, content: &str) -> Option<String> {
    let allowed = MAY_NAME_WGPU.iter().any(|f| path.starts_with(f));
    if allowed || !path.ends_with("Cargo.toml") {
        return None;
    }
    let (number, _) = content.lines().enumerate().find(|(_, l)| names_wgpu(l))?;
    Some(format!(
        "{path}:{} names wgpu; that is for sinew-gpu, which re-exports it",
        number + 1
    ))
}

/// `wgpu = ..`, `wgpu.workspace = ..`, `[dependencies.wgpu]`, `x = { package = "wgpu" }`; parts of wgpu count. A level of optimisation is no
/// dependency.
fn names_wgpu(line: &str) -> bool {
    let code = line.split('#').next().unwrap_or_default();
    let mut words = code.split(|c: char| !(c.is_alphanumeric() || c == '-' || c == '_'));
    !code.contains(".opt-level") && words.any(|word| word == "wgpu" || word.starts_with("wgpu-"))
}

fn check_crate(root: &Path, name: &str, forbidden: &[&str]) -> Vec<String> {
    let output = Command::new(env!("CARGO"))
        .args(["tree", "--package", name, "--edges", "normal"])
        .args(["--prefix", "none", "--all-features", "--locked"])
        .current_dir(root)
        .output();
    match output {
        Ok(o) if o.status.success() => forbidden_in(&String::from_utf8_lossy(&o.stdout), forbidden)
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

/// Forbidden crates in the output of `cargo tree --prefix none`, each once.
fn forbidden_in<'a>(tree: &'a str, forbidden: &[&str]) -> Vec<&'a str> {
    let mut found: Vec<&str> = tree
        .lines()
        .filter_map(|line| line.split_whitespace().next())
        // The first line is the crate itself.
        .skip(1)
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
            forbidden_in(tree, &["gltf", "png", "zip", "wgpu"]),
            ["gltf-json", "png-like-name-is-caught", "wgpu"]
        );
    }

    #[test]
    fn only_one_manifest_names_wgpu() {
        for line in [
            "wgpu = \"30\"",
            "wgpu.workspace = true",
            "[dependencies.wgpu-types]",
            "graphics = { package = \"wgpu\", version = \"30\" }",
        ] {
            let text = format!("[dependencies]\n{line}\n");
            let problem = check_manifest("crates/sinew/Cargo.toml", &text).expect(line);
            assert!(
                problem.starts_with("crates/sinew/Cargo.toml:2 "),
                "{problem}"
            );
            assert_eq!(check_manifest("crates/sinew-gpu/Cargo.toml", &text), None);
        }
        let text = "# through wgpu\nsinew-gpu = { optional = true }\nwgpu-core.opt-level = 0\n";
        assert_eq!(check_manifest("crates/sinew/Cargo.toml", text), None);
    }
}
