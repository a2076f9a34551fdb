//! Distance fields: no allocation while building, and the TressFX field of TressFX on its own colliders.

use crate::common::allocations::counted_pool;
use sinew::deform::Par;
use sinew::deform::sdf::{
    Axis, FieldBuffers, FieldFrame, Resolution, SdfBind, SdfSettings, SignMethod, Storage, UNSET,
};
use sinew::deform::tressfx_sdf::CompatibilityField;
use sinew::geom::Mesh;
use sinew_testkit::MeshTruth;

fn cells(count: u32) -> SdfSettings {
    SdfSettings {
        resolution: Resolution::Cells {
            count,
            along: Axis::Longest,
        },
        ..SdfSettings::default()
    }
}

#[test]
fn building_allocates_nothing() {
    let mesh = sinew_testkit::meshes::sphere(24, 48);
    let frame = FieldFrame::default();
    let (pool, count) = counted_pool(1);
    for (sign, storage) in [
        (SignMethod::Pseudonormals, Storage::Single),
        (SignMethod::WindingNumber, Storage::Half),
    ] {
        let settings = SdfSettings {
            sign,
            storage,
            ..cells(32)
        };
        let bind = SdfBind::new(&mesh.topology, &mesh.positions, &frame, settings).expect("valid");
        let mut buffers = FieldBuffers::new(&bind);
        let mut moved = mesh.positions.clone();
        let mut build = |step: f32| {
            for p in &mut moved {
                p[1] += step * p[0];
            }
            buffers.build(&bind, &moved, &frame, Par::Seq)
        };
        pool.install(|| {
            build(0.0);
            let before = count();
            for _ in 0..3 {
                build(0.1);
            }
            assert_eq!(count(), before, "{sign:?}");
        });
    }
}

#[test]
fn tressfx_is_as_documented() {
    let Some(data) = sinew_testkit::shared_data() else {
        println!("skipped: no shared data");
        return;
    };
    for (file, cells_along_x, cell, across) in [
        ("Ratboy_body.tfxmesh", 50, 0.0199, 130_u32),
        ("Ratboy_left_hand.tfxmesh", 32, 0.00706, 82),
    ] {
        let path = data.join("hair").join(file);
        let asset = sinew::io::read_any(&path).expect("readable").asset;
        let mesh = asset.meshes.first().expect("a mesh");
        let found = documented(mesh, cells_along_x);
        println!("{file}: {found:?}");
        assert!((found.cell / cell - 1.0).abs() < 0.005, "{found:?}");
        assert_eq!(found.ours_wrong, 0, "{found:?}");
        // The quotient is a whole number before rounding, so the last bit decides whether an axis loses one node.
        assert!(found.nodes.iter().all(|&n| n == across || n + 1 == across));
        if file.starts_with("Ratboy_body") {
            // The hole in the middle and the wrong signs that our own field has not.
            assert!(found.written.abs_diff(19_350) < 20, "{found:?}");
            assert_eq!((found.inside, found.unset_inside), (6_388, 672));
            assert_eq!(found.wrong_signs, 4);
        } else {
            assert_eq!((found.unset_inside, found.wrong_signs), (0, 0));
        }
    }
}

#[derive(Debug)]
struct Found {
    cell: f32,
    nodes: [u32; 3],
    written: usize,
    inside: usize,
    unset_inside: usize,
    wrong_signs: usize,
    /// Nodes half a cell and more from the surface at which our own field has another sign than the exact winding number says.
    ours_wrong: usize,
}

/// Builds the TressFX field and counts against exact winding numbers.
fn documented(mesh: &Mesh, cells_along_x: u32) -> Found {
    let mut field = CompatibilityField::new(&mesh.positions, cells_along_x).expect("extent");
    field.build(&mesh.topology, &mesh.positions);
    let frame = FieldFrame::default();
    let settings = SdfSettings {
        sign: SignMethod::WindingNumber,
        resolution: Resolution::CellSize(field.cell),
        ..SdfSettings::default()
    };
    let bind = SdfBind::new(&mesh.topology, &mesh.positions, &frame, settings).expect("valid");
    let mut buffers = FieldBuffers::new(&bind);
    buffers.build(&bind, &mesh.positions, &frame, Par::Seq);
    let view = buffers.view();
    let lines = [0, 1, 2].map(|k| {
        let at = |i: u32| f64::from(field.node_position([i; 3])[k]);
        (0..field.nodes[k]).map(at).collect()
    });
    let truth = MeshTruth::new(&mesh.positions, mesh.topology.triangles());
    let windings = truth.windings(&lines);
    let mut found = Found {
        cell: field.cell,
        nodes: field.nodes,
        written: field.written(),
        inside: 0,
        unset_inside: 0,
        wrong_signs: 0,
        ours_wrong: 0,
    };
    for (index, &value) in field.values.iter().enumerate() {
        let [nx, ny, _] = field.nodes.map(|n| n as usize);
        let node = [index % nx, index / nx % ny, index / (nx * ny)].map(|c| c as u32);
        let p = field.node_position(node);
        let near = view.sample(p);
        let inside = windings[index] > 0.5;
        // Between its own nodes our field is interpolated: nearer to the surface than half a cell it may have either sign.
        let is_clear = near.abs() > 0.5 * field.cell;
        found.ours_wrong += usize::from(is_clear && (near < 0.0) != inside);
        found.inside += usize::from(inside);
        found.unset_inside += usize::from(inside && value == UNSET);
        found.wrong_signs += usize::from(value != UNSET && (value < 0.0) != inside);
    }
    found
}
