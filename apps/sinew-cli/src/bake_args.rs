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
    /// Bake vertex animation textures, the mesh that displays them (the carrier), and players for engines.
    ///
    /// This runs steps 1 to 4 of `sinew vat` in one command.
    Vat(Box<BakeVatArgs>),
    /// Fit skin weights to the result of a graph, for engines that play linear skinning only.
    Skin(Box<crate::skin_args::BakeSkinArgs>),
}

/// Vertex animation textures, step by step.
#[derive(Debug, Subcommand)]
pub(crate) enum VatCommand {
    /// Step 1 of `sinew bake vat`: evaluate, prepare and match a chunk of the frames.
    Scan(Box<VatScanArgs>),
    /// Step 2: choose texture sizes, value ranges and layout from the scans of all frames.
    Plan(VatWorkArgs),
    /// Step 3: bake the texels of a chunk of the frames.
    Bake(VatChunkArgs),
    /// Step 4: write the files.
    Assemble(VatAssembleArgs),
    /// Propose a texture size: layout, unused texels, bytes, and which devices can hold it.
    Size(Box<VatSizeArgs>),
    /// Show what a bake contains.
    Inspect(VatInspectArgs),
    /// Measure the error of blended frames: every second frame is left out, then compared with the blend.
    BlendError(Box<VatBlendErrorArgs>),
    /// Compare a bake with its sequence. The exit code is 5 if they differ.
    ///
    /// Without --clip and --fps, the clips and the rate of the bake are used.
    Verify(Box<VatVerifyArgs>),
}

#[derive(Debug, clap::Args)]
pub(crate) struct BakeVatArgs {
    /// Write the bake into this folder.
    #[arg(short, long, value_name = "FOLDER")]
    pub(crate) output: PathBuf,
    /// Keep intermediate results in this folder. A stopped bake resumes from there.
    ///
    /// Default: a folder beside the output, with `.work` appended to its name. It is deleted when the bake is done.
    #[arg(long, value_name = "FOLDER")]
    pub(crate) work: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) source: SourceArgs,
    #[command(flatten)]
    pub(crate) settings: VatSettingsArgs,
}

#[derive(Debug, clap::Args)]
pub(crate) struct VatScanArgs {
    /// Keep intermediate results in this folder. Use the same folder for all steps.
    #[arg(long, value_name = "FOLDER")]
    pub(crate) work: PathBuf,
    /// Process this chunk of the frames: 1/4 is the first quarter. Default: all frames.
    #[arg(long, value_name = "I/N")]
    pub(crate) chunk: Option<Chunk>,
    #[command(flatten)]
    pub(crate) source: SourceArgs,
    #[command(flatten)]
    pub(crate) settings: VatSettingsArgs,
}

#[derive(Debug, clap::Args)]
pub(crate) struct VatWorkArgs {
    /// Work folder of `sinew vat scan`.
    #[arg(long, value_name = "FOLDER")]
    pub(crate) work: PathBuf,
}

#[derive(Debug, clap::Args)]
pub(crate) struct VatChunkArgs {
    /// Work folder of `sinew vat scan`.
    #[arg(long, value_name = "FOLDER")]
    pub(crate) work: PathBuf,
    /// Process this chunk of the frames: 1/4 is the first quarter. Default: all frames.
    #[arg(long, value_name = "I/N")]
    pub(crate) chunk: Option<Chunk>,
    #[command(flatten)]
    pub(crate) threads: Threads,
}

#[derive(Debug, clap::Args)]
pub(crate) struct VatAssembleArgs {
    /// Work folder of `sinew vat scan`.
    #[arg(long, value_name = "FOLDER")]
    pub(crate) work: PathBuf,
    /// Write the bake into this folder.
    #[arg(short, long, value_name = "FOLDER")]
    pub(crate) output: PathBuf,
}

