//! Normals at the ends of frames against those of the frame behind.
//!
//! Where a corner is on the next frame's surface, its normal must be that of the surface there: the corner normals of the triangle, mixed by where the corner
//! is in it. Texels round places, so that the surface's normals are known as far as they change within that distance; an angle counts for what is beyond
//! that. On hard edges a place has a normal for each side: the nearest counts.
//! A corner of a hard edge may show the normal of the side that it faces, which begins beside its place. Such a normal, and those of corners that are not on
//! the next surface, must be what matching, made anew from the two frames, gives.

use super::judge::Judge;
use crate::vat::maker::error::angle_between;
use crate::vat::maker::matching::NearTriangle;
use crate::vat::maker::normals::corner_normals;
use sinew_geom::Mesh;
use sinew_geom::vec3::{cross, length, sub};

/// The surface that blends go to, with its normals.
pub(super) struct NextNormals<'a> {
    mesh: &'a Mesh,
    normals: Vec<[[f32; 3]; 3]>,
    /// How far texels may take a corner from its place, metres.
    reach: f64,
    /// What the format promises, radians.
    promised: f64,
}

impl<'a> NextNormals<'a> {
    /// `None` where the bake has no normals.
    pub(super) fn new(judge: &Judge<'_>, mesh: &'a Mesh, reach: f64) -> Option<Self> {
        let promised = judge.promised_normal?;
        let crease = judge.settings.crease();
        let normals = corner_normals(&mesh.topology, &mesh.positions, crease);
        Some(Self {
            mesh,
            normals,
            reach,
            promised,
        })
    }

    /// How far a normal is from those of the surface where a corner may be, radians, beyond what rounding of its place does; `None` where the surface has no
    /// direction there.
    pub(super) fn off(&self, seen: [f32; 3], near: &[NearTriangle]) -> Option<f64> {
        let each = near.iter().filter_map(|n| self.off_triangle(seen, n));
        each.reduce(f64::min)
    }

    fn off_triangle(&self, seen: [f32; 3], near: &NearTriangle) -> Option<f64> {
        let normals = self.normals.get(near.triangle as usize)?;
        let here: [f32; 3] = std::array::from_fn(|k| {
            let shares = normals.iter().zip(near.weights);
            shares.map(|(normal, weight)| normal[k] * weight).sum()
        });
        let length = length(here.map(f64::from));
        if length < 1e-6 {
            return None;
        }
        let away = self.change(near.triangle, here, length);
        Some((angle_between(seen, here) - away).max(0.0))
    }

    /// How far the normals of a triangle turn within [`Self::reach`] of a point in which they are `here`, at most. A step of `reach` changes the share of a
    /// corner by that part of its height; and no normal leaves the cone of those of the corners.
    fn change(&self, triangle: u32, here: [f32; 3], length_here: f64) -> f64 {
        let normals = &self.normals[triangle as usize];
        let corners = self.mesh.topology.triangles()[triangle as usize];
        let corners = corners.map(|v| self.mesh.positions[v as usize].map(f64::from));
        let farthest = normals.iter().map(|n| angle_between(*n, here));
        let farthest = farthest.fold(0.0, f64::max);
        let sides = [0, 1, 2].map(|k| sub(corners[(k + 2) % 3], corners[(k + 1) % 3]));
        let twice_area = length(cross(sides[0], sides[1]));
        let changes = (0..3).map(|k| {
            let share = self.reach * length(sides[k]) / twice_area;
            share * length(sub(normals[k].map(f64::from), here.map(f64::from)))
        });
        let change = changes.sum::<f64>() / length_here;
        match change < 1.0 {
            true => change.asin().min(farthest),
            // Triangles without area, too.
            false => farthest,
        }
    }

    /// Whether an angle is more than what the format promises.
    pub(super) fn is_beyond(&self, angle: f64) -> bool {
        angle.is_nan() || angle > self.promised
    }
}

/// The nearest of some normals, radians.
pub(super) fn nearest_of(seen: [f32; 3], normals: impl Iterator<Item = [f32; 3]>) -> Option<f64> {
    normals.map(|n| angle_between(seen, n)).reduce(f64::min)
}
