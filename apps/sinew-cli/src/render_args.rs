//! What `sinew render` accepts.

use crate::args::{Device, Numbers};
use crate::bake_args::Up;
use crate::graph_args::{GraphArgs, OnlyArg};
use clap::ValueEnum;
use std::path::PathBuf;

/// Draw pictures of a character or a mesh sequence.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  sinew render man.glb -o man.png
  sinew render man.glb --graph mush.json --frames 30 -o mush.png
  sinew render man.glb --compare linear,dual_quaternion,delta_mush --focus lowerarm_l --frames 30 -o elbow.png
  sinew render man.glb --graph mush.json --look difference --against linear -o moved.png
  sinew render man.glb --frames 0-48/2 --sheet -o sheet.png
  sinew render man.glb --turntable 24 -o man.gif
  sinew render man.glb --frames 0-47 -o man_####.png")]
pub(crate) struct RenderArgs {
    /// What to draw: a GLB, glTF, VRM, FBX, OBJ or PLY file, a mesh sequence, or a built-in sample.
    ///
    /// A mesh sequence is a folder, or a file name with ####. Samples are sample:arm, sample:creature, sample:ball and
    /// sample:head.
    pub(crate) input: PathBuf,
    /// Write this picture: .png, or .gif or .apng for an animation.
    ///
    /// NAME_####.png writes one picture per frame (or per view of a turntable); the # say where the number goes.
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

/// Graph and animation.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Graph and animation")]
pub(crate) struct PlayArgs {
    #[command(flatten)]
    pub(crate) graph: GraphArgs,
    #[command(flatten)]
    pub(crate) chosen: OnlyArg,
    /// Play this clip. Default: the first clip.
    #[arg(short, long)]
    pub(crate) clip: Option<String>,
    /// Draw these frames: 21, 0-120, 0-120/2 for every second frame, or a list such as 0,5,10-20.
    ///
    /// Default: the first frame; with --sheet 24 frames of the clip or the point cache; in an animation or with NAME_####.png all frames.
    #[arg(short, long, allow_hyphen_values = true)]
    pub(crate) frames: Option<String>,
    /// Fit camera, shadows and colours to these frames instead of the drawn ones.
    ///
    /// If you draw an animation in chunks, give each chunk the range of the whole animation. The pictures are then the same as without chunks.
    #[arg(long, value_name = "FRAMES")]
    pub(crate) fit: Option<String>,
    /// Set the axis that points up in OBJ and PLY files. Without a graph only.
    #[arg(long, value_enum, default_value_t)]
    pub(crate) up: Up,
    /// Set the frame rate of the clip, in frames per second.
    #[arg(long, default_value_t = 30.0, value_parser = crate::args::number)]
    pub(crate) fps: f64,
    /// Start a simulation from a saved state. Frames up to the saved one are skipped.
    ///
    /// `sinew run --save-state FILE` saves it. Use the same --device, --fps, --clip and caches in both. `--device auto` chooses the
    /// device of the state. --fit must begin after the saved frame.
    #[arg(long, value_name = "FILE")]
    pub(crate) state: Option<PathBuf>,
    /// Set where the graph is evaluated. Pictures are always drawn on the GPU.
    #[arg(long, value_enum, default_value_t = Device::Auto)]
    pub(crate) device: Device,
}

/// What kind of picture.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Kind of picture")]
pub(crate) struct KindArgs {
    /// Draw several frames on one sheet: those of --frames, otherwise 24 of the clip.
    #[arg(long)]
    pub(crate) sheet: bool,
    /// Draw COUNT views around the character, on a sheet or in an animation.
    #[arg(long, value_name = "COUNT", conflicts_with = "sheet")]
    pub(crate) turntable: Option<usize>,
    /// Draw several variants side by side, each with its label.
    ///
    /// A variant is a built-in stack (rest, linear, dual_quaternion, rigid, delta_mush, default), `graph`, a graph document
    /// (FILE.json, example:NAME) or a parameter of the graph (NAME=VALUE).
    #[arg(long, value_name = "A,B,...")]
    pub(crate) compare: Option<String>,
    /// Set the width and height of each picture, in pixels. Default: 1280x720, on sheets and in animations 480x480.
    #[arg(long, value_name = "WxH")]
    pub(crate) size: Option<String>,
    /// Set the number of pictures per row of a sheet.
    #[arg(long)]
    pub(crate) columns: Option<usize>,
    /// Set the frame rate of an animation. Default: the rate of the clip; 12 for a turntable.
    #[arg(long)]
    pub(crate) rate: Option<u16>,
    /// Set the background: studio, transparent, white, black or #rrggbb.
    #[arg(long, default_value = "studio")]
    pub(crate) background: String,
    /// Draw no ground.
    #[arg(long)]
    pub(crate) no_ground: bool,
    /// Draw no shadows.
    #[arg(long)]
    pub(crate) no_shadows: bool,
    /// Draw no ambient occlusion (darker corners and creases).
    #[arg(long)]
    pub(crate) no_occlusion: bool,
}

/// How things look.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Look")]
pub(crate) struct LookArgs {
    /// Set what surfaces show.
    ///
    /// One of shaded, clay, matcap, normals, uv, colors, weights, weights:JOINT, attribute:NAME[.x], output:NAME (a mask or
    /// values of the graph) or difference.
    #[arg(long, default_value = "shaded")]
    pub(crate) look: String,
    /// Set what `--look difference` measures from: any entry of --compare.
    ///
    /// Default: `default`, which is morph targets and linear skinning.
    #[arg(long, value_name = "STACK")]
    pub(crate) against: Option<String>,
    /// Set the numbers of the first and last colour. Default: the range of the numbers drawn.
    #[arg(long, value_name = "MIN,MAX")]
    pub(crate) range: Option<Numbers<2>>,
    /// Set the colour map: viridis, magma, inferno, plasma, cividis, turbo, greys, red_blue or purple_green.
    #[arg(long)]
    pub(crate) map: Option<String>,
    /// Set the lighting. Default: studio; soft for looks that show numbers or weights; flat for normals.
    ///
    /// With flat, surfaces have exactly the colours of the scale.
    #[arg(long, value_enum)]
    pub(crate) lighting: Option<LightingChoice>,
    /// Draw the edges of triangles.
    #[arg(long)]
    pub(crate) wireframe: bool,
    /// Draw the skeleton through the surface.
    #[arg(long)]
    pub(crate) skeleton: bool,
    /// Draw the skeleton with the names of its joints.
    ///
    /// A name that would cover another one is left out; longer bones come first. Use --focus or a larger --size to see more names.
    #[arg(long)]
    pub(crate) names: bool,
    /// Draw what is inside the graph: lattice (boxes of lattices), mask (its weights as colours), field (its surface as lines).
    ///
    /// With =NAME only the node of this name, as in mask=left. These nodes need not be outputs, but an output must depend on them. `field` evaluates on the CPU.
    #[arg(long, value_name = "PART,...", value_delimiter = ',')]
    pub(crate) show: Vec<String>,
    /// Do not draw the lines that the graph outputs.
    #[arg(long)]
    pub(crate) no_lines: bool,
    /// Draw a dot at both ends of these lines, for example the control points of a lattice.
    #[arg(long, conflicts_with = "no_lines")]
    pub(crate) dots: bool,
}

/// How surfaces are lit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum LightingChoice {
    /// Three lights and soft shadows.
    Studio,
    /// Light from the camera, nearly even.
    Soft,
    /// A matcap that looks like wax.
    Matcap,
    /// No lighting.
    Flat,
}

