//! The third step: the texels of every frame, and how far they are from it.

use super::ends::with_end;
use super::job::VatJob;
use super::particles::particles_frame;
use super::plan::{VatPlan, middle_of, slots_of};
use super::points;
use super::records::{FrameErrors, TEXELS, TexelRecord};
use super::rigid::RigidTexels;
use super::scan::mesh_of;
use super::settings::Mode;
use super::target::{PlacedFrame, place_mesh, turn_normals};
use super::tearing::soft_carrier;
use crate::vat::maker::ends::ShownFrame;
use crate::vat::maker::error::angle_between;
use crate::vat::maker::matching::FrameEnd;
use crate::vat::maker::normals::corner_normals;
use crate::vat::maker::remesh::{SlotContent, encode_frame_with, slots_in_file_order};
use crate::vat::maker::soft::SoftCarrier;
use crate::work::hash_of;
use crate::{BakeError, Chunk, Watch};
use rayon::prelude::*;
use sinew_geom::{Mesh, index32};
use sinew_vat::lookup::{LOOKUP_BYTES, point_of_texel};
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
    let maker = match plan.mode {
        Mode::Soft => {
            let carrier = soft_carrier(job, &plan, &mesh_of(job, 0)?)?;
            Maker::Soft(Box::new(job.settings().convention.carrier(carrier)))
        }
        Mode::Rigid => Maker::Rigid(Box::new(RigidTexels::new(job, &plan)?)),
        Mode::Remesh => Maker::Remesh,
        Mode::Particles => Maker::Particles,
    };
    absent.par_iter().try_for_each(|&frame| {
        stage.go_on()?;
        let mut mesh = mesh_of(job, frame)?;
        let (texels, errors) = match &maker {
            Maker::Soft(carrier) => soft_frame(job, &plan, carrier, frame, &mut mesh)?,
            Maker::Rigid(pieces) => pieces.frame(job, &plan, frame, &mut mesh)?,
            Maker::Remesh => remesh_frame(job, &plan, frame, &mesh)?,
            Maker::Particles => particles_frame(job, &plan, frame, &mesh)?,
        };
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

/// What makes texels, and what it needs of the first frame.
enum Maker {
    Remesh,
    Soft(Box<SoftCarrier>),
    Rigid(Box<RigidTexels>),
    Particles,
}

type Encoded = (Vec<Vec<u8>>, FrameErrors);

fn remesh_frame(
    job: &VatJob,
    plan: &VatPlan,
    frame: usize,
    mesh: &Mesh,
) -> Result<Encoded, BakeError> {
    let mut slots = contents(job, plan, frame, mesh)?;
    let crease = job.settings().crease();
    let normals = corner_normals(&mesh.topology, &mesh.positions, crease);
    let (mut of_end, mut end) = (Vec::new(), None);
    if plan.has_ends {
        let made = with_end(job, plan, frame, (mesh, &normals), slots)?;
        (slots, of_end, end) = (made.slots, made.texels, made.end);
    }
    let placed = PlacedFrame::new(plan, mesh, &normals, &slots);
    if let Some(points) = &plan.points {
        let made = points::texels(job, plan, points, (mesh, &normals), &placed)?;
        let point = |vertex: usize| point_of_texel(&made.lookup[vertex * LOOKUP_BYTES..]) as usize;
        let errors = measure(
            job,
            plan,
            frame,
            &made.textures,
            point,
            truth_of(placed.shown()),
        );
        let mut texels = made.textures;
        texels.push(made.lookup);
        return Ok((texels, errors));
    }
    let shown = placed.shown();
    let mut texels = encode_frame_with(shown.mesh, shown.slots, &plan.textures, shown.normals);
    let own = |vertex: usize| vertex;
    let mut errors = measure(job, plan, frame, &texels, own, truth_of(shown));
    if let Some(end) = &end {
        let off = measure(job, plan, frame, &of_end, own, truth_of_end(shown, end));
        (errors.end_position, errors.end_normal) = (off.position, off.normal);
    }
    texels.extend(of_end);
    Ok((texels, errors))
}

/// The same at the end of the frame: where corners land on the next frame's surface, and the normals that this has there.
fn truth_of_end(shown: ShownFrame<'_>, end: &FrameEnd) -> impl Fn(usize) -> Option<Truth> {
    move |vertex| match shown.slots[vertex / 3] {
        SlotContent::Triangle { triangle, turn } => {
            let (t, corner) = (triangle as usize, (vertex % 3 + turn as usize) % 3);
            let v = shown.mesh.topology.triangles()[t][corner] as usize;
            // What vanishes or lands nowhere has no place on that surface.
            end.landings[v].map(|_| Truth {
                place: end.points[v],
                normal: end.normals[t][corner],
                rest: [0.0; 3],
            })
        }
        SlotContent::Absent { .. } => None,
    }
}

/// Where corners of slots are, and where their normals point.
fn truth_of(shown: ShownFrame<'_>) -> impl Fn(usize) -> Option<Truth> {
    move |vertex| match shown.slots[vertex / 3] {
        SlotContent::Triangle { triangle, turn } => {
            let (t, corner) = (triangle as usize, (vertex % 3 + turn as usize) % 3);
            let v = shown.mesh.topology.triangles()[t][corner] as usize;
            Some(Truth {
                place: shown.mesh.positions[v],
                normal: shown.normals[t][corner],
                rest: [0.0; 3],
            })
        }
        SlotContent::Absent { .. } => None,
    }
}

/// What the slots show in a frame.
fn contents(
    job: &VatJob,
    plan: &VatPlan,
    frame: usize,
    mesh: &Mesh,
) -> Result<Vec<SlotContent>, BakeError> {
    let absent = middle_of(&plan.bounds);
    let count = plan.triangles;
    match job.settings().is_matched() {
        true => slots_of(job, plan, frame),
        false => {
            let triangles = index32(mesh.topology.triangles().len());
            Ok(slots_in_file_order(triangles, count, absent))
        }
    }
}

fn soft_frame(
    job: &VatJob,
    plan: &VatPlan,
    carrier: &SoftCarrier,
    frame: usize,
    mesh: &mut Mesh,
) -> Result<Encoded, BakeError> {
    let number = job.number(frame);
    let fault = |source| BakeError::NotSoft { number, source };
    carrier.adopt(mesh).map_err(fault)?;
    let mut normals = carrier.normals(mesh).map_err(fault)?;
    let convention = &job.settings().convention;
    let shading = convention.shading(carrier, mesh, &normals, plan.space);
    place_mesh(plan, mesh);
    turn_normals(plan, normals.iter_mut());
    let carrier = carrier.in_space(plan.space);
    let texels = match &shading {
        Some(shading) => shading.encode(&carrier, mesh, &plan.textures),
        None => carrier
            .encode_frame_with(mesh, &plan.textures, &normals)
            .map_err(fault)?,
    };
    let own = |vertex: usize| vertex;
    let errors = measure(job, plan, frame, &texels, own, |vertex| {
        let source = carrier.source_vertex(vertex);
        Some(Truth {
            place: mesh.positions[source],
            normal: normals[vertex],
            rest: carrier.rest(source),
        })
    });
    Ok((texels, errors))
}

/// Where a vertex should be and where its normal should point.
struct Truth {
    place: [f32; 3],
    normal: [f32; 3],
    /// What an offset is added to.
    rest: [f32; 3],
}

/// Decodes the texels again and looks how far they are from the truth, in metres; `texel` tells which one a vertex has.
fn measure(
    job: &VatJob,
    plan: &VatPlan,
    frame: usize,
    texels: &[Vec<u8>],
    texel: impl Fn(usize) -> usize,
    truth: impl Fn(usize) -> Option<Truth>,
) -> FrameErrors {
    let mut out = FrameErrors::default();
    let convention = job.settings().convention;
    let textures = || plan.textures.iter().zip(texels);
    let places = textures().find(|(spec, _)| spec.quantity.is_place());
    for vertex in 0..plan.layout.vertices as usize {
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
            let distance = squares.sum::<f64>().sqrt() / f64::from(plan.space.units_per_metre());
            out.position.add(frame as u32, vertex as u32, distance);
        }
        let seen = textures().find_map(|(spec, bytes)| {
            convention.seen_normal(plan.space, spec, bytes, texel(vertex))
        });
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
