#![doc = include_str!("../README.md")]

mod simplex;

pub use simplex::Quadratic;
