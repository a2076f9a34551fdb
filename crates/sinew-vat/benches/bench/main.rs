//! Times of what bakes do with single frames.

mod matching;
mod simplify;

criterion::criterion_main!(matching::benches, simplify::benches);
