//! Kernels: round trips, wrong texts, the store of pipelines.

use super::gpu;
use crate::pipeline::RuntimeChecks;
use crate::{
    Binding, Buffer, BufferUse, CompileLimit, Gpu, GpuError, GpuOptions, KernelSource, Preference,
};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

const SQUARE: &str = "
@group(0) @binding(0) var<storage, read> source: array<u32>;
@group(0) @binding(1) var<storage, read_write> result: array<u32>;
override add: u32 = 0;
@compute @workgroup_size(64)
fn square(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
    let i = id.x + id.y * groups.x * 64u;
    if i < arrayLength(&source) {
        result[i] = source[i] * source[i] + add;
    }
}
";
const SLOTS: [Binding; 2] = [Binding::read(0), Binding::read_write(1)];

pub(super) fn square() -> KernelSource<'static> {
    KernelSource::new("square", SQUARE, "square", [64, 1, 1], &SLOTS)
}

/// Squares plus what the kernel adds.
fn run(gpu: &Gpu, kernel: &KernelSource<'_>, data: &[u32]) -> Result<Vec<u32>, GpuError> {
    let source = Buffer::from_slice(gpu, "source", data, BufferUse::Storage)?;
    let result = Buffer::<u32>::new(gpu, "result", data.len(), BufferUse::Storage)?;
    let pipeline = gpu.pipeline(kernel)?;
    let group = pipeline.bind(gpu, &[(0, source.binding()), (1, result.binding())])?;
    let grid = gpu.grid(data.len(), pipeline.workgroup_size()[0])?;
    gpu.submit("square", |encoder| {
        let mut pass = encoder.begin_compute_pass(&Default::default());
        pipeline.dispatch(&mut pass, &group, grid);
        Ok(())
    })?;
    result.read(gpu)
}

fn squares(count: u32) -> (Vec<u32>, Vec<u32>) {
    let data: Vec<u32> = (0..count).collect();
    let expected = data.iter().map(|i| i.wrapping_mul(*i)).collect();
    (data, expected)
}

#[test]
fn kernels_compute() {
    let Some(gpu) = gpu() else { return };
    // 65535 groups of 64 are a full row; one more takes two rows.
    for count in [1, 63, 64, 65, 65_535 * 64 + 1] {
        let (data, expected) = squares(count);
        assert!(run(&gpu, &square(), &data).unwrap() == expected, "{count}");
    }
}

#[test]
fn two_threads_share_a_device() {
    let Some(gpu) = gpu() else { return };
    std::thread::scope(|scope| {
        for thread in 0..2 {
            let gpu = gpu.clone();
            scope.spawn(move || {
                for round in 0..20 {
                    let (data, expected) = squares(500 + 100 * thread + round);
                    assert_eq!(run(&gpu, &square(), &data).unwrap(), expected);
                }
            });
        }
    });
    assert_eq!(gpu.pipelines_created(), 1, "both threads use one pipeline");
    assert_eq!(gpu.take_uncaptured(), None);
}

#[test]
fn pipelines_are_compiled_once() {
    let Some(gpu) = gpu() else { return };
    let first = gpu.pipeline(&square()).unwrap();
    assert_eq!(gpu.pipelines_created(), 1);
    for _ in 0..3 {
        assert!(std::sync::Arc::ptr_eq(
            &first,
            &gpu.pipeline(&square()).unwrap()
        ));
        run(&gpu, &square(), &[1, 2, 3]).unwrap();
    }
    assert_eq!(gpu.pipelines_created(), 1);
    // Another value of a constant is another kernel.
    let constants = [("add", 5.0)];
    let plus = KernelSource {
        constants: &constants,
        ..square()
    };
    assert_eq!(run(&gpu, &plus, &[1, 2, 3]).unwrap(), [6, 9, 14]);
    assert_eq!(gpu.pipelines_created(), 2);
    // The label is not part of what is compiled.
    let renamed = KernelSource {
        label: "other",
        ..square()
    };
    gpu.pipeline(&renamed).unwrap();
    assert_eq!(gpu.pipelines_created(), 2);
}

