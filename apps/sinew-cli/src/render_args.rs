//! What `sinew render` accepts.

use crate::args::{Device, Numbers};
use crate::graph_args::GraphArgs;
use clap::ValueEnum;
use std::path::PathBuf;

/// Draw a character, with or without a graph, or a mesh sequence.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  sinew render man.glb -o man.png
  sinew render man.glb --graph mush.json --frames 30 -o mush.png
  sinew render man.glb --compare linear,dual_quaternion,delta_mush --focus lowerarm_l --frames 30 -o elbow.png
  sinew render man.glb --graph mush.json --look difference --against linear -o moved.png
  sinew render man.glb --frames 0-48/2 --sheet -o sheet.png
  sinew render man.glb --turntable 24 -o man.gif")]
pub(crate) struct RenderArgs {
    /// GLB, glTF, OBJ or PLY file; a folder or a name with #### is a mesh sequence; sample:arm, sample:creature, sample:ball and sample:head are built in.
    pub(crate) input: PathBuf,
    /// Picture: .png, or .gif or .apng to play frames or turns.
    #[arg(short, long)]
    pub(crate) output: PathBuf,
    #[command(flatten)]
    pub(crate) play: PlayArgs,
    #[command(flatten)]
    pub(crate) kind: KindArgs,
    #[command(flatten)]
    pub(crate) look: LookArgs,
    #[command(flatten)]
    pub(crate) camera: CameraArgs,
}

/// What plays.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "What is played")]
pub(crate) struct PlayArgs {
    #[command(flatten)]
    pub(crate) graph: GraphArgs,
    /// Clip to play; without it the first one.
    #[arg(short, long)]
    pub(crate) clip: Option<String>,
    /// Frames: 21, 0-120 or 0-120/2; without it the first, or 24 of the clip on a sheet, or all of it in an animation.
    #[arg(short, long)]
    pub(crate) frames: Option<String>,
    /// Frames a second of the clip.
    #[arg(long, default_value_t = 30.0)]
    pub(crate) fps: f64,
    /// Where frames are evaluated; pictures are drawn on the graphics adapter in any case.
    #[arg(long, value_enum, default_value_t = Device::Auto)]
    pub(crate) device: Device,
}

/// What kind of picture.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Kind of picture")]
pub(crate) struct KindArgs {
    /// Frames on one sheet: those of --frames, else 24 of the clip.
    #[arg(long)]
    pub(crate) sheet: bool,
    /// COUNT views around, on a sheet or in an animation.
    #[arg(long, value_name = "COUNT", conflicts_with = "sheet")]
    pub(crate) turntable: Option<usize>,
    /// Side by side, each with its label: names of built-in stacks (rest, linear, dual_quaternion, rigid, delta_mush, default, graph), graph documents (FILE.json)
    /// or settings of the graph (NAME=VALUE).
    #[arg(long, value_name = "A,B,...")]
    pub(crate) compare: Option<String>,
    /// Pixels of a picture, or of each on a sheet; 1280x720, or 480x480 on sheets.
    #[arg(long, value_name = "WxH")]
    pub(crate) size: Option<String>,
    /// Pictures in a row of a sheet.
    #[arg(long)]
    pub(crate) columns: Option<usize>,
    /// Pictures a second of an animation; without it those of the clip.
    #[arg(long)]
    pub(crate) rate: Option<u16>,
    /// studio, transparent, white, black or #rrggbb.
    #[arg(long, default_value = "studio")]
    pub(crate) background: String,
    /// Leave out the ground.
    #[arg(long)]
    pub(crate) no_ground: bool,
    /// Leave out shadows.
    #[arg(long)]
    pub(crate) no_shadows: bool,
    /// Leave out the darkness in corners and creases.
    #[arg(long)]
    pub(crate) no_occlusion: bool,
}

/// How things look.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Look")]
pub(crate) struct LookArgs {
    /// shaded, clay, matcap, normals, uv, colors, weights, weights:JOINT, attribute:NAME[.x], output:NAME (a mask or values of the graph), difference.
    #[arg(long, default_value = "shaded")]
    pub(crate) look: String,
    /// What the difference is measured to: as an entry of --compare; without it the default stack (morph targets, linear skinning).
    #[arg(long, value_name = "STACK")]
    pub(crate) against: Option<String>,
    /// Numbers of the first and last colour; without it those of what is drawn.
    #[arg(long, value_name = "MIN,MAX", allow_hyphen_values = true)]
    pub(crate) range: Option<Numbers<2>>,
    /// Colours for numbers: viridis, magma, inferno, plasma, cividis, turbo, greys, red_blue, purple_green.
    #[arg(long)]
    pub(crate) map: Option<String>,
    /// How surfaces are lit; studio, but soft for colours of numbers. Flat gives exactly the colours of the scale.
    #[arg(long, value_enum)]
    pub(crate) lighting: Option<LightingChoice>,
    /// Edges of the triangles over the surface.
    #[arg(long)]
    pub(crate) wireframe: bool,
    /// The joints' bones through the surface.
    #[arg(long)]
    pub(crate) skeleton: bool,
    /// Leave out the lines that the graph puts out.
    #[arg(long)]
    pub(crate) no_lines: bool,
    /// A dot at each end of those lines: the control points of a lattice.
    #[arg(long, conflicts_with = "no_lines")]
    pub(crate) dots: bool,
}

/// How surfaces are lit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum LightingChoice {
    /// Three lights and soft shadow.
    Studio,
    /// From the camera, nearly even.
    Soft,
    /// A ball of wax.
    Matcap,
    /// Not at all.
    Flat,
}

/// Where from.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Camera (without any it shows all that moves, from the front right)")]
pub(crate) struct CameraArgs {
    /// Degrees around, to the right.
    #[arg(long, default_value_t = 30.0, allow_hyphen_values = true)]
    pub(crate) yaw: f32,
    /// Degrees up.
    #[arg(long, default_value_t = 12.0, allow_hyphen_values = true)]
    pub(crate) pitch: f32,
    /// Show what these joints move, not everything.
    #[arg(long, value_name = "JOINT,...", value_delimiter = ',')]
    pub(crate) focus: Vec<String>,
    /// Where the camera stands, metres.
    #[arg(
        long,
        value_name = "X,Y,Z",
        requires = "target",
        conflicts_with = "focus",
        allow_hyphen_values = true
    )]
    pub(crate) eye: Option<Numbers<3>>,
    /// What it looks at, metres.
    #[arg(
        long,
        value_name = "X,Y,Z",
        requires = "eye",
        allow_hyphen_values = true
    )]
    pub(crate) target: Option<Numbers<3>>,
    /// Vertical angle of view of --eye, degrees.
    #[arg(long, default_value_t = 30.0, requires = "eye")]
    pub(crate) fov: f32,
    /// A camera of the file, by name or number.
    #[arg(long, conflicts_with_all = ["eye", "focus", "turntable"])]
    pub(crate) camera: Option<String>,
}
