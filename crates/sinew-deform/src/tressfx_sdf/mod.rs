//! The signed distance field of TressFX 4.1, for assets that were tuned with it.
#![doc = include_str!("README.md")]

mod bricks;
mod device;
mod field;
mod node;
#[cfg(test)]
mod tests;

pub use crate::sdf::UNSET;
pub(crate) use bricks::TressFxLayout;
pub use field::CompatibilityError;
pub use field::CompatibilityField;
pub use node::DESC;
