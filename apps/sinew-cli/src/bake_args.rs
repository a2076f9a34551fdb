//! What `sinew bake` and `sinew vat` accept.

use crate::convention_args::ConventionArgs;
use crate::graph_args::{DeviceArg, GraphArgs};
use crate::threads::Threads;
use clap::{Subcommand, ValueEnum};
use sinew::bake::vat::TextureChoice;
use sinew::bake::{Chunk, NumberRange};
use sinew::vat::quantity::Quantity;
use sinew::vat::texel::TexelFormat;
use std::path::PathBuf;

#[derive(Debug, Subcommand)]
pub(crate) enum BakeCommand {
    /// Vertex animation textures: textures, a mesh that carries them, and players for engines. All steps in one.
    Vat(Box<BakeVatArgs>),
    /// Plain skin weights: what a graph makes of clips, as linear skinning that every engine plays.
    Skin(Box<crate::skin_args::BakeSkinArgs>),
}

/// Vertex animation textures, step by step.
#[derive(Debug, Subcommand)]
pub(crate) enum VatCommand {
    /// First step, for a share of the frames: make them, prepare them, look at them, match them with each other.
    Scan(Box<VatScanArgs>),
    /// Second step: sizes, ranges and places, from what was seen of all frames.
    Plan(VatWorkArgs),
    /// Third step, for a share of the frames: their texels.
    Bake(VatChunkArgs),
    /// Last step: the files.
    Assemble(VatAssembleArgs),
    /// Propose the size of textures, from numbers or for a sequence: layout, unused texels, bytes, and which devices hold them.
    Size(Box<VatSizeArgs>),
    /// Say what a bake holds.
    Inspect(VatInspectArgs),
    /// Say how good in-betweens are: every second frame is held back, and blends are compared with it.
    BlendError(Box<VatBlendErrorArgs>),
    /// Compare a bake with the sequence that it was made from; ends with 5 where they differ.
    Verify(Box<VatVerifyArgs>),
}

#[derive(Debug, clap::Args)]
pub(crate) struct BakeVatArgs {
    #[command(flatten)]
    pub(crate) source: SourceArgs,
    #[command(flatten)]
    pub(crate) settings: VatSettingsArgs,
    /// Measure how good in-betweens are, too, and say so in the report: every second frame is baked once more, and blends are compared with the others.
    #[arg(long)]
    pub(crate) blend_error: bool,
    /// Folder to write into.
    #[arg(short, long, value_name = "FOLDER")]
    pub(crate) output: PathBuf,
    /// Folder to work in, which stays; without it one beside the output, which goes when all is done. A bake that was stopped goes on from there.
    #[arg(long, value_name = "FOLDER")]
    pub(crate) work: Option<PathBuf>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct VatScanArgs {
    #[command(flatten)]
    pub(crate) source: SourceArgs,
    #[command(flatten)]
    pub(crate) settings: VatSettingsArgs,
    /// Folder to work in; the same for all steps.
    #[arg(long, value_name = "FOLDER")]
    pub(crate) work: PathBuf,
    /// Share of the frames: 1/4 is the first quarter.
    #[arg(long, value_name = "I/N")]
    pub(crate) chunk: Option<Chunk>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct VatWorkArgs {
    /// Folder that `sinew vat scan` worked in.
    #[arg(long, value_name = "FOLDER")]
    pub(crate) work: PathBuf,
}

#[derive(Debug, clap::Args)]
pub(crate) struct VatChunkArgs {
    /// Folder that `sinew vat scan` worked in.
    #[arg(long, value_name = "FOLDER")]
    pub(crate) work: PathBuf,
    /// Share of the frames: 1/4 is the first quarter.
    #[arg(long, value_name = "I/N")]
    pub(crate) chunk: Option<Chunk>,
    #[command(flatten)]
    pub(crate) threads: Threads,
}

#[derive(Debug, clap::Args)]
pub(crate) struct VatAssembleArgs {
    /// Measure how good in-betweens are, too, as `sinew bake vat` does.
    #[arg(long)]
    pub(crate) blend_error: bool,
    /// Folder that `sinew vat scan` worked in.
    #[arg(long, value_name = "FOLDER")]
    pub(crate) work: PathBuf,
    /// Folder to write into.
    #[arg(short, long, value_name = "FOLDER")]
    pub(crate) output: PathBuf,
}

#[derive(Debug, clap::Args)]
pub(crate) struct VatSizeArgs {
    /// What a bake of it comes to: a folder of numbered OBJ or PLY files, one of them, or a pattern; or a character, whose clips are played. Without it
    /// numbers say how large the sequence is.
    pub(crate) sequence: Option<PathBuf>,
    /// JSON file of settings of the bake, or the job.json of a work folder.
    #[arg(long, value_name = "FILE", requires = "sequence")]
    pub(crate) settings: Option<PathBuf>,
    /// How the sequence is taken; without it by what it is.
    #[arg(long, value_enum, requires = "sequence")]
    pub(crate) mode: Option<ModeArg>,
    /// Vertices, where triangles stay the same.
    #[arg(
        long,
        value_name = "NUMBER",
        required_unless_present_any = ["triangles", "sequence"],
        conflicts_with = "sequence"
    )]
    pub(crate) vertices: Option<u32>,
    /// Triangles of the fullest frame, where they change: three texels each. With a sequence, to how many every frame is simplified.
    #[arg(
        long,
        visible_alias = "faces",
        value_name = "NUMBER",
        conflicts_with = "vertices"
    )]
    pub(crate) triangles: Option<u32>,
    /// What has a texel where triangles change: unique with a sequence, as of a bake; without one the number of unique points of the fullest frame (about
    /// half as many as triangles), which adds what a bake of them comes to.
    #[arg(long, value_name = "unique|corners|NUMBER", value_parser = size_points)]
    pub(crate) points: Option<SizePoints>,
    /// Which axis points up in the files of the sequence.
    #[arg(long, value_enum, requires = "sequence")]
    pub(crate) up: Option<Up>,
    /// How many frames there are, of all clips together; of a character which frames to take of its clip, as of a bake: 0-120/2.
    #[arg(
        long,
        value_name = "NUMBER|FRAMES",
        required_unless_present = "sequence"
    )]
    pub(crate) frames: Option<String>,
    /// Largest side of a texture, in texels; without it 4096.
    #[arg(long, visible_alias = "largest-side", value_name = "TEXELS")]
    pub(crate) max_side: Option<u32>,
    /// Make sides powers of two.
    #[arg(long)]
    pub(crate) power_of_two: bool,
    #[command(flatten)]
    pub(crate) played: PlayedArgs,
    #[command(flatten)]
    pub(crate) threads: Threads,
}

