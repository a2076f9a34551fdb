//! Bakes of points: one texel a slot, and a square in the carrier for each.

use super::{BakeMode, FrameEncoder, Reason, check_quantities, with_needed};
use crate::report::grouped;
use crate::vat::ParticleSettings;
use crate::vat::job::VatJob;
use crate::vat::job::{mesh_of, missing};
use crate::vat::maker::carrier::carrier_box;
use crate::vat::maker::particles::{ParticleFollower, ParticleSlot, encode_points, point_numbers};
use crate::vat::maker::particles_by_motion::MotionFollower;
use crate::vat::maker::plan::PlanError;
use crate::vat::maker::remesh::{FrameScan, scan_frame};
use crate::vat::maker::sprites::FEWEST_SLOTS;
use crate::vat::maker::sprites::sprite_mesh;
use crate::vat::pictures::{Corners, ShownFrames, ShownVertices, camera_of, squares};
use crate::vat::plan::{
    ModePlan, Planned, VatPlan, extents_of, frame_scan_of, layout_for, middle_of,
};
use crate::vat::records::{FrameErrors, NUMBERS, PARTICLES, ScanRecord};
use crate::vat::report::{Reported, Row};
use crate::vat::settings::{TextureChoice, VatSettings};
use crate::vat::target::place_mesh;
use crate::vat::texels::Encoded;
use crate::vat::textures::texels_of;
use crate::{BakeError, Watch};
use sinew_geom::vec3::distance;
use sinew_geom::{Attribute, Bounds, Mesh, Topology, index32};
use sinew_vat::playback::AtEnd;
use sinew_vat::quantity::Quantity;
use sinew_vat::texture::Extent;

pub(crate) struct Particles;

impl BakeMode for Particles {
    fn name(&self) -> &'static str {
        "particles"
    }

    /// No frame has a triangle, and one at least has a point.
    fn takes(&self, _job: &VatJob, scans: &[ScanRecord]) -> bool {
        scans.iter().all(|s| s.triangles == 0) && scans.iter().any(|s| s.vertices > 0)
    }

    /// The attribute with the widths may be asked for by its name.
    fn textures(&self, settings: &VatSettings) -> Vec<TextureChoice> {
        let size = Quantity::Attribute(settings.particles.size.clone());
        let asked = settings.textures.iter().cloned().map(|choice| {
            let quantity = match choice.quantity {
                quantity if quantity == size => Quantity::Size,
                other => other,
            };
            TextureChoice { quantity, ..choice }
        });
        with_needed(settings, asked.collect(), Quantity::Size)
    }

    fn refuses(&self, quantity: &Quantity) -> Option<&'static str> {
        matches!(
            quantity,
            Quantity::Offset | Quantity::Normal | Quantity::Rotation
        )
        .then_some("particles face the camera; they have position, size, colours and attributes")
    }

    fn has_first_frame(&self) -> bool {
        false
    }

    fn is_points(&self) -> bool {
        true
    }

    fn always_has_positions(&self) -> bool {
        true
    }

    fn plan(
        &self,
        job: &VatJob,
        scans: &[ScanRecord],
        watch: &Watch<'_>,
    ) -> Result<VatPlan, BakeError> {
        let choices = self.textures(job.settings());
        check_quantities(self, &choices)?;
        if job.settings().at_end == AtEnd::SeamlessLoop {
            let expected = "loop or clamp: points of the last frame are not those of the first";
            return Err(BakeError::setting("at_end", "seamless_loop", expected));
        }
        let quantities: Vec<Quantity> = choices.iter().map(|c| c.quantity.clone()).collect();
        let seen: Vec<FrameScan> = scans.iter().map(|s| frame_scan(s, &choices)).collect();
        let frames = scans.len();
        let extents = extents_of(&seen, &choices, PlanError::NoPoints { frames })?;
        let bounds = bounds_of(&quantities, &extents);
        let slots = slots_of_all(job, &bounds, watch)?;
        let points: usize = scans.iter().map(|s| s.vertices as usize).sum();
        let all = f64::from(slots) * scans.len() as f64;
        let (space, files) = (job.settings().space(), job.settings().files());
        let texture = |(choice, extent): (&TextureChoice, &Extent)| {
            files.particle_texture(choice, &space.extent(&choice.quantity, extent))
        };
        Ok(VatPlan {
            hash: String::new(),
            job: job.key.clone(),
            triangles: slots.saturating_mul(2),
            layout: layout_for(job, slots)?,
            space,
            bounds: carrier_box(&bounds),
            textures: choices.iter().zip(&extents).filter_map(texture).collect(),
            empty_slots: (1.0 - points as f64 / all).max(0.0),
            of_mode: ModePlan::Particles,
        })
    }

    fn encoder<'a>(&self, of: Planned<'a>) -> Result<Box<dyn FrameEncoder + 'a>, BakeError> {
        Ok(Box::new(ParticleFrames { of }))
    }

    fn carrier(&self, of: Planned<'_>) -> Result<Mesh, BakeError> {
        let (name, VatPlan { layout, bounds, .. }) = (of.job.name(), of.plan);
        Ok(sprite_mesh(name, layout.vertices, bounds, layout))
    }

    fn shown<'a>(
        &self,
        of: Planned<'a>,
        carrier: &'a Mesh,
    ) -> Result<Box<dyn ShownFrames + 'a>, BakeError> {
        Ok(Box::new(ShownParticles(ShownVertices { of, carrier })))
    }

    /// Squares are not counted.
    fn why_more_triangles(&self, _of: Planned<'_>) -> Option<Reason> {
        None
    }

    fn why_no_materials(&self, _of: Planned<'_>) -> Option<&'static str> {
        None
    }

    fn why(&self, _of: &Reported<'_>) -> String {
        "no frame has a triangle".into()
    }

    fn rows(&self, of: &Reported<'_>) -> Vec<Row> {
        let slots = grouped(of.plan.layout.vertices.into());
        let words = format!(
            "{slots}, a square of the carrier each; every one shows one point after another"
        );
        vec![("Slots", words)]
    }

    fn order(&self, _settings: &VatSettings) -> Option<&'static str> {
        None
    }

    fn empty_slots(&self) -> Option<&'static str> {
        Some("Slots without a point over all frames")
    }

    fn texel_word(&self) -> &'static str {
        "slot"
    }
}

