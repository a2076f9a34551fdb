//! Bakes, from frames to files and back.

mod clips;
mod farms;
mod quantities;
mod recut;
mod report;
mod sequences;
mod tearing;
