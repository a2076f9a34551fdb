//! What `sinew hair` accepts.

use clap::Subcommand;
use std::path::PathBuf;

#[derive(Debug, Subcommand)]
pub(crate) enum HairCommand {
    /// Grow strands on a mesh. Roots are spread evenly over the surface, or by painted attributes.
    Grow(HairGrowArgs),
}

#[derive(Debug, clap::Args)]
pub(crate) struct HairGrowArgs {
    /// Character or mesh to grow on: a GLB, glTF, OBJ or PLY file, or a built-in sample (sample:head).
    pub(crate) character: PathBuf,
    /// Write this file: .glb, .tfx, .ply, .obj or .npz. Repeat for more files.
    ///
    /// A .glb holds the character with its hair. A .tfx has a .tfxbone file beside it.
    #[arg(short, long, required = true)]
    pub(crate) output: Vec<PathBuf>,
    /// Grow on meshes with this name; * matches any characters. Default: all meshes.
    #[arg(long, value_name = "NAME")]
    pub(crate) mesh: Option<String>,
    /// Set the number of strands.
    #[arg(long, default_value_t = 1000, conflicts_with = "per_square_metre")]
    pub(crate) count: usize,
    /// Set the number of strands per square metre at density 1, instead of --count.
    #[arg(long, value_name = "NUMBER")]
    pub(crate) per_square_metre: Option<f32>,
    /// Scale the density of strands by this scalar vertex attribute, 0 to 1.
    #[arg(long, value_name = "ATTRIBUTE")]
    pub(crate) density: Option<String>,
    /// Set the length of strands, in metres.
    #[arg(long, default_value_t = 0.2, value_name = "METRES")]
    pub(crate) length: f32,
    /// Multiply the length by this scalar vertex attribute.
    #[arg(long, value_name = "ATTRIBUTE")]
    pub(crate) length_map: Option<String>,
    /// Shorten strands at random by up to this share of their length.
    #[arg(long, default_value_t = 0.2, value_name = "SHARE")]
    pub(crate) length_variation: f32,
    /// Set the number of vertices per strand. A .tfx file needs 4, 8, 16, 32 or 64.
    #[arg(long, default_value_t = 16, value_name = "NUMBER")]
    pub(crate) vertices: usize,
    /// Comb strands in the direction of this vector vertex attribute, in scene axes.
    #[arg(long, value_name = "ATTRIBUTE")]
    pub(crate) comb: Option<String>,
    /// Set how far strands bend towards the comb direction, 0 to 1.
    #[arg(long, default_value_t = 1.0, value_name = "SHARE", requires = "comb")]
    pub(crate) comb_strength: f32,
    /// Tilt strands at random by up to this angle, in degrees.
    #[arg(long, default_value_t = 6.0, value_name = "DEGREES")]
    pub(crate) lean: f32,
    /// Set how far tips hang down: 0 is not at all, 1 is as far as they stand out.
    #[arg(long, default_value_t = 0.0, value_name = "SHARE")]
    pub(crate) droop: f32,
    /// Set the radius of curls, in metres.
    #[arg(long, default_value_t = 0.0, value_name = "METRES")]
    pub(crate) curl: f32,
    /// Set the length of hair per turn of a curl, in metres.
    #[arg(long, default_value_t = 0.05, value_name = "METRES")]
    pub(crate) curl_length: f32,
    /// Keep strands this far from the meshes of the character, in metres.
    ///
    /// Near the root the distance is at most a quarter of the length from the root.
    #[arg(long, default_value_t = 0.002, value_name = "METRES")]
    pub(crate) clearance: f32,
    /// Allow strands to pass through the meshes of the character.
    #[arg(long, conflicts_with = "clearance")]
    pub(crate) no_clearance: bool,
    /// Set the random seed for roots, tilt, length and curls.
    #[arg(long, default_value_t = 0)]
    pub(crate) seed: u32,
}