#[derive(Debug, clap::Args)]
pub(crate) struct VatInspectArgs {
    /// Folder of a bake, or its .vat.json.
    pub(crate) bake: PathBuf,
}

#[derive(Debug, clap::Args)]
pub(crate) struct VatBlendErrorArgs {
    #[command(flatten)]
    pub(crate) source: SourceArgs,
    #[command(flatten)]
    pub(crate) settings: VatSettingsArgs,
    /// Folder to work in, which stays, with the bake of the other frames in it.
    #[arg(long, value_name = "FOLDER")]
    pub(crate) work: PathBuf,
    /// A picture (PNG) of a frame that was held back beside what stepping and blending show there.
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Which frame the picture shows, counted from 0: an odd one; without it the one that stepping is farthest from.
    #[arg(long, requires = "output")]
    pub(crate) picture_frame: Option<usize>,
    /// Width and height of each of its parts, pixels.
    #[arg(long, default_value_t = 420, value_parser = clap::value_parser!(u32).range(16..=4096))]
    pub(crate) size: u32,
}

#[derive(Debug, clap::Args)]
pub(crate) struct VatVerifyArgs {
    /// Folder of a bake, or its .vat.json.
    pub(crate) bake: PathBuf,
    #[command(flatten)]
    pub(crate) source: SourceArgs,
    /// The settings that it was made with, where they change frames (preparation, crease) or what is matched (velocity).
    #[command(flatten)]
    pub(crate) settings: VatSettingsArgs,
    /// Largest distance that is taken for none, in metres; without it what the format promises.
    #[arg(long, value_name = "METRES")]
    pub(crate) tolerance: Option<f64>,
}

/// Where frames come from.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct SourceArgs {
    /// A folder of numbered OBJ or PLY files, one of them, or a pattern (splash_####.ply); or a GLB, glTF or built-in sample, whose clip is played.
    pub(crate) source: PathBuf,
    /// Which axis points up in OBJ and PLY files.
    #[arg(long, value_enum, default_value_t)]
    pub(crate) up: Up,
    /// Frames to take of the clip: 21, 0-120 or 0-120/2; without it all of it.
    #[arg(short, long)]
    pub(crate) frames: Option<String>,
    #[command(flatten)]
    pub(crate) played: PlayedArgs,
    #[command(flatten)]
    pub(crate) threads: Threads,
    /// The clips of a bake that frames are compared with: played where none is asked for. What baking has told is not told again.
    #[arg(skip)]
    pub(crate) baked_clips: Vec<String>,
}

