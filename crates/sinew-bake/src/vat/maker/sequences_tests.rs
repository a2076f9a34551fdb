//! Real sequences through texels and back, frame by frame: what comes out is what went in, within the format.

use crate::vat::maker::error::angle_between;
use crate::vat::maker::normals::{DEFAULT_CREASE, corner_normals};
use crate::vat::maker::plan::{RemeshPlan, RemeshSettings};
use crate::vat::maker::remesh::{encode_frame, scan_frame, slots_in_file_order};
use crate::vat::maker::tearing::SharedEdges;
use sinew_geom::{Mesh, Topology};
use sinew_io::{find_sequence, read_mesh};
use sinew_vat::quantity::Quantity;
use sinew_vat::texel::TexelFormat;
use sinew_vat::texture::texture_rows;
use std::path::PathBuf;

/// The frames of a sequence, or `None` where there is no data.
fn frames(name: &str) -> Option<Vec<Mesh>> {
    let data = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../../shared/data/sequences"
    );
    let folder = PathBuf::from(data).join(name);
    if !folder.is_dir() {
        println!("skipped: no sequence {name}");
        return None;
    }
    let files = find_sequence(&folder).expect("one sequence").files;
    let read = |(_, path): (i64, PathBuf)| read_mesh(&path).expect("reads").meshes.swap_remove(0);
    Some(files.into_iter().map(read).collect())
}

/// A texture, as a file would hold it.
struct Texture {
    width: usize,
    texels: Vec<u8>,
    vertex_bytes: usize,
}

impl Texture {
    fn texel(&self, [x, y]: [u32; 2]) -> &[u8] {
        let (x, y, size) = (x as usize, y as usize, self.vertex_bytes);
        assert!(x < self.width);
        let at = (y * self.width + x) * size;
        &self.texels[at..at + size]
    }
}

fn bake(frames: &[Mesh], settings: &RemeshSettings) -> (RemeshPlan, Vec<Texture>) {
    let quantities: Vec<Quantity> = settings.textures.iter().map(|t| t.0.clone()).collect();
    let scan = |(i, mesh): (usize, &Mesh)| scan_frame(i, mesh, &quantities).expect("complete");
    let scans: Vec<_> = frames.iter().enumerate().map(scan).collect();
    let plan = RemeshPlan::new(&scans, settings).expect("fits");
    let encode = |mesh: &Mesh| {
        let count = mesh.topology.triangles().len() as u32;
        let slots = slots_in_file_order(count, plan.slots, plan.bounds.0);
        encode_frame(mesh, &slots, &plan.textures, DEFAULT_CREASE)
    };
    let encoded: Vec<_> = frames.iter().map(encode).collect();
    let texture = |t: usize| {
        let vertex_bytes = plan.textures[t].vertex_bytes();
        let frame = |f: u32| encoded[f as usize][t].as_slice();
        Texture {
            width: plan.layout.size[0] as usize,
            texels: texture_rows(&plan.layout, vertex_bytes, frame),
            vertex_bytes,
        }
    };
    let textures = (0..plan.textures.len()).map(texture).collect();
    (plan, textures)
}

/// Largest errors over all frames: metres along an axis, degrees.
fn errors(frames: &[Mesh], plan: &RemeshPlan, textures: &[Texture]) -> (f32, f64) {
    let (mut metres, mut degrees) = (0.0_f32, 0.0_f64);
    for (f, mesh) in frames.iter().enumerate() {
        let normals = corner_normals(&mesh.topology, &mesh.positions, DEFAULT_CREASE);
        let triangles = mesh.topology.triangles();
        for slot in 0..plan.slots {
            let texels: [[u32; 2]; 3] =
                std::array::from_fn(|k| plan.layout.texel(3 * slot + k as u32, f as u32));
            let Some(t) = triangles.get(slot as usize) else {
                let bytes = texels.map(|t| textures[0].texel(t));
                assert!(
                    bytes[0] == bytes[1] && bytes[1] == bytes[2],
                    "frame {f}, slot {slot}"
                );
                continue;
            };
            for k in 0..3 {
                let (p, n) = (mesh.positions[t[k] as usize], normals[slot as usize][k]);
                let mut got = [0.0; 3];
                for c in 0..3 {
                    let position = plan.textures[0].decode(textures[0].texel(texels[k]), c);
                    metres = metres.max((position - p[c]).abs());
                    got[c] = plan.textures[1].decode(textures[1].texel(texels[k]), c);
                }
                degrees = degrees.max(angle_between(got, n).to_degrees());
            }
        }
    }
    (metres, degrees)
}

#[test]
fn row_128_sequences_come_back_within_their_formats() {
    for name in ["liquid_splash", "boolean_cut", "cloth_drape"] {
        let Some(frames) = frames(name) else { return };
        for (position, normal, allowed_degrees) in [
            // Half a code of 2/255 along each axis at once: asin(sqrt(3) / 255).
            (TexelFormat::Unorm16, TexelFormat::Unorm8, 0.3892),
            (TexelFormat::Float, TexelFormat::Float, 1e-5),
        ] {
            let settings = RemeshSettings {
                textures: vec![(Quantity::Position, position), (Quantity::Normal, normal)],
                ..RemeshSettings::default()
            };
            let (plan, textures) = bake(&frames, &settings);
            let (metres, degrees) = errors(&frames, &plan, &textures);
            let (low, high) = plan.bounds;
            let side = (0..3).map(|k| high[k] - low[k]).fold(0.0, f32::max);
            let allowed = match position {
                TexelFormat::Float => 0.0,
                // Half a code, and what single precision rounds on both ways.
                _ => {
                    let far = low.iter().chain(&high).fold(0.0_f32, |m, c| m.max(c.abs()));
                    side / 65535.0 / 2.0 + (far + side) * 1.2e-7
                }
            };
            println!(
                "{name}, {position:?}: {metres:.2e} m of {allowed:.2e}, {degrees:.3} degrees; {:?}, {:.1} % of slots empty",
                plan.layout.size,
                100.0 * plan.empty_slots
            );
            assert!(metres <= allowed, "{name}: {metres} m, {allowed} allowed");
            assert!(degrees <= allowed_degrees, "{name}: {degrees} degrees");
        }
    }
}

/// Frames of a remeshed liquid, cut to equally many triangles: nothing of them may be taken for cloth that tears.
#[test]
fn remeshed_frames_are_no_tearing_cloth() {
    for name in ["liquid_splash", "boolean_cut"] {
        let Some(frames) = frames(name) else { return };
        let cut = |mesh: &Mesh, count: usize| {
            let triangles = mesh.topology.triangles()[..count].to_vec();
            let vertices = mesh.positions.len() as u32;
            SharedEdges::new(&Topology::new(vertices, triangles).expect("in range"))
        };
        let mut most = 0.0_f64;
        for pair in frames.windows(2) {
            let lists = [&pair[0], &pair[1]].map(|m| m.topology.triangles());
            let count = lists[0].len().min(lists[1].len());
            if lists[0][..count] == lists[1][..count] {
                continue;
            }
            let found = cut(&pair[0], count).compared_with(&cut(&pair[1], count));
            let share = found.kept as f64 / found.first.min(found.here) as f64;
            most = most.max(share);
            assert!(!found.is_tearing(), "{name}: {found:?}");
        }
        println!("{name}: {:.1} % of edges are kept at most", most * 100.0);
    }
}
