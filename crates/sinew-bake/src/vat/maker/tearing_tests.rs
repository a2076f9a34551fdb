//! Tears that are known, in cloth made by code.

use super::*;
use crate::vat::maker::error::angle_between;
use crate::vat::maker::normals::{DEFAULT_CREASE, corner_normals};
use crate::vat::maker::soft::{SoftCarrier, SoftError};
use proptest::prelude::*;
use sinew_geom::Mesh;
use sinew_testkit::meshes::{box_triangles, exploded, mesh_from};
use sinew_testkit::{TearingCloth, renumbered};
use sinew_vat::quantity::Quantity;
use sinew_vat::texel::TexelFormat;
use sinew_vat::texture::{Extent, TextureSpec};

const CLOTH: TearingCloth = TearingCloth {
    quads: 12,
    cut: 5,
    rows_per_frame: 3,
};

fn classes(first: &Mesh, frame: &Mesh) -> CornerClasses {
    SoftCarrier::corner_classes(first, frame, DEFAULT_CREASE).expect("as many triangles")
}

fn refined(frames: &[Mesh]) -> CornerClasses {
    let all = frames.iter().map(|f| classes(&frames[0], f));
    all.reduce(|a, b| a.refined_by(&b)).expect("frames")
}

fn kept(first: &Mesh, other: &Mesh) -> KeptEdges {
    SharedEdges::new(&first.topology).compared_with(&SharedEdges::new(&other.topology))
}

#[test]
fn row_124_the_carrier_has_each_split_vertex_twice_and_no_other() {
    let frames: Vec<Mesh> = (0..6).map(|f| CLOTH.frame(f)).collect();
    let finest = refined(&frames);
    // 13 x 13 vertices, and after five frames the whole column of 13 is split.
    assert_eq!(finest.count(), 169 + 13);
    assert_eq!(classes(&frames[0], &frames[0]).split_in(&finest), 13);
    assert_eq!(refined(&frames[..3]).count(), 169 + 6, "half a tear");
    let backwards: Vec<Mesh> = [0, 5, 3, 4, 1, 2].map(|f| frames[f].clone()).into();
    assert_eq!(refined(&backwards), finest, "whatever the order is");
    // Torn first and whole later is the same split, and nothing is split any more.
    let heals: Vec<Mesh> = frames.iter().rev().cloned().collect();
    assert_eq!(refined(&heals), finest);
    assert_eq!(classes(&heals[0], &heals[0]).split_in(&finest), 0);
}

#[test]
fn row_124_every_corner_of_every_frame_comes_back_with_its_normal() {
    let frames: Vec<Mesh> = (0..6).map(|f| CLOTH.frame(f)).collect();
    let finest = refined(&frames);
    let carrier = SoftCarrier::tearing(&frames[0], DEFAULT_CREASE, finest.triangles());
    let carrier = carrier.expect("a carrier");
    let (unit, share) = (Extent::between(-1.0, 1.0, 3), Extent::between(0.0, 1.0, 1));
    let side = Quantity::Attribute("side".into());
    let specs = [
        TextureSpec::new(Quantity::Position, TexelFormat::Float, &unit),
        TextureSpec::new(Quantity::Normal, TexelFormat::Float, &unit),
        TextureSpec::new(side, TexelFormat::Float, &share),
    ];
    for (f, frame) in frames.iter().enumerate() {
        let mut unified = frame.clone();
        carrier.adopt(&mut unified).expect("as many triangles");
        let texels = carrier.encode_frame(&unified, &specs).expect("adopted");
        let truth = corner_normals(&frame.topology, &frame.positions, DEFAULT_CREASE);
        for (t, corners) in frame.topology.triangles().iter().enumerate() {
            for k in 0..3 {
                let v = carrier.triangles()[t][k] as usize;
                let seen = |i: usize| {
                    let size = specs[i].vertex_bytes();
                    let texel = &texels[i][v * size..(v + 1) * size];
                    [0, 1, 2].map(|c| {
                        if i < 2 || c == 0 {
                            specs[i].decode(texel, c)
                        } else {
                            0.0
                        }
                    })
                };
                let place = frame.positions[corners[k] as usize];
                assert_eq!(seen(0), place, "frame {f}, triangle {t}, corner {k}");
                let angle = angle_between(seen(1), truth[t][k]);
                assert!(angle < 1e-6, "frame {f}, triangle {t}, corner {k}: {angle}");
                assert_eq!(seen(2)[0], frame_side(frame, corners[k]));
            }
        }
    }
}

fn frame_side(frame: &Mesh, vertex: u32) -> f32 {
    match &frame.attributes["side"] {
        sinew_geom::Attribute::Scalar(v) => v[vertex as usize],
        _ => f32::NAN,
    }
}

#[test]
fn sides_of_a_tear_lie_on_each_other_until_it_opens() {
    let frames: Vec<Mesh> = (0..6).map(|f| CLOTH.frame(f)).collect();
    let finest = refined(&frames);
    let carrier = SoftCarrier::tearing(&frames[0], DEFAULT_CREASE, finest.triangles());
    let carrier = carrier.expect("a carrier");
    // Quads at both sides of the cut, in row 4: split in frame 2, apart from frame 3 on.
    let of_quad = |column: usize| carrier.triangles()[2 * (4 * 12 + column)];
    let (left, right) = (of_quad(4), of_quad(5));
    let left_edge = carrier.triangles()[2 * (4 * 12 + 4) + 1][2] as usize;
    let right_edge = right[0] as usize;
    assert_ne!(left_edge, right_edge, "{left:?} {right:?}");
    for (f, frame) in frames.iter().enumerate() {
        let mut unified = frame.clone();
        carrier.adopt(&mut unified).expect("as many triangles");
        let normals = carrier.normals(&unified).expect("adopted");
        let are_one = unified.positions[left_edge] == unified.positions[right_edge]
            && normals[left_edge] == normals[right_edge];
        assert_eq!(are_one, f < 3, "frame {f}");
    }
}

