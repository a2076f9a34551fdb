//! Wavefront OBJ: one polygon mesh.
//!
//! Read: `v` (with optional colour: sRGB in the file, linear in a mesh), `vt`, `vn`, `f` with any number of corners and
//! negative indices, `o` and `g` names, line continuation with `\`. `usemtl`, `mtllib`, `s`, lines, points and curves are
//! skipped. A vertex is split only where its faces disagree about texture coordinate or normal: vertex `i` of the file stays
//! vertex `i` of the mesh, further combinations follow after the last one. `v` of texture coordinates points up in OBJ and
//! down in a [`sinew_geom::Mesh`]; reading and writing flip it.
//!
//! Concave polygons are cut into triangles that cover them once. Where a fan from one of their corners does that, they stay
//! polygons that begin at that corner; others become triangles.
//!
//! The parser is our own, not `tobj`: errors name the line, what stands there and what was expected; face corners
//! keep the file's vertex order (point caches depend on it), and polygons stay polygons.

mod read;
mod write;

pub(crate) use read::parse_obj_from;
pub use read::{parse_obj, read_obj};
pub use write::write_obj;

#[cfg(test)]
mod tests;