/// Camera.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Camera (default: frames the whole animation, from the front right)")]
pub(crate) struct CameraArgs {
    /// Rotate the camera around the character to the right, in degrees.
    #[arg(long, default_value_t = 30.0)]
    pub(crate) yaw: f32,
    /// Raise the camera, in degrees.
    #[arg(long, default_value_t = 12.0)]
    pub(crate) pitch: f32,
    /// Frame the vertices that these joints move, instead of everything.
    #[arg(long, value_name = "JOINT,...", value_delimiter = ',')]
    pub(crate) focus: Vec<String>,
    /// Set the position of a fixed camera, in metres. Needs --target.
    #[arg(
        long,
        value_name = "X,Y,Z",
        requires = "target",
        conflicts_with = "focus"
    )]
    pub(crate) eye: Option<Numbers<3>>,
    /// Set the point that the fixed camera looks at, in metres.
    #[arg(long, value_name = "X,Y,Z", requires = "eye")]
    pub(crate) target: Option<Numbers<3>>,
    /// Set the vertical field of view of the fixed camera, in degrees.
    #[arg(long, default_value_t = 30.0, requires = "eye")]
    pub(crate) fov: f32,
    /// Use a camera of the file, by name or number.
    #[arg(long, conflicts_with_all = ["eye", "focus", "turntable"])]
    pub(crate) camera: Option<String>,
}
