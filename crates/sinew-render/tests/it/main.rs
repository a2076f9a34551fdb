//! Pictures against what they should show, computed apart from the renderer in double precision.

mod alpha;
mod common;
mod device;
mod hair;
mod lines;
mod odd;
mod paints;
mod silhouette;
mod textures;
