//! Hair files of TressFX 4: strands (`.tfx`), the bones their roots follow (`.tfxbone`), skinned collision meshes (`.tfxmesh`).
//!
//! Each is read into what the file says and can be written again: valid files of the exporter come back byte for byte. No file stores a unit or an up
//! axis; numbers are handed on as they are.
//!
//! - A `.tfx` file holds guide strands with the same number of vertices each. Strands of no length are normal in such files and are kept; the header may
//!   name more strands than there are (an exporter's mistake), which is a warning.
//! - A `.tfxbone` file has no header. Joint weights need not add up to one and are normalised by [`TfxBones::influences`], not in the file.
//! - [`read_tfx_asset`] makes an [`sinew_geom::Asset`] of strands of both.
//! - A `.tfxmesh` file is text with six digits a number; [`read_tfx_mesh`] gives an [`sinew_geom::Asset`] of one mesh whose joints rest where the scene has
//!   its origin, as the file knows names of bones, not their places.
//!
//! Source: the file format headers and the exporter of TressFX 4.1 (GPUOpen, MIT).

mod asset;
mod bones;
mod cursor;
mod mesh;
mod mesh_write;
mod strands;
mod strands_write;

pub use asset::{read_tfx_asset, write_tfx_asset};
pub use bones::{BoneWeight, TfxBones, parse_tfx_bones, read_tfx_bones, write_tfx_bones};
pub use mesh::{parse_tfx_mesh, read_tfx_mesh};
pub use mesh_write::write_tfx_mesh;
pub use strands::{TfxStrands, parse_tfx, read_tfx};
pub use strands_write::write_tfx;

#[cfg(test)]
mod tests;
