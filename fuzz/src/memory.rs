//! A counting allocator: memory may grow with the input, not with what the input claims.

use std::alloc::{GlobalAlloc, Layout, System};
use std::io::Write;
use std::sync::atomic::{AtomicUsize, Ordering};

static USED: AtomicUsize = AtomicUsize::new(0);
static LIMIT: AtomicUsize = AtomicUsize::new(usize::MAX);

/// The system's allocator, counted. Aborts (which libFuzzer takes as a finding) above the limit of [`limited`].
#[derive(Debug)]
pub struct Counting;

fn count(bytes: usize) {
    let used = USED.fetch_add(bytes, Ordering::Relaxed) + bytes;
    let limit = LIMIT.load(Ordering::Relaxed);
    // The report of a panic may take what it needs.
    if used > limit && !std::thread::panicking() {
        LIMIT.store(usize::MAX, Ordering::Relaxed);
        let _ = writeln!(
            std::io::stderr(),
            "memory: {used} bytes in use, {limit} allowed for this input"
        );
        std::process::abort();
    }
}

// SAFETY: every call goes to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size());
        // SAFETY: the caller's promise.
        unsafe { System.alloc(layout) }
    }
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count(layout.size());
        // SAFETY: the caller's promise.
        unsafe { System.alloc_zeroed(layout) }
    }
    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        USED.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: the caller's promise.
        unsafe { System.dealloc(pointer, layout) }
    }
}

/// Runs `work`; more than `base + per_byte * input` bytes at once end the process.
pub fn limited<T>(input: usize, base: usize, per_byte: usize, work: impl FnOnce() -> T) -> T {
    let limit = USED.load(Ordering::Relaxed) + base + per_byte * input;
    LIMIT.store(limit, Ordering::Relaxed);
    let out = work();
    LIMIT.store(usize::MAX, Ordering::Relaxed);
    out
}

/// Mebibytes.
pub const MIB: usize = 1 << 20;
