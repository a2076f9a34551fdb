//! The third step: the texels of every frame, and how far they are from it.

use super::job::VatJob;
use super::job::mesh_of;
use super::plan::{Planned, VatPlan};
use super::records::{FrameErrors, TEXELS, TexelRecord};
use crate::vat::maker::error::angle_between;
use crate::work::hash_of;
use crate::{BakeError, Chunk, Watch};
use rayon::prelude::*;
use sinew_vat::quantity::Quantity;
use sinew_vat::texture::TextureSpec;

/// Makes the texels of a chunk's frames that are missing.
///
/// # Errors
/// [`BakeError::Missing`] where there is no plan, or a frame was not scanned.
pub fn texels(job: &VatJob, chunk: Chunk, watch: &Watch<'_>) -> Result<(), BakeError> {
    let plan = VatPlan::read(job)?;
    let key = plan.key();
    let frames = chunk.frames(job.frame_count());
    let absent: Vec<usize> = frames.filter(|f| done(job, &key, *f).is_none()).collect();
    let stage = watch.stage("texels", absent.len());
    if absent.is_empty() {
        return Ok(());
    }
    let encoder = plan.steps().encoder(Planned { job, plan: &plan })?;
    absent.par_iter().try_for_each(|&frame| {
        stage.go_on()?;
        let (texels, errors) = encoder.frame(frame, mesh_of(job, frame)?)?;
        keep(job, &key, frame, &texels, errors)?;
        stage.step();
        Ok(())
    })
}

/// The record of a frame whose texels are there and whole.
pub(crate) fn done(job: &VatJob, key: &str, frame: usize) -> Option<TexelRecord> {
    let read = job.work.head_and_body::<TexelRecord>(TEXELS, frame, key);
    let (record, bytes) = read.ok()??;
    (record.hash == hash_of(&bytes)).then_some(record)
}

/// The bytes and the record that says that they are whole.
fn keep(
    job: &VatJob,
    key: &str,
    frame: usize,
    texels: &[Vec<u8>],
    errors: FrameErrors,
) -> Result<(), BakeError> {
    let bytes = texels.concat();
    let hash = hash_of(&bytes);
    let record = TexelRecord { hash, errors };
    job.work.write_with_head(TEXELS, frame, key, &record, bytes)
}

/// Bytes of each texture of one frame, and how far they are from it.
pub(crate) type Encoded = (Vec<Vec<u8>>, FrameErrors);

/// Where a vertex should be and where its normal should point.
pub(crate) struct Truth {
    pub(crate) place: [f32; 3],
    pub(crate) normal: [f32; 3],
    /// What an offset is added to.
    pub(crate) rest: [f32; 3],
}

/// Decodes the texels again and looks how far they are from the truth, in metres; `texel` tells which one a vertex has.
pub(crate) fn measure(
    of: Planned<'_>,
    frame: usize,
    texels: &[Vec<u8>],
    texel: impl Fn(usize) -> usize,
    truth: impl Fn(usize) -> Option<Truth>,
) -> FrameErrors {
    let mut out = FrameErrors::default();
    let files = of.job.settings().files();
    let textures = || of.plan.textures.iter().zip(texels);
    let places = textures().find(|(spec, _)| spec.quantity.is_position());
    for vertex in 0..of.plan.layout.vertices as usize {
        let Some(Truth {
            place,
            normal,
            rest,
        }) = truth(vertex)
        else {
            continue;
        };
        if let Some((spec, bytes)) = places {
            let base = match spec.quantity {
                Quantity::Offset => rest,
                _ => [0.0; 3],
            };
            let seen = decode(spec, bytes, texel(vertex));
            let squares = (0..3).map(|k| {
                let off = f64::from(base[k]) + f64::from(seen[k]) - f64::from(place[k]);
                off * off
            });
            let distance = squares.sum::<f64>().sqrt() / f64::from(of.plan.space.units_per_metre());
            out.position.add(frame as u32, vertex as u32, distance);
        }
        let seen = textures()
            .find_map(|(spec, bytes)| files.seen_normal(of.plan.space, spec, bytes, texel(vertex)));
        if let Some(seen) = seen {
            let angle = angle_between(seen, normal);
            out.normal.add(frame as u32, vertex as u32, angle);
        }
    }
    out
}

pub(crate) fn decode(spec: &TextureSpec, bytes: &[u8], vertex: usize) -> [f32; 3] {
    let size = spec.vertex_bytes();
    let texel = &bytes[vertex * size..(vertex + 1) * size];
    std::array::from_fn(|k| spec.decode(texel, k))
}
