#![doc = include_str!("../README.md")]
//!
//! # Modules
//!
//! * [`vat`]: vertex animation textures. [`skin`]: skin weights.
//! * [`FrameSource`]: where frames come from. [`Chunk`]: a share of them. [`Watch`]: progress and cancellation.
//!
//! ```text
//! FrameSource -> scan -> plan -> texels -> assemble -> folder of files
//!                  \______ work folder ______/            \-> verify
//! ```
//!
//! The plan is a pure function of what was measured on the frames.

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
