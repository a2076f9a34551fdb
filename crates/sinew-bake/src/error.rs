//! Why a bake cannot go on.

use crate::vat::maker::carrier::FARTHEST;
use crate::vat::maker::matching::SlotsError;
use crate::vat::maker::particles::ParticlesError;
use crate::vat::maker::plan::PlanError;
use crate::vat::maker::prepare::PrepareError;
use crate::vat::maker::rigid::PiecesError;
use crate::vat::maker::soft::SoftError;
use sinew_io::IoError;
use sinew_vat::layout::LayoutError;
use sinew_vat::quantity::Quantity;
use std::path::PathBuf;

/// Why a bake cannot go on.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BakeError {
    /// A file cannot be read or written, or is wrong.
    #[error(transparent)]
    Io(#[from] IoError),
    /// A frame could not be made by what gives the frames.
    #[error("frame {number}: {message}")]
    Frame {
        /// Its number.
        number: i64,
        /// What happened.
        message: String,
    },
    /// A frame has a number that is none.
    #[error("frame {number}, vertex {vertex}: {found} is no finite {what}")]
    NotFinite {
        /// Number of the frame.
        number: i64,
        /// Index of the vertex.
        vertex: usize,
        /// `position` or the name of an attribute.
        what: String,
        /// What is there.
        found: f32,
    },
    /// A frame has a place so far off that its triangles cannot be measured.
    #[error(
        "frame {number}, vertex {vertex}: a coordinate of {found:e} metres, expected {FARTHEST:e} at most"
    )]
    TooFar {
        /// Number of the frame.
        number: i64,
        /// Index of the vertex.
        vertex: usize,
        /// What is there, metres.
        found: f32,
    },
    /// The settings of the preparation make no sense.
    #[error("prepare: {0}")]
    Preparation(#[source] PrepareError),
    /// A frame could not be prepared.
    #[error("frame {number}: {source}")]
    Prepare {
        /// Its number.
        number: i64,
        /// Why.
        source: PrepareError,
    },
    /// The sequence has no frames.
    #[error("{name}: no frames, nothing to bake")]
    NoFrames {
        /// Name of the sequence.
        name: String,
    },
    /// Too few frames for what is asked.
    #[error("{found} frames, expected {expected} at least: every second one is held back")]
    TooFewFrames {
        /// Frames of the sequence.
        found: usize,
        /// What there must be.
        expected: usize,
    },
    /// A frame of a sequence was baked, or is not there.
    #[error("frame {found} was not held back, expected one of {held}, counted from 0")]
    NotHeldBack {
        /// What was asked for, counted from 0.
        found: usize,
        /// Those that were.
        held: String,
    },
    /// Points have no surface that could be compared.
    #[error("frames of points have no surface between which in-betweens could be measured")]
    NoSurface,
    /// There is no layout, or a frame does not fit the others.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// The vertices fit into no texture.
    #[error(transparent)]
    Layout(#[from] LayoutError),
    /// The same; what would do instead is known.
    #[error("{error}; {}", proposal_words(*.proposal))]
    TooLarge {
        /// What was asked for.
        error: LayoutError,
        /// A kind of devices that promises a side that is large enough, and that side, texels; nothing where none does.
        proposal: Option<(&'static str, u32)>,
    },
    /// The mode asks for triangles that stay the same, and they do not.
    #[error("frame {number}: {source}; {}", when_not_soft(.source))]
    NotSoft {
        /// Number of the frame.
        number: i64,
        /// What differs.
        source: SoftError,
    },
    /// Triangles change, so that one collapse cannot be for all frames.
    #[error(
        "frame {number}: {source}, so that it cannot be simplified (--faces, prepare.simplify) as the first frame is; mode remesh simplifies each frame by itself"
    )]
    NotSimplified {
        /// Number of the frame.
        number: i64,
        /// What differs.
        source: SoftError,
    },
    /// There are no pieces, or a frame has others.
    #[error("frame {number}: {source}")]
    Pieces {
        /// Number of the frame.
        number: i64,
        /// Why.
        source: PiecesError,
    },
    /// Pieces are those of the first frame, which has none.
    #[error(
        "frame {number}: no triangle, so that there are no pieces; mode remesh takes sequences that begin with an empty frame"
    )]
    NoPieces {
        /// Number of the first frame.
        number: i64,
    },
    /// Preparation took away all that the frames had.
    #[error(
        "preparation left no triangle in any of the {frames} frames, which had {most} at most; a larger --faces leaves some, or fewer steps (--delete-hidden, prepare)"
    )]
    NothingLeft {
        /// Number of frames.
        frames: usize,
        /// Triangles of the frame that had most.
        most: usize,
    },
    /// The mode asks for pieces that keep their shape, and one does not.
    #[error(
        "frame {number}: piece {piece} bends: a vertex is {millimetres:.4} mm from where the piece puts it, {allowed:.4} mm are allowed; use --mode soft, or a larger --rigid-tolerance"
    )]
    NotRigid {
        /// Number of the first such frame.
        number: i64,
        /// Index of the piece, by its first vertex.
        piece: u32,
        /// Largest distance in that frame.
        millimetres: f64,
        /// What would do.
        allowed: f64,
    },
    /// A piece turns by half a circle or more from one frame to the next, so that nobody can tell which way.
    #[error(
        "frame {number}: piece {piece} turns by {degrees:.1} degrees or more since the frame before, and which way cannot be told; bake more frames a second, or without blending"
    )]
    UnclearTurn {
        /// Number of the frame.
        number: i64,
        /// Index of the piece, by its first vertex.
        piece: usize,
        /// The turn, the shorter way.
        degrees: f64,
    },
    /// Points cannot be told apart.
    #[error(transparent)]
    Particles(#[from] ParticlesError),
    /// A quantity that this mode does not have.
    #[error("mode {mode} has no texture of {quantity}: {help}")]
    Quantity {
        /// The mode.
        mode: &'static str,
        /// What was asked for.
        quantity: Quantity,
        /// What there is in place of it.
        help: &'static str,
    },
    /// Numbers that halves do not hold.
    #[error(
        "{quantity}: the largest number is {found:e}, halves hold 65504 at most; `--texture {quantity}:float` holds it"
    )]
    TooLargeForHalf {
        /// What the texture holds.
        quantity: Quantity,
        /// The largest number without its sign, in the unit of the textures.
        found: f32,
    },
    /// Files of another tool's convention cannot say what this sequence is.
    #[error("convention {convention}: {found}, expected {expected}")]
    Convention {
        /// Its name.
        convention: &'static str,
        /// What the sequence is.
        found: String,
        /// What the convention takes.
        expected: &'static str,
    },
    /// Matches do not belong together; they were changed behind our back.
    #[error(transparent)]
    Slots(#[from] SlotsError),
    /// A job file that is no such thing, or a folder without a bake.
    #[error("{}: {message}", path.display())]
    Json {
        /// The file.
        path: PathBuf,
        /// Where and what.
        message: String,
    },
    /// Files of that name are the bake of another sequence.
    #[error("{}: the bake of '{found}', which '{sequence}' would take the place of; give it another name (--name), or another folder", path.display())]
    OtherBake {
        /// The report of the bake that is there.
        path: PathBuf,
        /// The sequence that it is of.
        found: String,
        /// The sequence to bake.
        sequence: String,
    },
    /// A folder that nothing was scanned into.
    #[error("{}: no {file}, so no work folder; run `scan` first", folder.display())]
    NoJob {
        /// The folder.
        folder: PathBuf,
        /// What a work folder has.
        file: &'static str,
    },
    /// A bake that is compared with a sequence has another carrier than the first frame makes.
    #[error(
        "frame {number}: the bake's carrier has {found} vertices, with these settings it would have {wanted}; it was made of another sequence, or with other settings: verify needs the bake's own (--faces, --relax, --delete-hidden, --crease, or --settings)"
    )]
    OtherCarrier {
        /// Number of the first frame.
        number: i64,
        /// Vertices that the carrier would have.
        wanted: usize,
        /// Vertices that it has.
        found: usize,
    },
    /// A step before this one is not done.
    #[error("{}: no {what} of {frames}; run `{step}` first", folder.display())]
    Missing {
        /// The work folder.
        folder: PathBuf,
        /// Which records.
        what: &'static str,
        /// Of which frames, by their numbers: `frame 3`, `frames 0-4, 9`.
        frames: String,
        /// What makes them.
        step: &'static str,
    },
    /// A picture of the report could not be drawn.
    #[error("picture of the report: {0}")]
    Picture(#[from] sinew_picture::PictureError),
    /// A setting makes no sense.
    #[error("{setting} is {found}, expected {expected}")]
    Setting {
        /// Its name.
        setting: &'static str,
        /// What was given.
        found: String,
        /// What would do.
        expected: &'static str,
    },
    /// Somebody stopped the work; what is done stays in the work folder.
    #[error("stopped; what is done is kept, the same command goes on from there")]
    Cancelled,
}

