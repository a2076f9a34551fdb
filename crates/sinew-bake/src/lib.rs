//! Bakes sequences of frames to files that every engine plays.
//!
//! ```text
//! FrameSource -> scan -> plan -> texels -> assemble -> folder of files
//!                  \______ work folder ______/            \-> verify
//! ```
//!
//! Every step writes one record per frame to a work folder and skips frames that have a record. A stopped bake therefore resumes,
//! and many machines can share one bake. The plan is a pure function of what was measured on the frames. The written files do not
//! depend on chunks, threads or interruptions.

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
