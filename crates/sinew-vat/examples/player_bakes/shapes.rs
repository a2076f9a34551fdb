//! Shapes that change: those of the samples.

pub(crate) use sinew_samples::{bending_blob, parting_drop};