/// What a bake of points shows.
struct ShownParticles<'a>(ShownVertices<'a>);

impl ShownFrames for ShownParticles<'_> {
    fn both(&self, frame: usize) -> Result<[Corners; 2], BakeError> {
        let of = self.0.of;
        let camera = camera_of(&of.plan.bounds);
        let shown = shown_points(of.plan, &texels_of(of, frame)?);
        let source = source_points(of, &mesh_of(of.job, frame)?);
        Ok([source, shown].map(|points| squares(&points, &camera)))
    }

    fn place_of(&self, frame: usize, slot: usize) -> Result<Option<[f32; 3]>, BakeError> {
        self.0.place_of(frame, slot)
    }
}

/// What makes the texels of a frame.
struct ParticleFrames<'a> {
    of: Planned<'a>,
}

impl FrameEncoder for ParticleFrames<'_> {
    fn frame(&self, frame: usize, mesh: Mesh) -> Result<Encoded, BakeError> {
        let of = self.of;
        let Planned { job, plan } = of;
        let row: Option<Vec<ParticleSlot>> = job.work.read(PARTICLES, frame, &job.key)?;
        let mut row = row.ok_or_else(|| missing(job, &[frame], "slots", "plan"))?;
        // Those that the carrier has beyond what the sequence needs.
        let position = middle_of(&plan.bounds);
        row.resize(
            plan.layout.vertices as usize,
            ParticleSlot::Absent { position },
        );
        let settings = &job.settings().particles;
        let units = plan.space.units_of(&Quantity::Size);
        // Widths are an attribute of the frame as it is.
        let width = |p| settings.width(&mesh, p) * units;
        let mut placed = mesh.clone();
        place_mesh(plan, &mut placed);
        let row: Vec<ParticleSlot> = row.into_iter().map(|slot| place_slot(plan, slot)).collect();
        let texels = encode_points(&placed, &row, width, &plan.textures);
        let errors = measure(plan, frame, &texels, &placed, &row);
        Ok((texels, errors))
    }
}

/// Share of the diagonal that points without numbers may be away from where they are expected.
const REACH: f32 = 0.05;

/// Code of the warning that points have the default width.
pub(crate) const DEFAULT_WIDTH: &str = "default_width";

/// Code and message of the warning for points without a width attribute, if the settings give no width either.
#[expect(
    clippy::float_cmp,
    reason = "another number than the default was asked for"
)]
pub(crate) fn width_warning(mesh: &Mesh, settings: &ParticleSettings) -> Option<(String, String)> {
    let has_widths = matches!(
        mesh.attributes.get(&settings.size),
        Some(Attribute::Scalar(_))
    );
    let is_asked = settings.scale != ParticleSettings::default().scale;
    (!has_widths && !is_asked && !mesh.positions.is_empty()).then(|| {
        let message = format!(
            "points have no scalar attribute '{}' and are {} m wide; particles.scale (--point-scale) says how wide they are, particles.size (--point-sizes) which attribute",
            settings.size, settings.scale
        );
        (DEFAULT_WIDTH.into(), message)
    })
}

