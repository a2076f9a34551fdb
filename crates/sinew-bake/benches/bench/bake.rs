//! Whole bakes, from files to files: a splash of some 9,000 triangles a frame (`shared/data/sequences` beside the project, otherwise left out), and a
//! made-up swarm of the size of the published example, 1,130 triangles in 300 frames and in 75.

use criterion::{BatchSize, Criterion, criterion_group};
use sinew_bake::vat::{TriangleOrder, VatSettings, bake};
use sinew_bake::{FileFrames, FrameSource, MeshFrames, Watch};
use sinew_testkit::meshes::mesh_from;
use std::path::Path;

/// Triangles that drift apart, a different number of them in each frame.
fn swarm(frames: u32) -> MeshFrames {
    let frame = |f: u32| {
        let count = 1130 - f % 7;
        let corner = |v: u32| {
            let (t, k) = (v / 3, v % 3);
            let at = t as f32 * 0.37 + f as f32 * 0.01;
            [
                at.sin() + 0.02 * k as f32,
                at.cos() + 0.03 * (k % 2) as f32,
                t as f32 * 1e-3,
            ]
        };
        let triangles = (0..count).map(|t| [3 * t, 3 * t + 1, 3 * t + 2]).collect();
        mesh_from("swarm", (0..3 * count).map(corner).collect(), triangles)
    };
    MeshFrames::new("swarm", (0..frames).map(frame).collect())
}

fn splash() -> Option<FileFrames> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let path = root.join("../../../shared/data/sequences/liquid_splash");
    let files = path.is_dir().then(|| sinew_io::find_sequence(&path));
    Some(FileFrames::new(files?.expect("a sequence"), true))
}

fn run(bench: &mut Criterion, name: &str, source: &dyn FrameSource, order: TriangleOrder) {
    let settings = VatSettings {
        order,
        ..VatSettings::default()
    };
    bench.bench_function(name, |b| {
        b.iter_batched(
            || tempfile::tempdir().expect("a folder"),
            |folder| {
                let (work, out) = (folder.path().join("work"), folder.path().join("out"));
                bake(source, &settings, &work, &out, &Watch::NOBODY).expect("bakes");
                folder
            },
            BatchSize::PerIteration,
        );
    });
}

fn bakes(bench: &mut Criterion) {
    let (file, matched) = (TriangleOrder::File, TriangleOrder::default());
    for (frames, name) in [
        (75, "swarm of 1,130 triangles, 75 frames"),
        (300, "swarm of 1,130 triangles, 300 frames"),
    ] {
        run(bench, name, &swarm(frames), file);
    }
    if let Some(splash) = splash() {
        run(bench, "splash, as in the files", &splash, file);
        run(bench, "splash, matched", &splash, matched);
    }
}

criterion_group! {
    name = benches;
    config = Criterion::default().sample_size(10);
    targets = bakes
}
