//! Point caches: PC2 and MDD reading.
#![no_main]

use libfuzzer_sys::fuzz_target;
use sinew::io::PointTiming;
use sinew::io::point_cache::{PointCache, parse_mdd, parse_pc2};
use sinew_fuzz::memory::{Counting, MIB, limited};
use std::path::Path;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fuzz_target!(|data: &[u8]| {
    limited(data.len(), 16 * MIB, 64, || {
        let path = Path::new("fuzz.cache");
        for read in [parse_pc2(data, path), parse_mdd(data, path)] {
            match read {
                Ok(cache) => check(&cache, data.len()),
                Err(error) => assert!(!error.to_string().is_empty(), "errors say something"),
            }
        }
    });
});

fn check(cache: &PointCache, bytes: usize) {
    let points = cache.frames.first().map_or(0, Vec::len);
    assert!(
        cache.frames.iter().all(|f| f.len() == points),
        "all frames have the same points"
    );
    assert!(
        cache.frames.len() * points * 12 <= bytes,
        "every point was in the file"
    );
    if let PointTiming::Seconds(times) = &cache.timing {
        assert_eq!(times.len(), cache.frames.len(), "one time a frame");
    }
}
