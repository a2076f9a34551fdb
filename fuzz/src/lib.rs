//! What the fuzz targets share: what must hold for everything that a reader accepts, a limit on memory, mutations that
//! keep a document's structure, small characters to bind graphs to.

pub mod characters;
pub mod documents;
pub mod invariants;
pub mod memory;
pub mod mutate;
pub mod work;
