//! Saddles that are cut both ways.

use super::*;
use crate::vat::maker::normals::corner_normals;
use crate::vat::maker::retriangulated::surface_gap;
use proptest::prelude::*;
use sinew_testkit::meshes::mesh_from;

/// Two quads side by side, bent by the heights of their vertices; each cut along either diagonal.
fn pair(heights: [f32; 6], cut: [bool; 2]) -> Mesh {
    let at = |v: usize| [(v % 3) as f32, (v / 3) as f32, heights[v]];
    let quad = |a: u32, is_other: bool| {
        let [b, c, d] = [a + 1, a + 4, a + 3];
        match is_other {
            false => [[a, b, c], [a, c, d]],
            true => [[b, c, d], [d, a, b]],
        }
    };
    let triangles = [quad(0, cut[0]), quad(1, cut[1])].concat();
    let mut mesh = mesh_from("pair", (0..6).map(at).collect(), triangles);
    mesh.uvs = vec![mesh.positions.iter().map(|p| [p[0], p[1]]).collect()];
    mesh
}

fn corners(mesh: &Mesh) -> Vec<[[f32; 3]; 3]> {
    let triangles = mesh.topology.triangles().iter();
    triangles
        .map(|t| t.map(|v| mesh.positions[v as usize]))
        .collect()
}

#[test]
fn quads_are_found_with_the_first_diagonal_first() {
    let (first, other) = (pair([0.0; 6], [false; 2]), pair([0.0; 6], [true, false]));
    let (found, rest) = quads_of(&first.topology, &other.topology);
    assert!(rest.is_empty());
    let [quad] = found[..] else {
        panic!("{found:?}")
    };
    assert_eq!(quad.triangles, [0, 1]);
    // Corner 1 is one of the first triangle.
    assert_eq!(quad.halves(false).map(least_first), [[0, 1, 4], [0, 4, 3]]);
    let mut others = quad.halves(true).map(least_first);
    others.sort_unstable();
    assert_eq!(others, [[0, 1, 3], [1, 4, 3]]);
    // The same from the numbers of its triangles alone.
    let again = Quad::new(&first.topology, [0, 1]).expect("they share an edge");
    assert_eq!(again.triangles, quad.triangles);
    assert_eq!(
        again.halves(false).map(least_first),
        quad.halves(false).map(least_first)
    );
    // Triangles 0 and 2 have one vertex in common.
    for wrong in [[1, 0], [0, 0], [0, 2], [0, 9]] {
        assert_eq!(Quad::new(&first.topology, wrong), None, "{wrong:?}");
    }
}

/// A pentagon, cut from one of its corners and from another one. From neighbours all three triangles are others, and no two of them are a quad's; from corners
/// with one between them one triangle is the same, and the other two are the quad's beside it.
#[test]
fn faces_of_more_corners_are_left_to_be_told_of() {
    let fan = |a: u32| {
        let triangles = [1, 2, 3].map(|i| [a, (a + i) % 5, (a + i + 1) % 5]);
        Topology::new(5, triangles.to_vec()).expect("in range")
    };
    let (quads, rest) = quads_of(&fan(0), &fan(1));
    let counts = (quads.len(), rest.shown.len(), rest.own.len());
    assert_eq!(counts, (0, 3, 3));
    let (quads, rest) = quads_of(&fan(0), &fan(2));
    assert!(rest.is_empty());
    let [quad] = quads[..] else {
        panic!("{quads:?}")
    };
    assert_eq!(quad.halves(false).map(least_first), [[0, 2, 3], [0, 3, 4]]);
}

proptest! {
    /// Whatever the heights are, the refined frame is the frame's own surface and has its normals at the corners.
    #[test]
    fn each_frame_is_shown_as_it_is(heights in prop::array::uniform6(-1.0_f32..1.0), cut in prop::array::uniform2(any::<bool>())) {
        let first = pair([0.0; 6], [false; 2]);
        let quads = [[0, 1], [2, 3]].map(|t| Quad::new(&first.topology, t).expect("a quad"));
        let middles = Middles::new(&first.topology, quads.to_vec());
        let frame = pair(heights, cut);
        let refined = middles.refine(&frame);
        prop_assert_eq!(refined.positions.len(), 8);
        prop_assert_eq!(refined.topology.triangles().len(), 8);
        prop_assert!(surface_gap(&corners(&refined), &corners(&frame)) < 1e-6);
        // Coordinates in the plane are texture coordinates.
        for (place, uv) in refined.positions.iter().zip(&refined.uvs[0]) {
            prop_assert_eq!([place[0], place[1]], *uv);
        }
        let smooth = |mesh: &Mesh| {
            let normals = corner_normals(&mesh.topology, &mesh.positions, std::f32::consts::PI);
            let mut of_vertex = [[0.0; 3]; 6];
            for (t, normals) in mesh.topology.triangles().iter().zip(normals) {
                for (v, normal) in t.iter().zip(normals).filter(|(v, _)| **v < 6) {
                    of_vertex[*v as usize] = normal;
                }
            }
            of_vertex
        };
        for (found, truth) in smooth(&refined).iter().zip(smooth(&frame)) {
            let off = (0..3).map(|k| (found[k] - truth[k]).abs()).fold(0.0, f32::max);
            prop_assert!(off < 1e-5, "{:?} {:?}", found, truth);
        }
    }
}
