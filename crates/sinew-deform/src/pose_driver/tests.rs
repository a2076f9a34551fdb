//! Published vectors, closed forms, properties, the named defects.

mod inspect;
mod metrics;
mod node;
mod properties;
mod published;
