use super::*;

/// An octahedron-like double pyramid with uneven corners.
fn gem() -> (Vec<[f32; 3]>, Vec<[u32; 3]>) {
    let positions = vec![
        [1.0, 0.1, 0.0],
        [0.0, 0.0, -1.2],
        [-0.8, 0.0, 0.0],
        [0.0, -0.1, 0.9],
        [0.1, 1.5, 0.0],
        [0.0, -0.7, 0.2],
    ];
    let mut triangles = Vec::new();
    for k in 0..4 {
        triangles.push([k, (k + 1) % 4, 4]);
        triangles.push([(k + 1) % 4, k, 5]);
    }
    (positions, triangles)
}

fn inside_some_triangle(corners: &[[f32; 3]], triangles: &[[u32; 3]], x: f32, y: f32) -> bool {
    triangles.iter().any(|t| {
        let [a, b, c] = t.map(|v| corners[v as usize]);
        let side =
            |p: [f32; 3], q: [f32; 3]| (q[0] - p[0]) * (y - p[1]) - (q[1] - p[1]) * (x - p[0]);
        let s = [side(a, b), side(b, c), side(c, a)];
        s.iter().all(|&v| v >= 0.0) || s.iter().all(|&v| v <= 0.0)
    })
}

#[test]
fn silhouette_matches_projected_triangles() {
    let (positions, triangles) = gem();
    let (w, h) = (90, 60);
    let camera = Camera::framing(&positions, 0.7, 0.3, w as f32 / h as f32);
    let mut picture = Picture::new(w, h);
    picture
        .draw_mesh(&MeshPicture::new(&positions, &triangles), &camera)
        .expect("valid");
    let image = picture.resolve();
    let corners: Vec<[f32; 3]> = positions
        .iter()
        .map(|p| {
            camera
                .project(*p, w as f32, h as f32)
                .expect("before the camera")
        })
        .collect();
    let mut covered = 0;
    for y in 0..h {
        for x in 0..w {
            // A pixel whose corners are all in (or all out) must be opaque (or empty).
            let corners_in = (0..4)
                .filter(|k| {
                    let (cx, cy) = ((x + k % 2) as f32, (y + k / 2) as f32);
                    inside_some_triangle(&corners, &triangles, cx, cy)
                })
                .count();
            let alpha = image.pixel(x, y).expect("inside")[3];
            if corners_in == 4 {
                assert_eq!(alpha, 255, "pixel {x} {y} is covered");
                covered += 1;
            } else if corners_in == 0 {
                assert!(alpha < 128, "pixel {x} {y} is empty or barely touched");
            }
        }
    }
    assert!(
        covered > 500,
        "the loop above saw covered pixels: {covered}"
    );
}

#[test]
fn framing_keeps_every_point_inside_and_fills_the_picture() {
    let (positions, _) = gem();
    for (yaw, pitch, aspect) in [(0.0, 0.0, 1.0), (1.0, 0.5, 2.0), (-2.5, -0.9, 0.5)] {
        let camera = Camera::framing(&positions, yaw, pitch, aspect);
        let mut reach = 0.0_f32;
        for p in &positions {
            let [x, y, _] = camera.project(*p, 2.0, 2.0).expect("before the camera");
            reach = reach.max((x - 1.0).abs()).max((y - 1.0).abs());
        }
        assert!((0.85..=0.93).contains(&reach), "reach {reach}");
    }
}

#[test]
fn nearer_surface_wins_in_any_order() {
    let quad = |z: f32| {
        [
            [-1.0, -1.0, z],
            [1.0, -1.0, z],
            [1.0, 1.0, z],
            [-1.0, 1.0, z],
        ]
    };
    let triangles = [[0, 1, 2], [0, 2, 3]];
    let camera = Camera::framing(&quad(0.0), 0.0, 0.0, 1.0);
    let (red, blue) = ([[0.8, 0.0, 0.0, 1.0]; 4], [[0.0, 0.0, 0.8, 1.0]; 4]);
    for order in [[0, 1], [1, 0]] {
        let mut picture = Picture::new(9, 9);
        for k in order {
            let (p, c) = ([quad(0.0), quad(-0.5)][k], [red, blue][k]);
            let mesh = MeshPicture {
                colors: Some(&c),
                ..MeshPicture::new(&p, &triangles)
            };
            picture.draw_mesh(&mesh, &camera).expect("valid");
        }
        let [r, _, b, _] = picture.resolve().pixel(4, 4).expect("inside");
        assert!(r > b, "the red quad is in front: {r} {b}");
    }
}

