//! Pose-driver files: PSD JSON, PoseWrangler JSON, plain samples; what is accepted is written and read again.
#![no_main]

use libfuzzer_sys::{fuzz_mutator, fuzz_target, fuzzer_mutate};
use sinew::geom::ORTHOGONAL_TOLERANCE;
use sinew::io::pose_driver::{
    MayaMatrix, MayaScene, PoseDriverFileError, parse_pose_wrangler, parse_psd, parse_samples,
};
use sinew_fuzz::memory::{Counting, MIB, limited};
use sinew_fuzz::mutate::{self, Random};
use std::path::Path;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fuzz_target!(|data: &[u8]| {
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    let path = Path::new("fuzz.json");
    limited(text.len(), 16 * MIB, 2048, || {
        match parse_psd(text, path) {
            Ok(document) => {
                let written = document.to_json_string().expect("what was read is written");
                let again = parse_psd(&written, path).expect("what was written is read");
                assert_eq!(again.solvers, document.solvers, "nothing is lost");
                let poses = document.solvers.iter().flat_map(|s| &s.poses);
                for matrix in poses.filter_map(|p| p.driver_matrix) {
                    take_apart(&matrix.matrix);
                }
            }
            Err(error) => check_error(&error),
        }
        match parse_pose_wrangler(text, path) {
            Ok(document) => {
                let written = document.to_json_string().expect("what was read is written");
                let again = parse_pose_wrangler(&written, path).expect("what was written is read");
                assert_eq!(again.content, document.content, "nothing is lost");
            }
            Err(error) => check_error(&error),
        }
        match parse_samples(text, path) {
            Ok(document) => {
                for sample in document.solvers.iter().flat_map(|s| &s.samples) {
                    let length = sample.rotation.norm();
                    assert!((length - 1.0).abs() < 1e-12, "unit quaternions");
                }
            }
            Err(error) => check_error(&error),
        }
    });
});

fn take_apart(matrix: &MayaMatrix) {
    let affine = matrix.to_affine(&MayaScene::default());
    let largest = affine.linear.amax();
    let Ok(parts) = affine.decompose(ORTHOGONAL_TOLERANCE) else {
        assert!(largest > 1e307, "only what overflows is refused");
        return;
    };
    let turned = parts.rotation.to_rotation_matrix().into_inner();
    let error = (turned * parts.stretch - affine.linear).amax();
    let is_whole = error <= 1e-12 * largest || !(1e-300..1e307).contains(&largest);
    assert!(is_whole, "parts give the whole");
}

fn check_error(error: &PoseDriverFileError) {
    match error {
        PoseDriverFileError::Malformed { location, .. } => {
            assert!(
                location.line > 0 && location.column > 0,
                "errors name a place"
            );
        }
        error => assert!(!error.to_string().is_empty(), "errors say something"),
    }
}

fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    let mut random = Random::new(seed);
    match serde_json::from_slice(&data[..size]) {
        Ok(mut root) if random.below(4) > 0 => {
            for _ in 0..=random.below(3) {
                mutate::json(&mut root, &mut random);
            }
            let new = root.to_string().into_bytes();
            mutate::store(data, max_size, &new).unwrap_or(size)
        }
        _ => fuzzer_mutate(data, size, max_size),
    }
});
