//! Work folders of bakes: each of their files with bytes from anywhere, then the steps that read it.
//!
//! An input is a byte that chooses the bake, one that chooses the file, one that says which hash is added (a stranger can make one), and the rest: what
//! takes the place of the file.
#![no_main]

use libfuzzer_sys::fuzz_target;
use sinew::bake::vat::{VatJob, assemble, plan, texels};
use sinew::bake::{Chunk, Watch};
use sinew_fuzz::memory::{Counting, MIB, limited};
use sinew_fuzz::work::{Work, bakes};
use std::sync::LazyLock;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

static BAKES: LazyLock<Vec<Work>> = LazyLock::new(bakes);

fuzz_target!(|data: &[u8]| {
    let [bake, file, how, rest @ ..] = data else {
        return;
    };
    let work = &BAKES[usize::from(*bake) % BAKES.len()];
    let file = usize::from(*file) % work.files.len();
    work.put(file, &work.made_whole(file, *how, rest));
    limited(data.len(), 64 * MIB, 4096, || {
        if let Err(error) = steps(work) {
            assert!(!error.to_string().is_empty(), "refusals say something");
        }
    });
    work.restore();
});

fn steps(work: &Work) -> Result<(), sinew::bake::BakeError> {
    let watch = Watch::NOBODY;
    let job = VatJob::open(&work.folder())?;
    plan(&job, &watch)?;
    texels(&job, Chunk::ALL, &watch)?;
    assemble(&job, &work.out(), &watch)?;
    Ok(())
}
