//! Pieces, particles, tangents, velocities and thickness in the axes of engines: texels decoded here, by the manifest as JSON, against the
//! motion that the sequences were made with and what manuals say of the axes.

use super::decoded::{Decoded, SPACES, engine, gltf, off, place, rotated, unit};
use super::shapes::{boxes, drop_at, fountain, middle, turned};
use super::*;
use serde_json::Value;
use sinew_geom::Attribute;
use sinew_geom::vec3::cross;

fn checked(source: &MeshFrames, folders: &Folders, settings: &VatSettings) -> Verified {
    let found = folders.verified(source, settings);
    assert!(
        found.is_same(allowed(&found)),
        "{:?}: {found:?}",
        settings.space
    );
    found
}

fn in_space(space: Space, settings: VatSettings) -> VatSettings {
    VatSettings { space, ..settings }
}

fn wide(v: [f32; 3]) -> [f64; 3] {
    v.map(f64::from)
}

/// The carrier as the engine's importer turns it.
fn imported(out: &Path, name: &str, space: Space) -> Vec<[f64; 3]> {
    let places = mesh_in(&out.join(format!("{name}.glb"))).positions;
    places.iter().map(|p| place(space, wide(*p))).collect()
}

#[test]
fn pieces_turn_as_they_were_made_to_in_the_axes_of_every_engine() {
    let source = boxes(9);
    for space in SPACES {
        // Nobody says that they are pieces.
        let settings = in_space(space, VatSettings::default());
        let (folders, summary) = baked(&source, &settings);
        assert_eq!(summary.plan.mode(), Mode::Rigid, "{space:?}");
        let places = Decoded::read(&folders.out(), &"position".into());
        let turns = Decoded::read(&folders.out(), &"rotation".into());
        let carrier = imported(&folders.out(), "boxes", space);
        // Of the place and of a quaternion, whose arms are shorter than a metre.
        let near = 2.0 * places.step + 8.0 * turns.step * unit(space);
        for (piece, frame) in (0..3).flat_map(|i| (0..9).map(move |f| (i, f))) {
            let time = frame as f64;
            let (at, q): ([f64; 3], [f64; 4]) = (places.at(piece, frame), turns.at(piece, frame));
            let expected = place(space, middle(piece, time));
            assert!(
                off(at, expected) < near,
                "{space:?} {piece} {frame}: {at:?} {expected:?}"
            );
            // C R C^-1, by the formula that the boxes were made with.
            for axis in [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]] {
                let expected = engine(space, turned(piece, time, gltf(space, axis)));
                let found = rotated(q, axis);
                assert!(
                    off(found, expected) < 8.0 * turns.step,
                    "{space:?} {piece} {frame}"
                );
            }
            // As players put them together, with the carrier that the importer turned.
            let pivot: [f64; 3] = places.at(piece, 0);
            let truth = source.load(frame).expect("made").mesh.positions;
            for v in 24 * piece..24 * (piece + 1) {
                let arm = std::array::from_fn(|k| carrier[v][k] - pivot[k]);
                let turned = rotated(q, arm);
                let seen = std::array::from_fn(|k| turned[k] + at[k]);
                let expected = place(space, wide(truth[v]));
                assert!(
                    off(seen, expected) < near,
                    "{space:?} {frame} {v}: {seen:?} {expected:?}"
                );
            }
        }
        let found = checked(&source, &folders, &settings);
        assert_eq!(found.errors.position.samples(), 9 * 72);
        assert_eq!(
            folders.out().join("boxes.obj").exists(),
            space == Space::YUpLeftHanded
        );
    }
}

