//! Times of bakes.

mod bake;
mod skin;

criterion::criterion_main!(bake::benches, skin::benches);
