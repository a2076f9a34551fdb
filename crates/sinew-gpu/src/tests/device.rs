//! Devices: lost ones, handed-in ones, uncaught errors.

use super::gpu;
use super::kernels::square;
use crate::{Adapters, Buffer, BufferUse, Gpu, GpuError, Preference, Readback, Timestamps};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// What an engine does: a device with its own choice of limits and features.
fn handed_in() -> Option<Gpu> {
    gpu()?;
    let adapters = Adapters::enumerate();
    let adapter = adapters.choose(&Preference::from_env()).unwrap();
    let request = adapter.raw().request_device(&wgpu::DeviceDescriptor {
        label: Some("engine"),
        ..Default::default()
    });
    let (device, queue) = pollster::block_on(request).unwrap();
    Some(Gpu::from_parts(device, queue).unwrap())
}

#[track_caller]
fn assert_lost<T: std::fmt::Debug>(result: Result<T, GpuError>) {
    let error = result.unwrap_err();
    assert!(error.is_device_lost(), "{error}");
}

/// Everything answers with the same error.
fn all_is_lost(gpu: &Gpu, buffer: &Buffer<u32>) {
    assert_lost(Buffer::<u32>::new(gpu, "b", 4, BufferUse::Storage));
    assert_lost(buffer.write(gpu, 0, &[1]));
    assert_lost(buffer.read(gpu));
    assert_lost(buffer.fill(gpu, 1));
    assert_lost(Readback::new().read(gpu, buffer, 0, &mut [0; 2]));
    assert_lost(gpu.submit("clear", |e| {
        buffer.clear(e);
        Ok(())
    }));
    assert_lost(gpu.pipeline(&square()));
    assert_lost(gpu.wait_idle());
    assert_lost(gpu.check());
    if gpu.capabilities().timestamps {
        assert_lost(Timestamps::new(gpu, 1));
    }
    assert!(gpu.pipeline_cache_data().is_none());
}

#[test]
fn a_lost_device_is_an_error_and_a_new_one_works() {
    let Some(gpu) = gpu() else { return };
    let buffer = Buffer::from_slice(&gpu, "b", &[1_u32, 2, 3], BufferUse::Storage).unwrap();
    gpu.device().destroy();
    let error = buffer.read(&gpu).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the GPU device was lost (it was destroyed); create a new one and bind again"
    );
    all_is_lost(&gpu, &buffer);
    let again = super::gpu().unwrap();
    let buffer = Buffer::from_slice(&again, "b", &[1_u32, 2, 3], BufferUse::Storage).unwrap();
    assert_eq!(buffer.read(&again).unwrap(), [1, 2, 3]);
}

#[test]
fn every_first_call_notices_the_loss() {
    type Call = fn(&Gpu, &Buffer<u32>) -> Result<(), GpuError>;
    let calls: [(&str, Call); 6] = [
        ("new", |g, _| {
            Buffer::<u32>::new(g, "b", 4, BufferUse::Storage).map(drop)
        }),
        ("write", |g, b| b.write(g, 0, &[1])),
        ("read", |g, b| b.read(g).map(drop)),
        ("submit", |g, b| {
            g.submit("clear", |e| {
                b.clear(e);
                Ok(())
            })
            .map(drop)
        }),
        ("pipeline", |g, _| g.pipeline(&square()).map(drop)),
        ("fill", |g, b| b.fill(g, 1)),
    ];
    for (name, call) in calls {
        for make in [gpu, handed_in] {
            let Some(gpu) = make() else { return };
            let buffer = Buffer::from_slice(&gpu, "b", &[1_u32], BufferUse::Storage).unwrap();
            gpu.device().destroy();
            let error = call(&gpu, &buffer).unwrap_err();
            assert!(error.is_device_lost(), "{name}: {error}");
        }
    }
}

#[test]
fn clones_share_the_loss() {
    let Some(gpu) = gpu() else { return };
    let other = gpu.clone();
    gpu.device().destroy();
    let made = Buffer::<u32>::new(&gpu, "b", 4, BufferUse::Storage);
    assert_lost(made);
    assert_lost(other.check());
}

#[test]
fn a_device_that_was_handed_in_works() {
    let Some(gpu) = handed_in() else { return };
    // The engine asked for no features and for the limits that WebGPU guarantees.
    assert!(!gpu.capabilities().timestamps);
    assert_eq!(gpu.limits().storage_buffers_per_stage, 8);
    let error = Timestamps::new(&gpu, 1).unwrap_err().to_string();
    let name = &gpu.info().name;
    assert_eq!(
        error,
        format!("the adapter '{name}' does not support timestamp queries")
    );
    let buffer = Buffer::from_slice(&gpu, "b", &[1_u32, 2], BufferUse::Storage).unwrap();
    buffer.fill(&gpu, 5).unwrap();
    assert_eq!(buffer.read(&gpu).unwrap(), [5, 5]);
    let most = gpu.limits().buffer_bytes;
    assert_eq!(most, 256 << 20);
    let count = usize::try_from(most / 4 + 1).unwrap();
    let error = Buffer::<u32>::new(&gpu, "huge", count, BufferUse::Storage).unwrap_err();
    assert!(matches!(error, GpuError::Limit(_)), "{error}");
    gpu.device().destroy();
    all_is_lost(&gpu, &buffer);
}