#[test]
fn sparks_have_places_widths_and_velocities_in_the_axes_of_every_engine() {
    let (source, speeds) = (fountain(true), Quantity::Velocity("velocity".into()));
    // Both: numbers that tell points apart, and velocities.
    let mut frames = meshes_of(&source);
    for (mesh, moving) in frames.iter_mut().zip(meshes_of(&fountain(false))) {
        mesh.attributes.extend(moving.attributes);
    }
    let source = MeshFrames::new("fountain", frames);
    let format = TexelFormat::Unorm16;
    let choice = |quantity| choice(quantity, format);
    for space in SPACES {
        let settings = VatSettings {
            textures: vec![choice(Quantity::Position), choice(speeds.clone())],
            ..in_space(space, with_mode(Mode::Particles))
        };
        let (folders, _) = baked(&source, &settings);
        let read = |quantity| Decoded::read(&folders.out(), &quantity);
        let (places, sizes) = (read("position".into()), read("size".into()));
        let velocities = read(serde_json::json!({ "velocity": "velocity" }));
        for (id, frame) in (0..7).flat_map(|id| (id..id + 4).map(move |f| (id, f))) {
            let (now, width) = drop_at(id, frame);
            let then = drop_at(id, frame + 1).0;
            let speed = std::array::from_fn(|k| f64::from((then[k] - now[k]) * 24.0));
            let (now, speed) = (place(space, wide(now)), place(space, speed));
            let width = f64::from(width) * unit(space);
            let is_it = |slot: &usize| {
                let [seen]: [f64; 1] = sizes.at(*slot, frame);
                (seen - width).abs() <= sizes.step
                    && off(places.at(*slot, frame), now) <= 2.0 * places.step
            };
            let slots: Vec<usize> = (0..places.vertices as usize).filter(is_it).collect();
            let [slot] = slots[..] else {
                panic!("{space:?}: point {id} of frame {frame} is in slots {slots:?}");
            };
            let seen = velocities.at(slot, frame);
            assert!(
                off(seen, speed) <= 2.0 * velocities.step,
                "{space:?}: {seen:?} {speed:?}"
            );
        }
        // Those that are not there have no width, and wait where a point is born or has died: in the box.
        let found = checked(&source, &folders, &settings);
        assert_eq!(found.errors.position.samples(), 28);
        let manifest = folders.manifest();
        let (low, high) = (wide(manifest.bounds.0), wide(manifest.bounds.1));
        for slot in 0..places.vertices as usize {
            for frame in 0..12 {
                let at: [f64; 3] = places.at(slot, frame);
                let is_in = |k: usize| at[k] >= low[k] && at[k] <= high[k];
                assert!((0..3).all(is_in), "{space:?}: {at:?}");
            }
        }
    }
}

/// A slab, half a metre thick, that slides: its frames say where tangents are, and how fast it goes. `v` goes one way on its upper side and the other way below.
fn slab(frame: usize) -> Mesh {
    let corner = |v: u32| {
        let (side, i) = (f64::from(v / 4), v % 4);
        let (x, z) = (f64::from(i % 2), f64::from(i / 2));
        [3.0 * x + 0.1 * frame as f64, 0.5 * side, 2.0 * z]
    };
    let sides = [[4, 6, 5], [5, 6, 7], [0, 1, 2], [1, 3, 2]];
    let topology = Topology::new(8, sides.to_vec()).expect("in range");
    let places = (0..8).map(|v| corner(v).map(|c| c as f32)).collect();
    let mut mesh = Mesh::new("slab", topology, places);
    mesh.tangents = Some(
        (0..8)
            .map(|v| [1.0, 0.0, 0.0, if v < 4 { 1.0 } else { -1.0 }])
            .collect(),
    );
    let speed = Attribute::Vec3(vec![[2.4, -0.5, 1.5]; 8]);
    mesh.attributes.insert("speed".into(), speed.clone());
    mesh.attributes.insert("course".into(), speed);
    mesh
}