#[derive(Debug, clap::Args)]
pub(crate) struct VatSizeArgs {
    /// Sequence to bake: a folder of numbered OBJ or PLY files, one of them, a pattern (splash_####.ply), or a character.
    ///
    /// Without it, give the numbers: --frames, and --vertices or --triangles.
    pub(crate) sequence: Option<PathBuf>,
    /// Read bake settings from this JSON file, or from the job.json of a work folder.
    #[arg(long, value_name = "FILE", requires = "sequence")]
    pub(crate) settings: Option<PathBuf>,
    /// Set the kind of bake. Default: detected from the sequence.
    #[arg(long, value_enum, requires = "sequence")]
    pub(crate) mode: Option<ModeArg>,
    /// Set the number of vertices, for meshes with constant topology (the same triangles in all frames).
    #[arg(
        long,
        value_name = "NUMBER",
        required_unless_present_any = ["triangles", "sequence"],
        conflicts_with = "sequence"
    )]
    pub(crate) vertices: Option<u32>,
    /// Set the number of triangles of the largest frame, for meshes with changing topology (3 texels per triangle).
    ///
    /// With a sequence: simplify every frame to this number of triangles.
    #[arg(
        long,
        visible_alias = "faces",
        value_name = "NUMBER",
        conflicts_with = "vertices"
    )]
    pub(crate) triangles: Option<u32>,
    /// Set what gets a texel, for meshes with changing topology.
    ///
    /// With a sequence: `unique` or `corners`, as for a bake. Without one: the number of unique points of the largest frame
    /// (about half the number of triangles), to show the size with unique points as well.
    #[arg(long, value_name = "unique|corners|NUMBER", allow_hyphen_values = true, value_parser = size_points)]
    pub(crate) points: Option<SizePoints>,
    /// Set the axis that points up in OBJ and PLY files.
    #[arg(long, value_enum, requires = "sequence")]
    pub(crate) up: Option<Up>,
    /// Set the number of frames of all clips together.
    ///
    /// For a character: the frames of its clip to bake, for example 0-120/2.
    #[arg(
        long,
        value_name = "NUMBER|FRAMES",
        required_unless_present = "sequence",
        allow_hyphen_values = true
    )]
    pub(crate) frames: Option<String>,
    /// Set the largest side of a texture, in texels. Default: 4096.
    #[arg(long, visible_alias = "largest-side", value_name = "TEXELS")]
    pub(crate) max_side: Option<u32>,
    /// Make the sides of textures powers of two.
    #[arg(long)]
    pub(crate) power_of_two: bool,
    #[command(flatten)]
    pub(crate) played: PlayedArgs,
    #[command(flatten)]
    pub(crate) threads: Threads,
}

#[derive(Debug, clap::Args)]
pub(crate) struct VatInspectArgs {
    /// Folder of a bake, or its .vat.json file.
    pub(crate) bake: PathBuf,
}

#[derive(Debug, clap::Args)]
pub(crate) struct VatBlendErrorArgs {
    /// Keep intermediate results in this folder, with a bake of the frames that are not left out.
    #[arg(long, value_name = "FOLDER")]
    pub(crate) work: PathBuf,
    /// Write a PNG that compares a frame that was left out with stepping and blending.
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Set the frame of the picture: an odd number, counted from 0. Default: the frame with the largest stepping error.
    #[arg(long, requires = "output")]
    pub(crate) picture_frame: Option<usize>,
    /// Set the width and height of each part of the picture, in pixels.
    #[arg(long, default_value_t = 420, value_parser = clap::value_parser!(u32).range(16..=4096))]
    pub(crate) size: u32,
    #[command(flatten)]
    pub(crate) source: SourceArgs,
    #[command(flatten)]
    pub(crate) settings: VatSettingsArgs,
}

#[derive(Debug, clap::Args)]
pub(crate) struct VatVerifyArgs {
    /// Folder of a bake, or its .vat.json file.
    pub(crate) bake: PathBuf,
    /// Allow this position error, in metres. Default: the precision of the texture format.
    #[arg(long, value_name = "METRES")]
    pub(crate) tolerance: Option<f64>,
    #[command(flatten)]
    pub(crate) source: SourceArgs,
    /// The settings of the bake, as far as they change frames (preparation, crease) or the matching (velocity).
    #[command(flatten)]
    pub(crate) settings: VatSettingsArgs,
}

