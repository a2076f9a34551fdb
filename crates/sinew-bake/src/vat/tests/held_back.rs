//! Pictures of frames that were held back.

use super::*;
use crate::vat::HeldBack;
use sinew_testkit::meshes::box_triangles;

/// A box that moves along x: evenly, then four times as fast.
fn slide() -> MeshFrames {
    let at = |x: f32| {
        let corner = |k: usize| [x + (k & 1) as f32, (k >> 1 & 1) as f32, (k >> 2 & 1) as f32];
        mesh_from("box", (0..8).map(corner).collect(), box_triangles())
    };
    MeshFrames::new("slide", [0.0, 0.125, 0.25, 0.75, 1.25].map(at).into())
}

#[test]
fn pictures_show_the_frame_itself_where_it_is_what_blends_promise() {
    let (source, folder) = (slide(), tempfile::tempdir().expect("a folder"));
    let settings = VatSettings {
        mode: Some(Mode::Remesh),
        ..with_format(Quantity::Position, TexelFormat::Float)
    };
    let held = HeldBack::bake(&source, &settings, folder.path(), &Watch::NOBODY).expect("bakes");
    let found = held.compare(&Watch::NOBODY).expect("compares");
    assert_eq!((found.frames, found.fastest), (2, 3));
    // Triangles stand in the same order; with the first one last they would blend into others.
    let unmatched = found.unmatched.expect("triangles may change");
    assert!(unmatched.max < 1e-6, "{}", unmatched.max);
    let turned = |(i, mesh): (usize, Mesh)| {
        let mut triangles = mesh.topology.triangles().to_vec();
        triangles.rotate_left(i);
        mesh_from("box", mesh.positions, triangles)
    };
    let frames = meshes_of(&slide()).into_iter().enumerate();
    let source = MeshFrames::new("turned", frames.map(turned).collect());
    let folder = tempfile::tempdir().expect("a folder");
    let found = HeldBack::bake(&source, &settings, folder.path(), &Watch::NOBODY);
    let found = found
        .and_then(|h| h.compare(&Watch::NOBODY))
        .expect("compares");
    assert!(found.blended.max < 1e-6, "matching finds them");
    assert!(found.unmatched.is_some_and(|u| u.rms() > 0.1));
    for frame in [1, 3] {
        let drawn = held.pictures(frame, 64).expect("drawn");
        let differ = |other: &sinew_geom::Image| drawn.truth.pixels() != other.pixels();
        assert!(
            !differ(&drawn.blended) && differ(&drawn.stepped),
            "frame {frame}"
        );
        // Triangles stand in the same order in all frames.
        assert!(!differ(
            drawn.unmatched.as_ref().expect("triangles may change")
        ));
        assert_eq!(drawn.panels().len(), 4);
    }
    for frame in [0, 2, 4, 5, 7] {
        let found = held.pictures(frame, 64);
        assert!(
            matches!(found, Err(BakeError::NotHeldBack { ref held, .. }) if held == "1, 3"),
            "frame {frame}"
        );
    }
}

/// Two boxes that slide evenly, far from each other, as two clips: nothing is blended from one to the other.
#[test]
fn frames_are_held_back_within_their_clips() {
    let part = |x: f32| -> Box<dyn crate::FrameSource + Send> {
        let mut frames = meshes_of(&slide())[..3].to_vec();
        let places = frames.iter_mut().flat_map(|mesh| &mut mesh.positions);
        places.for_each(|p| p[0] += x);
        Box::new(MeshFrames::new("part", frames))
    };
    let parts = vec![("near".into(), part(0.0)), ("far".into(), part(50.0))];
    let source = crate::ChainedFrames::new("both", parts).expect("two clips");
    let settings = VatSettings {
        mode: Some(Mode::Remesh),
        ..with_format(Quantity::Position, TexelFormat::Float)
    };
    let folder = tempfile::tempdir().expect("a folder");
    let held = HeldBack::bake(&source, &settings, folder.path(), &Watch::NOBODY).expect("bakes");
    let found = held.compare(&Watch::NOBODY).expect("compares");
    assert_eq!(found.frames, 2, "one of each");
    assert!(found.blended.max < 1e-5, "{}", found.blended.max);
    assert!(held.pictures(4, 32).is_ok() && held.pictures(3, 32).is_err());
}
