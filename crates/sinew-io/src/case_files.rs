//! Paths of small inputs that once failed. They are not part of this repository.

use std::path::{Path, PathBuf};

/// A file or folder below `../shared/cases`, next to the workspace. Without it, the test prints that it was skipped.
pub(crate) fn case_file(name: &str) -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/cases");
    let path = folder.join(name);
    if path.exists() {
        return Some(path);
    }
    println!("skipped: no {}", path.display());
    None
}
