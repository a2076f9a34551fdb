//! Updates allocate nothing: a counting allocator watches every node of the registry.

use crate::common::allocations::counted_pool;
use crate::common::{assets, forms, middle, numbers, running_with};
use sinew::deform::Par;
use sinew::graph::Frame;

#[test]
fn update_allocates_nothing() {
    let (pool, count) = counted_pool(2);
    for asset in assets() {
        let mut pose = asset.rig.rest_pose();
        for (desc, more) in forms() {
            let mut i = running_with(&asset, desc, more);
            let values = numbers(i.plan());
            let values: Vec<(usize, &[f32])> = values.iter().map(|(i, v)| (*i, &**v)).collect();
            let mut frame = |par: Par| {
                asset
                    .rig
                    .evaluate(asset.clips.first(), middle(&asset), &mut pose);
                i.update(&Frame::at(0.5).pose(&pose).values(&values), par)
                    .expect("fits");
            };
            pool.install(|| {
                // Before frames are counted, rayon grows its queue once.
                for (par, first, counted, threads) in [
                    (Par::Seq, 1, 3, "one thread"),
                    (Par::Rayon, 3, 5, "two threads"),
                ] {
                    (0..first).for_each(|_| frame(par));
                    let before = count();
                    (0..counted).for_each(|_| frame(par));
                    assert_eq!(
                        count(),
                        before,
                        "{} on {}, {threads}",
                        desc.name,
                        asset.name
                    );
                }
            });
        }
    }
}
