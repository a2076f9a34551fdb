//! Vertex animation textures: the format. A bake is a manifest, textures with one row a frame (or more) and a carrier mesh whose texture coordinates
//! name texels.
//!
//! Here are its parts as data: manifest, layout, texels, what they show at a moment ([`animation`], [`playback`], [`played`]), and the players that
//! engines get beside a bake ([`players`]). The crate `sinew-bake` makes bakes. This crate opens no files: textures come and go as texels.

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
