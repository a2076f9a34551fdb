//! What `sinew hair` accepts.

use crate::args::{Numbers, parse_hex};
use clap::Subcommand;
use clap::builder::{PossibleValue, PossibleValuesParser};
use sinew::hair::{HAIR_STYLES, HairStyle};
use sinew_picture::linear_from_srgb;
use std::path::PathBuf;
use std::str::FromStr;

const EXAMPLES: &str = "\
Examples:
  sinew hair grow sample:head --preset curly -o hair.glb
  sinew hair grow hero.glb --joint head --box -0.1,1.65,-0.1,0.1,1.9,0.1 --comb 0,-1,-0.3 --length 0.15 -o hair.tfx
  sinew hair grow hero.glb --joint head --guide \"0,1.7,-0.1 0,1.65,-0.2 0,1.3,-0.25\" --gather 0.8 -o ponytail.tfx";

fn styles() -> PossibleValuesParser {
    let value = |s: &HairStyle| PossibleValue::new(s.name).help(s.doc.trim_end_matches('.'));
    PossibleValuesParser::new(HAIR_STYLES.iter().map(value))
}

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
    /// Kind of hair. It sets how many strands there are, their length, shape, thickness and colour. Other options override it.
    ///
    /// It uses the painted attributes `scalp` (where hair grows) and `comb`, if the mesh has them and no option says otherwise. The node
    /// hair_sim has presets with the same names.
    #[arg(long, value_name = "NAME", value_parser = styles())]
    pub(crate) preset: Option<String>,
    /// Set the number of strands. Default: of the preset, else 1000.
    #[arg(long, value_name = "NUMBER", conflicts_with = "per_square_metre")]
    pub(crate) count: Option<usize>,
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
    /// Set the length of strands, in metres. Default: of the preset, else 0.2.
    #[arg(long, value_name = "METRES")]
    pub(crate) length: Option<f32>,
    /// Multiply the length by this scalar vertex attribute.
    #[arg(long, value_name = "ATTRIBUTE")]
    pub(crate) length_map: Option<String>,
    /// Shorten strands at random by up to this share of their length. Default: of the preset, else 0.2.
    #[arg(long, value_name = "SHARE")]
    pub(crate) length_variation: Option<f32>,
    /// Make strands shorter and thinner by up to this share where the density falls to 0. Default: of the preset, else 0.
    #[arg(long, value_name = "SHARE")]
    pub(crate) fade: Option<f32>,
    /// Set the number of vertices per strand. A .tfx file needs 4, 8, 16, 32 or 64. Default: of the preset, else 16.
    #[arg(long, value_name = "NUMBER")]
    pub(crate) vertices: Option<usize>,
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
    /// Set how far strands gather around the curve: 0 keeps the distance of their roots, 1 brings tips together. Default: of the preset, else 0.
    #[arg(long, value_name = "SHARE")]
    pub(crate) gather: Option<f32>,
    /// Set how far strands bend towards the comb direction or the curve, 0 to 1.
    #[arg(long, default_value_t = 1.0, value_name = "SHARE")]
    pub(crate) comb_strength: f32,
    /// Tilt strands at random by up to this angle, in degrees. Default: of the preset, else 6.
    #[arg(long, value_name = "DEGREES")]
    pub(crate) lean: Option<f32>,
    /// Set the share of their length over which strands bend from the skin to the comb direction. Default: of the preset, else 0.4.
    #[arg(long, value_name = "SHARE")]
    pub(crate) bend: Option<f32>,
    /// Set how far tips hang down by gravity: 0 is not at all, 1 is as far as they stand out. Default: of the preset, else 0.
    #[arg(long, value_name = "SHARE")]
    pub(crate) droop: Option<f32>,
    /// Set the radius of curls, in metres. Default: of the preset, else 0.
    #[arg(long, value_name = "METRES")]
    pub(crate) curl: Option<f32>,
    /// Set the length of hair per turn of a curl, in metres. Default: of the preset, else 0.05.
    #[arg(long, value_name = "METRES")]
    pub(crate) curl_length: Option<f32>,
    /// Gather strands into clumps: 0 is not at all, 1 brings the tips of a clump to one point. Default: of the preset, else 0.
    #[arg(long, value_name = "SHARE")]
    pub(crate) clump: Option<f32>,
    /// Set the width of a clump on the skin, in metres. Default: of the preset, else 0.012.
    #[arg(long, value_name = "METRES")]
    pub(crate) clump_size: Option<f32>,
    /// Bend strands at random by up to this distance from their line, in metres. Default: of the preset, else 0.
    #[arg(long, value_name = "METRES")]
    pub(crate) frizz: Option<f32>,
    /// Set the length of hair between two random bends, in metres. Default: of the preset, else 0.015.
    #[arg(long, value_name = "METRES")]
    pub(crate) frizz_length: Option<f32>,
    /// Set the diameters at root and tip, in metres. Default: of the preset, else none.
    #[arg(long, value_name = "ROOT,TIP", help_heading = "Look")]
    pub(crate) thickness: Option<Numbers<2>>,
    /// Set the colour: #rrggbb, or one for the root and one for the tip: #rrggbb,#rrggbb. Default: of the preset, else none.
    #[arg(long, value_name = "COLOR", help_heading = "Look")]
    pub(crate) color: Option<RootToTip>,
    /// Keep strands this far from the meshes of the character, in metres.
    ///
    /// Near the root the distance is at most a quarter of the length from the root.
    #[arg(long, default_value_t = 0.002, value_name = "METRES")]
    pub(crate) clearance: f32,
    /// Allow strands to pass through the meshes of the character.
    #[arg(long, conflicts_with = "clearance")]
    pub(crate) no_clearance: bool,
    /// Set the random seed for roots, tilt, length, curls, clumps and frizz.
    #[arg(long, default_value_t = 0)]
    pub(crate) seed: u32,
}

/// Colours at root and tip, linear RGB.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct RootToTip(pub(crate) [[f32; 3]; 2]);

impl FromStr for RootToTip {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let colors: Option<Vec<_>> = text.split(',').map(|c| parse_hex(c.trim())).collect();
        let linear = |c: &[u8; 3]| c.map(linear_from_srgb);
        match colors.as_deref() {
            Some([one]) => Ok(Self([linear(one); 2])),
            Some([root, tip]) => Ok(Self([linear(root), linear(tip)])),
            _ => Err("expected #rrggbb or #rrggbb,#rrggbb".into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colors_are_one_or_two() {
        let parsed = |text: &str| text.parse::<RootToTip>().map(|c| c.0);
        assert_eq!(parsed("#ff0000"), Ok([[1.0, 0.0, 0.0]; 2]));
        let [root, tip] = parsed("#000000, #0080ff").expect("two");
        assert_eq!(root, [0.0; 3]);
        // sRGB 128 is 0.2159 of light (IEC 61966-2-1).
        assert!((tip[1] - 0.2159).abs() < 1e-4 && tip[2] == 1.0, "{tip:?}");
        for bad in ["", "red", "#12345", "#é234", "#000000,#000000,#000000"] {
            assert!(parsed(bad).is_err(), "{bad}");
        }
    }
}