/// A driver that is not done in time is not waited for; the next call waits anew.
#[test]
fn texts_of_users_have_a_time_limit() {
    let Some(gpu) = gpu() else { return };
    let users = KernelSource {
        is_users: true,
        ..square()
    };
    gpu.limit_compiling(CompileLimit {
        longest: Duration::ZERO,
        stop: None,
    });
    // No machine compiles this while the caller is held up.
    let sum = "result[i] = source[i] * source[i] + add;";
    let long = SQUARE.replace(sum, &sum.repeat(2000));
    let slow = KernelSource {
        wgsl: &long,
        ..users.clone()
    };
    let error = gpu.pipeline(&slow).unwrap_err();
    assert!(matches!(error, GpuError::CompileTime { .. }), "{error}");
    let said = error.to_string();
    let expected = "the kernel of node 'square' did not compile within 0 s";
    assert!(said.contains(expected), "{said}");
    // Texts that are no user's take their time.
    assert_eq!(run(&gpu, &square(), &[2]).unwrap(), [4]);
    let constants = [("add", 1.0)];
    let plus = KernelSource {
        constants: &constants,
        ..users.clone()
    };
    gpu.limit_compiling(CompileLimit {
        longest: Duration::from_secs(600),
        stop: Some(Arc::new(AtomicBool::new(true))),
    });
    // Stopped, unless the driver was faster than the first look.
    match gpu.pipeline(&plus) {
        Err(GpuError::Stopped { what }) => assert!(what.contains("'square'"), "{what}"),
        other => assert!(other.is_ok(), "{other:?}"),
    }
    gpu.limit_compiling(CompileLimit::default());
    assert_eq!(run(&gpu, &plus, &[1, 2, 3]).unwrap(), [2, 5, 10]);
    let wrong = KernelSource {
        wgsl: "oops",
        ..users
    };
    let error = gpu.pipeline(&wrong).unwrap_err();
    assert!(matches!(error, GpuError::Shader(_)), "{error}");
}

#[test]
fn wrong_texts_name_the_line() {
    let Some(gpu) = gpu() else { return };
    for (text, line, word) in [
        ("fn f() {\n    let a = b;\n}", 2, "b"),
        (
            "@compute @workgroup_size(1)\nfn f() {\n\n  oops!\n}",
            4,
            "expected",
        ),
        // Parses, but is not valid: the place is the function, the report underlines the value.
        ("\nfn f() -> u32 {\n    return 1.5f;\n}", 2, "return 1.5f;"),
    ] {
        let kernel = KernelSource::new("wrong", text, "f", [1, 1, 1], &[]);
        let error = gpu.pipeline(&kernel).unwrap_err();
        let GpuError::Shader(shader) = &error else {
            unreachable!("{error}")
        };
        assert_eq!(shader.label, "wrong");
        assert_eq!(shader.messages[0].line, line, "{error}");
        let shown = error.to_string();
        assert!(shown.contains("kernel 'wrong' does not compile"), "{shown}");
        assert!(shown.contains(word), "{shown}");
    }
    assert_eq!(gpu.pipelines_created(), 0);
    // The device is as good as before.
    assert_eq!(run(&gpu, &square(), &[3]).unwrap(), [9]);
}

#[test]
fn wrong_entries_and_bindings_are_errors() {
    let Some(gpu) = gpu() else { return };
    let entry = KernelSource {
        entry: "circle",
        ..square()
    };
    let error = gpu.pipeline(&entry).unwrap_err();
    assert!(error.to_string().contains("circle"), "{error}");
    let missing = KernelSource {
        bindings: &SLOTS[..1],
        ..square()
    };
    let error = gpu.pipeline(&missing).unwrap_err();
    assert!(matches!(error, GpuError::Validation { .. }), "{error}");
    let pipeline = gpu.pipeline(&square()).unwrap();
    let error = pipeline.bind(&gpu, &[]).unwrap_err();
    assert!(error.to_string().contains("'square'"), "{error}");
    let uniform = Buffer::<u32>::new(&gpu, "uniform", 4, BufferUse::Uniform).unwrap();
    let both = [(0, uniform.binding()), (1, uniform.binding())];
    let error = pipeline.bind(&gpu, &both).unwrap_err();
    assert!(matches!(error, GpuError::Validation { .. }), "{error}");
    assert_eq!(gpu.take_uncaptured(), None, "all errors are caught");
}

