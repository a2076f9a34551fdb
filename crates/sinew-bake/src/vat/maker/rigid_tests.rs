//! Pieces with known motion.

use super::*;
use sinew_testkit::meshes::mesh_from;
use sinew_vat::texel::TexelFormat;
use sinew_vat::texture::Extent;

/// Tetrahedra of different sizes, `count` of them, each with its own vertices.
fn tetrahedra(count: u32) -> Mesh {
    let (mut positions, mut triangles) = (Vec::new(), Vec::new());
    for i in 0..count {
        let (x, size) = (4.0 * i as f32, 0.5 + 0.25 * i as f32);
        positions.extend([
            [x, 0.0, 0.0],
            [x + size, 0.0, 0.1],
            [x, size, 0.0],
            [x, 0.2, 1.3 * size],
        ]);
        let b = 4 * i;
        triangles.extend([
            [b, b + 2, b + 1],
            [b, b + 1, b + 3],
            [b + 1, b + 2, b + 3],
            [b, b + 3, b + 2],
        ]);
    }
    mesh_from("pieces", positions, triangles)
}

/// Rotation (radians around a fixed axis) and position of piece `i` in a frame.
fn motion(i: usize, frame: usize) -> (UnitQuaternion<f64>, Vector3<f64>) {
    let axis = Vector3::new(1.0, 0.3 * i as f64, -0.7);
    let angle = 0.4 * frame as f64 * (1.0 + 0.3 * i as f64);
    let rotation = UnitQuaternion::from_scaled_axis(axis.normalize() * angle);
    let t = 0.1 * frame as f64;
    (
        rotation,
        Vector3::new(t * (i as f64 - 1.0), 3.0 * t - t * t, 0.5 * t),
    )
}

fn moved(rest: &Mesh, frame: usize) -> Mesh {
    let mut mesh = rest.clone();
    for (v, p) in mesh.positions.iter_mut().enumerate() {
        let (rotation, place) = motion(v / 4, frame);
        let middle = (0..4)
            .map(|k| wide(rest.positions[v / 4 * 4 + k]))
            .sum::<Vector3<f64>>()
            / 4.0;
        let q = rotation * (wide(*p) - middle) + middle + place;
        *p = [0, 1, 2].map(|k| q[k] as f32);
    }
    mesh
}

#[test]
fn row_126_pieces_are_found_and_their_motion_is_the_one_they_had() {
    let rest = tetrahedra(5);
    let pieces = Pieces::connected(&rest);
    assert_eq!(pieces.count(), 5);
    let mut poses = Vec::new();
    for frame in 0..60 {
        let mesh = moved(&rest, frame);
        let found = pieces.fit(&mesh, &poses).expect("fits");
        assert!(pieces.largest_error(&mesh, &found) < 5e-6, "frame {frame}");
        for (i, pose) in found.iter().enumerate() {
            let [x, y, z, w] = pose.rotation.map(f64::from);
            let got = UnitQuaternion::from_quaternion(Quaternion::new(w, x, y, z));
            let (expected, _) = motion(i, frame);
            assert!(got.angle_to(&expected) < 1e-5, "frame {frame}, piece {i}");
            if let Some(before) = poses.get(i) as Option<&PiecePose> {
                let along: f32 = before
                    .rotation
                    .iter()
                    .zip(pose.rotation)
                    .map(|(a, b)| a * b)
                    .sum();
                assert!(along > 0.0, "the short way from frame to frame");
            }
        }
        poses = found;
    }
}

#[test]
fn texels_bring_vertices_back_within_the_format() {
    let rest = tetrahedra(3);
    let pieces = Pieces::connected(&rest);
    let (places, turns) = (
        Extent::between(-12.0, 12.0, 3),
        Extent::between(-1.0, 1.0, 4),
    );
    let specs = [
        TextureSpec::new(Quantity::Position, TexelFormat::Unorm16, &places),
        TextureSpec::new(Quantity::Rotation, TexelFormat::Unorm16, &turns),
    ];
    for frame in [0, 3, 17] {
        let mesh = moved(&rest, frame);
        let poses = pieces.fit(&mesh, &[]).expect("fits");
        let texels = encode_poses(&poses, &specs, Space::default());
        let read = |t: usize, piece: usize, c: usize| {
            let size = specs[t].vertex_bytes();
            specs[t].decode(&texels[t][piece * size..(piece + 1) * size], c)
        };
        let decoded: Vec<PiecePose> = (0..pieces.count())
            .map(|p| PiecePose {
                position: [0, 1, 2].map(|c| read(0, p, c)),
                rotation: [0, 1, 2, 3].map(|c| read(1, p, c)),
            })
            .collect();
        // Half a code of position along each axis, and of each part of the rotation over a metre.
        let allowed = 24.0 / 65535.0 / 2.0 * 1.74 + 4.0 * 2.0 / 65535.0 * 1.2;
        let error = pieces.largest_error(&mesh, &decoded);
        assert!(error < allowed, "{error} m, {allowed} allowed");
    }
}

