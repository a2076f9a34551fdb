#![doc = include_str!("../README.md")]
//!
//! # Modules
//!
//! * [`manifest`], [`layout`], [`quantity`], [`texture`], [`texel`], [`lookup`]: the format.
//! * [`animation`], [`playback`], [`played`]: what a bake shows at a given time.
//! * [`space`]: axes and units of engines. [`players`]: code for engines.

#![forbid(unsafe_code)]

pub mod animation;
pub mod layout;
pub mod lookup;
pub mod manifest;
pub mod playback;
pub mod played;
pub mod players;
pub mod quantity;
pub mod space;
pub mod texel;
pub mod texture;
