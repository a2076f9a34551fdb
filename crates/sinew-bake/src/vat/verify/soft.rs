//! Triangles that stay the same: every vertex of the carrier against its own.

use super::carrier::Fault;
use super::judge::{Judge, quads_of};
use super::mode::{FrameJudge, JudgedFrame, JudgedMode};
use super::{Verified, distance};
use crate::BakeError;
use crate::vat::maker::normals::ShadingGroups;
use crate::vat::maker::soft::{SoftCarrier, SoftError, triangles_like_first};
use crate::vat::mode::Soft;
use sinew_geom::Mesh;
use sinew_vat::manifest::Manifest;
use sinew_vat::quantity::Quantity;

impl JudgedMode for Soft {
    fn must_blend(&self, _manifest: &Manifest) -> Option<&'static str> {
        Some("triangles stay the same")
    }

    fn judge<'a>(&self, judge: &Judge<'a>) -> Result<Box<dyn FrameJudge + 'a>, BakeError> {
        let manifest = judge.animation.manifest();
        let first = judge.load(0)?;
        if manifest.split_vertices.is_some() {
            return Ok(Box::new(TornJudge { first }));
        }
        let quads = quads_of(manifest, &first).map_err(|message| {
            let number = judge.source.number(0);
            BakeError::Frame { number, message }
        })?;
        let carrier = SoftCarrier::with_middles(&first, judge.settings.crease(), &quads);
        judge.check_carrier(&carrier)?;
        Ok(Box::new(SoftJudge { carrier }))
    }
}

/// The first frame as the carrier should have it.
struct SoftJudge {
    carrier: SoftCarrier,
}

impl FrameJudge for SoftJudge {
    fn frame(&self, of: JudgedFrame<'_>) -> Result<Verified, BakeError> {
        let (judge, carrier) = (of.judge, &self.carrier);
        let mut mesh = of.mesh.clone();
        carrier.adopt(&mut mesh).map_err(|e| of.not_soft(e))?;
        let normals = carrier.normals(&mesh).map_err(|e| of.not_soft(e))?;
        let mut out = self.nothing(judge);
        let shown = carrier.triangles();
        let seen = |t: usize| shown[t].map(|v| judge.seen(v, of.frame));
        let triangles = mesh.topology.triangles();
        out.surface.take((triangles, of.mesh), seen, of.number);
        let adopted = JudgedFrame { mesh: &mesh, ..of };
        for (vertex, normal) in (0..judge.animation.manifest().layout.vertices).zip(normals) {
            let source = carrier.source_vertex(vertex as usize);
            adopted.compare_all(&mut out, vertex, source, normal);
        }
        Ok(out)
    }

    fn carrier_faults(&self, judge: &Judge<'_>) -> Vec<Fault> {
        judge.kept_faults(&self.carrier)
    }
}

/// The first frame, where vertices are split along tears.
struct TornJudge {
    first: Mesh,
}

impl FrameJudge for TornJudge {
    /// Every corner is looked at: vertices of the carrier may be at corners that the frame has apart.
    fn frame(&self, of: JudgedFrame<'_>) -> Result<Verified, BakeError> {
        let (judge, mesh) = (of.judge, of.mesh);
        let shown = judge.carrier.topology.triangles();
        let (found, expected) = (self.first.topology.triangles().len(), shown.len());
        if found != expected {
            return Err(of.not_soft(SoftError::Triangles { found, expected }));
        }
        let topology = triangles_like_first(&self.first.topology, &mesh.topology);
        let topology = topology.map_err(|e| of.not_soft(e))?;
        let rest = (&*self.first.topology, &self.first.positions[..]);
        let crease = judge.settings.crease();
        let groups = ShadingGroups::with_edges_of(rest, &topology, &mesh.positions, crease);
        let normals = groups.corner_normals(&topology, &mesh.positions);
        let mut out = self.nothing(judge);
        let seen = |t: usize| shown[t].map(|v| judge.seen(v, of.frame));
        let triangles = topology.triangles();
        out.surface.take((triangles, mesh), seen, of.number);
        for (t, corners) in triangles.iter().enumerate() {
            for k in 0..3 {
                let (vertex, source) = (shown[t][k], corners[k] as usize);
                of.compare_all(&mut out, vertex, source, normals[t][k]);
            }
        }
        Ok(out)
    }

    /// Vertices of cloth that tears are told by its corners.
    fn carrier_faults(&self, judge: &Judge<'_>) -> Vec<Fault> {
        let first = &self.first;
        let (shown, own) = (
            judge.carrier.topology.triangles(),
            first.topology.triangles(),
        );
        if shown.len() != own.len() {
            let (found, expected) = (shown.len(), own.len());
            return vec![Fault::Triangles { found, expected }];
        }
        let corners = shown.iter().flatten().zip(own.iter().flatten());
        let corners = corners.map(|(v, o)| (*v as usize, first.positions[*o as usize]));
        judge.other_place(corners).into_iter().collect()
    }
}

impl JudgedFrame<'_> {
    /// Compares all of a vertex of the carrier with a vertex of the frame.
    fn compare_all(&self, out: &mut Verified, vertex: u32, source: usize, normal: [f32; 3]) {
        let seen = self.judge.seen(vertex, self.frame);
        let off = distance(seen, self.mesh.positions[source]);
        out.errors.position.add(self.frame, vertex, off);
        self.compare(out, vertex, source, normal);
    }
}

impl Judge<'_> {
    /// Where a vertex of the carrier is shown.
    fn seen(&self, vertex: u32, frame: u32) -> [f32; 3] {
        let spec = &self.animation.manifest().textures[self.places].spec;
        let rest = match spec.quantity {
            Quantity::Offset => self.carrier.positions[vertex as usize],
            _ => [0.0; 3],
        };
        let seen = self.vector(self.places, vertex, frame);
        std::array::from_fn(|k| rest[k] + seen[k])
    }
}
