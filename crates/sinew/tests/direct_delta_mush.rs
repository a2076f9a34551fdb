//! Direct delta mush on real characters: the rest pose and rigid motions, non-manifold meshes among them.

#![expect(
    clippy::print_stdout,
    reason = "says what was measured and what was skipped"
)]

use sinew::deform::direct_delta_mush::{
    DirectDeltaMushBind, DirectDeltaMushJob, DirectDeltaMushScratch, SmoothingSettings, Storage,
    Variant, moments,
};
use sinew::deform::{BindWatch, MeshView, MeshViewMut, Par};
use sinew::geom::{Affine, Mesh, PackedAffine, Quat, Real, Rig, Vec3};

const CHARACTERS: [&str; 4] = [
    "mh_arm_nonmanifold.glb",
    "fox.glb",
    "kaykit_knight.glb",
    "mh_male_ge53.glb",
];

#[test]
fn real_characters_keep_rest_and_rigid_motion() {
    let Some(data) = sinew_testkit::shared_data() else {
        println!("skipped: no shared data");
        return;
    };
    for name in CHARACTERS {
        let path = data.join("characters").join(name);
        if !path.is_file() {
            println!("skipped: no {name}");
            continue;
        }
        let asset = sinew::io::read_any(&path)
            .unwrap_or_else(|e| panic!("{e}"))
            .asset;
        for mesh in asset.meshes.iter().filter(|m| m.influences.is_some()) {
            for strongest_only in [false, true] {
                check(name, mesh, &asset.rig, strongest_only);
            }
        }
    }
}

fn check(name: &str, mesh: &Mesh, rig: &Rig, strongest_only: bool) {
    let joints = rig.joints().len();
    let settings = SmoothingSettings {
        strongest_only,
        ..SmoothingSettings::default()
    };
    let moments = moments(mesh, joints, &settings, Par::Rayon, &BindWatch::NONE).expect("moments");
    let size = f64::from(mesh.diagonal());
    for variant in Variant::ALL {
        for storage in [Storage::Full, Storage::Quantized] {
            let bind = DirectDeltaMushBind::new(&moments, joints, variant, storage);
            let turn = Quat::from_euler_angles(0.4, -1.9, 2.6);
            let middle = bind.origin();
            let mut rigid = Affine::from_trs(Vec3::zeros(), turn, Vec3::repeat(1.0));
            rigid.translation = middle - rigid.linear * middle + Vec3::new(0.5, 0.0, -0.2) * size;
            for (motion, allowed) in [(Affine::identity(), 1e-6), (rigid, 1e-5)] {
                let packed = PackedAffine::from(motion);
                let out = run(&bind, mesh, &vec![packed; joints]);
                let exact = packed.unpack::<f64>();
                let off = (mesh.positions.iter().zip(&out))
                    .map(|(p, out)| (exact.point(f64::vec3(*p)) - f64::vec3(*out)).norm())
                    .fold(
                        0.0_f64,
                        |m, d| if d.is_nan() { f64::INFINITY } else { m.max(d) },
                    );
                let what = format!("{name} {}: {variant:?} {storage:?}", mesh.name);
                assert!(off <= allowed * size, "{what}: {off:e} of {size}");
            }
        }
    }
    let pairs = moments.pairs.len() as f64 / mesh.vertex_count() as f64;
    let bind = DirectDeltaMushBind::new(&moments, joints, Variant::V0, Storage::Full);
    let bytes = bind.bytes() as f64 / mesh.vertex_count() as f64;
    println!(
        "{name} {}: {pairs:.2} joints and {bytes:.0} bytes a vertex",
        mesh.name
    );
}

fn run(bind: &DirectDeltaMushBind, mesh: &Mesh, palette: &[PackedAffine]) -> Vec<[f32; 3]> {
    let mut out = vec![[f32::NAN; 3]; mesh.vertex_count()];
    DirectDeltaMushJob {
        bind,
        palette,
        input: MeshView {
            positions: &mesh.positions,
            ..MeshView::default()
        },
        output: MeshViewMut {
            positions: Some(&mut out),
            ..MeshViewMut::default()
        },
        scratch: &mut DirectDeltaMushScratch::new(bind),
        par: Par::Rayon,
    }
    .run();
    out
}
