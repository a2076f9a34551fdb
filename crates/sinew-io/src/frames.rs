//! Input of all animation writers: frames of meshes with fixed topology.

use crate::IoError;
use crate::fault::malformed;
use sinew_geom::Mesh;
use std::path::Path;

/// Evaluated frames of meshes, ready to be written.
#[derive(Clone, Debug, Default)]
pub struct FrameCache<'a> {
    /// Meshes, each with all its frames.
    pub meshes: Vec<CachedMesh<'a>>,
    /// Time of each frame in seconds: not negative, increasing, one per frame of every mesh.
    pub times_secs: Vec<f32>,
}

/// A mesh and its frames.
#[derive(Clone, Debug)]
pub struct CachedMesh<'a> {
    /// Name of the node in the file.
    pub name: String,
    /// Topology, texture coordinates, colours and parts. Its rest positions are not written.
    pub mesh: &'a Mesh,
    /// One entry per frame.
    pub frames: Vec<FrameData>,
}

/// One frame of one mesh, in scene space.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FrameData {
    /// Positions in metres, one per vertex.
    pub positions: Vec<[f32; 3]>,
    /// Unit normals, one per vertex.
    pub normals: Option<Vec<[f32; 3]>>,
    /// Unit tangents with the sign of the bitangent, one per vertex.
    pub tangents: Option<Vec<[f32; 4]>>,
    /// Linear RGBA, one per vertex.
    pub colors: Option<Vec<[f32; 4]>>,
}

/// Other arrays per frame (driver values, debug lines, joint matrices), for array files.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ExtraArray {
    /// Name of the array.
    pub name: String,
    /// Shape of one frame; empty for one number per frame.
    pub shape: Vec<usize>,
    /// Numbers of each frame in row-major order.
    pub frames: Vec<Vec<f32>>,
}

impl CachedMesh<'_> {
    /// True if every frame has normals.
    pub fn has_normals(&self) -> bool {
        self.frames.iter().all(|f| f.normals.is_some())
    }
    /// True if every frame has tangents.
    pub fn has_tangents(&self) -> bool {
        self.frames.iter().all(|f| f.tangents.is_some())
    }
}

impl FrameCache<'_> {
    /// Checks counts, times and that positions are finite. Writers rely on it.
    pub(crate) fn check(&self, path: &Path) -> Result<(), IoError> {
        if self.times_secs.is_empty() {
            return Err(malformed(path, "frames", "none", "at least one"));
        }
        for (k, &t) in self.times_secs.iter().enumerate() {
            let rising = k == 0 || self.times_secs[k - 1] < t;
            if !(t.is_finite() && t >= 0.0 && rising) {
                let place = format!("time of frame {k}");
                return Err(malformed(
                    path,
                    place,
                    t.to_string(),
                    "increasing times of 0 s or more",
                ));
            }
        }
        self.meshes
            .iter()
            .try_for_each(|m| m.check(path, self.times_secs.len()))
    }
}

impl CachedMesh<'_> {
    pub(crate) fn check(&self, path: &Path, frame_count: usize) -> Result<(), IoError> {
        let name = &self.name;
        let vertex_count = self.mesh.vertex_count();
        let count = |what: &str, found: usize, expected: usize| {
            if found == expected {
                return Ok(());
            }
            let place = format!("{what} of {name}");
            Err(malformed(
                path,
                place,
                found.to_string(),
                expected.to_string(),
            ))
        };
        count("frame count", self.frames.len(), frame_count)?;
        for uvs in &self.mesh.uvs {
            count("texture coordinates", uvs.len(), vertex_count)?;
        }
        for colors in &self.mesh.colors {
            count("colours", colors.len(), vertex_count)?;
        }
        for (k, f) in self.frames.iter().enumerate() {
            count(
                &format!("frame {k} positions"),
                f.positions.len(),
                vertex_count,
            )?;
            if let Some(n) = &f.normals {
                count(&format!("frame {k} normals"), n.len(), vertex_count)?;
            }
            if let Some(t) = &f.tangents {
                count(&format!("frame {k} tangents"), t.len(), vertex_count)?;
            }
            if let Some(c) = &f.colors {
                count(&format!("frame {k} colours"), c.len(), vertex_count)?;
            }
            let finite = |p: &[f32; 3]| p.iter().all(|c| c.is_finite());
            if let Some(v) = f.positions.iter().position(|p| !finite(p)) {
                let place = format!("frame {k} of {name}, vertex {v}");
                let found = format!("{:?}", f.positions[v]);
                return Err(malformed(path, place, found, "finite numbers"));
            }
        }
        Ok(())
    }
}
