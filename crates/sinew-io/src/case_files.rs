//! Where the small inputs are that once failed; they are no part of this repository.

use std::path::{Path, PathBuf};

/// A file or folder below `../shared/cases`, beside the workspace. Without it the test that asks says that it was skipped.
pub(crate) fn case_file(name: &str) -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/cases");
    let path = folder.join(name);
    if path.exists() {
        return Some(path);
    }
    println!("skipped: no {}", path.display());
    None
}
