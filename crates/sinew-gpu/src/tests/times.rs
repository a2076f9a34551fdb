//! Times that the device takes, and copy bandwidth.

use super::gpu;
use crate::{
    Buffer, BufferUse, Gpu, GpuError, SpanSamples, Timestamps, copy_bandwidth, largest_copy,
};

/// A device that takes times, or `None` with a word.
fn timing_gpu() -> Option<Gpu> {
    let gpu = gpu()?;
    if !gpu.capabilities().timestamps {
        println!("nothing to test: {} takes no times", gpu.info());
        return None;
    }
    Some(gpu)
}

#[test]
fn times_follow_each_other() {
    let Some(gpu) = timing_gpu() else { return };
    let mut times = Timestamps::new(&gpu, 3).unwrap();
    let mut samples = SpanSamples::new(3, 4);
    for _ in 0..5 {
        let submission = gpu
            .submit("passes", |encoder| {
                for span in 0..2 {
                    let timestamp_writes = Some(times.pass(span)?);
                    drop(encoder.begin_compute_pass(&wgpu::ComputePassDescriptor {
                        label: None,
                        timestamp_writes,
                    }));
                }
                times.resolve(&gpu, encoder)
            })
            .unwrap();
        let spans = times.read(&gpu, &submission).unwrap();
        let (first, second) = (spans[0].unwrap(), spans[1].unwrap());
        assert!(first.begin_ns <= first.end_ns, "{first:?}");
        assert!(first.end_ns <= second.begin_ns, "{first:?} {second:?}");
        assert!(second.begin_ns <= second.end_ns, "{second:?}");
        assert_eq!(spans[2], None, "nobody wrote it");
        samples.push(spans);
    }
    assert!(samples.median_ns(0).unwrap() >= 0.0);
    assert_eq!(samples.median_ns(2), None);
}

#[test]
fn marks_between_commands() {
    let Some(gpu) = timing_gpu() else { return };
    let can = *gpu.capabilities();
    let buffer = Buffer::from_slice(&gpu, "b", &[1_u32; 100_000], BufferUse::Storage).unwrap();
    let mut times = Timestamps::new(&gpu, 2).unwrap();
    if !can.timestamps_in_encoders || !can.timestamps_in_passes {
        println!(
            "nothing to test: {} takes no times between commands",
            gpu.info()
        );
        return;
    }
    let submission = gpu
        .submit("marks", |encoder| {
            times.begin(&gpu, encoder, 0)?;
            buffer.clear(encoder);
            times.end(&gpu, encoder, 0)?;
            let mut pass = encoder.begin_compute_pass(&Default::default());
            times.begin_in_pass(&gpu, &mut pass, 1)?;
            times.end_in_pass(&gpu, &mut pass, 1)?;
            drop(pass);
            times.resolve(&gpu, encoder)
        })
        .unwrap();
    for span in times.read(&gpu, &submission).unwrap() {
        assert!(span.unwrap().duration_ns() >= 0.0, "{span:?}");
    }
    // A span of which only one end was written has no duration.
    let submission = gpu
        .submit("half", |encoder| {
            times.begin(&gpu, encoder, 0)?;
            times.resolve(&gpu, encoder)
        })
        .unwrap();
    assert_eq!(times.read(&gpu, &submission).unwrap(), [None, None]);
}

#[test]
fn more_spans_than_one_query_set_holds() {
    let Some(gpu) = timing_gpu() else { return };
    let mut times = Timestamps::new(&gpu, 2050).unwrap();
    assert_eq!(times.capacity(), 2050);
    let submission = gpu
        .submit("last", |encoder| {
            drop(encoder.begin_compute_pass(&wgpu::ComputePassDescriptor {
                label: None,
                timestamp_writes: Some(times.pass(2049)?),
            }));
            times.resolve(&gpu, encoder)
        })
        .unwrap();
    let spans = times.read(&gpu, &submission).unwrap();
    assert!(spans[2049].unwrap().begin_ns > 0.0);
    assert!(spans[..2049].iter().all(Option::is_none));
    let error = times.pass(2050).unwrap_err();
    assert_eq!(
        error.to_string(),
        "there is no time span 2050; there are 2050, counted from 0"
    );
}

#[test]
fn copying_has_a_speed() {
    let Some(gpu) = gpu() else { return };
    for bytes in [1, 1 << 20] {
        let measured = copy_bandwidth(&gpu, bytes, 3).unwrap();
        assert_eq!(measured.bytes, bytes.max(16));
        assert!(measured.gb_per_s() > 0.0, "{measured:?}");
        assert!(measured.gb_per_s().is_finite(), "{measured:?}");
        assert!(measured.single_gb_per_s() > 0.0, "{measured:?}");
        assert_eq!(measured.device_time, gpu.capabilities().timestamps);
    }
}

#[test]
fn a_copy_beyond_the_limits_names_both_numbers() {
    let Some(gpu) = gpu() else { return };
    let allowed = largest_copy(&gpu);
    let error = copy_bandwidth(&gpu, allowed + 1, 1).unwrap_err();
    let GpuError::Limit(limit) = error else {
        unreachable!("{error}")
    };
    assert_eq!((limit.found, limit.allowed), (allowed + 16, allowed));
}
