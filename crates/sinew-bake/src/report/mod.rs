//! Pages that say what a piece of work came to: one file each, which needs no other and is the same for the same work.

mod html;
mod plot;

pub(crate) use html::{Page, data_uri, escaped, grouped, sequence_in};
pub(crate) use plot::{Plot, Series};
