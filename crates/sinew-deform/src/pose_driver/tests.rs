//! Published vectors, closed forms, properties, the named defects.

mod metrics;
mod node;
mod properties;
mod published;