#[test]
fn tangents_velocities_and_thickness_are_in_the_axes_of_every_engine() {
    let source = MeshFrames::new("slab", (0..4).map(slab).collect());
    let format = TexelFormat::Unorm16;
    let choice = |quantity| choice(quantity, format);
    for (space, mode) in SPACES
        .into_iter()
        .flat_map(|s| [(s, Mode::Soft), (s, Mode::Remesh)])
    {
        let asked = [
            Quantity::Position,
            Quantity::Normal,
            Quantity::Tangent,
            Quantity::Velocity("speed".into()),
            Quantity::Thickness,
            // What attributes mean is not known: they stay.
            Quantity::Attribute("course".into()),
        ];
        let settings = VatSettings {
            textures: asked.map(choice).into(),
            ..in_space(space, with_mode(mode))
        };
        let (folders, _) = baked(&source, &settings);
        let read = |quantity: Value| Decoded::read(&folders.out(), &quantity);
        let (places, normals) = (read("position".into()), read("normal".into()));
        let tangents = read("tangent".into());
        let (speeds, thick) = (
            read(serde_json::json!({ "velocity": "speed" })),
            read("thickness".into()),
        );
        let courses = read(serde_json::json!({ "attribute": "course" }));
        let mut hands = [0, 0];
        // Of loose triangles every other row is the end of a frame.
        for (vertex, frame) in (0..normals.vertices as usize).flat_map(|v| [(v, 0), (v, 1)]) {
            let corner: [[f64; 3]; 3] = [0, 1, 2].map(|k| places.at(vertex / 3 * 3 + k, frame));
            if mode == Mode::Remesh && corner[0] == corner[1] && corner[1] == corner[2] {
                continue;
            }
            let normal: [f64; 3] = normals.at(vertex, frame);
            let [x, y, z, w]: [f64; 4] = tangents.at(vertex, frame);
            // In glTF: the upper side looks up, its tangent is +X and its hand -1, so that its bitangent is cross(+Y, +X) * -1 = +Z; below it is
            // cross(-Y, +X) * 1 = +Z, too.
            let up = off(normal, engine(space, [0.0, 1.0, 0.0])) < 1e-3;
            assert!(
                up || off(normal, engine(space, [0.0, -1.0, 0.0])) < 1e-3,
                "{normal:?}"
            );
            assert!(off([x, y, z], engine(space, [1.0, 0.0, 0.0])) < 1e-4);
            let bitangent = cross(normal, [x, y, z]).map(|c| c * w);
            let expected = engine(space, [0.0, 0.0, 1.0]);
            assert!(
                off(bitangent, expected) < 1e-3,
                "{space:?}: {bitangent:?} {expected:?}"
            );
            hands[usize::from(up)] += 1;
            let speed: [f64; 3] = speeds.at(vertex, frame);
            let expected = place(space, [2.4, -0.5, 1.5]);
            assert!(
                off(speed, expected) < 1e-4 * unit(space),
                "{space:?}: {speed:?} {expected:?}"
            );
            let [thickness]: [f64; 1] = thick.at(vertex, frame);
            assert!(
                (thickness - 0.5 * unit(space)).abs() < 1e-4 * unit(space),
                "{thickness}"
            );
            let course: [f64; 3] = courses.at(vertex, frame);
            assert!(off(course, [2.4, -0.5, 1.5]) < 1e-4, "{course:?}");
        }
        assert!(
            hands.iter().all(|n| *n > 0),
            "both sides were seen: {hands:?}"
        );
        let found = checked(&source, &folders, &settings);
        assert_eq!(found.quantities.len(), 4);
        for q in &found.quantities {
            // In the unit of glTF, whatever that of the texels is.
            assert!(
                q.errors.largest <= q.allowed && q.allowed < 1e-4,
                "{space:?}: {q:?}"
            );
        }
    }
}

#[test]
fn an_attribute_is_turned_or_stays() {
    let speed = || "speed".to_owned();
    let asked = [
        Quantity::Position,
        Quantity::Velocity(speed()),
        Quantity::Attribute(speed()),
    ];
    let asked = with_textures(&asked.map(|q| (q, TexelFormat::Unorm16)));
    let settings = |space| in_space(space, asked.clone());
    assert!(settings(Space::default()).check().is_ok());
    let error = settings(Space::YUpLeftHanded).check().expect_err("both");
    let text = error.to_string();
    assert!(
        text.contains("'speed' as velocity and as attribute"),
        "{text}"
    );
}
