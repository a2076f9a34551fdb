//! Triangles that stay the same: every vertex of the carrier against its own.

use super::judge::{Judge, add_all};
use super::{Verified, distance};
use crate::BakeError;
use crate::vat::maker::normals::ShadingGroups;
use crate::vat::maker::soft::{SoftCarrier, SoftError, triangles_like_first};
use sinew_geom::Mesh;
use sinew_vat::quantity::Quantity;

impl Judge<'_> {
    pub(super) fn soft_frame(
        &self,
        carrier: &SoftCarrier,
        frame: u32,
        own: &Mesh,
        number: i64,
    ) -> Result<Verified, BakeError> {
        let fault = |source| BakeError::NotSoft { number, source };
        let mut mesh = own.clone();
        carrier.adopt(&mut mesh).map_err(fault)?;
        let mesh = &mesh;
        let normals = carrier.normals(mesh).map_err(fault)?;
        let mut out = self.nothing();
        let shown = carrier.triangles();
        let seen = |t: usize| shown[t].map(|v| self.seen(v, frame));
        out.surface
            .take((mesh.topology.triangles(), own), seen, number);
        for (vertex, normal) in (0..self.animation.manifest().layout.vertices).zip(normals) {
            let source = carrier.source_vertex(vertex as usize);
            let truth = (mesh.positions[source], normal);
            self.compare(&mut out, (frame, vertex), truth, number);
            let differences = self.differences(mesh, source, vertex, frame);
            add_all(&mut out, differences, (frame, vertex), number);
        }
        Ok(out)
    }

    /// Every corner is looked at: vertices of the carrier may be at corners that the frame has apart.
    pub(super) fn torn_frame(
        &self,
        first: &Mesh,
        frame: u32,
        mesh: &Mesh,
        number: i64,
    ) -> Result<Verified, BakeError> {
        let shown = self.carrier.topology.triangles();
        let fault = |source| BakeError::NotSoft { number, source };
        let (found, expected) = (first.topology.triangles().len(), shown.len());
        if found != expected {
            return Err(fault(SoftError::Triangles { found, expected }));
        }
        let topology = triangles_like_first(&first.topology, &mesh.topology);
        let topology = topology.map_err(fault)?;
        let rest = (&*first.topology, &first.positions[..]);
        let crease = self.settings.crease();
        let groups = ShadingGroups::with_edges_of(rest, &topology, &mesh.positions, crease);
        let normals = groups.corner_normals(&topology, &mesh.positions);
        let mut out = self.nothing();
        let seen = |t: usize| shown[t].map(|v| self.seen(v, frame));
        out.surface.take((topology.triangles(), mesh), seen, number);
        for (t, corners) in topology.triangles().iter().enumerate() {
            for k in 0..3 {
                let (vertex, source) = (shown[t][k], corners[k] as usize);
                let truth = (mesh.positions[source], normals[t][k]);
                self.compare(&mut out, (frame, vertex), truth, number);
                let differences = self.differences(mesh, source, vertex, frame);
                add_all(&mut out, differences, (frame, vertex), number);
            }
        }
        Ok(out)
    }

    /// Compares place and normal of a vertex of the carrier with what they should be.
    fn compare(
        &self,
        out: &mut Verified,
        (frame, vertex): (u32, u32),
        (place, normal): ([f32; 3], [f32; 3]),
        number: i64,
    ) {
        let off = distance(self.seen(vertex, frame), place);
        out.errors.position.add(frame, vertex, off);
        self.compare_normal(out, (frame, vertex), normal, number);
    }

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
