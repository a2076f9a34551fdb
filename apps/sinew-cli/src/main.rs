//! The command line of Sinew.
fn main() {}
