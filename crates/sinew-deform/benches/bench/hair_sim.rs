//! A head of hair: 2,228 guides of 32 vertices, two followers each, on a head that shakes, with the head as a collider;
//! a frame of 1/60 s in steps of 1/240 s; once with a quarter of the guides. One call is one frame.

use criterion::Criterion;
use sinew_deform::Par;
use sinew_deform::collide::{Capsule, Collider, Contact, Rigid, RigidMotion};
use sinew_deform::hair_sim::{
    FollowerSettings, HairBind, HairJob, HairSettings, HairState, place_followers,
};
use sinew_geom::{Affine, PackedAffine, Quat, Strands, Vec3};

const STRANDS: u16 = 2228;
const VERTICES: u8 = 32;
const RADIUS: f32 = 0.1;

/// Straight strands of 5 to 25 cm that stand on the upper part of a ball.
fn scalp() -> Option<(Strands, Vec<[f32; 3]>)> {
    let mut rest = Vec::new();
    for i in 0..STRANDS {
        let y = 1.0 - 0.9 * (f32::from(i) + 0.5) / f32::from(STRANDS);
        let (r, a) = ((1.0 - y * y).sqrt(), f32::from(i) * 2.399_963);
        let out = [r * a.cos(), y, r * a.sin()];
        let length = 0.05 + 0.2 * f32::from(i % 17) / 17.0;
        for k in 0..VERTICES {
            let s = RADIUS + length * f32::from(k) / f32::from(VERTICES - 1);
            rest.push(out.map(|c| c * s));
        }
    }
    let strands = Strands::new(vec![usize::from(VERTICES); usize::from(STRANDS)]);
    Some((strands.ok()?, rest))
}

fn head(time_secs: f32) -> Affine<f32> {
    let rotation = Quat::from_axis_angle(&Vec3::y_axis(), 0.6 * (time_secs * 6.0).sin());
    let shift = Vec3::new(0.03 * (time_secs * 5.0).sin(), 0.0, 0.0);
    Affine::from_trs(shift, rotation, Vec3::new(1.0, 1.0, 1.0))
}

pub(crate) fn benches(c: &mut Criterion) {
    let Some((guides, rest)) = scalp() else {
        return;
    };
    let settings = FollowerSettings {
        per_guide: 2,
        radius: 0.01,
        tip_separation: 1.0,
        seed: 1,
        ..FollowerSettings::default()
    };
    let Ok((strands, rest)) = place_followers(&guides, &rest, &settings, None) else {
        return;
    };
    let Ok(bind) = HairBind::new(&strands, &rest, None) else {
        return;
    };
    let ball = Capsule::sphere([0.0; 3], RADIUS);
    let contact = Contact {
        collider: 0,
        margin: 0.002,
        friction: 0.3,
    };
    let mut positions = vec![[0.0; 3]; bind.vertex_count()];
    let mut tangents = positions.clone();
    let mut group = c.benchmark_group("hair_sim");
    for (name, contacts, detail, par) in [
        ("free/one thread", &[][..], 1.0, Par::Seq),
        ("collide/one thread", &[contact][..], 1.0, Par::Seq),
        ("collide/a quarter", &[contact][..], 0.25, Par::Seq),
        ("collide/threads", &[contact][..], 1.0, Par::Rayon),
    ] {
        let settings = HairSettings {
            detail,
            ..HairSettings::default()
        };
        let mut state = HairState::<f32>::new(&bind);
        let mut frame = 0.0_f32;
        let mut run = || {
            let (from, to) = (head(frame / 60.0), head((frame + 1.0) / 60.0));
            frame += 1.0;
            let transforms = vec![PackedAffine::from(to); strands.len()];
            let colliders = [Collider {
                shape: &ball,
                motion: RigidMotion::between(Rigid::of(&from), Rigid::of(&to)),
            }];
            HairJob {
                bind: &bind,
                transforms: &transforms,
                dt_secs: 1.0 / 60.0,
                settings: &settings,
                colliders: &colliders,
                contacts,
                state: &mut state,
                positions: &mut positions,
                tangents: Some(&mut tangents),
                par,
            }
            .run()
        };
        // Hair that has come down on the head.
        let settled = (0..120).try_for_each(|_| run());
        if settled.is_ok() {
            group.bench_function(name, |b| b.iter(&mut run));
        }
    }
    group.finish();
}
