//! Checks that every local map must pass.

use super::{Frame, LaneReal, Local, LocalDeformer, LocalJob, LocalMap, MapVisitor, Placement};
use crate::{MaskWeight, MeshView, MeshViewMut, Par};
use sinew_geom::{Affine, Mat3, Mesh, Quat, Vec3};
use sinew_testkit::tolerance;

struct Eval<R>([R; 3]);

impl<R: LaneReal> MapVisitor<R> for Eval<R> {
    type Output = Local<R>;
    fn visit<M: LocalMap<R>>(self, map: M) -> Local<R> {
        map.at(self.0)
    }
}

/// The map at a point, in precision `R`.
pub(crate) fn eval<R: LaneReal, D: LocalDeformer>(deformer: &D, p: [R; 3]) -> Local<R> {
    deformer.with_map(Eval(p))
}

/// Where a point goes, `f64`.
pub(crate) fn moved<D: LocalDeformer>(deformer: &D, p: [f64; 3]) -> [f64; 3] {
    let offset = eval(deformer, p).offset;
    std::array::from_fn(|c| p[c] + offset[c])
}

/// The Jacobian at a point.
pub(crate) fn jacobian<D: LocalDeformer>(deformer: &D, p: [f64; 3]) -> Mat3<f64> {
    let g = eval(deformer, p).gradient;
    Mat3::from_fn(|r, c| g[c][r]) + Mat3::identity()
}

/// Reproducible numbers in 0..1.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn next(&mut self) -> f64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1_u64 << 53) as f64
    }
    pub(crate) fn within(&mut self, low: f64, high: f64) -> f64 {
        low + self.next() * (high - low)
    }
    pub(crate) fn point(&mut self) -> [f64; 3] {
        [
            self.within(-1.0, 1.0),
            self.within(-1.0, 1.0),
            self.within(-0.5, 2.5),
        ]
    }
}

/// The analytic Jacobian equals central differences at random points, away from `kinks` (heights, or radii for
/// `radial`, where the derivative jumps).
pub(crate) fn check_jacobian<D: LocalDeformer>(deformer: &D, kinks: &[f64], radial: bool) {
    let mut random = Random(7);
    let h = 1e-5;
    for _ in 0..500 {
        let p = random.point();
        let place = if radial { p[0].hypot(p[1]) } else { p[2] };
        if kinks.iter().any(|k| (place - k).abs() < 1e-3) {
            continue;
        }
        let j = jacobian(deformer, p);
        for c in 0..3 {
            let step = |d: f64| {
                let mut q = p;
                q[c] += d;
                moved(deformer, q)
            };
            // Fourth order: the error of the difference stays below the tolerance.
            let (a, b, c2, d) = (step(2.0 * h), step(h), step(-h), step(-2.0 * h));
            for r in 0..3 {
                let difference = (8.0 * (b[r] - c2[r]) - (a[r] - d[r])) / (12.0 * h);
                let scale = 1.0 + difference.abs();
                assert!(
                    (difference - j[(r, c)]).abs() < tolerance::JACOBIAN * scale,
                    "{deformer:?} at {p:?}, d{r}/d{c}: {difference} {}",
                    j[(r, c)]
                );
            }
        }
    }
}

/// A frame with rotation, unequal scale and shear.
pub(crate) fn skewed() -> Placement {
    let mut transform = Affine::from_trs(
        Vec3::new(0.1, -0.4, 0.2),
        Quat::from_euler_angles(0.4, -0.3, 0.9),
        Vec3::new(1.3, 0.7, 1.1),
    );
    transform.linear *= Mat3::new(1.0, 0.3, 0.0, 0.0, 1.0, -0.2, 0.0, 0.0, 1.0);
    Placement {
        transform,
        ..Placement::default()
    }
}

/// What came out of a job.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Result3 {
    pub(crate) positions: Vec<[f32; 3]>,
    pub(crate) normals: Vec<[f32; 3]>,
    pub(crate) tangents: Vec<[f32; 4]>,
}

/// Which kernel.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Kernel {
    Fast(Par),
    Single,
    Double,
}

