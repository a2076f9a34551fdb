//! Real colliders of ../shared/data against every triangle in double precision: some nodes of each, and the ways out of them. Every
//! node is judged in `tests/it/sdf_real.rs` of `sinew`, with the same bounds.

use super::*;
use sinew_testkit::read_obj;

#[test]
fn colliders_agree_with_every_triangle() {
    let Some(data) = sinew_testkit::shared_data() else {
        println!("skipped: no shared data");
        return;
    };
    let folder = data.join("collision");
    let Ok(list) = std::fs::read_dir(&folder) else {
        println!("skipped: no colliders");
        return;
    };
    let mut files: Vec<_> = list.flatten().map(|e| e.path()).collect();
    files.retain(|p| p.extension().is_some_and(|e| e == "obj"));
    files.sort();
    assert_eq!(files.len(), 10, "meshes of the shared data");
    for path in files {
        let (topology, positions) = read_obj(&path);
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        let made = make(&topology, &positions, cells(48));
        let nodes: u32 = made.report.shape.nodes().iter().product();
        // About as many pairs of node and triangle for each mesh.
        let work = u64::from(nodes) * topology.triangles().len() as u64;
        let step = (work / 12_000_000).max(1) as u32 | 1;
        let d = made.compare(step);
        let report = made.bind.report();
        println!("{name}: {report:?} {d:?} step {step}");
        assert!(d.in_band < 2e-4, "{name}: {d:?}");
        assert_eq!(d.wrong_signs_in_bricks, 0, "{name}: {d:?}");
        assert!(d.in_bricks < 1.6, "{name}: {d:?}");
        if report.is_closed() {
            assert!(d.wrong_signs == 0 && d.elsewhere < 4.5, "{name}: {d:?}");
            assert_eq!(made.stuck_inside(5), 0, "{name}");
        }
    }
}