#[test]
fn what_bends_or_is_mirrored_shows_as_an_error() {
    let rest = tetrahedra(2);
    let pieces = Pieces::connected(&rest);
    let mut bent = rest.clone();
    bent.positions[1][1] += 0.2;
    let poses = pieces.fit(&bent, &[]).expect("fits");
    assert!(pieces.largest_error(&bent, &poses) > 0.05);
    let mut mirrored = rest.clone();
    for p in &mut mirrored.positions {
        p[2] = -p[2];
    }
    let poses = pieces.fit(&mirrored, &[]).expect("fits");
    assert!(pieces.largest_error(&mirrored, &poses) > 0.05);
    for pose in &poses {
        let length: f32 = pose.rotation.iter().map(|c| c * c).sum();
        assert!((length - 1.0).abs() < 1e-6, "still a rotation");
    }
}

#[test]
fn flat_thin_and_tiny_pieces_have_rotations() {
    // A triangle, a line (a triangle without area), a point, a vertex of no triangle.
    let positions = vec![
        [0.0, 0.0, 0.0],
        [1.0, 0.0, 0.0],
        [0.0, 1.0, 0.0],
        [5.0, 0.0, 0.0],
        [6.0, 0.0, 0.0],
        [7.0, 0.0, 0.0],
        [9.0, 0.0, 0.0],
        [12.0, 0.0, 0.0],
    ];
    let triangles = vec![[0, 1, 2], [3, 4, 5], [6, 6, 6]];
    let rest = mesh_from("thin", positions, triangles);
    let pieces = Pieces::connected(&rest);
    assert_eq!(pieces.count(), 4);
    let mut poses = Vec::new();
    for frame in 0..40 {
        let angle = 0.15 * frame as f64;
        let rotation = UnitQuaternion::from_axis_angle(&Vector3::z_axis(), angle);
        let mut mesh = rest.clone();
        for (p, r) in mesh.positions.iter_mut().zip(&rest.positions) {
            let q = rotation * wide(*r);
            *p = [0, 1, 2].map(|k| q[k] as f32);
        }
        let before = poses;
        poses = pieces.fit(&mesh, &before).expect("fits");
        assert!(pieces.largest_error(&mesh, &poses) < 1e-5, "frame {frame}");
        for (now, then) in poses.iter().zip(&before) {
            // No piece spins around itself: each turns by what the frame turns by at most.
            let along: f32 = now
                .rotation
                .iter()
                .zip(then.rotation)
                .map(|(a, b)| a * b)
                .sum();
            assert!(
                along > (0.16_f32 / 2.0).cos(),
                "frame {frame}: {now:?} {then:?}"
            );
        }
    }
    assert_eq!(
        poses[2].rotation,
        [0.0, 0.0, 0.0, 1.0],
        "a point does not turn"
    );
}

#[test]
fn attributes_number_pieces_and_other_meshes_are_refused() {
    let mut mesh = tetrahedra(4);
    let numbers = (0..16).map(|v| if v < 8 { 0.0 } else { 7.0 }).collect();
    mesh.attributes
        .insert("piece".into(), Attribute::Scalar(numbers));
    let pieces = Pieces::by_attribute(&mesh, "piece").expect("there");
    assert_eq!(
        (pieces.count(), pieces.of_vertex(7), pieces.of_vertex(8)),
        (2, 0, 1)
    );
    let error = Pieces::by_attribute(&mesh, "shard").expect_err("not there");
    assert_eq!(
        error.to_string(),
        "no scalar attribute 'shard', which is to number the pieces"
    );
    mesh.positions.pop();
    let error = pieces.fit(&mesh, &[]).expect_err("differs");
    assert_eq!(error.to_string(), "15 vertices, the first frame has 16");
}
