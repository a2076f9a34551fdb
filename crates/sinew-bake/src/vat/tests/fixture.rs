//! Settings, bakes in folders of their own, and what is read back from them.

use crate::vat::maker::prepare::simplify::SimplifySettings;
use crate::vat::{
    Convention, Mode, OpenVat, SideFx, Summary, TextureChoice, VatJob, VatSettings, Verified,
    assemble, bake, plan, read_animation, read_manifest, scan, texels, verify,
};
use crate::{BakeError, FrameSource, Watch};
use sinew_geom::Mesh;
use sinew_geom::vec3::{add, cross, dot, length};
use sinew_testkit::files_in;
use sinew_testkit::meshes::mesh_from;
use sinew_vat::animation::VertexAnimation;
use sinew_vat::manifest::Manifest;
use sinew_vat::quantity::Quantity;
use sinew_vat::texel::TexelFormat;
use std::path::{Path, PathBuf};

pub(in crate::vat) fn with_mode(mode: Mode) -> VatSettings {
    VatSettings {
        mode: Some(mode),
        ..VatSettings::default()
    }
}

pub(in crate::vat) fn choice(quantity: Quantity, format: TexelFormat) -> TextureChoice {
    TextureChoice { quantity, format }
}

pub(in crate::vat) fn with_textures(textures: &[(Quantity, TexelFormat)]) -> VatSettings {
    let textures = textures.iter().cloned();
    VatSettings {
        textures: textures.map(|(q, f)| choice(q, f)).collect(),
        ..VatSettings::default()
    }
}

/// Normals, too.
pub(in crate::vat) fn with_format(quantity: Quantity, format: TexelFormat) -> VatSettings {
    with_textures(&[(quantity, format), (Quantity::Normal, format)])
}

/// `settings` with every frame simplified.
pub(in crate::vat) fn to_faces(target_faces: usize, mut settings: VatSettings) -> VatSettings {
    settings.prepare.simplify = Some(SimplifySettings {
        target_faces,
        ..SimplifySettings::default()
    });
    settings
}

/// Triangles that stay the same, cut as in the first frame as long as that is so near.
pub(in crate::vat) fn within(retriangulate_tolerance: f32) -> VatSettings {
    VatSettings {
        retriangulate_tolerance: Some(retriangulate_tolerance),
        ..VatSettings::default()
    }
}

pub(in crate::vat) fn like_openvat(packed_normals: bool) -> VatSettings {
    VatSettings {
        convention: Convention::OpenVat(OpenVat { packed_normals }),
        ..VatSettings::default()
    }
}

pub(in crate::vat) fn like_sidefx(compressed_normals: bool) -> VatSettings {
    VatSettings {
        convention: Convention::SideFx(SideFx { compressed_normals }),
        ..VatSettings::default()
    }
}

/// All frames of a sequence.
pub(in crate::vat) fn meshes_of(source: &dyn FrameSource) -> Vec<Mesh> {
    let frames = 0..source.frame_count();
    frames
        .map(|f| source.load(f).expect("loads").mesh)
        .collect()
}

/// Corners of all triangles.
pub(in crate::vat) fn corners_of(mesh: &Mesh) -> Vec<[[f32; 3]; 3]> {
    let triangles = mesh.topology.triangles().iter();
    let corners = triangles.map(|t| t.map(|v| mesh.positions[v as usize]));
    corners.collect()
}

/// How far positions of a bake may be off: what its format promises, and single precision.
pub(in crate::vat) fn allowed(found: &Verified) -> f64 {
    length(found.promised) * 1.001 + found.promised_beyond + 1e-6
}

/// A folder to work in and one for the result.
pub(in crate::vat) struct Folders(tempfile::TempDir);

impl Folders {
    pub(in crate::vat) fn new() -> Self {
        Self(tempfile::tempdir().expect("a folder"))
    }

    pub(in crate::vat) fn work(&self) -> PathBuf {
        self.0.path().join("work")
    }

    pub(in crate::vat) fn out(&self) -> PathBuf {
        self.0.path().join("out")
    }

    pub(in crate::vat) fn bake(
        &self,
        source: &dyn FrameSource,
        settings: &VatSettings,
    ) -> Result<Summary, BakeError> {
        bake(source, settings, &self.work(), &self.out(), &Watch::NOBODY)
    }

    pub(in crate::vat) fn verify(
        &self,
        source: &dyn FrameSource,
        settings: &VatSettings,
    ) -> Result<Verified, BakeError> {
        verify(&self.out(), source, settings, &Watch::NOBODY)
    }

    pub(in crate::vat) fn verified(
        &self,
        source: &dyn FrameSource,
        settings: &VatSettings,
    ) -> Verified {
        self.verify(source, settings).expect("comparable")
    }

    pub(in crate::vat) fn animation(&self) -> VertexAnimation {
        read_animation(&self.out()).expect("a bake")
    }

    pub(in crate::vat) fn manifest(&self) -> Manifest {
        read_manifest(&self.out()).expect("a manifest").1
    }

    /// The mesh of this project's own carriers.
    pub(in crate::vat) fn carrier(&self) -> Mesh {
        mesh_in(&self.out().join(self.manifest().carrier))
    }