/// Least and most of all that a bake of points may hold, over all points of a frame. Nothing where there is none.
pub(crate) fn scan_points(
    job: &VatJob,
    frame: usize,
    mesh: &Mesh,
) -> Result<Vec<(Quantity, Extent)>, BakeError> {
    let points = index32(mesh.positions.len());
    let mut quantities: Vec<Quantity> = Particles
        .textures(job.settings())
        .into_iter()
        .map(|c| c.quantity)
        .filter(|q| !matches!(q, Quantity::Size | Quantity::Offset))
        .collect();
    if !quantities.contains(&Quantity::Position) {
        quantities.push(Quantity::Position);
    }
    // What counts is at corners of triangles: here every point is one.
    let corners = (0..points).map(|p| [p; 3]).collect();
    let mut all = mesh.clone();
    all.topology = Topology::new(points, corners).unwrap_or_default().into();
    let seen = scan_frame(frame, &all, &quantities);
    let seen = seen.map_err(|source| BakeError::Frame {
        number: job.number(frame),
        message: source.to_string(),
    })?;
    let Some(extents) = seen.extents else {
        return Ok(Vec::new());
    };
    let settings = &job.settings().particles;
    let widths = (0..mesh.positions.len()).map(|p| settings.width(mesh, p));
    let widest = widths.fold(0.0, f32::max);
    let size = Extent::between(0.0, widest, 1);
    let mut out: Vec<_> = quantities.into_iter().zip(extents).collect();
    out.push((Quantity::Size, size));
    Ok(out)
}

fn frame_scan(scan: &ScanRecord, choices: &[TextureChoice]) -> FrameScan {
    frame_scan_of(scan.vertices, &scan.points, choices)
}

/// The box of all squares, however they are turned.
fn bounds_of(quantities: &[Quantity], extents: &[Extent]) -> Bounds {
    let of = |wanted: &Quantity| {
        let both = quantities.iter().zip(extents);
        both.into_iter().find(|(q, _)| *q == wanted).map(|(_, e)| e)
    };
    let half = of(&Quantity::Size).map_or(0.0, |e| e.most[0] * std::f32::consts::FRAC_1_SQRT_2);
    let Some(places) = of(&Quantity::Position) else {
        return ([0.0; 3], [0.0; 3]);
    };
    (
        std::array::from_fn(|k| places.least[k] - half),
        std::array::from_fn(|k| places.most[k] + half),
    )
}

/// Follows points through the sequence, one frame after the other, and writes which each slot shows. Gives the number of slots.
fn slots_of_all(job: &VatJob, bounds: &Bounds, watch: &Watch<'_>) -> Result<u32, BakeError> {
    let frames = job.frame_count();
    let stage = watch.stage("slots", 2 * frames);
    let mut numbering = None;
    let mut follower = ParticleFollower::default();
    for frame in 0..frames {
        stage.go_on()?;
        let mesh = mesh_of(job, frame)?;
        let numbers = match mesh.positions.is_empty() {
            true => Vec::new(),
            false => {
                let by = numbering.get_or_insert_with(|| Numbering::of(job, &mesh, bounds));
                by.numbers(job, frame, &mesh)?
            }
        };
        follower.advance(&numbers, &mesh.positions);
        job.work.write(NUMBERS, frame, &job.key, &numbers)?;
        stage.step();
    }
    let slots = follower.finish();
    let elsewhere = middle_of(bounds);
    for frame in 0..frames {
        stage.go_on()?;
        let numbers: Option<Vec<u32>> = job.work.read(NUMBERS, frame, &job.key)?;
        let numbers = numbers.ok_or_else(|| missing(job, &[frame], "numbers of points", "plan"))?;
        let row = slots.of_frame(frame, &numbers, elsewhere);
        job.work.write(PARTICLES, frame, &job.key, &row)?;
        stage.step();
    }
    let count = index32(slots.count());
    Ok(count.max(FEWEST_SLOTS))
}

/// How points are told apart: as in the first frame that has any.
enum Numbering {
    Attribute,
    Motion(MotionFollower),
}

