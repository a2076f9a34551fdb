//! Plain C++ loops of `tools/bench/plain.cpp`, called in the same process, so that ratios come from one run.
//! `tools/bench/run` builds them and names the library in `SINEW_PLAIN_LOOPS`; without that they are left out.

use libloading::Library;
use sinew_geom::{Mesh, OneRings, PackedAffine, WeldMap};

type Skin = unsafe extern "C" fn(
    usize,
    *const f32,
    *const f32,
    *const u16,
    *const f32,
    *const f32,
    *mut f32,
    *mut f32,
);
type Smooth = unsafe extern "C" fn(usize, *const u32, *const u32, *const f32, *mut f32);
type Copy = unsafe extern "C" fn(usize, *const f32, *mut f32, f32);

/// The loops and what they read.
pub(crate) struct Plain {
    library: Library,
    joints: Vec<[u16; 4]>,
    weights: Vec<[f32; 4]>,
    palette: Vec<[[f32; 4]; 3]>,
    offsets: Vec<u32>,
    neighbours: Vec<u32>,
}

impl std::fmt::Debug for Plain {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Plain")
            .field("library", &self.library)
            .finish_non_exhaustive()
    }
}

#[expect(unsafe_code, reason = "C++ is called across a C interface")]
impl Plain {
    /// None where no library is named.
    pub(crate) fn load(mesh: &Mesh, palette: &[PackedAffine]) -> Option<Self> {
        let Some(path) = std::env::var_os("SINEW_PLAIN_LOOPS") else {
            eprintln!("without the plain C++ loops: tools/bench/run builds and names them");
            return None;
        };
        // SAFETY: the library is built from plain.cpp, which runs nothing when loaded.
        let library = unsafe { Library::new(path) }.expect("SINEW_PLAIN_LOOPS can be loaded");
        let influences = mesh.influences.as_ref().expect("bound");
        let row = |v: usize, k: usize| influences.row(v).nth(k).unwrap_or((0, 0.0));
        let vertices = 0..mesh.vertex_count();
        let joints = vertices
            .clone()
            .map(|v| std::array::from_fn(|k| row(v, k).0 as u16));
        let weights = vertices.map(|v| std::array::from_fn(|k| row(v, k).1));
        let (joints, weights) = (joints.collect(), weights.collect());
        let weld = WeldMap::identity(mesh.vertex_count());
        let OneRings {
            offsets,
            neighbours,
            ..
        } = OneRings::build(&mesh.topology, &weld);
        Some(Self {
            library,
            joints,
            weights,
            palette: palette.iter().map(|m| m.rows).collect(),
            offsets,
            neighbours,
        })
    }

    /// Linear skinning of positions and, where given, normals.
    pub(crate) fn skin(
        &self,
        positions: &[[f32; 3]],
        normals: Option<&[[f32; 3]]>,
        out: &mut [[f32; 3]],
        out_normals: &mut [[f32; 3]],
    ) {
        let n = self.weights.len();
        assert!(positions.len() == n && out.len() == n && out_normals.len() == n);
        assert!(normals.is_none_or(|v| v.len() == n));
        // SAFETY: the signature is that of plain.cpp, and every array has a row for each of the `n` vertices.
        unsafe {
            let skin = self
                .library
                .get::<Skin>(b"plain_skin")
                .expect("is in plain.cpp");
            skin(
                n,
                positions.as_ptr().cast(),
                normals.map_or(std::ptr::null(), |v| v.as_ptr().cast()),
                self.joints.as_ptr().cast(),
                self.weights.as_ptr().cast(),
                self.palette.as_ptr().cast(),
                out.as_mut_ptr().cast(),
                out_normals.as_mut_ptr().cast(),
            );
        }
    }

    /// Uniform smoothing, an even number of passes from `a` over `b` back to `a`.
    pub(crate) fn smooth(&self, passes: usize, a: &mut [[f32; 3]], b: &mut [[f32; 3]]) {
        let n = self.weights.len();
        assert!(a.len() == n && b.len() == n && passes.is_multiple_of(2));
        // SAFETY: as above; offsets and neighbours were made for these vertices.
        unsafe {
            let smooth = self
                .library
                .get::<Smooth>(b"plain_smooth")
                .expect("is in plain.cpp");
            let (offsets, neighbours) = (self.offsets.as_ptr(), self.neighbours.as_ptr());
            let (a, b): (*mut f32, *mut f32) = (a.as_mut_ptr().cast(), b.as_mut_ptr().cast());
            for _ in 0..passes / 2 {
                smooth(n, offsets, neighbours, a, b);
                smooth(n, offsets, neighbours, b, a);
            }
        }
    }

    /// Reads positions and writes them, scaled.
    pub(crate) fn copy(&self, from: &[[f32; 3]], to: &mut [[f32; 3]], factor: f32) {
        assert_eq!(from.len(), to.len());
        // SAFETY: both arrays have `from.len()` rows.
        unsafe {
            let copy = self
                .library
                .get::<Copy>(b"plain_copy")
                .expect("is in plain.cpp");
            copy(
                from.len(),
                from.as_ptr().cast(),
                to.as_mut_ptr().cast(),
                factor,
            );
        }
    }
}
