//! Bakes with one texel a unique point: whether settings fit, how many points frames have, and their texels.

use super::plan::{Planned, PointPlan};
use super::records::ScanRecord;
use super::settings::{Mode, Points, VatSettings};
use super::target::PlacedFrame;
use crate::BakeError;
use crate::vat::maker::normals::corner_normals;
use crate::vat::maker::plan::{PlanError, RemeshSettings};
use crate::vat::maker::points::{
    PointTable, PointTexels, absent_points, encode_points_with, points_layout,
};
use crate::vat::maker::remesh::SlotContent;
use sinew_geom::Mesh;
use sinew_vat::quantity::Quantity;

/// Whether unique points go with the other settings.
pub(crate) fn check(settings: &VatSettings) -> Result<(), BakeError> {
    if settings.points == Points::Corners {
        return Ok(());
    }
    if let Some(mode) = settings.mode.filter(|m| *m != Mode::Remesh) {
        let found = format!("{mode:?} with unique points").to_lowercase();
        let expected = "remesh, or points corners: other modes have one texel a vertex, piece or particle anyhow";
        return Err(BakeError::setting("mode", found, expected));
    }
    if !settings.files().has_lookup() {
        let expected = "corners: other conventions have no lookup of this kind";
        return Err(BakeError::setting("points", "unique", expected));
    }
    Ok(())
}

/// How many points a prepared frame has, where the bake may be one of them.
pub(crate) fn count(settings: &VatSettings, mesh: &Mesh) -> Option<u32> {
    settings.may_have_unique_points().then_some(())?;
    let quantities = settings.textures_of(Mode::Remesh).into_iter();
    let quantities: Vec<Quantity> = quantities.map(|c| c.quantity).collect();
    let normals = match quantities.contains(&Quantity::Normal) {
        true => corner_normals(&mesh.topology, &mesh.positions, settings.crease()),
        false => Vec::new(),
    };
    let table = PointTable::new(mesh, &normals, &quantities);
    u32::try_from(table.count()).ok()
}

/// What the slots of a frame that show no triangle need.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rest {
    /// Distinct points that triangles come from and go to.
    places: u64,
    /// Slots that are not at the point of those that are not used.
    used: usize,
}

impl Rest {
    /// Of a frame whose slots are known; those that are not used are at `elsewhere`.
    pub(crate) fn of(contents: &[SlotContent], elsewhere: [f32; 3]) -> Self {
        let is_elsewhere =
            |point: &[f32; 3]| point.map(f32::to_bits) == elsewhere.map(f32::to_bits);
        let places = absent_points(contents);
        let used = contents.iter().filter(|slot| match slot {
            SlotContent::Absent { point } => !is_elsewhere(point),
            SlotContent::Triangle { .. } => true,
        });
        Self {
            places: places.iter().filter(|p| !is_elsewhere(p)).count() as u64,
            used: used.count(),
        }
    }

    /// Of a frame whose triangles are in the first slots.
    pub(crate) fn behind(triangles: u32) -> Self {
        Self {
            places: 0,
            used: triangles as usize,
        }
    }
}

/// Where the points of all frames are.
pub(crate) fn plan_points(
    scans: &[ScanRecord],
    rests: &[Rest],
    slots: u32,
    settings: &RemeshSettings,
) -> Result<PointPlan, PlanError> {
    let of_frame = |(scan, rest): (&ScanRecord, &Rest)| {
        let is_any_unused = (slots as usize) > rest.used;
        u64::from(scan.unique_points.unwrap_or(0)) + rest.places + u64::from(is_any_unused)
    };
    let points: Vec<u64> = scans.iter().zip(rests).map(of_frame).collect();
    Ok(PointPlan {
        layout: points_layout(&points, settings)?,
        all: points.iter().sum(),
    })
}

/// The texels of a frame, in the space of the textures.
pub(crate) fn texels(
    of: Planned<'_>,
    points: &PointPlan,
    (mesh, normals): (&Mesh, &[[[f32; 3]; 3]]),
    placed: &PlacedFrame,
) -> Result<PointTexels, BakeError> {
    let (settings, plan) = (of.job.settings(), of.plan);
    let choices = settings.textures_of(Mode::Remesh).into_iter();
    let quantities: Vec<Quantity> = choices.map(|c| c.quantity).collect();
    // As the frame is, not as it is placed: other units might make two points one.
    let table = PointTable::new(mesh, normals, &quantities);
    let room = points.layout.vertices;
    let shading = settings.files().shading_of_corners(normals, plan.space);
    let own = |quantity: &Quantity, corner: Option<(usize, usize)>, channel: usize| {
        let index = corner.map(|(t, k)| 3 * t + k);
        shading.as_ref()?.value(quantity, index, channel)
    };
    let made = encode_points_with(placed.shown(), &table, &plan.textures, room, own);
    Ok(made.map_err(PlanError::from)?)
}
