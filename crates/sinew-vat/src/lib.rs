//! Vertex animation textures: the format. A bake is a manifest, textures with one row per frame (or more), and a carrier mesh whose texture
//! coordinates point at texels.
//!
//! Its parts are data here: manifest, layout, texels, what they show at a given time ([`animation`], [`playback`], [`played`]), and the players
//! for engines ([`players`]). The crate `sinew-bake` makes bakes. This crate opens no files: textures come and go as texels.

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