#[test]
fn tears_lose_edges_and_unrelated_triangles_gain_as_many() {
    let first = CLOTH.frame(0);
    // 12 x 12 quads: a diagonal each, and 11 columns and rows of edges inside.
    let edges = 144 + 2 * 11 * 12;
    for f in 0..6 {
        let found = kept(&first, &CLOTH.frame(f));
        // An edge is torn where one of its ends is split.
        let torn = u64::from(CLOTH.split_rows(f).min(12));
        assert_eq!(found.kept, edges - torn, "frame {f}");
        assert_eq!((found.first, found.here), (edges, found.kept));
        assert!(found.is_tearing() && found.is_surely_tearing());
    }
    let shreds = exploded(&first);
    let found = kept(&first, &shreds);
    assert_eq!((found.kept, found.here), (0, 0));
    assert!(found.is_tearing() && !found.is_surely_tearing());
    let mut triangles = first.topology.triangles().to_vec();
    triangles.reverse();
    let reversed = Topology::new(169, triangles).expect("in range");
    let found = SharedEdges::new(&first.topology).compared_with(&SharedEdges::new(&reversed));
    assert!(!found.is_tearing(), "{found:?}");
}

/// A frame with every fifth quad cut along its other diagonal.
fn retriangulated(mesh: &Mesh) -> Mesh {
    let mut triangles = mesh.topology.triangles().to_vec();
    for quad in triangles.chunks_mut(2).step_by(5) {
        let ([a, b, c], d) = (quad[0], quad[1][2]);
        assert_eq!(quad[1], [a, c, d]);
        quad.copy_from_slice(&[[a, b, d], [b, c, d]]);
    }
    let count = mesh.positions.len() as u32;
    let mut out = mesh.clone();
    out.topology = Topology::new(count, triangles).expect("in range").into();
    out
}

#[test]
fn quads_that_are_cut_along_the_other_diagonal_split_nothing() {
    let frames: Vec<Mesh> = (0..6).map(|f| CLOTH.frame(f)).collect();
    let bent: Vec<Mesh> = frames.iter().map(retriangulated).collect();
    let mixed: Vec<Mesh> = (0..6)
        .map(|f| if f % 2 == 0 { &frames[f] } else { &bent[f] }.clone())
        .collect();
    assert_eq!(refined(&mixed), refined(&frames));
    assert_eq!(refined(&bent).count(), refined(&frames).count());
    assert_eq!(cut_as_first(&frames[0].topology, &frames[3].topology), None);
    let back = cut_as_first(&frames[0].topology, &bent[4].topology);
    assert_eq!(back.as_ref(), Some(&*frames[4].topology));
    // What is compared by itself has nearly nothing in common.
    assert!(!kept(&frames[0], &bent[4]).is_tearing());
}

#[test]
fn hard_edges_stay_and_frames_that_are_numbered_anew_split_nothing() {
    let corner = |i: u32| [0, 1, 2].map(|k| (i >> k & 1) as f32);
    let cube = mesh_from("box", (0..8).map(corner).collect(), box_triangles());
    let frames = [cube.clone(), renumbered(&cube, 1), renumbered(&cube, 2)];
    let finest = refined(&frames);
    let plain = SoftCarrier::new(&cube, DEFAULT_CREASE);
    assert_eq!(finest.count(), 24, "three sides at each of eight corners");
    assert_eq!(finest.triangles(), plain.triangles());
}

#[test]
fn wrong_carriers_are_refused() {
    let first = CLOTH.frame(0);
    let made = |triangles: &[[u32; 3]]| SoftCarrier::tearing(&first, 1.0, triangles).map(|_| ());
    let (found, expected) = (288, 1);
    let error = Err(SoftError::Triangles { found, expected });
    assert_eq!(made(&[[0, 1, 2]]), error);
    let mut skips = refined(std::slice::from_ref(&first)).triangles().to_vec();
    assert_eq!(made(&skips), Ok(()));
    skips[7] = [0, 1, 170];
    assert_eq!(made(&skips), Err(SoftError::Unused { vertex: 169 }));
    skips[7] = [0, 1, u32::MAX];
    assert_eq!(made(&skips), Err(SoftError::Unused { vertex: 864 }));
}

proptest! {
    /// Against the definition: two corners are one class exactly where all frames have them in one.
    #[test]
    fn refinements_are_common(keys in prop::collection::vec(prop::array::uniform2(0_u32..4), 30)) {
        let of = |i: usize| CornerClasses::numbered(10, |t, k| (keys[3 * t + k][i], 0));
        let (a, b) = (of(0), of(1));
        let both = a.refined_by(&b);
        let flat: Vec<u32> = both.triangles().iter().flatten().copied().collect();
        for i in 0..30 {
            for j in 0..i {
                prop_assert_eq!(flat[i] == flat[j], keys[i] == keys[j]);
            }
        }
        prop_assert_eq!(&both, &b.refined_by(&a));
        prop_assert_eq!(&both.refined_by(&a), &both);
    }
}