#[test]
fn handlers_of_the_engine_stay_in_place() {
    let Some(gpu) = handed_in() else { return };
    let (errors, losses) = (Arc::new(AtomicU32::new(0)), Arc::new(AtomicU32::new(0)));
    let (e, l) = (errors.clone(), losses.clone());
    gpu.device()
        .on_uncaptured_error(Arc::new(move |_: wgpu::Error| {
            e.fetch_add(1, Ordering::Relaxed);
        }));
    gpu.device().set_device_lost_callback(move |_, _| {
        l.fetch_add(1, Ordering::Relaxed);
    });
    // Our own mistakes do not reach the engine.
    let uniform = Buffer::<u32>::new(&gpu, "uniform", 4, BufferUse::Uniform).unwrap();
    uniform.fill(&gpu, 1).unwrap_err();
    assert_eq!(errors.load(Ordering::Relaxed), 0);
    // The engine's do.
    invalid_call(&gpu);
    assert_eq!(errors.load(Ordering::Relaxed), 1);
    assert_eq!(gpu.take_uncaptured(), None);
    gpu.device().destroy();
    assert_lost(uniform.read(&gpu));
    assert_eq!(losses.load(Ordering::Relaxed), 1);
}

/// A call on wgpu itself, outside of any scope, that is not valid.
fn invalid_call(gpu: &Gpu) {
    let _ = gpu.device().create_buffer(&wgpu::BufferDescriptor {
        label: Some("neither"),
        size: 16,
        usage: wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::MAP_WRITE,
        mapped_at_creation: false,
    });
}

#[test]
fn uncaught_errors_are_kept_and_do_not_panic() {
    let Some(gpu) = gpu() else { return };
    invalid_call(&gpu);
    let message = gpu.take_uncaptured().unwrap();
    assert!(message.contains("neither"), "{message}");
    assert_eq!(gpu.take_uncaptured(), None);
    // Inside a scope it is an error with a name.
    let error = gpu
        .scoped("something wrong", |_| invalid_call(&gpu))
        .unwrap_err();
    assert!(
        error
            .to_string()
            .starts_with("something wrong is not valid: "),
        "{error}"
    );
    assert_eq!(gpu.take_uncaptured(), None);
}

#[test]
fn a_buffer_that_passes_the_limits_of_an_engine_but_not_of_memory_is_an_error() {
    let Some(gpu) = gpu() else { return };
    // Around our own check: wgpu's answer is an error, too.
    let error = gpu
        .scoped("a huge buffer", |device| {
            device.create_buffer(&wgpu::BufferDescriptor {
                label: Some("huge"),
                size: u64::MAX / 4 * 4,
                usage: wgpu::BufferUsages::STORAGE,
                mapped_at_creation: false,
            })
        })
        .unwrap_err();
    assert!(
        matches!(
            error,
            GpuError::Validation { .. } | GpuError::OutOfMemory { .. }
        ),
        "{error}"
    );
    gpu.wait_idle().unwrap();
}

#[test]
fn work_that_fails_while_recording_is_not_submitted() {
    let Some(gpu) = gpu() else { return };
    let buffer = Buffer::from_slice(&gpu, "b", &[1_u32, 2], BufferUse::Storage).unwrap();
    let error = gpu.submit("half", |encoder| {
        buffer.clear(encoder);
        Err(GpuError::Span { spans: 1, asked: 2 })
    });
    assert!(matches!(error, Err(GpuError::Span { .. })));
    assert_eq!(buffer.read(&gpu).unwrap(), [1, 2]);
}

#[test]
fn work_of_another_device_is_an_error_and_no_loss() {
    let (Some(one), Some(other)) = (gpu(), gpu()) else {
        return;
    };
    let mut late = None;
    for _ in 0..50 {
        late = Some(one.submit("nothing", |_| Ok(())).unwrap());
    }
    let error = other.wait(&late.unwrap()).unwrap_err();
    assert!(matches!(error, GpuError::Validation { .. }), "{error}");
    other.wait_idle().unwrap();
}

#[test]
fn waiting_notices_the_loss() {
    for make in [gpu, handed_in] {
        let Some(gpu) = make() else { return };
        gpu.device().destroy();
        assert_lost(gpu.wait_idle());
        assert_lost(gpu.check());
    }
}

#[test]
fn a_lost_device_is_not_taken_from_an_engine() {
    let Some(gpu) = handed_in() else { return };
    gpu.device().destroy();
    assert_lost(Gpu::from_parts(gpu.device().clone(), gpu.queue().clone()));
}

#[test]
fn lack_of_memory_is_an_error() {
    if gpu().is_none() {
        return;
    }
    // An engine that lets nothing be made once none of its memory budget is left.
    let instance = wgpu::Instance::new(wgpu::InstanceDescriptor {
        memory_budget_thresholds: wgpu::MemoryBudgetThresholds {
            for_resource_creation: Some(0),
            for_device_loss: None,
        },
        ..wgpu::InstanceDescriptor::new_without_display_handle()
    });
    let options = wgpu::RequestAdapterOptions::default();
    let adapter = pollster::block_on(instance.request_adapter(&options)).unwrap();
    let request = adapter.request_device(&wgpu::DeviceDescriptor::default());
    let Ok((device, queue)) = pollster::block_on(request) else {
        // Some drivers know their budget so early that there is no device.
        return println!("nothing to test: no device without memory");
    };
    let gpu = Gpu::from_parts(device, queue).unwrap();
    match Buffer::<u32>::new(&gpu, "b", 1 << 20, BufferUse::Storage) {
        Err(error) => {
            assert!(matches!(error, GpuError::OutOfMemory { .. }), "{error}");
            assert_eq!(
                error.to_string(),
                "not enough GPU memory for buffer 'b' of 4194304 bytes"
            );
            gpu.check().unwrap();
        }
        Ok(_) => println!("nothing to test: {} knows no memory budget", gpu.info()),
    }
}
