//! `sinew psd check`.

use super::drivers;
use crate::exit::Outcome;
use crate::psd_args::PsdCheckArgs;
use crate::talk::{Talk, print};

pub(super) fn check(args: &PsdCheckArgs, talk: &Talk) -> Outcome {
    for driver in drivers(&args.input, talk)? {
        print(&driver.name);
    }
    Ok(())
}
