//! Bakes, from frames to files and back.

mod clips;
mod farms;
mod quantities;
mod report;
mod sequences;
