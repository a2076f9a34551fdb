//! Buffers: limits, uploads, readbacks, clears, fills, copies.

use super::gpu;
use super::kernels::square;
use crate::{Buffer, BufferUse, GpuError, Readback};

fn numbers(count: u32) -> Vec<u32> {
    (0..count).map(|i| i.wrapping_mul(2_654_435_761)).collect()
}

#[test]
fn what_is_written_is_read() {
    let Some(gpu) = gpu() else { return };
    for count in [0, 1, 3, 1000, 100_003] {
        let data = numbers(count);
        let buffer = Buffer::from_slice(&gpu, "numbers", &data, BufferUse::Storage).unwrap();
        assert_eq!(buffer.read(&gpu).unwrap(), data);
    }
}

#[test]
fn small_elements_need_not_fill_words() {
    let Some(gpu) = gpu() else { return };
    let data = [1_u16, 2, 3, 4, 5];
    let buffer = Buffer::from_slice(&gpu, "halves", &data, BufferUse::Storage).unwrap();
    assert_eq!(buffer.read(&gpu).unwrap(), data);
    buffer.write(&gpu, 4, &[9]).unwrap();
    buffer.write(&gpu, 0, &[7, 8]).unwrap();
    assert_eq!(buffer.read(&gpu).unwrap(), [7, 8, 3, 4, 9]);
    let error = buffer.write(&gpu, 1, &[1, 1]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "buffer 'halves' has 5 elements of 2 bytes; elements 1..3 do not begin and end at multiples of four bytes"
    );
}

#[test]
fn ranges_outside_are_errors() {
    let Some(gpu) = gpu() else { return };
    let buffer = Buffer::from_slice(&gpu, "b", &numbers(10), BufferUse::Storage).unwrap();
    for (start, count) in [(0, 11), (10, 1), (usize::MAX, 2)] {
        let error = buffer.write(&gpu, start, &numbers(count)).unwrap_err();
        assert!(matches!(error, GpuError::Range { .. }), "{error}");
        let mut out = numbers(count);
        let error = Readback::new()
            .read(&gpu, &buffer, start, &mut out)
            .unwrap_err();
        assert!(matches!(error, GpuError::Range { .. }), "{error}");
    }
    // Nothing at the end is fine.
    buffer.write(&gpu, 10, &[]).unwrap();
}

#[test]
fn a_buffer_beyond_the_limit_names_both_numbers() {
    let Some(gpu) = gpu() else { return };
    let allowed = gpu.limits().buffer_bytes;
    let count = usize::try_from(allowed / 4 + 1).unwrap();
    for count in [count, usize::MAX / 8, usize::MAX] {
        let error = Buffer::<u32>::new(&gpu, "huge", count, BufferUse::Storage).unwrap_err();
        let GpuError::Limit(limit) = &error else {
            unreachable!("{error}")
        };
        assert_eq!(limit.allowed, allowed);
        assert_eq!(limit.found, (count as u64).saturating_mul(4));
        assert_eq!(
            error.to_string(),
            format!(
                "bytes of buffer 'huge': {} needed, but the adapter '{}' allows {allowed}",
                limit.found,
                gpu.info().name
            )
        );
    }
    // The device is as good as before.
    Buffer::from_slice(&gpu, "small", &[1_u32], BufferUse::Storage).unwrap();
}

#[test]
fn clear_sets_zeros() {
    let Some(gpu) = gpu() else { return };
    let buffer = Buffer::from_slice(&gpu, "b", &numbers(100), BufferUse::Storage).unwrap();
    gpu.submit("clear", |encoder| {
        buffer.clear(encoder);
        Ok(())
    })
    .unwrap();
    assert_eq!(buffer.read(&gpu).unwrap(), [0; 100]);
}

#[test]
fn fill_repeats_any_element_of_whole_words() {
    let Some(gpu) = gpu() else { return };
    let points = Buffer::new(&gpu, "points", 70_001, BufferUse::Storage).unwrap();
    points.fill(&gpu, [1.0_f32, -2.0, 0.5]).unwrap();
    assert_eq!(points.read(&gpu).unwrap(), vec![[1.0, -2.0, 0.5]; 70_001]);
    let empty = Buffer::<u32>::new(&gpu, "empty", 0, BufferUse::Storage).unwrap();
    empty.fill(&gpu, 3).unwrap();
    let halves = Buffer::<u16>::new(&gpu, "halves", 4, BufferUse::Storage).unwrap();
    let error = halves.fill(&gpu, 1).unwrap_err();
    assert!(
        error.to_string().contains("multiple of four bytes"),
        "{error}"
    );
    // Not made for kernels: a message, no panic.
    let uniform = Buffer::<u32>::new(&gpu, "uniform", 4, BufferUse::Uniform).unwrap();
    let error = uniform.fill(&gpu, 1).unwrap_err();
    assert!(matches!(error, GpuError::Validation { .. }), "{error}");
}

#[test]
fn one_readback_serves_many_sizes() {
    let Some(gpu) = gpu() else { return };
    let data = numbers(5000);
    let buffer = Buffer::from_slice(&gpu, "b", &data, BufferUse::Storage).unwrap();
    let mut readback = Readback::new();
    for (start, count) in [(0, 5000), (17, 3), (4999, 1), (5000, 0), (0, 5000)] {
        let mut out = vec![0; count];
        readback.read(&gpu, &buffer, start, &mut out).unwrap();
        assert_eq!(out, data[start..start + count]);
    }
}

#[test]
fn readbacks_may_lag_behind() {
    let Some(gpu) = gpu() else { return };
    let buffer = Buffer::from_slice(&gpu, "b", &[1_u32, 2], BufferUse::Storage).unwrap();
    let mut readback = Readback::new();
    let first = gpu
        .submit("first", |e| readback.record(&gpu, e, &buffer, 0..2))
        .unwrap();
    buffer.write(&gpu, 0, &[3, 4]).unwrap();
    let mut out = [0; 2];
    let mut short = [0; 1];
    let error = readback.take(&gpu, &first, &mut short).unwrap_err();
    assert!(matches!(error, GpuError::Range { .. }), "{error}");
    readback.take(&gpu, &first, &mut out).unwrap();
    assert_eq!(out, [1, 2]);
    assert_eq!(buffer.read(&gpu).unwrap(), [3, 4]);
}

#[test]
fn a_binding_beyond_the_limit_names_both_numbers() {
    let Some(gpu) = gpu() else { return };
    let allowed = gpu.limits().storage_binding_bytes;
    if allowed > 256 << 20 || allowed + 4 > gpu.limits().buffer_bytes {
        println!("nothing to test: {} binds almost anything", gpu.info());
        return;
    }
    let count = usize::try_from(allowed / 4 + 1).unwrap();
    let buffer = Buffer::<u32>::new(&gpu, "large", count, BufferUse::Storage).unwrap();
    let pipeline = gpu.pipeline(&square()).unwrap();
    let both = [(0, buffer.binding()), (1, buffer.binding())];
    let error = pipeline.bind(&gpu, &both).unwrap_err();
    assert_eq!(
        error.to_string(),
        format!(
            "bytes at binding 0 of kernel 'square': {} needed, but the adapter '{}' allows {allowed}",
            allowed + 4,
            gpu.info().name
        )
    );
}