    pub(in crate::vat) fn change_manifest(&self, change: impl FnOnce(&mut Manifest)) {
        let (path, mut manifest) = read_manifest(&self.out()).expect("a manifest");
        change(&mut manifest);
        let text = serde_json::to_string(&manifest).expect("a text");
        std::fs::write(path, text).expect("written");
    }

    /// The page of the report.
    pub(in crate::vat) fn report(&self) -> String {
        let files = files_in(&self.out()).into_iter();
        let mut pages = files.filter(|(name, _)| name.ends_with(".report.html"));
        String::from_utf8(pages.next().expect("a report").1).expect("text")
    }
}

/// The first mesh of a file.
pub(in crate::vat) fn mesh_in(path: &Path) -> Mesh {
    let file = sinew_io::read_any(path).expect("a mesh");
    file.asset.meshes.into_iter().next().expect("a mesh")
}

pub(in crate::vat) fn baked(
    source: &dyn FrameSource,
    settings: &VatSettings,
) -> (Folders, Summary) {
    let folders = Folders::new();
    let summary = folders.bake(source, settings).expect("bakes");
    (folders, summary)
}

/// How a sequence is taken.
pub(in crate::vat) fn mode_of(source: &dyn FrameSource, settings: &VatSettings) -> Mode {
    baked(source, settings).1.plan.mode()
}

/// Why there is no bake. Nothing of it stays.
pub(in crate::vat) fn refused(source: &dyn FrameSource, settings: &VatSettings) -> BakeError {
    let folders = Folders::new();
    let error = folders.bake(source, settings).expect_err("refused");
    assert!(!folders.out().exists(), "half a bake: {error}");
    error
}

/// The bytes of a bake in chunks, scanned last to first, against those of all at once, on any number of threads. Steps behind the scan
/// know the job by its folder alone.
pub(in crate::vat) fn assert_chunks_do_not_matter(
    source: &dyn FrameSource,
    settings: &VatSettings,
) {
    let expected = files_in(&baked(source, settings).0.out());
    for (of, threads) in [(1, 1), (3, 2), (9, 4), (20, 1)] {
        let folders = Folders::new();
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        let chunk = |i: usize| format!("{i}/{of}").parse().expect("a chunk");
        pool.expect("a pool").install(|| {
            let job = VatJob::begin(&folders.work(), source, settings).expect("begins");
            for i in (1..=of).rev() {
                scan(&job, source, chunk(i), &Watch::NOBODY).expect("scans");
            }
            let job = VatJob::open(&folders.work()).expect("opens");
            plan(&job, &Watch::NOBODY).expect("plans");
            for i in 1..=of {
                texels(&job, chunk(i), &Watch::NOBODY).expect("texels");
            }
            assemble(&job, &folders.out(), &Watch::NOBODY).expect("assembles");
        });
        let found = files_in(&folders.out());
        assert!(
            found == expected,
            "{settings:?}: {of} chunks, {threads} threads"
        );
    }
}

/// `v` turned about an axis of unit length by so many radians: Rodrigues' formula.
pub(in crate::vat) fn about(axis: [f64; 3], angle: f64, v: [f64; 3]) -> [f64; 3] {
    let (sin, cos) = angle.sin_cos();
    let (across, along) = (cross(axis, v), dot(axis, v));
    std::array::from_fn(|k| v[k] * cos + across[k] * sin + axis[k] * along * (1.0 - cos))
}

/// Tetrahedra, each with vertices of its own: a corner and the length of the sides along the axes from there.
pub(in crate::vat) fn tetrahedra(name: &str, all: &[([f32; 3], f32)]) -> Mesh {
    let (mut positions, mut triangles) = (Vec::new(), Vec::new());
    for (at, side) in all {
        let base = positions.len() as u32;
        positions.push(*at);
        positions.extend((0..3).map(|axis| {
            let mut corner = *at;
            corner[axis] += side;
            corner
        }));
        let faces = [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]];
        triangles.extend(faces.map(|t| t.map(|v| v + base)));
    }
    mesh_from(name, positions, triangles)
}

/// The sides of a box about the origin: normal and four corners, counter-clockwise from outside.
pub(in crate::vat) fn box_faces(half: [f64; 3]) -> [([f64; 3], [[f64; 3]; 4]); 6] {
    std::array::from_fn(|side| {
        let (axis, sign) = (side / 2, if side % 2 == 0 { -1.0 } else { 1.0 });
        let corner = |(u, v): (f64, f64)| {
            let mut p = [0.0; 3];
            (p[axis], p[(axis + 1) % 3], p[(axis + 2) % 3]) = (sign, u * sign, v);
            std::array::from_fn(|k| p[k] * half[k])
        };
        let mut normal = [0.0; 3];
        normal[axis] = sign;
        let ring = [(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)];
        (normal, ring.map(corner))
    })
}

/// The carrier where the files show it in a frame.
pub(in crate::vat) fn seen(animation: &VertexAnimation, carrier: &Mesh, f: usize) -> Mesh {
    let offsets = animation.manifest().texture(&Quantity::Offset);
    let offsets = offsets.expect("offsets");
    let mut out = carrier.clone();
    for (v, place) in (0..).zip(&mut out.positions) {
        *place = add(*place, animation.vector(offsets, v, f as u32));
    }
    out
}
