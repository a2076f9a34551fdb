//! Every deformer's folder is complete and registered.

use std::path::Path;

/// Problems of the folders in `source` (`sinew-deform/src`).
pub(crate) fn check(source: &Path) -> Vec<String> {
    let registry = std::fs::read_to_string(source.join("lib.rs")).unwrap_or_default();
    let Ok(entries) = std::fs::read_dir(source) else {
        return vec![format!("{} cannot be listed", source.display())];
    };
    let mut names: Vec<String> = entries
        .flatten()
        .filter(|e| e.path().is_dir())
        .map(|e| e.file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
        .iter()
        .flat_map(|name| check_folder(&source.join(name), name, registered(&registry)))
        .collect()
}

/// The text of the registry's list.
fn registered(lib: &str) -> &str {
    let list = lib.split_once("static REGISTRY").map_or("", |l| l.1);
    list.split_once("];").map_or(list, |l| l.0)
}

fn check_folder(folder: &Path, name: &str, registry: &str) -> Vec<String> {
    if !folder.join("mod.rs").is_file() {
        return vec![format!("sinew-deform/src/{name} has no mod.rs")];
    }
    let definition = sources(folder);
    // Folders of shared helpers define no node.
    if !definition.contains("DESC: NodeDesc") {
        return Vec::new();
    }
    let mut out = Vec::new();
    for file in ["README.md", "tests.rs"] {
        if !folder.join(file).is_file() {
            out.push(format!("sinew-deform/src/{name} has no {file}"));
        }
    }
    for file in documents(folder) {
        if !definition.contains(&format!("include_str!(\"{file}\")")) {
            out.push(format!(
                "sinew-deform/src/{name} does not include its {file}"
            ));
        }
    }
    if !registry.contains(&format!("&{name}::")) {
        out.push(format!("sinew-deform/src/{name} has no line in REGISTRY"));
    }
    out
}

/// What the description of a node has of its folder: the page, the list of pictures, example graphs.
fn documents(folder: &Path) -> Vec<String> {
    let files = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut names: Vec<_> = files
        .filter_map(|f| f.file_name().into_string().ok())
        .collect();
    names.retain(|n| n == "README.md" || n == "pictures.txt" || n.ends_with(".json"));
    names.sort();
    names
}

/// All Rust files of a folder, one after another.
fn sources(folder: &Path) -> String {
    let files = std::fs::read_dir(folder).into_iter().flatten().flatten();
    files
        .map(|f| f.path())
        .filter(|p| p.extension().is_some_and(|e| e == "rs"))
        .filter_map(|p| std::fs::read_to_string(p).ok())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_registry_is_cut_out() {
        let lib = "mod a;\npub static REGISTRY: &[&NodeDesc] = &[&a::DESC,\n&b::DESC];\nfn f() { &c::DESC; }";
        let list = registered(lib);
        assert!(list.contains("&b::") && !list.contains("&c::"), "{list}");
    }

    #[test]
    fn this_workspace_has_complete_folders() {
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates/sinew-deform/src");
        assert_eq!(check(&source), Vec::<String>::new());
    }

    #[test]
    fn what_is_missing_is_named() {
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates/sinew-deform/src");
        assert_eq!(
            check_folder(&source.join("transform"), "transform", "&skin::DESC"),
            ["sinew-deform/src/transform has no line in REGISTRY"]
        );
        assert_eq!(
            check_folder(&source.join("nowhere"), "nowhere", ""),
            ["sinew-deform/src/nowhere has no mod.rs"]
        );
    }
}