#[test]
fn kernels_beyond_the_limits_name_both_numbers() {
    let Some(gpu) = gpu() else { return };
    let limits = *gpu.limits();
    let many = limits.storage_buffers_per_stage + 1;
    // Some drivers allow so many that the list would not end.
    if many <= 2_000_000 {
        let bindings: Vec<Binding> = (0..many).map(Binding::read).collect();
        let kernel = KernelSource {
            bindings: &bindings,
            ..square()
        };
        let text = gpu.pipeline(&kernel).unwrap_err().to_string();
        let expected = format!(
            "storage buffers of kernel 'square': {many} needed, but the adapter '{}' allows {}",
            gpu.info().name,
            many - 1
        );
        assert_eq!(text, expected);
    }
    let memory = KernelSource {
        workgroup_memory_bytes: limits.workgroup_memory_bytes + 4,
        ..square()
    };
    let text = gpu.pipeline(&memory).unwrap_err().to_string();
    assert!(
        text.starts_with("bytes of workgroup memory of kernel 'square': "),
        "{text}"
    );
    let wide = KernelSource {
        workgroup_size: [limits.invocations_per_workgroup, 2, 1],
        ..square()
    };
    let text = gpu.pipeline(&wide).unwrap_err().to_string();
    assert!(
        text.starts_with("invocations per workgroup of kernel 'square': "),
        "{text}"
    );
}

#[test]
fn grids_cover_all_items_and_refuse_too_many() {
    let Some(gpu) = gpu() else { return };
    let most = u64::from(gpu.limits().workgroups_per_dimension);
    for items in [0, 1, 64, 65, most * 64, most * 64 + 1, 3 * most * 64 - 7] {
        let [x, y, z] = gpu.grid(usize::try_from(items).unwrap(), 64).unwrap();
        let (x, y) = (u64::from(x), u64::from(y));
        assert!(x * y * 64 >= items && x <= most && y <= most && z == 1);
        // No row is empty.
        assert!(y <= 1 || x * (y - 1) * 64 < items, "{items}: {x} x {y}");
    }
    if most * most * 64 < u64::MAX / 2 {
        let error = gpu.grid(usize::MAX, 1).unwrap_err();
        assert_eq!(error.allowed, most * most);
    }
}

#[test]
fn saved_pipelines_are_taken_back() {
    let Some(gpu) = gpu() else { return };
    gpu.pipeline(&square()).unwrap();
    let data = gpu.pipeline_cache_data();
    assert_eq!(data.is_some(), gpu.capabilities().pipeline_cache);
    assert_eq!(data.is_some(), gpu.pipeline_cache_name().is_some());
    let Some(mut data) = data else { return };
    for damage in [false, true] {
        if damage {
            data.truncate(data.len() / 2);
        }
        let again = Gpu::new(&GpuOptions {
            adapter: Preference::from_env(),
            pipeline_cache: Some(data.clone()),
        })
        .unwrap();
        assert_eq!(run(&again, &square(), &[7]).unwrap(), [49]);
    }
}

#[test]
#[expect(unsafe_code, reason = "the kernel keeps its promises")]
fn trusted_kernels_give_the_same_numbers() {
    let Some(gpu) = gpu() else { return };
    // SAFETY: the kernel compares its index with the length, has no loops and no divisions.
    let checks = unsafe { RuntimeChecks::none() };
    let trusted = KernelSource { checks, ..square() };
    let (data, expected) = squares(1000);
    assert_eq!(run(&gpu, &trusted, &data).unwrap(), expected);
    assert_eq!(run(&gpu, &square(), &data).unwrap(), expected);
    assert_eq!(gpu.pipelines_created(), 2, "checks are part of the key");
}

