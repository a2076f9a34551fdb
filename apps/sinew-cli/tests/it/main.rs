//! The program from outside: what it prints, writes and draws, and how it ends.

mod bake_skin;
mod bench;
mod cli;
mod common;
mod convert;
mod devices;
mod farm;
mod fbx;
mod hair;
#[cfg(feature = "gpu")]
mod hair_grow;
#[cfg(unix)]
mod hostile;
mod inspect;
#[cfg(feature = "gpu")]
mod kernels_of_strangers;
mod names;
mod operation;
#[cfg(feature = "gpu")]
mod outputs_chosen;
mod pictures;
mod point_caches;
mod psd;
mod psd_compress;
mod psd_convert;
mod psd_extract;
#[cfg(feature = "gpu")]
mod render;
#[cfg(feature = "gpu")]
mod render_show;
mod resume;
mod setup;
mod strangers;
mod vat;
mod vat_clips;
mod vrm;
