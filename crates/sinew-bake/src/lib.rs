//! Sequences of frames as files that every engine plays.
//!
//! ```text
//! FrameSource -> scan -> plan -> texels -> assemble -> folder of files
//!                  \______ work folder ______/            \-> verify
//! ```
//!
//! Every step leaves one record a frame in a work folder, and goes on where records are missing: so a bake that was stopped resumes, and
//! many machines share one. The plan is a pure function of what was seen of the frames, and what is written does not depend on
//! chunks, threads or how often the work was stopped.

#![forbid(unsafe_code)]

mod chunk;
mod clips;
mod closing;
mod error;
mod report;
pub mod skin;
mod source;
pub mod vat;
mod watch;
mod work;

pub use chunk::{Chunk, ChunkError};
pub use clips::{ChainedFrames, FrameRange, NumberRange, RangedFrames};
pub use closing::is_closed;
pub use error::BakeError;
pub use source::{
    CarrierMaterial, FileFrames, FrameSource, LoadOrder, LoadedFrame, MeshFrames, content_key,
    content_key_of,
};
pub use watch::Watch;
