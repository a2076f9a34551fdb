//! Bakes, from frames to files and back.

mod clips;
mod farms;
mod fixture;
mod quantities;
mod report;
mod sequences;
