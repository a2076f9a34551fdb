//! Hair files of TressFX 4: strands (`.tfx`), the bones that their roots follow (`.tfxbone`), skinned collision meshes
//! (`.tfxmesh`).
//!
//! Readers keep the content of the file, and writers reproduce valid files of the exporter byte for byte. No file
//! states a unit or an up axis; numbers are not converted.
//!
//! - A `.tfx` file contains guide strands with the same number of vertices each. Strands of zero length are common and
//!   kept. The header may state more strands than the file has (an exporter error), which gives a warning.
//! - A `.tfxbone` file has no header. Joint weights need not add up to 1; [`TfxBones::influences`] normalises them, the
//!   reader does not.
//! - [`read_tfx_asset`] reads both as an [`sinew_geom::Asset`] of strands.
//! - A `.tfxmesh` file is text with six digits per number. [`read_tfx_mesh`] gives an [`sinew_geom::Asset`] of one
//!   mesh. Its joints rest at the origin, since the file only contains the names of bones.
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
pub use strands_write::{LOADABLE, write_tfx};

#[cfg(test)]
mod tests;
