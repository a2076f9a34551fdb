//! Chores of the workspace: `cargo xtask tidy`.
fn main() {}
