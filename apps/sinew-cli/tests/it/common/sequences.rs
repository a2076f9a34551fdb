//! Small sequences to bake, and what commands end with.

use super::{Place, printed, said};

#[track_caller]
pub(crate) fn ended(o: &std::process::Output, code: i32, part: &str) {
    let text = said(o) + &printed(o);
    assert_eq!(o.status.code(), Some(code), "{text}");
    assert!(text.contains(part), "no \"{part}\" in {text}");
}

/// Frames `f` of `name_000f.ply`: `counts[f]` loose triangles that drift.
pub(crate) fn sequence(p: &Place, name: &str, counts: &[usize]) {
    write(p, name, counts, "", |_| String::new());
}

/// The same with a colour for each triangle.
pub(crate) fn colored(p: &Place, name: &str, counts: &[usize], red: impl Fn(usize) -> u8) {
    let properties = "property uchar red\nproperty uchar green\nproperty uchar blue\n";
    write(p, name, counts, properties, |t| {
        format!(" {} 20 200", red(t))
    });
}

fn write(p: &Place, name: &str, counts: &[usize], more: &str, values: impl Fn(usize) -> String) {
    std::fs::create_dir_all(p.path(name)).expect("a folder");
    for (f, &count) in counts.iter().enumerate() {
        let mut text = format!(
            "ply\nformat ascii 1.0\nelement vertex {}\nproperty float x\nproperty float y\nproperty float z\n{more}element face {count}\nproperty list uchar int vertex_indices\nend_header\n",
            3 * count
        );
        for t in 0..count {
            let (x, y) = (t as f32 * 0.7, f as f32 * 0.1);
            for (dx, dz) in [(0.0, 0.0), (0.5, 0.1), (0.1, 0.5)] {
                text += &format!("{} {y} {}{}\n", x + dx, dz + y, values(t));
            }
        }
        for t in 0..count {
            text += &format!("3 {} {} {}\n", 3 * t, 3 * t + 1, 3 * t + 2);
        }
        p.put(&format!("{name}/{name}_{f:04}.ply"), &text);
    }
}
