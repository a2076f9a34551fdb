//! Loading a GLB, beside the least that any reader does: read the bytes, parse the JSON, convert each attribute of
//! each primitive once, without looking at a single value.
//!
//! `SINEW_BENCH_GLB` names a file; without it the largest character of the shared data is taken, and where that is
//! not there, nothing is measured. `SINEW_BENCH_FBX` names an FBX file, which is read, too. `cargo bench -p sinew-io`.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use serde_json::Value;
use std::hint::black_box;
use std::path::{Path, PathBuf};

fn file() -> Option<PathBuf> {
    let named = std::env::var_os("SINEW_BENCH_GLB").map(PathBuf::from);
    let shared = || {
        let path = sinew_testkit::shared_data()?.join("characters/mh_male_ge53_214k.glb");
        path.is_file().then_some(path)
    };
    named.or_else(shared)
}

fn number(v: &Value, key: &str) -> usize {
    v[key].as_u64().unwrap_or(0) as usize
}

/// All attributes and indices, converted to `f32` or `u32`. Tightly packed GLB files only.
fn plain(path: &Path) -> (Vec<Vec<f32>>, Vec<Vec<u32>>) {
    let bytes = std::fs::read(path).expect("readable");
    let length = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().expect("4 bytes"));
    let json_end = 20 + length(12) as usize;
    let document: Value = serde_json::from_slice(&bytes[20..json_end]).expect("JSON");
    let binary = &bytes[json_end + 8..];
    let (mut floats, mut integers) = (Vec::new(), Vec::new());
    let mut convert = |accessor: &Value| {
        let accessor = &document["accessors"][accessor.as_u64().expect("index") as usize];
        let view = &document["bufferViews"][number(accessor, "bufferView")];
        let start = number(view, "byteOffset") + number(accessor, "byteOffset");
        let components = match accessor["type"].as_str() {
            Some("SCALAR") => 1,
            Some("VEC2") => 2,
            Some("VEC3") => 3,
            _ => 4,
        };
        let count = number(accessor, "count") * components;
        let data = &binary[start..];
        match number(accessor, "componentType") {
            5121 => integers.push(data[..count].iter().map(|&b| u32::from(b)).collect()),
            5123 => integers.push(
                data.as_chunks::<2>().0[..count]
                    .iter()
                    .map(|b| u32::from(u16::from_le_bytes(*b)))
                    .collect(),
            ),
            5125 => integers.push(
                data.as_chunks::<4>().0[..count]
                    .iter()
                    .map(|b| u32::from_le_bytes(*b))
                    .collect(),
            ),
            _ => floats.push(
                data.as_chunks::<4>().0[..count]
                    .iter()
                    .map(|b| f32::from_le_bytes(*b))
                    .collect(),
            ),
        }
    };
    for mesh in document["meshes"].as_array().expect("meshes") {
        for primitive in mesh["primitives"].as_array().expect("primitives") {
            let attributes = primitive["attributes"].as_object().expect("attributes");
            attributes.values().for_each(&mut convert);
            convert(&primitive["indices"]);
        }
    }
    (floats, integers)
}

fn load(c: &mut Criterion) {
    let Some(path) = file() else {
        eprintln!("skipped: no shared data, and SINEW_BENCH_GLB is not set");
        return;
    };
    let bytes = std::fs::metadata(&path).expect("is there").len();
    let mut group = c.benchmark_group("load");
    group.throughput(Throughput::Bytes(bytes));
    group.sample_size(20);
    group.bench_function("read and convert once", |b| {
        b.iter(|| plain(black_box(&path)))
    });
    group.bench_function("read_gltf", |b| {
        b.iter(|| sinew_io::read_gltf(black_box(&path)).expect("valid"));
    });
    group.finish();
    load_fbx(c);
}

#[cfg(feature = "fbx")]
fn load_fbx(c: &mut Criterion) {
    let Some(path) = std::env::var_os("SINEW_BENCH_FBX").map(PathBuf::from) else {
        eprintln!("skipped: SINEW_BENCH_FBX is not set");
        return;
    };
    let mut group = c.benchmark_group("load");
    group.throughput(Throughput::Bytes(
        std::fs::metadata(&path).expect("is there").len(),
    ));
    group.sample_size(20);
    group.bench_function("read_fbx", |b| {
        b.iter(|| sinew_io::read_fbx(black_box(&path)).expect("valid"));
    });
    group.finish();
}

#[cfg(not(feature = "fbx"))]
fn load_fbx(_: &mut Criterion) {}

criterion_group!(benches, load);
criterion_main!(benches);
