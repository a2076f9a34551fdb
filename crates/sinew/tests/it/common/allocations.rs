//! The allocator of the tests. It counts for threads that ask for it alone, so that tests may run beside each other.

#![expect(
    unsafe_code,
    reason = "a global allocator is an unsafe trait; it forwards to the system's"
)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Called at each allocation of a watched thread.
pub(crate) type Watcher = &'static (dyn Fn() + Sync);

thread_local! {
    static WATCHER: Cell<Option<Watcher>> = const { Cell::new(None) };
}

/// Watches the calling thread, or no longer.
pub(crate) fn watch(watcher: Option<Watcher>) {
    WATCHER.set(watcher);
}

struct Watched;

fn note() {
    // What the watcher allocates is not watched.
    if let Some(watcher) = WATCHER.take() {
        watcher();
        WATCHER.set(Some(watcher));
    }
}

// SAFETY: every call is handed to the system allocator unchanged.
unsafe impl GlobalAlloc for Watched {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        note();
        // SAFETY: the caller keeps the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, p: *mut u8, layout: Layout) {
        // SAFETY: the caller keeps the contract of `dealloc`.
        unsafe { System.dealloc(p, layout) }
    }
    unsafe fn realloc(&self, p: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        note();
        // SAFETY: the caller keeps the contract of `realloc`.
        unsafe { System.realloc(p, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Watched = Watched;

/// A pool of threads, and how often they have allocated.
pub(crate) fn counted_pool(threads: usize) -> (rayon::ThreadPool, impl Fn() -> usize + Sync) {
    let count: &'static AtomicUsize = Box::leak(Box::default());
    let watcher: Watcher = Box::leak(Box::new(move || {
        count.fetch_add(1, Ordering::Relaxed);
    }));
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .start_handler(move |_| watch(Some(watcher)))
        .build()
        .expect("a pool");
    // A thread allocates when it begins, and on a busy machine it may begin late.
    pool.broadcast(|_| ());
    (pool, move || count.load(Ordering::Relaxed))
}
