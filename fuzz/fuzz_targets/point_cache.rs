//! Point caches: PC2, MDD and NPZ reading.
#![no_main]

use libfuzzer_sys::fuzz_target;
use sinew::io::{PointCacheReader, PointTiming};
use sinew_fuzz::memory::{Counting, MIB, limited};
use std::path::Path;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fuzz_target!(|data: &[u8]| {
    limited(data.len(), 16 * MIB, 64, || {
        for name in ["fuzz.pc2", "fuzz.mdd", "fuzz.npz"] {
            match PointCacheReader::of_bytes(Path::new(name), data.to_vec()) {
                Ok(reader) => check(reader, data.len()),
                Err(error) => assert!(!error.to_string().is_empty(), "errors say something"),
            }
        }
    });
});

fn check(mut reader: PointCacheReader, bytes: usize) {
    let (points, samples) = (reader.points(), reader.samples());
    assert!(
        samples * points * 12 <= bytes,
        "every point was in the file"
    );
    if let PointTiming::Seconds(times) = reader.timing() {
        assert_eq!(times.len(), samples, "one time a sample");
    }
    let mut out = Vec::new();
    for sample in 0..samples {
        if reader.read(sample, &mut out).is_ok() {
            assert_eq!(out.len(), points, "all samples have the same points");
        }
    }
}