/// Runs a job over a mesh; tangents are made up perpendicular to the normals.
pub(crate) fn run<D: LocalDeformer>(
    deformer: D,
    placement: Placement,
    weight: MaskWeight<'_>,
    mesh: &Mesh,
    kernel: Kernel,
) -> Result3 {
    let count = mesh.positions.len();
    let normals = mesh
        .normals
        .clone()
        .unwrap_or_else(|| vec![[0.0, 0.0, 1.0]; count]);
    let tangents: Vec<[f32; 4]> = normals
        .iter()
        .map(|n| {
            let n = Vec3::from(*n);
            let t = n.cross(&Vec3::new(0.3, 0.5, 0.8)).normalize();
            [t.x, t.y, t.z, -1.0]
        })
        .collect();
    let mut out = Result3 {
        positions: vec![[9.0; 3]; count],
        normals: vec![[9.0; 3]; count],
        tangents: vec![[9.0; 4]; count],
    };
    let job = LocalJob {
        deformer,
        placement,
        weight,
        input: MeshView {
            positions: &mesh.positions,
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
        par: match kernel {
            Kernel::Fast(par) => par,
            _ => Par::Seq,
        },
    };
    match kernel {
        Kernel::Fast(_) => job.run(),
        Kernel::Single => job.run_reference::<f32>(),
        Kernel::Double => job.run_reference::<f64>(),
    }
    out
}

fn angle(a: [f32; 3], b: [f32; 3]) -> f64 {
    let (a, b) = (Vec3::from(a.map(f64::from)), Vec3::from(b.map(f64::from)));
    a.cross(&b).norm().atan2(a.dot(&b))
}

/// Kernels agree: lanes with the scalar `f32` form bit for bit, threads with one thread bit for bit, `f32` with
/// `f64` within the table. The result is finite on degenerate meshes, and normals fit the moved surface.
pub(crate) fn check_kernels<D: LocalDeformer>(deformer: D) {
    let mut mesh = sinew_testkit::meshes::sphere(40, 251);
    for p in &mut mesh.positions {
        // On a fine shell around heights 0..2, off the exact limits.
        *p = [p[0] * 0.4, p[1] * 0.97 + 1.003, p[2] * 0.4];
    }
    let mask: Vec<f32> = (0..mesh.positions.len())
        .map(|i| (i % 7) as f32 / 6.0)
        .collect();
    let weight = MaskWeight {
        mask: Some(&mask),
        invert: true,
        weight: 0.8,
    };
    for placement in [Placement::default(), skewed()] {
        let fast = run(deformer, placement, weight, &mesh, Kernel::Fast(Par::Seq));
        assert_eq!(
            fast,
            run(deformer, placement, weight, &mesh, Kernel::Fast(Par::Rayon))
        );
        let single = run(deformer, placement, weight, &mesh, Kernel::Single);
        assert!(
            fast == single,
            "{deformer:?}: lanes differ from the scalar form"
        );
        let truth = run(deformer, placement, weight, &mesh, Kernel::Double);
        let error = sinew_testkit::max_distance(&fast.positions, &truth.positions);
        assert!(error < tolerance::POSITION * 2.5, "{deformer:?}: {error}");
        let xyz = |t: &[f32; 4]| [t[0], t[1], t[2]];
        for v in 0..mesh.positions.len() {
            let n = angle(fast.normals[v], truth.normals[v]);
            let t = angle(xyz(&fast.tangents[v]), xyz(&truth.tangents[v]));
            assert!(
                n < tolerance::DIRECTION && t < tolerance::DIRECTION,
                "{deformer:?} {v}: {n} {t}"
            );
            assert_eq!(fast.tangents[v][3], -1.0);
        }
    }
    check_finite(deformer);
}

/// Finite output on degenerate meshes and far-away or huge points.
pub(crate) fn check_finite<D: LocalDeformer>(deformer: D) {
    let mut mesh = sinew_testkit::meshes::degenerate();
    mesh.positions[0] = [0.0; 3];
    mesh.positions[1] = [1e9, -1e9, 1e9];
    mesh.positions[2] = [f32::MAX, f32::MIN, f32::MAX];
    mesh.positions[3] = [1e-40; 3];
    let singular = Placement {
        transform: Affine::from_trs(Vec3::zeros(), Quat::identity(), Vec3::new(1.0, 0.0, 1.0)),
        ..Placement::default()
    };
    for placement in [Placement::default(), skewed(), singular] {
        let out = run(
            deformer,
            placement,
            MaskWeight::ONE,
            &mesh,
            Kernel::Fast(Par::Seq),
        );
        let all = out.positions.iter().chain(&out.normals).flatten();
        assert!(
            all.chain(out.tangents.iter().flatten())
                .all(|c| c.is_finite()),
            "{deformer:?} {out:?}"
        );
    }
    let still = run(
        deformer,
        singular,
        MaskWeight::ONE,
        &mesh,
        Kernel::Fast(Par::Seq),
    );
    assert_eq!(
        still.positions, mesh.positions,
        "a singular frame moves nothing"
    );
}

/// At its rest settings a deformer moves no point and turns no frame.
pub(crate) fn check_identity<D: LocalDeformer>(deformer: D) {
    let mesh = sinew_testkit::meshes::sphere(12, 17);
    for placement in [Placement::default(), skewed()] {
        let out = run(
            deformer,
            placement,
            MaskWeight::ONE,
            &mesh,
            Kernel::Fast(Par::Seq),
        );
        let error = sinew_testkit::max_distance(&out.positions, &mesh.positions);
        assert!(error < 3e-7, "{deformer:?}: {error}");
        let normals = mesh.normals.as_deref().unwrap_or_default();
        let error = sinew_testkit::max_distance(&out.normals, normals);
        assert!(error < 2e-6, "{deformer:?}: normals {error}");
    }
}

/// Offsets just below and just above a height agree.
pub(crate) fn check_continuous<D: LocalDeformer>(deformer: &D, heights: &[f64]) {
    for &z in heights {
        for [x, y] in [[0.3, -0.7], [-1.0, 0.2]] {
            let (a, b) = (
                moved(deformer, [x, y, z - 1e-12]),
                moved(deformer, [x, y, z + 1e-12]),
            );
            assert!(
                (0..3).all(|c| (a[c] - b[c]).abs() < 1e-6),
                "{deformer:?} at {z}: {a:?} {b:?}"
            );
        }
    }
}

/// The frame of a placement.
pub(crate) fn frame(placement: &Placement) -> Frame<f64> {
    placement.frame().expect("regular")
}