#[test]
fn deterministic() {
    let (positions, triangles) = gem();
    let draw = || {
        let camera = Camera::framing(&positions, 0.2, 0.2, 1.0);
        let mut picture = Picture::with_background(40, 40, Background::STUDIO);
        let mesh = MeshPicture {
            wireframe: Some([0.0; 3]),
            ..MeshPicture::new(&positions, &triangles)
        };
        picture.draw_mesh(&mesh, &camera).expect("valid");
        side_by_side(&[("a", &picture.resolve()), ("b", &picture.resolve())])
    };
    assert_eq!(draw(), draw());
}

/// Each side of a square is drawn, in whichever order its triangles name the corners.
#[test]
fn wireframes_have_every_border_edge() {
    let corners = [
        [-1.0, -1.0, 0.0],
        [1.0, -1.0, 0.0],
        [1.0, 1.0, 0.0],
        [-1.0, 1.0, 0.0],
    ];
    let camera = Camera::framing(&corners, 0.0, 0.0, 1.0);
    for triangles in [[[0, 1, 2], [0, 2, 3]], [[2, 0, 1], [3, 0, 2]]] {
        let mut picture = Picture::new(64, 64);
        let mesh = MeshPicture {
            wireframe: Some([1.0, 0.0, 0.0]),
            ..MeshPicture::new(&corners, &triangles)
        };
        picture.draw_mesh(&mesh, &camera).expect("valid");
        let image = picture.resolve();
        for (a, b) in [(0, 1), (1, 2), (2, 3), (3, 0)] {
            let middle: [f32; 3] =
                std::array::from_fn(|c| 0.5 * corners[a][c] + 0.5 * corners[b][c]);
            let [x, y, _] = camera.project(middle, 64.0, 64.0).expect("in front");
            // The line is thinner than a pixel: it is in the nearest one or beside it.
            let is_red = |dx: i32, dy: i32| {
                let at = [x as i32 + dx, y as i32 + dy].map(|v| v.clamp(0, 63) as usize);
                let [r, g, ..] = image.pixel(at[0], at[1]).expect("inside");
                i32::from(r) - i32::from(g) > 40
            };
            let near = (-1..=1).flat_map(|dx| (-1..=1).map(move |dy| (dx, dy)));
            assert!(
                near.into_iter().any(|(dx, dy)| is_red(dx, dy)),
                "edge {a}-{b}"
            );
        }
    }
}

#[test]
fn bad_meshes_are_refused_and_odd_ones_survive() {
    let (mut positions, triangles) = gem();
    let camera = Camera::framing(&positions, 0.0, 0.0, 1.0);
    let mut picture = Picture::new(8, 8);
    let error = picture
        .draw_mesh(&MeshPicture::new(&positions[..5], &triangles), &camera)
        .expect_err("vertex 5");
    assert_eq!(
        error.to_string(),
        "triangle 1 refers to vertex 5, the mesh has 5"
    );
    let short = MeshPicture {
        colors: Some(&[[0.0; 4]]),
        ..MeshPicture::new(&positions, &triangles)
    };
    let error = picture.draw_mesh(&short, &camera).expect_err("one colour");
    assert_eq!(error.to_string(), "1 colors for 6 vertices");
    positions[0] = [f32::NAN; 3];
    positions[1] = [0.0, 0.0, 1e30];
    picture
        .draw_mesh(&MeshPicture::new(&positions, &triangles), &camera)
        .expect("drawn without the bad triangles");
}
