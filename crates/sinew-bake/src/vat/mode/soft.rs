//! Triangles stay the same: one texel a vertex of the first frame. Vertices may be split along tears, and quads may have a vertex in their middle.

use super::{BakeMode, FrameEncoder, asked_or_default, check_quantities};
use crate::vat::VatSettings;
use crate::vat::job::VatJob;
use crate::vat::job::mesh_of;
use crate::vat::maker::plan::PlanError;
use crate::vat::maker::remesh::FrameScan;
use crate::vat::maker::soft::SoftCarrier;
use crate::vat::plan::RetriangulatedPlan;
use crate::vat::plan::TearPlan;
use crate::vat::plan::{ModePlan, Planned, VatPlan, bounds_of, extents_of, frame_scan, layout_for};
use crate::vat::records::{ScanRecord, keep_materials};
use crate::vat::report::Reported;
use crate::vat::retriangulated::measured_retriangulated;
use crate::vat::settings::{Mode, TextureChoice};
use crate::vat::target::{place_mesh, turn_normals};
use crate::vat::tearing::{is_torn, not_soft, plan_tears, soft_carrier};
use crate::vat::texels::{Encoded, Truth, measure};
use crate::{BakeError, Watch};
use sinew_geom::{Mesh, index32};
use sinew_vat::quantity::Quantity;

pub(crate) struct Soft;

impl BakeMode for Soft {
    fn name(&self) -> &'static str {
        "soft"
    }

    fn takes(&self, _job: &VatJob, scans: &[ScanRecord]) -> bool {
        super::stays(scans) || is_torn(scans, false)
    }

    fn textures(&self, settings: &VatSettings) -> Vec<TextureChoice> {
        asked_or_default(settings, Mode::Soft, Quantity::Offset)
    }

    fn refuses(&self, quantity: &Quantity) -> Option<&'static str> {
        matches!(quantity, Quantity::Rotation | Quantity::Size)
            .then_some("modes rigid (rotation) and particles (size) have")
    }

    fn plan(
        &self,
        job: &VatJob,
        scans: &[ScanRecord],
        watch: &Watch<'_>,
    ) -> Result<VatPlan, BakeError> {
        let (carrier, tears, retriangulated) = carrier_for(job, scans, watch)?;
        let choices = self.textures(job.settings());
        check_quantities(self, &choices)?;
        let (convention, space) = (&job.settings().convention, job.settings().space());
        let seen = scans.iter().map(|s| frame_scan(s, &choices, space));
        let seen: Vec<FrameScan> = seen.collect();
        let frames = scans.len();
        let extents = extents_of(&seen, &choices, PlanError::Nothing { frames })?;
        let vertices = index32(carrier.vertex_count());
        Ok(VatPlan {
            hash: String::new(),
            job: job.key.clone(),
            triangles: index32(carrier.triangles().len()),
            layout: layout_for(job, vertices)?,
            bounds: bounds_of(scans),
            space,
            textures: convention.textures(&choices, &extents),
            empty_slots: 0.0,
            of_mode: ModePlan::Soft {
                tears,
                retriangulated,
            },
        })
    }

    fn encoder<'a>(&self, of: Planned<'a>) -> Result<Box<dyn FrameEncoder + 'a>, BakeError> {
        let carrier = soft_carrier(of, &mesh_of(of.job, 0)?)?;
        let carrier = of.job.settings().convention.carrier(carrier);
        Ok(Box::new(SoftFrames { of, carrier }))
    }

    fn carrier(&self, of: Planned<'_>) -> Result<Mesh, BakeError> {
        let mut first = mesh_of(of.job, 0)?;
        let carrier = soft_carrier(of, &first)?;
        let as_read = first.clone();
        let adopted = carrier.adopt(&mut first);
        adopted.map_err(|source| not_soft(of.job, 0, source))?;
        let mut mesh = carrier.mesh(of.job.name(), &first, &of.plan.layout);
        keep_materials(&mut mesh, &as_read);
        Ok(mesh)
    }

    fn why(&self, of: &Reported<'_>) -> String {
        let Some(tears) = of.plan.tears() else {
            return "all frames have the triangles of the first one".into();
        };
        let words = tears.words();
        match tears.are_edges {
            true => format!("triangles stay the same; {words}"),
            false => format!("triangles stay the same and vertices do not, as in {words}"),
        }
    }
}

type Kept = (SoftCarrier, Option<TearPlan>, Option<RetriangulatedPlan>);

/// The carrier of triangles that stay the same, its tears if it has some, and what frames cut otherwise.
fn carrier_for(job: &VatJob, scans: &[ScanRecord], watch: &Watch<'_>) -> Result<Kept, BakeError> {
    let first = mesh_of(job, 0)?;
    let settings = job.settings();
    if is_torn(scans, settings.mode.is_some()) {
        let (carrier, tears) = plan_tears(job, &first, scans, watch)?;
        let retriangulated = measured_retriangulated(job, (Mode::Soft, true), scans, watch)?;
        return Ok((carrier, Some(tears), retriangulated));
    }
    let retriangulated = measured_retriangulated(job, (Mode::Soft, false), scans, watch)?;
    let middles = retriangulated.as_ref().map_or(&[][..], |r| &r.middles[..]);
    let carrier = SoftCarrier::with_middles(&first, settings.crease(), middles);
    for (frame, scan) in scans.iter().enumerate() {
        if !scan.is_first_surface {
            let checked = carrier.check(&mesh_of(job, frame)?);
            checked.map_err(|source| not_soft(job, frame, source))?;
        }
    }
    Ok((carrier, None, retriangulated))
}

/// What makes the texels of a frame.
struct SoftFrames<'a> {
    of: Planned<'a>,
    carrier: SoftCarrier,
}

impl FrameEncoder for SoftFrames<'_> {
    fn frame(&self, frame: usize, mut mesh: Mesh) -> Result<Encoded, BakeError> {
        let Self { of, carrier } = self;
        let Planned { job, plan } = *of;
        let number = job.number(frame);
        let fault = |source| BakeError::NotSoft { number, source };
        carrier.adopt(&mut mesh).map_err(fault)?;
        let mut normals = carrier.normals(&mesh).map_err(fault)?;
        let convention = &job.settings().convention;
        let shading = convention
            .files()
            .shading(carrier, &mesh, &normals, plan.space);
        place_mesh(plan, &mut mesh);
        turn_normals(plan, normals.iter_mut());
        let carrier = carrier.in_space(plan.space);
        let texels = match &shading {
            Some(shading) => shading.encode(&carrier, &mesh, &plan.textures),
            None => carrier
                .encode_frame_with(&mesh, &plan.textures, &normals)
                .map_err(fault)?,
        };
        let own = |vertex: usize| vertex;
        let errors = measure(*of, frame, &texels, own, |vertex| {
            let source = carrier.source_vertex(vertex);
            Some(Truth {
                place: mesh.positions[source],
                normal: normals[vertex],
                rest: carrier.rest(source),
            })
        });
        Ok((texels, errors))
    }
}