/// Which clips are played, and how.
#[derive(Clone, Debug, Default, PartialEq, clap::Args)]
pub(crate) struct PlayedArgs {
    #[command(flatten)]
    pub(crate) graph: GraphArgs,
    /// Clip to play; without it the first one, or those of the bake to verify. Given often, all of them are in one bake, in this order.
    #[arg(short, long)]
    pub(crate) clip: Vec<String>,
    /// Frames of a folder that are a clip, by their numbers, both ends included: walk=0..23; may be given often. Other frames are left out.
    #[arg(long = "range", value_name = "NAME=FIRST..LAST")]
    pub(crate) ranges: Vec<NumberRange>,
    /// Frames a second, of the sequence and of the bake; without it those of the settings, 24, or of the bake to verify.
    #[arg(long, allow_negative_numbers = true)]
    pub(crate) fps: Option<f64>,
    /// Mesh output of the graph; without it the only one.
    #[arg(long = "mesh-output", value_name = "NAME")]
    pub(crate) mesh_output: Option<String>,
    #[command(flatten)]
    pub(crate) evaluated: DeviceArg,
}

/// Which axis points up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Up {
    /// +Y, as in glTF.
    #[default]
    Y,
    /// +Z, as in Blender.
    Z,
}

/// What the bake should be like.
#[derive(Debug, clap::Args)]
pub(crate) struct VatSettingsArgs {
    /// JSON file of settings, or the job.json of a work folder, which has all of them; flags count more.
    #[arg(long, value_name = "FILE")]
    pub(crate) settings: Option<PathBuf>,
    /// What the files are called; without it as the sequence is.
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<String>,
    #[command(flatten)]
    pub(crate) convention: ConventionArgs,
    /// How the sequence is taken.
    #[arg(long, value_enum, default_value_t)]
    pub(crate) mode: ModeArg,
    /// A texture, QUANTITY:FORMAT: position, offset, normal, rotation (of pieces), size (of particles), uv0, color0, thickness, tangent, velocity=NAME or attribute=NAME, as unorm8, unorm16, two_unorm8, half or float; may be
    /// given often. Without any: positions (or offsets) in 16 bits, normals in 8; of pieces positions and rotations, of particles positions and sizes.
    #[arg(long = "texture", value_name = "QUANTITY:FORMAT", value_parser = texture_choice)]
    pub(crate) textures: Vec<TextureChoice>,
    /// What comes after the last frame; without it `loop`, or what --settings says.
    #[arg(long, value_enum)]
    pub(crate) at_end: Option<AtEndArg>,
    /// Largest side of a texture, in texels.
    #[arg(long, value_name = "TEXELS")]
    pub(crate) max_side: Option<u32>,
    /// Make sides powers of two.
    #[arg(long)]
    pub(crate) power_of_two: bool,
    /// Edges sharper than this stay hard, in degrees; without it 60. Normals of bakes are made from the surface, whatever normals the source has.
    #[arg(long, value_name = "DEGREES", allow_negative_numbers = true)]
    pub(crate) crease: Option<f32>,
    /// Which triangle of the textures shows which of a frame, where triangles change.
    #[arg(long, value_enum)]
    pub(crate) order: Option<OrderArg>,
    /// What has a texel, where triangles change.
    #[arg(long, value_enum)]
    pub(crate) points: Option<PointsArg>,
    /// Vector attribute that says where points go, in metres a second: makes matching better.
    #[arg(long, value_name = "ATTRIBUTE")]
    pub(crate) velocity: Option<String>,
    #[command(flatten)]
    pub(crate) shapes: ShapeArgs,
    /// Delete faces that are never seen from outside.
    #[arg(long)]
    pub(crate) delete_hidden: bool,
    /// Simplify every frame to this number of faces at most.
    #[arg(long, value_name = "NUMBER")]
    pub(crate) faces: Option<usize>,
    /// Smooth every frame that often before it is simplified.
    #[arg(long, value_name = "TIMES")]
    pub(crate) relax: Option<u32>,
}

/// Pieces and particles.
#[derive(Debug, clap::Args)]
pub(crate) struct ShapeArgs {
    /// Scalar attribute that numbers the pieces (mode rigid); without it triangles that are connected in the first frame are a piece.
    #[arg(long, value_name = "ATTRIBUTE")]
    pub(crate) pieces: Option<String>,
    /// How far vertices may be from where their piece puts them (mode rigid), in metres; without it 2e-5 of the diagonal of the first frame.
    #[arg(long, value_name = "METRES", allow_negative_numbers = true)]
    pub(crate) rigid_tolerance: Option<f32>,
    /// How far, in metres, what is shown may be from the surface of a frame that cuts faces into other triangles than the first one; without it 2e-5 of the
    /// diagonal of the box. In mode soft quads that are farther off get a vertex in their middle and are exact.
    #[arg(long, value_name = "METRES", allow_negative_numbers = true)]
    pub(crate) recut_tolerance: Option<f32>,
    /// Players step from pose to pose (mode rigid): for pieces that turn by half a circle or more from one frame to the next.
    #[arg(long)]
    pub(crate) no_blend: bool,
    /// Scalar attribute that numbers points (mode particles); without such a one points are followed by their motion.
    #[arg(long, value_name = "ATTRIBUTE")]
    pub(crate) point_ids: Option<String>,
    /// Scalar attribute with the widths of points (mode particles), in metres.
    #[arg(long, value_name = "ATTRIBUTE")]
    pub(crate) point_sizes: Option<String>,
    /// Factor for widths of points (mode particles); the width in metres where no attribute has any.
    #[arg(long, value_name = "FACTOR", allow_negative_numbers = true)]
    pub(crate) point_scale: Option<f32>,
}