/// What to do about textures that are too small.
fn when_not_soft(source: &SoftError) -> &'static str {
    match source {
        SoftError::Vertices { found: 0, .. } => {
            "is its file empty? Write it again, or leave it out"
        }
        SoftError::Vertices { expected: 0, .. } => {
            "is the file of the first frame empty? Write it again, or leave it out"
        }
        _ => "mode remesh takes frames whose triangles change",
    }
}

impl BakeError {
    /// [`Self::Setting`].
    pub(crate) fn setting(
        setting: &'static str,
        found: impl Into<String>,
        expected: &'static str,
    ) -> Self {
        let found = found.into();
        Self::Setting {
            setting,
            found,
            expected,
        }
    }
}

fn proposal_words(proposal: Option<(&str, u32)>) -> String {
    match proposal {
        Some((device, side)) => format!("--max-side {side} does ({device})"),
        None => "no device promises a side that does: fewer frames would (--range), or fewer triangles (--faces)".into(),
    }
}

impl BakeError {
    /// Whether the same call may go on where this one ended: somebody stopped it, or files could not be read or written (a full disk). What is
    /// wrong in frames or settings stays wrong.
    pub fn can_go_on(&self) -> bool {
        matches!(
            self,
            Self::Cancelled | Self::Io(IoError::Read { .. } | IoError::Write { .. })
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_passes_lets_a_bake_go_on() {
        let full = std::io::Error::from(std::io::ErrorKind::StorageFull);
        let path = PathBuf::from("out.work/frames/000007.frame");
        let written = IoError::Write { path, source: full };
        assert!(BakeError::from(written).can_go_on() && BakeError::Cancelled.can_go_on());
        let malformed = IoError::Malformed {
            path: "drop_0007.obj".into(),
            location: "line 3".into(),
            found: "x".into(),
            expected: "a number".into(),
        };
        assert!(!BakeError::from(malformed).can_go_on());
        assert!(!BakeError::NoSurface.can_go_on());
    }
}