/// Where frames come from.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Frames and graph")]
pub(crate) struct SourceArgs {
    /// Frames to bake: a folder of numbered OBJ or PLY files, one of them, or a pattern (splash_####.ply).
    ///
    /// Or a character whose clip is played: a GLB, glTF, VRM or FBX file, or a built-in sample. With --graph or --point-cache, an OBJ or PLY file or
    /// a sequence is a character, too: the first file of a sequence is its rest mesh.
    #[arg(help_heading = None::<&str>)]
    pub(crate) source: PathBuf,
    /// Set the axis that points up in OBJ and PLY files.
    #[arg(long, value_enum, default_value_t)]
    pub(crate) up: Up,
    /// Use these frames of the clip of a character: 21, 0-120, or 0-120/2 for every second frame. Default: the whole clip.
    #[arg(short, long, allow_hyphen_values = true)]
    pub(crate) frames: Option<String>,
    #[command(flatten)]
    pub(crate) played: PlayedArgs,
    #[command(flatten)]
    pub(crate) threads: Threads,
    /// Clips of the bake that is verified; they play by default. Warnings that the bake gave are not repeated.
    #[arg(skip)]
    pub(crate) baked_clips: Vec<String>,
}

/// Which clips are played, and how.
#[derive(Clone, Debug, Default, PartialEq, clap::Args)]
pub(crate) struct PlayedArgs {
    #[command(flatten)]
    pub(crate) graph: GraphArgs,
    /// Play this clip. Repeat to put several clips into one bake, in this order. By default a bake has the first clip.
    #[arg(short, long)]
    pub(crate) clip: Vec<String>,
    /// Define a clip of a sequence: with walk=0..23, the clip `walk` has the frames 0 to 23. Repeat for more clips.
    ///
    /// FIRST and LAST are frame numbers in the names of the files. Frames that are in no clip are not baked.
    #[arg(long = "range", value_name = "NAME=FIRST..LAST")]
    pub(crate) ranges: Vec<NumberRange>,
    /// Set the frame rate of the sequence and the bake, in frames per second. By default a bake has 24.
    #[arg(long, value_parser = crate::args::number)]
    pub(crate) fps: Option<f64>,
    /// Use this mesh output of the graph. Required if there are several.
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
#[command(next_help_heading = "Settings of the bake")]
pub(crate) struct VatSettingsArgs {
    /// Read settings from this JSON file, or from the job.json of a work folder (--work).
    ///
    /// Settings replace the defaults of the other options. Options replace settings.
    #[arg(long, value_name = "FILE")]
    pub(crate) settings: Option<PathBuf>,
    /// Set the base name of the files. Default: the name of the sequence.
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<String>,
    #[command(flatten)]
    pub(crate) convention: ConventionArgs,
    /// Set the kind of bake.
    #[arg(long, value_enum, default_value_t)]
    pub(crate) mode: ModeArg,
    /// Write this texture. Repeat for more textures.
    ///
    /// QUANTITY is position, offset, normal, rotation (pieces), size (particles), uv0, color0, thickness, tangent, velocity=NAME
    /// or attribute=NAME.
    ///
    /// FORMAT is unorm8, unorm16, two_unorm8 (two 8-bit textures), half or float.
    ///
    /// Default: positions (or offsets) in 16 bits and normals in 8. Pieces have positions and rotations, particles positions and
    /// sizes.
    #[arg(long = "texture", value_name = "QUANTITY:FORMAT", value_parser = texture_choice)]
    pub(crate) textures: Vec<TextureChoice>,
    /// Set what follows the last frame. Default: `loop`.
    #[arg(long, value_enum)]
    pub(crate) at_end: Option<AtEndArg>,
    /// Set the largest side of a texture, in texels. Default: 4096.
    #[arg(long, value_name = "TEXELS")]
    pub(crate) max_side: Option<u32>,
    /// Make the sides of textures powers of two.
    #[arg(long)]
    pub(crate) power_of_two: bool,
    /// Keep edges that are sharper than this angle hard, in degrees. Default: 60.
    ///
    /// A bake computes its normals from the surface and ignores the normals of the source.
    #[arg(long, value_name = "DEGREES")]
    pub(crate) crease: Option<f32>,
    /// Set the order of triangles, for meshes with changing topology. Default: `match`.
    #[arg(long, value_enum)]
    pub(crate) order: Option<OrderArg>,
    /// Set what gets a texel, for meshes with changing topology. Default: `corners`.
    #[arg(long, value_enum)]
    pub(crate) points: Option<PointsArg>,
    /// Use this vector attribute as the velocity of points, in metres per second. It improves the matching.
    #[arg(long, value_name = "ATTRIBUTE")]
    pub(crate) velocity: Option<String>,
    /// Delete faces that are never visible from outside.
    #[arg(long)]
    pub(crate) delete_hidden: bool,
    /// Simplify every frame to at most this number of faces.
    #[arg(long, value_name = "NUMBER")]
    pub(crate) faces: Option<usize>,
    /// Smooth every frame this number of times before it is simplified.
    #[arg(long, value_name = "TIMES")]
    pub(crate) relax: Option<u32>,
    #[command(flatten)]
    pub(crate) shapes: ShapeArgs,
}

/// Pieces and particles.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Pieces and particles")]
pub(crate) struct ShapeArgs {
    /// Read piece IDs from this scalar vertex attribute (mode rigid). Vertices with the same ID are one piece.
    ///
    /// Default: triangles that are connected in the first frame are one piece.
    #[arg(long, value_name = "ATTRIBUTE")]
    pub(crate) pieces: Option<String>,
    /// Allow this distance between a vertex and the rigid motion of its piece, in metres (mode rigid).
    ///
    /// Default: 2e-5 of the diagonal of the bounding box of the first frame.
    #[arg(long, value_name = "METRES")]
    pub(crate) rigid_tolerance: Option<f32>,
    /// Allow this error of the surface, in metres, if all frames use the triangles of the first frame.
    ///
    /// For sequences in which the diagonals of quads change. If the error of a quad is larger, mode soft adds a vertex at the centre of
    /// this quad. The quad is then exact. Default: 2e-5 of the diagonal of the bounding box.
    #[arg(long, alias = "recut-tolerance", value_name = "METRES")]
    pub(crate) retriangulate_tolerance: Option<f32>,
    /// Step from frame to frame instead of blending (mode rigid).
    ///
    /// Needed for pieces that rotate by 180 degrees or more from one frame to the next.
    #[arg(long)]
    pub(crate) no_blend: bool,
    /// Read point IDs from this scalar attribute (mode particles). Default: `id`.
    ///
    /// Without such an attribute, points are matched by their motion.
    #[arg(long, value_name = "ATTRIBUTE")]
    pub(crate) point_ids: Option<String>,
    /// Read the widths of points from this scalar attribute, in metres (mode particles). Default: `size`.
    #[arg(long, value_name = "ATTRIBUTE")]
    pub(crate) point_sizes: Option<String>,
    /// Multiply the widths of points by this factor (mode particles). Default: 1.
    ///
    /// Without a size attribute, this is the width of all points in metres.
    #[arg(long, value_name = "FACTOR")]
    pub(crate) point_scale: Option<f32>,
}

/// Kind of bake.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum ModeArg {
    /// Detect it from the sequence.
    #[default]
    Auto,
    /// Changing topology (triangles change): separate triangles, three texels per triangle.
    Remesh,
    /// Constant topology (the same triangles in all frames): one texel per vertex.
    Soft,
    /// Pieces that move without bending: one texel per piece.
    Rigid,
    /// Points: one texel per point. Players draw one quad per point.
    Particles,
}

/// What follows the last frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum AtEndArg {
    /// Jump to the first frame.
    Loop,
    /// Blend into the first frame, for clips whose last frame is followed by the first.
    SeamlessLoop,
    /// Hold the last frame.
    Clamp,
}

/// Order of triangles.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum OrderArg {
    /// Match triangles from frame to frame. Players can then blend. A frame takes two rows of texels, or one row with `--points unique`.
    Match,
    /// The order of the file. Players step from frame to frame.
    File,
}

/// What gets a texel where triangles change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum PointsArg {
    /// Each corner of a triangle.
    Corners,
    /// Each unique point of a frame, once. Smaller, but players need a lookup texture and one more fetch.
    Unique,
}

/// The argument `--points` of `sinew vat size`.
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
        .map_err(|_| "expected unique or corners with a sequence, or a number without one".into())
}

fn texture_choice(text: &str) -> Result<TextureChoice, String> {
    let fault = || {
        format!(
            "'{text}' is not a texture; expected QUANTITY:FORMAT. QUANTITY: position, offset, normal, rotation, size, uv0, color0, thickness, tangent, velocity=NAME or attribute=NAME. FORMAT: unorm8, unorm16, two_unorm8, half or float"
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
