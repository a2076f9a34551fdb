//! Fields from links as colliders.

use super::motion::{Rigid, RigidMotion};
use super::placed::Collider;
use super::response::{GradientMode, tressfx_gradient};
use super::shape::{Capsule, Distance, Plane, one_by_one};
use crate::sdf::{FieldFrame, FieldView, FieldWords, SOLID_WORDS, SolidsView, UNSET};
use crate::solids;
use sinew_geom::{Affine, Vec3};

/// A field as strands collide with it: lengths are in metres of the scene, and its frame moves with the field.
#[derive(Clone, Copy, Debug)]
pub struct FieldCollider<'a> {
    kind: Kind<'a>,
    frame: FieldFrame,
    gradient: GradientMode,
}

#[derive(Clone, Copy, Debug)]
enum Kind<'a> {
    Grid(FieldView<'a>),
    Solids(&'a [[u32; SOLID_WORDS]]),
}

impl<'a> FieldCollider<'a> {
    /// `None` if the words hold no field.
    pub fn new(words: FieldWords<'a>) -> Option<Self> {
        Some(match words {
            FieldWords::Nothing => return None,
            FieldWords::Grid(view) => Self {
                frame: view.frame,
                kind: Kind::Grid(view),
                gradient: GradientMode::Analytic,
            },
            FieldWords::Solids(SolidsView { solids, frame }) => Self {
                frame,
                kind: Kind::Solids(solids),
                gradient: GradientMode::Analytic,
            },
        })
    }

    /// The same with gradients taken in another way; those of solids stay exact.
    pub(crate) fn with_gradient(self, gradient: GradientMode) -> Self {
        Self { gradient, ..self }
    }

    /// Scene space from the frame that distances are measured in, now.
    pub fn placement(&self) -> Rigid<f32> {
        Rigid::of(&Affine {
            linear: self.frame.scene_rotation(),
            translation: Vec3::from(self.frame.point_to_scene([0.0; 3])),
        })
    }

    /// The collider between two frames. `previous` is its [`Self::placement`] in the frame before.
    pub fn moving(&'a self, previous: Rigid<f32>) -> Collider<'a> {
        Collider {
            shape: self,
            motion: RigidMotion::between(previous, self.placement()),
        }
    }

    /// A point of the field from one in scene units.
    fn field_point(&self, point: [f32; 3]) -> [f32; 3] {
        let scale = 1.0 / self.frame.scene_length();
        point.map(|c| c * scale)
    }
}

impl Distance for FieldCollider<'_> {
    fn distance(&self, point: [f32; 3]) -> f32 {
        match self.kind {
            Kind::Grid(view) => view.sample(self.field_point(point)) * self.frame.scene_length(),
            Kind::Solids(all) => least(all, |solid| (solid.distance(point), [0.0; 3])).0,
        }
    }
    fn distance_and_gradient(&self, point: [f32; 3]) -> (f32, [f32; 3]) {
        match self.kind {
            Kind::Grid(_) if self.gradient != GradientMode::Analytic => {
                let d = self.tressfx_distance(point);
                (d, tressfx_gradient(self, point, d, self.gradient))
            }
            Kind::Grid(view) => {
                let (d, gradient) = view.sample_with_gradient(self.field_point(point));
                (d * self.frame.scene_length(), gradient)
            }
            Kind::Solids(all) => least(all, |solid| solid.distance_and_gradient(point)),
        }
    }
    fn distances_and_gradients(
        &self,
        points: &[[f32; 8]; 3],
        wanted: u8,
    ) -> ([f32; 8], [[f32; 8]; 3]) {
        match self.kind {
            Kind::Grid(view) if self.gradient == GradientMode::Analytic => {
                view.sample_eight(points, wanted, self.frame.scene_length())
            }
            _ => one_by_one(self, points, wanted),
        }
    }
    fn tressfx_distance(&self, point: [f32; 3]) -> f32 {
        let Kind::Grid(view) = self.kind else {
            return self.distance(point);
        };
        let found = view.sample_set(self.field_point(point));
        found.map_or(UNSET, |d| d * self.frame.scene_length())
    }
    fn grid_origin(&self) -> Option<[f32; 3]> {
        let Kind::Grid(view) = self.kind else {
            return None;
        };
        let unit = self.frame.scene_length();
        Some(view.shape.origin.map(|c| c * unit))
    }
    fn feature_size(&self) -> f32 {
        match self.kind {
            Kind::Grid(view) => view.shape.cell * self.frame.scene_length(),
            Kind::Solids(all) => {
                let sizes = all.iter().map(|solid| match Solid::read(solid) {
                    Solid::Capsule(c) => c.feature_size(),
                    Solid::Plane(p) => p.feature_size(),
                });
                sizes.fold(f32::INFINITY, f32::min)
            }
        }
    }
}

enum Solid {
    Capsule(Capsule),
    Plane(Plane),
}

impl Solid {
    fn read(words: &[u32; SOLID_WORDS]) -> Self {
        let n = |i: usize| f32::from_bits(words[i]);
        match words[0] {
            solids::PLANE => Self::Plane(Plane {
                normal: [n(1), n(2), n(3)],
                offset: n(4),
            }),
            _ => Self::Capsule(Capsule {
                ends: [[n(1), n(2), n(3)], [n(4), n(5), n(6)]],
                radii: [n(7), n(8)],
            }),
        }
    }
}

/// The nearest solid's distance and gradient.
fn least(
    all: &[[u32; SOLID_WORDS]],
    measure: impl Fn(&dyn Distance) -> (f32, [f32; 3]),
) -> (f32, [f32; 3]) {
    let mut nearest = (f32::INFINITY, [0.0; 3]);
    for words in all {
        let found = match Solid::read(words) {
            Solid::Capsule(c) => measure(&c),
            Solid::Plane(p) => measure(&p),
        };
        if found.0 < nearest.0 {
            nearest = found;
        }
    }
    nearest
}
