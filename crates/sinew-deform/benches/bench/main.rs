//! Times of the nodes. `cargo bench -p sinew-deform -- skin` measures one file's, `-- skin/50k` those of them whose ids match; any other
//! text is a filter over all files.

mod common;
mod delta_mush;
mod direct_delta_mush;
mod direct_delta_mush_setup;
mod hair_sim;
mod lattice;
mod per_vertex;
mod pose_driver;
mod sdf;
mod skin;
mod stretch;
mod tangent_frames;

use criterion::Criterion;

type Benches = fn(&mut Criterion);

const FILES: [(&str, Benches); 11] = [
    ("delta_mush", delta_mush::benches),
    ("direct_delta_mush", direct_delta_mush::benches),
    ("direct_delta_mush_setup", direct_delta_mush_setup::benches),
    ("hair_sim", hair_sim::benches),
    ("lattice", lattice::benches),
    ("per_vertex", per_vertex::benches),
    ("pose_driver", pose_driver::benches),
    ("sdf", sdf::benches),
    ("skin", skin::benches),
    ("stretch", stretch::benches),
    ("tangent_frames", tangent_frames::benches),
];

// Instead of criterion's own: it filters after setup, which takes minutes for all files.
fn main() {
    let filter = std::env::args().nth(1).unwrap_or_default();
    let (name, rest) = filter.split_once('/').unwrap_or((&filter, ""));
    let is_file = FILES.iter().any(|f| f.0 == name);
    for (file, benches) in FILES {
        let mut c = Criterion::default().configure_from_args();
        if is_file {
            c = c.with_filter(rest);
        }
        if !is_file || file == name {
            benches(&mut c);
        }
    }
    Criterion::default().configure_from_args().final_summary();
}
