//! What `sinew hair` accepts.

use crate::args::Numbers;
use clap::Subcommand;
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  sinew hair grow hero.glb --joint head --box -0.1,1.65,-0.1,0.1,1.9,0.1 --comb 0,-1,-0.3 --length 0.15 -o hair.tfx
  sinew hair grow hero.glb --joint head --guide \"0,1.7,-0.1 0,1.65,-0.2 0,1.3,-0.25\" --gather 0.8 -o ponytail.tfx";

#[derive(Debug, Subcommand)]
pub(crate) enum HairCommand {
    /// Grow strands on a mesh. Roots are spread evenly over the surface, or where joints, boxes, masks or painted attributes say.
    #[command(after_help = EXAMPLES)]
    Grow(Box<HairGrowArgs>),
}

#[derive(Debug, clap::Args)]
pub(crate) struct HairGrowArgs {
    /// Character or mesh to grow on: a GLB, glTF, VRM, FBX, OBJ or PLY file, or a built-in sample (sample:head).
    pub(crate) character: PathBuf,
    /// Write this file: .glb, .tfx, .ply, .obj or .npz. Repeat for more files.
    ///
    /// A .glb holds the character with its hair; so does a .vrm, which needs a VRM avatar. A .tfx has a .tfxbone file beside it.
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
    #[arg(long, value_name = "ATTRIBUTE", help_heading = "Where hair grows")]
    pub(crate) density: Option<String>,
    /// Grow where more than half of the joint weight is on these joints.
    #[arg(
        long,
        value_name = "JOINT,...",
        value_delimiter = ',',
        help_heading = "Where hair grows"
    )]
    pub(crate) joint: Vec<String>,
    /// Grow inside this box: two opposite corners in the scene at rest, in metres. Repeat for more boxes.
    ///
    /// `sinew inspect CHARACTER --joint NAME` prints the box of a joint: bounds_min and bounds_max.
    #[arg(
        long = "box",
        value_name = "X,Y,Z,X,Y,Z",
        allow_hyphen_values = true,
        help_heading = "Where hair grows"
    )]
    pub(crate) boxes: Vec<Numbers<6>>,
    /// Scale the density by this mask output of --graph, evaluated in the rest pose.
    #[arg(
        long,
        value_name = "OUTPUT",
        requires = "graph",
        help_heading = "Where hair grows"
    )]
    pub(crate) mask: Option<String>,
    /// Graph document with the mask.
    #[arg(short, long, requires = "mask", help_heading = "Where hair grows")]
    pub(crate) graph: Option<PathBuf>,
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
    /// Comb strands in this direction, in scene axes: X,Y,Z, or the name of a vector vertex attribute.
    #[arg(long, value_name = "X,Y,Z|ATTRIBUTE", allow_hyphen_values = true)]
    pub(crate) comb: Option<String>,
    /// Let strands follow a curve instead: points X,Y,Z in metres, separated by spaces, or a file with curves in scene space.
    ///
    /// For example "0,1.7,-0.1 0,1.5,-0.2". A file has curves as lines (GLB, glTF) or as strands (TFX). Each strand follows the curve
    /// whose first point is nearest to its root.
    #[arg(
        long,
        value_name = "POINTS|FILE",
        allow_hyphen_values = true,
        conflicts_with = "comb"
    )]
    pub(crate) guide: Option<String>,
    /// Set how far strands gather around the curve: 0 keeps the distance of their roots, 1 brings tips together.
    #[arg(long, default_value_t = 0.0, value_name = "SHARE")]
    pub(crate) gather: f32,
    /// Set how far strands bend towards the comb direction or the curve, 0 to 1.
    #[arg(long, default_value_t = 1.0, value_name = "SHARE")]
    pub(crate) comb_strength: f32,
    /// Tilt strands at random by up to this angle, in degrees.
    #[arg(long, default_value_t = 6.0, value_name = "DEGREES")]
    pub(crate) lean: f32,
    /// Set how far tips hang down by gravity: 0 is not at all, 1 is as far as they stand out.
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
