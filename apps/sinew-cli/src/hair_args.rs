//! What `sinew hair` accepts.

use clap::Subcommand;
use std::path::PathBuf;

#[derive(Debug, Subcommand)]
pub(crate) enum HairCommand {
    /// Grow strands on a mesh: roots spread evenly over its surface, by painted attributes where there are some.
    Grow(HairGrowArgs),
}

#[derive(Debug, clap::Args)]
pub(crate) struct HairGrowArgs {
    /// GLB, glTF, OBJ or PLY file, or a built-in sample (sample:head).
    pub(crate) character: PathBuf,
    /// File to write: .glb (the character with its hair), .tfx (with a .tfxbone beside it), .ply, .obj or .npz; may be given often.
    #[arg(short, long, required = true)]
    pub(crate) output: Vec<PathBuf>,
    /// Meshes to grow on, by name; * stands for any letters. Without it all.
    #[arg(long, value_name = "NAME")]
    pub(crate) mesh: Option<String>,
    /// Number of strands.
    #[arg(long, default_value_t = 1000, conflicts_with = "per_square_metre")]
    pub(crate) count: usize,
    /// Strands a square metre where the density is 1, in place of their number.
    #[arg(long, value_name = "NUMBER")]
    pub(crate) per_square_metre: Option<f32>,
    /// Scalar vertex attribute that says how dense strands grow, 0 to 1.
    #[arg(long, value_name = "ATTRIBUTE")]
    pub(crate) density: Option<String>,
    /// Length of strands, in metres.
    #[arg(long, default_value_t = 0.2, value_name = "METRES")]
    pub(crate) length: f32,
    /// Scalar vertex attribute that the length is multiplied by.
    #[arg(long, value_name = "ATTRIBUTE")]
    pub(crate) length_map: Option<String>,
    /// Share of their length by which strands are shorter at random, at most.
    #[arg(long, default_value_t = 0.2, value_name = "SHARE")]
    pub(crate) length_variation: f32,
    /// Vertices of a strand (.tfx files hold 4, 8, 16, 32 or 64).
    #[arg(long, default_value_t = 16, value_name = "NUMBER")]
    pub(crate) vertices: usize,
    /// Vector vertex attribute: directions that strands are combed to, in the axes of the scene.
    #[arg(long, value_name = "ATTRIBUTE")]
    pub(crate) comb: Option<String>,
    /// How far strands bend towards these directions, 0 to 1.
    #[arg(long, default_value_t = 1.0, value_name = "SHARE", requires = "comb")]
    pub(crate) comb_strength: f32,
    /// Strands lean at random by up to this many degrees.
    #[arg(long, default_value_t = 6.0, value_name = "DEGREES")]
    pub(crate) lean: f32,
    /// How far tips hang down: 0 not at all, 1 as much as they stand out.
    #[arg(long, default_value_t = 0.0, value_name = "SHARE")]
    pub(crate) droop: f32,
    /// Radius of curls, in metres.
    #[arg(long, default_value_t = 0.0, value_name = "METRES")]
    pub(crate) curl: f32,
    /// Length of hair in one turn of a curl, in metres.
    #[arg(long, default_value_t = 0.05, value_name = "METRES")]
    pub(crate) curl_length: f32,
    /// How far from the character's meshes strands stay, in metres; from the root on it grows by a quarter of the way along the strand.
    #[arg(long, default_value_t = 0.002, value_name = "METRES")]
    pub(crate) clearance: f32,
    /// Strands may lead through the character's meshes.
    #[arg(long, conflicts_with = "clearance")]
    pub(crate) no_clearance: bool,
    /// Which random places, leans and curls.
    #[arg(long, default_value_t = 0)]
    pub(crate) seed: u32,
}