impl Numbering {
    fn of(job: &VatJob, mesh: &Mesh, (low, high): &Bounds) -> Self {
        let settings = &job.settings().particles;
        if mesh.attributes.contains_key(&settings.id) {
            return Self::Attribute;
        }
        let reach = REACH * distance(*high, *low);
        Self::Motion(MotionFollower::new(settings.reach.unwrap_or(reach)))
    }

    fn numbers(&mut self, job: &VatJob, frame: usize, mesh: &Mesh) -> Result<Vec<u32>, BakeError> {
        let settings = &job.settings().particles;
        match self {
            Self::Attribute => Ok(point_numbers(frame, mesh, &settings.id)?),
            Self::Motion(follower) => {
                let rate = job.settings().frames_per_second;
                let steps = match mesh.attributes.get(&settings.velocity) {
                    Some(Attribute::Vec3(v)) => {
                        let step = |v: &[f32; 3]| v.map(|c| c / rate);
                        Some(v.iter().map(step).collect::<Vec<_>>())
                    }
                    _ => None,
                };
                Ok(follower.advance(&mesh.positions, steps.as_deref()))
            }
        }
    }
}

/// A point as it is drawn.
pub(crate) struct SeenPoint {
    /// Metres of glTF.
    pub(crate) place: [f32; 3],
    pub(crate) width: f32,
    pub(crate) color: Option<[f32; 4]>,
}

/// The points of a frame, with colours where the bake has them.
fn source_points(of: Planned<'_>, mesh: &Mesh) -> Vec<SeenPoint> {
    let mut textures = of.plan.textures.iter();
    let is_baked = textures.any(|t| t.quantity == Quantity::Color(0));
    let colors = mesh.colors.first().filter(|_| is_baked);
    let places = mesh.positions.iter().enumerate();
    let point = |(p, place): (usize, &[f32; 3])| SeenPoint {
        place: *place,
        width: of.job.settings().particles.width(mesh, p),
        color: colors.map(|c| c[p]),
    };
    places.map(point).collect()
}

/// The points that players see by the texels of a frame; slots without one have no width.
fn shown_points(plan: &VatPlan, texels: &[Vec<u8>]) -> Vec<SeenPoint> {
    let find = |wanted: Quantity| plan.textures.iter().position(|t| t.quantity == wanted);
    let number = |texture: usize, slot: usize, channel: usize| {
        let spec = &plan.textures[texture];
        let size = spec.vertex_bytes();
        spec.decode(&texels[texture][slot * size..(slot + 1) * size], channel)
    };
    let Some(places) = find(Quantity::Position) else {
        return Vec::new();
    };
    let colors = find(Quantity::Color(0));
    // In the positions' alpha where no texture has them.
    let widths = find(Quantity::Size).map_or((places, 3), |texture| (texture, 0));
    let point = |slot| SeenPoint {
        place: plan
            .space
            .position_in_gltf([0, 1, 2].map(|k| number(places, slot, k))),
        width: number(widths.0, slot, widths.1) / plan.space.units_of(&Quantity::Size),
        color: colors.map(|c| [0, 1, 2, 3].map(|k| number(c, slot, k))),
    };
    let all = (0..plan.layout.vertices as usize).map(point);
    all.filter(|p| p.width > 0.0).collect()
}

/// A slot in the space of the textures.
fn place_slot(plan: &VatPlan, slot: ParticleSlot) -> ParticleSlot {
    match slot {
        ParticleSlot::Alive { .. } => slot,
        ParticleSlot::Absent { position } => ParticleSlot::Absent {
            position: plan.space.position(position),
        },
    }
}

/// How far points are from where they are in a frame, metres; both are in the space of the textures.
fn measure(
    plan: &VatPlan,
    frame: usize,
    texels: &[Vec<u8>],
    mesh: &Mesh,
    row: &[ParticleSlot],
) -> FrameErrors {
    let mut out = FrameErrors::default();
    let both = plan.textures.iter().zip(texels);
    for (spec, bytes) in both.filter(|(spec, _)| spec.quantity == Quantity::Position) {
        for (slot, texel) in bytes.chunks_exact(spec.vertex_bytes()).enumerate() {
            let ParticleSlot::Alive { point } = row[slot] else {
                continue;
            };
            let seen = [0, 1, 2].map(|k| f64::from(spec.decode(texel, k)));
            let off = distance(seen, mesh.positions[point as usize].map(f64::from));
            let units = f64::from(plan.space.units_per_metre());
            out.position.add(frame as u32, slot as u32, off / units);
        }
    }
    out
}
