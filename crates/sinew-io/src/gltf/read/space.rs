//! Bakes a transform into a mesh: from stored space to scene space at bind.

use sinew_geom::{Affine, Mat3, Mesh, Real, Topology, Vec3, index32};
use std::sync::Arc;

/// Transforms positions, normals, tangents and morph deltas by `x`. Mirrors the winding if `x` mirrors. Gives the
/// largest rounding error of a position, or the attribute that exceeds single precision.
pub(crate) fn bake(mesh: &mut Mesh, x: &Affine<f64>) -> Result<f64, &'static str> {
    if *x == Affine::identity() {
        return Ok(0.0);
    }
    let mirrored = x.linear.determinant() < 0.0;
    let normal_matrix = x.normal_matrix();
    let mut loss = 0.0_f64;
    for p in &mut mesh.positions {
        let exact = x.point(f64::vec3(*p));
        *p = f64::array3(exact);
        loss = loss.max((f64::vec3(*p) - exact).norm());
    }
    bake_morphs(mesh, &x.linear, &normal_matrix);
    for n in mesh.normals.iter_mut().flatten() {
        *n = f64::array3(unit(normal_matrix * f64::vec3(*n)).0);
    }
    for t in mesh.tangents.iter_mut().flatten() {
        let xyz = f64::array3(unit(x.linear * xyz_of(*t)).0);
        let w = if mirrored { -t[3] } else { t[3] };
        *t = [xyz[0], xyz[1], xyz[2], w];
    }
    if mirrored {
        flip(mesh);
    }
    check_finite(mesh).map(|()| loss)
}

fn check_finite(mesh: &Mesh) -> Result<(), &'static str> {
    let finite = |numbers: &[f32]| numbers.iter().all(|n| n.is_finite());
    let list = |v: Option<&Vec<[f32; 3]>>| v.is_none_or(|v| finite(v.as_flattened()));
    let tangents = mesh.tangents.as_ref();
    let targets = &mesh.morph_targets;
    let parts = [
        (finite(mesh.positions.as_flattened()), "positions"),
        (list(mesh.normals.as_ref()), "normals"),
        (
            tangents.is_none_or(|t| finite(t.as_flattened())),
            "tangents",
        ),
        (
            targets.iter().all(|t| {
                [&t.positions, &t.normals, &t.tangents]
                    .iter()
                    .all(|d| finite(d.as_flattened()))
            }),
            "morph targets",
        ),
    ];
    match parts.iter().find(|p| !p.0) {
        Some((_, what)) => Err(what),
        None => Ok(()),
    }
}

fn xyz_of(t: [f32; 4]) -> Vec3<f64> {
    f64::vec3([t[0], t[1], t[2]])
}

/// Direction and length. A zero vector stays zero.
fn unit(v: Vec3<f64>) -> (Vec3<f64>, f64) {
    let length = v.norm();
    if length > 0.0 {
        (v / length, length)
    } else {
        (v, 1.0)
    }
}

/// Morph deltas are transformed by the linear part. Deltas of normals and tangents are divided by the length of the
/// transformed base vector, so that the sum keeps its direction. Must run before the base vectors are transformed.
fn bake_morphs(mesh: &mut Mesh, linear: &Mat3<f64>, normal_matrix: &Mat3<f64>) {
    let (normals, tangents) = (&mesh.normals, &mesh.tangents);
    for target in &mut mesh.morph_targets {
        for d in &mut target.positions {
            *d = f64::array3(linear * f64::vec3(*d));
        }
        for (d, &v) in target.normals.iter_mut().zip(&target.vertices) {
            let base = normals.as_ref().and_then(|n| n.get(v as usize));
            let length = base.map_or(1.0, |n| unit(normal_matrix * f64::vec3(*n)).1);
            *d = f64::array3(normal_matrix * f64::vec3(*d) / length);
        }
        for (d, &v) in target.tangents.iter_mut().zip(&target.vertices) {
            let base = tangents.as_ref().and_then(|t| t.get(v as usize));
            let length = base.map_or(1.0, |t| unit(linear * xyz_of(*t)).1);
            *d = f64::array3(linear * f64::vec3(*d) / length);
        }
    }
}

fn flip(mesh: &mut Mesh) {
    let flipped = mesh
        .topology
        .triangles()
        .iter()
        .map(|t| [t[0], t[2], t[1]])
        .collect();
    let count = index32(mesh.topology.vertex_count());
    // The same indices as before, so this cannot fail; the mesh would keep its winding if it did.
    if let Ok(topology) = Topology::new(count, flipped) {
        mesh.topology = Arc::new(topology);
    }
}
