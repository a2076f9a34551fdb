//! Updates allocate nothing: a counting allocator watches every node of the registry.

#![expect(
    unsafe_code,
    reason = "a global allocator is an unsafe trait; it forwards to the system's"
)]

mod common;

use common::{assets, forms, middle, numbers, running_with};
use sinew::deform::Par;
use sinew::graph::Frame;
use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

struct Counting;

static COUNT: AtomicUsize = AtomicUsize::new(0);

// SAFETY: every call is handed to the system allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        COUNT.fetch_add(1, Ordering::Relaxed);
        // SAFETY: the caller keeps the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, p: *mut u8, layout: Layout) {
        // SAFETY: the caller keeps the contract of `dealloc`.
        unsafe { System.dealloc(p, layout) }
    }
    unsafe fn realloc(&self, p: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        COUNT.fetch_add(1, Ordering::Relaxed);
        // SAFETY: the caller keeps the contract of `realloc`.
        unsafe { System.realloc(p, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

// One test only: allocations of a neighbour would be counted too.
#[test]
fn update_allocates_nothing() {
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(2)
        .build()
        .expect("pool");
    for asset in assets() {
        let mut pose = asset.rig.rest_pose();
        for (desc, more) in forms() {
            let mut i = running_with(&asset, desc, more);
            let values = numbers(i.plan());
            let values: Vec<(usize, &[f32])> = values.iter().map(|(i, v)| (*i, &**v)).collect();
            let mut frame = |par: Par| {
                asset
                    .rig
                    .evaluate(asset.clips.first(), middle(&asset), &mut pose);
                i.update(
                    &Frame {
                        time_secs: 0.5,
                        pose: Some(&pose),
                        values: &values,
                        ..Frame::default()
                    },
                    par,
                )
                .expect("fits");
            };
            frame(Par::Seq);
            let before = COUNT.load(Ordering::Relaxed);
            for _ in 0..3 {
                frame(Par::Seq);
            }
            assert_eq!(
                COUNT.load(Ordering::Relaxed),
                before,
                "{} on {}, one thread",
                desc.name,
                asset.name
            );
            pool.install(|| {
                // Warm-up: rayon grows its queue once.
                (0..3).for_each(|_| frame(Par::Rayon));
                let before = COUNT.load(Ordering::Relaxed);
                (0..5).for_each(|_| frame(Par::Rayon));
                assert_eq!(
                    COUNT.load(Ordering::Relaxed),
                    before,
                    "{} on {}, two threads",
                    desc.name,
                    asset.name
                );
            });
        }
    }
}
