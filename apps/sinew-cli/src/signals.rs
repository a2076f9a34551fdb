//! Ctrl-C and other requests to end: the first sets a flag, which long work looks at; the second ends the process at once.
//!
//! Unfinished files stay behind then, under temporary names; the next command that writes there removes them.

use std::io;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// SIGINT (Ctrl-C), SIGTERM and SIGHUP set the flag. A SIGHUP that was ignored when the process began stays so: that is what `nohup` is for. A SIGINT is
/// not: shells ignore it for all that scripts run in the background, and scripts send it.
#[cfg(unix)]
pub(crate) fn listen(flag: &Arc<AtomicBool>) -> io::Result<()> {
    use crate::exit::Code;
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGXFSZ};
    use signal_hook::flag::{register, register_conditional_shutdown};
    // A file that may not grow is an error of its write then, and no end.
    register(SIGXFSZ, Arc::default())?;
    let ignored = ignored();
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        if signal == SIGHUP && ignored >> (signal - 1) & 1 == 1 {
            continue;
        }
        // In this order: the second one finds the flag set.
        register_conditional_shutdown(signal, Code::Interrupted as i32, flag.clone())?;
        register(signal, flag.clone())?;
    }
    Ok(())
}

/// One bit a signal. Nothing where the system does not tell.
#[cfg(unix)]
fn ignored() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|l| l.strip_prefix("SigIgn:"));
    line.and_then(|l| u64::from_str_radix(l.trim(), 16).ok())
        .unwrap_or(0)
}

#[cfg(not(unix))]
pub(crate) fn listen(flag: &Arc<AtomicBool>) -> io::Result<()> {
    use std::sync::atomic::Ordering;
    let flag = flag.clone();
    let pressed = move || {
        if flag.swap(true, Ordering::Relaxed) {
            std::process::exit(crate::exit::Code::Interrupted as i32);
        }
    };
    ctrlc::set_handler(pressed).map_err(io::Error::other)
}
