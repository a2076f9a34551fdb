//! Plays characters from files frame by frame. Used by the command line, renderers, viewers and bindings.
//!
//! ```text
//! file -> Character ┬-> Document -> Plan ┐
//!                   └-> PlayInputs ------------┴-> BoundGraph -> Runner -> Player -> advance(frame) -> outputs
//! ```
//!
//! This module prints nothing. Warnings about a file are in `asset.warnings` of its [`Character`], warnings about a
//! document in [`Plan::warnings`](crate::graph::Plan::warnings). Errors are a [`PlayError`] or the
//! [`Diagnostics`](crate::graph::Diagnostics) of a document.
//!
//! ```
//! use sinew::play::{PlayInputs, Character, Document, Player, Runner};
//! use std::sync::Arc;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! // From a file: Character::load("arm.glb".as_ref())?
//! let arm = Arc::new(Character::from_asset(sinew_samples::arm_with_hand()?));
//! // The graph in the file, or one for what the character has. Your own: Document::from_file
//! let document = Document::of_character(&arm);
//! let plan = Arc::new(document.compile()?);
//! let inputs = PlayInputs::load(arm, &plan, &document.folders)?;
//! let graph = inputs.bind(&plan, &[])?;
//! let mut player = Player::new(Runner::cpu(&graph), inputs, Vec::new(), Some("bend"), 30.0)?;
//! for frame in 0..3 {
//!     player.advance(frame)?;
//!     let Runner::Cpu(instance) = player.runner() else { continue };
//!     let body = instance.mesh_output("body").ok_or("no output 'body'")?;
//!     assert_eq!(body.positions.len(), body.rest.positions.len());
//! }
//! # Ok(())
//! # }
//! ```
//!
//! Players can share characters: a [`Character`] is in an [`Arc`](std::sync::Arc). Players of the same character and
//! graph use clones of one [`PlayInputs`] and runners of one [`BoundGraph`](crate::graph::BoundGraph).

/// Bindings share them between threads behind a lock of their own.
const _: () = {
    const fn is_shared<T: Send + Sync>() {}
    is_shared::<Player>();
    is_shared::<PlayInputs>();
    is_shared::<crate::graph::BoundGraph>();
    is_shared::<crate::graph::Instance>();
    #[cfg(feature = "gpu")]
    is_shared::<crate::gpu::GpuInstances>();
};

mod arrays;
mod character;
mod document;
mod error;
mod followers;
mod inputs;
mod player;
mod point_caches;
mod profile;
mod runner;
mod settings;
mod starter;
mod unread;
mod values;

pub use arrays::{
    ArraysError, CharacterArrays, ClipArrays, Faces, JointArrays, JointTrack, MeshArrays,
    SkinArrays, StrandArrays, TargetArrays,
};
pub use character::Character;
pub use document::Document;
pub use error::{PlayError, RunError, StateFault};
pub use inputs::{InputFiles, PlayInputs};
pub use player::{Player, SavedFrame, saved_frame};
pub use point_caches::PointCacheFile;
pub use runner::{FieldGrid, Output, Runner};
pub use settings::parse_settings;
pub use starter::{Template, TemplateError};
pub use values::{Values, ValuesError};
