mod cage_mesh;
mod closed_forms;
mod device;
mod jacobian;
mod node;
mod outside;
mod peers;

use super::basis::{AxisBasis, AxisRule};
use super::cage::Cage;
use super::reference::{VertexBasis, apply, displacement};
use super::*;
use crate::{MeshView, MeshViewMut, Par};
use sinew_geom::{Affine, Mat3, Vec3};

const ALL: [Interpolation; 7] = [
    Interpolation::Bernstein,
    Interpolation::LocalBspline,
    Interpolation::Linear,
    Interpolation::Cardinal,
    Interpolation::CatmullRom,
    Interpolation::Bspline,
    Interpolation::CellEased,
];

/// A sheared, scaled and turned box.
fn box_transform() -> Affine<f64> {
    Affine {
        linear: Mat3::new(1.2, 0.3, -0.1, -0.2, 0.8, 0.4, 0.1, -0.3, 1.5),
        translation: Vec3::new(0.4, -0.3, 0.2),
    }
}

/// Deterministic numbers in -1..1.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> f64 {
        self.0 = (self.0 * 1_103_515_245 + 12345) % (1 << 31);
        self.0 as f64 / f64::from(1_u32 << 31) * 2.0 - 1.0
    }
    fn point(&mut self, scale: f64) -> [f64; 3] {
        [0; 3].map(|_| self.next() * scale)
    }
}

fn points_in(count: usize, reach: f64, space: &Affine<f64>) -> Vec<[f32; 3]> {
    let mut numbers = Numbers(1);
    (0..count)
        .map(|_| {
            let p = space.point(Vec3::from(numbers.point(reach)));
            sinew_geom::Real::array3(p)
        })
        .collect()
}

/// The rest lattice with every control point moved a bit.
fn shaken(bind: &LatticeBind, amount: f64) -> Vec<[f64; 3]> {
    let mut numbers = Numbers(7);
    let mut points = rest_points(bind);
    for p in &mut points {
        for (c, d) in p.iter_mut().zip(numbers.point(amount)) {
            *c += d;
        }
    }
    points
}

/// What a job gives back.
#[derive(Clone, Debug, PartialEq)]
struct Output {
    positions: Vec<[f32; 3]>,
    normals: Vec<[f32; 3]>,
    tangents: Vec<[f32; 4]>,
}

struct Case<'a> {
    bind: &'a LatticeBind,
    transform: Affine<f64>,
    points: &'a [[f64; 3]],
    positions: &'a [[f32; 3]],
    weight: MaskWeight<'a>,
    par: Par,
}

impl<'a> Case<'a> {
    fn new(bind: &'a LatticeBind, points: &'a [[f64; 3]], positions: &'a [[f32; 3]]) -> Self {
        Self {
            bind,
            transform: box_transform(),
            points,
            positions,
            weight: MaskWeight::ONE,
            par: Par::Seq,
        }
    }

    fn frames(&self) -> (Vec<[f32; 3]>, Vec<[f32; 4]>) {
        let mut numbers = Numbers(3);
        let unit = |n: &mut Numbers| Vec3::from(n.point(1.0)).normalize().map(|v| v as f32);
        self.positions
            .iter()
            .map(|_| {
                let (n, t) = (unit(&mut numbers), unit(&mut numbers));
                let t = (t - n * n.dot(&t)).normalize();
                (<[f32; 3]>::from(n), [t.x, t.y, t.z, -1.0])
            })
            .unzip()
    }

    fn run(&self) -> Output {
        let (normals, tangents) = self.frames();
        let count = self.positions.len();
        let mut out = Output {
            positions: vec![[f32::NAN; 3]; count],
            normals: vec![[f32::NAN; 3]; count],
            tangents: vec![[f32::NAN; 4]; count],
        };
        LatticeJob {
            bind: self.bind,
            box_transform: self.transform,
            points: self.points,
            falloff_distance: 0.5,
            scratch: &mut LatticeScratch::new(self.bind),
            weight: self.weight,
            input: MeshView {
                positions: self.positions,
                normals: Some(&normals),
                tangents: Some(&tangents),
                colors: None,
                ..MeshView::default()
            },
            output: MeshViewMut {
                positions: Some(&mut out.positions),
                normals: Some(&mut out.normals),
                tangents: Some(&mut out.tangents),
                colors: None,
            },
            par: self.par,
        }
        .run();
        out
    }

    /// The double-precision reference at a scene point, weight 1.
    fn reference(&self) -> impl FnMut(Vec3<f64>) -> Option<Displacement<f64>> {
        let mut cage = Cage::<f64>::new(self.bind);
        cage.set(self.bind, &self.transform, self.points, 0.5);
        let mut basis = VertexBasis::new();
        let bind = self.bind;
        move |p| displacement(bind, &cage, &mut basis, cage.unit_from_scene.point(p))
    }
}

fn wide(p: [f32; 3]) -> Vec3<f64> {
    Vec3::from(p).map(f64::from)
}

fn distance(a: Vec3<f64>, b: [f32; 3]) -> f64 {
    (a - wide(b)).norm()
}

fn config(interpolation: Interpolation, resolution: [i64; 3]) -> LatticeConfig {
    LatticeConfig {
        interpolation,
        resolution,
        influence: [3, 4, 2],
        ..LatticeConfig::default()
    }
}

fn bound(config: LatticeConfig) -> LatticeBind {
    LatticeBind::new(config).expect("a lattice that can be")
}
