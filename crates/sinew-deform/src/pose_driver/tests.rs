//! Published vectors, closed forms, properties, the named defects.

mod metrics;
mod properties;
mod published;