#[test]
fn immediates_reach_the_kernel() {
    let Some(gpu) = gpu() else { return };
    let text = "
        struct Given { factor: u32, add: u32 }
        var<immediate> given: Given;
        @group(0) @binding(0) var<storage, read_write> values: array<u32>;
        @compute @workgroup_size(4)
        fn f(@builtin(global_invocation_id) id: vec3<u32>) {
            values[id.x] = values[id.x] * given.factor + given.add;
        }";
    let bindings = [Binding::read_write(0)];
    let kernel = KernelSource {
        immediate_bytes: 8,
        ..KernelSource::new("given", text, "f", [4, 1, 1], &bindings)
    };
    if !gpu.capabilities().immediates {
        let error = gpu.pipeline(&kernel).unwrap_err();
        assert!(error.to_string().contains("bytes of immediates"), "{error}");
        return;
    }
    let pipeline = gpu.pipeline(&kernel).unwrap();
    let values = Buffer::from_slice(&gpu, "v", &[1_u32, 2, 3, 4], BufferUse::Storage).unwrap();
    let group = pipeline.bind(&gpu, &[(0, values.binding())]).unwrap();
    gpu.submit("given", |encoder| {
        let mut pass = encoder.begin_compute_pass(&Default::default());
        for given in [[10_u32, 1], [1, 5]] {
            let bytes = bytemuck::bytes_of(&given);
            pipeline.dispatch_with(&mut pass, &group, bytes, [1, 1, 1]);
        }
        Ok(())
    })
    .unwrap();
    assert_eq!(values.read(&gpu).unwrap(), [16, 26, 36, 46]);
}

/// Compiles and runs a kernel that writes one number, on one workgroup of 64.
fn number(gpu: &Gpu, text: &str) -> u32 {
    let bindings = [Binding::read_write(0)];
    let kernel = KernelSource::new("number", text, "f", [64, 1, 1], &bindings);
    let pipeline = gpu.pipeline(&kernel).unwrap();
    let out = Buffer::<u32>::new(gpu, "out", 1, BufferUse::Storage).unwrap();
    let group = pipeline.bind(gpu, &[(0, out.binding())]).unwrap();
    gpu.submit("number", |encoder| {
        let mut pass = encoder.begin_compute_pass(&Default::default());
        pipeline.dispatch(&mut pass, &group, [1, 1, 1]);
        Ok(())
    })
    .unwrap();
    out.read(gpu).unwrap()[0]
}

#[test]
fn half_precision_and_subgroups_work_where_they_are_said_to() {
    let Some(gpu) = gpu() else { return };
    let out = "@group(0) @binding(0) var<storage, read_write> result: atomic<u32>;\n";
    let body = "@compute @workgroup_size(64) fn f(@builtin(local_invocation_index) i: u32) {";
    if gpu.capabilities().shader_f16 {
        // 2049 is no half precision number; 2048 is the nearest.
        let text = format!(
            "enable f16;\n{out}{body} if i == 0u {{ let x = f16(2048.0) + f16(i + 1u); \
             atomicStore(&result, u32(x)); }} }}"
        );
        assert_eq!(number(&gpu, &text), 2048);
    }
    if gpu.capabilities().subgroups {
        // Every subgroup adds its sum once.
        let text = format!(
            "{out}@compute @workgroup_size(64) fn f(@builtin(local_invocation_index) i: u32, \
             @builtin(subgroup_invocation_id) lane: u32) {{ let sum = subgroupAdd(i); \
             if lane == 0u {{ atomicAdd(&result, sum); }} }}"
        );
        assert_eq!(number(&gpu, &text), 64 * 63 / 2);
    }
}

#[test]
fn workgroup_memory_is_shared() {
    let Some(gpu) = gpu() else { return };
    let text = "
        @group(0) @binding(0) var<storage, read_write> result: u32;
        var<workgroup> shared_values: array<u32, 64>;
        @compute @workgroup_size(64)
        fn f(@builtin(local_invocation_index) i: u32) {
            shared_values[i] = i;
            workgroupBarrier();
            if i == 0u {
                for (var k = 0u; k < 64u; k += 1u) {
                    result += shared_values[63u - k];
                }
            }
        }";
    assert_eq!(number(&gpu, text), 64 * 63 / 2);
}