/// How a sequence is taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum ModeArg {
    /// By what it is.
    #[default]
    Auto,
    /// Triangles change: loose triangles, three texels each.
    Remesh,
    /// Triangles stay the same: one texel a vertex.
    Soft,
    /// Pieces that move without bending: one texel a piece.
    Rigid,
    /// Points: one texel and a square each.
    Particles,
}

/// What comes after the last frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum AtEndArg {
    /// The first one, without a blend.
    Loop,
    /// The first one, blended: for clips that go over into themselves.
    SeamlessLoop,
    /// The last one stays.
    Clamp,
}

/// Which triangle of the textures shows which of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum OrderArg {
    /// The one that it was in the frame before: players blend frames. Two rows of texels a frame, but for unique points.
    Match,
    /// As in the file: players step from frame to frame.
    File,
}

/// What has a texel where triangles change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum PointsArg {
    /// Each corner of a triangle.
    Corners,
    /// Each unique point of a frame, once; a lookup texture says which one a corner shows. Smaller, one more fetch.
    Unique,
}

/// What `sinew vat size` is told of points.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SizePoints {
    /// What has a texel, of a sequence.
    Of(PointsArg),
    /// How many unique points there are, of numbers.
    Number(u32),
}

fn size_points(text: &str) -> Result<SizePoints, String> {
    if let Ok(number) = text.parse() {
        return Ok(SizePoints::Number(number));
    }
    let known = PointsArg::from_str(text, false);
    known
        .map(SizePoints::Of)
        .map_err(|_| "expected unique or corners with a sequence, a number without one".into())
}

fn texture_choice(text: &str) -> Result<TextureChoice, String> {
    let fault = || {
        format!(
            "'{text}' names no texture, expected QUANTITY:FORMAT with position, offset, normal, rotation, size, uv0, color0, thickness, tangent, velocity=NAME or attribute=NAME, and unorm8, unorm16, two_unorm8, half or float"
        )
    };
    let (quantity, format) = text.rsplit_once(':').ok_or_else(fault)?;
    let quantity = match quantity.split_once('=') {
        Some(("velocity", name)) if !name.is_empty() => Quantity::Velocity(name.into()),
        Some(("attribute", name)) if !name.is_empty() => Quantity::Attribute(name.into()),
        Some(_) => return Err(fault()),
        None => plain_quantity(quantity).ok_or_else(fault)?,
    };
    let format = match format {
        "unorm8" => TexelFormat::Unorm8,
        "unorm16" => TexelFormat::Unorm16,
        "two_unorm8" => TexelFormat::TwoUnorm8,
        "half" => TexelFormat::Half,
        "float" => TexelFormat::Float,
        _ => return Err(fault()),
    };
    Ok(TextureChoice { quantity, format })
}

fn plain_quantity(name: &str) -> Option<Quantity> {
    let set = |prefix: &str| name.strip_prefix(prefix)?.parse().ok();
    match name {
        "position" => Some(Quantity::Position),
        "offset" => Some(Quantity::Offset),
        "normal" => Some(Quantity::Normal),
        "rotation" => Some(Quantity::Rotation),
        "size" => Some(Quantity::Size),
        "thickness" => Some(Quantity::Thickness),
        "tangent" => Some(Quantity::Tangent),
        _ => set("uv")
            .map(Quantity::Uv)
            .or_else(|| set("color").map(Quantity::Color)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn textures_are_named_by_quantity_and_format() {
        let choice = |quantity, format| Ok(TextureChoice { quantity, format });
        assert_eq!(
            texture_choice("position:half"),
            choice(Quantity::Position, TexelFormat::Half)
        );
        assert_eq!(
            texture_choice("uv1:unorm16"),
            choice(Quantity::Uv(1), TexelFormat::Unorm16)
        );
        let velocity = Quantity::Velocity("v".into());
        assert_eq!(
            texture_choice("velocity=v:float"),
            choice(velocity, TexelFormat::Float)
        );
        for wrong in [
            "",
            "position",
            "position:int",
            "uv:half",
            "velocity=:half",
            "speed=x:half",
        ] {
            assert!(texture_choice(wrong).is_err(), "{wrong}");
        }
    }
}
