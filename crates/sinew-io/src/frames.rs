//! Input of all animation writers: frames of meshes with fixed topology.

use crate::fault::malformed;
use crate::{IoError, Numbers, Spool};
use sinew_geom::Mesh;
use std::borrow::Cow;
use std::io;
use std::ops::Range;
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
    pub frames: Vec<CachedFrame>,
}

/// One frame of one mesh, in memory or in a [`Spool`].
#[derive(Clone, Debug)]
pub struct CachedFrame {
    positions: Numbers,
    normals: Option<Numbers>,
    tangents: Option<Numbers>,
    colors: Option<Numbers>,
    /// The first vertex with a position that is not finite, and that position.
    not_finite: Option<(usize, [f32; 3])>,
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
#[derive(Clone, Debug, Default)]
pub struct ExtraArray {
    /// Name of the array.
    pub name: String,
    /// Shape of one frame; empty for one number per frame.
    pub shape: Vec<usize>,
    /// Numbers of each frame in row-major order.
    pub frames: Vec<Numbers>,
}

impl From<FrameData> for CachedFrame {
    fn from(data: FrameData) -> Self {
        Self {
            not_finite: first_not_finite(&data.positions),
            positions: data.positions.into_flattened().into(),
            normals: data.normals.map(|n| n.into_flattened().into()),
            tangents: data.tangents.map(|t| t.into_flattened().into()),
            colors: data.colors.map(|c| c.into_flattened().into()),
        }
    }
}

pub(crate) fn first_not_finite(positions: &[[f32; 3]]) -> Option<(usize, [f32; 3])> {
    let mut all = positions.iter().copied().enumerate();
    all.find(|(_, p)| p.iter().any(|c| !c.is_finite()))
}

impl CachedFrame {
    /// Moves a frame into a spool.
    ///
    /// # Errors
    /// [`IoError::Write`], for example if the disk is full.
    pub fn spooled(data: &FrameData, spool: &mut Spool) -> Result<Self, IoError> {
        let mut some = |numbers: Option<&[f32]>| numbers.map(|n| spool.put(n)).transpose();
        let normals = some(data.normals.as_deref().map(<[_]>::as_flattened))?;
        let tangents = some(data.tangents.as_deref().map(<[_]>::as_flattened))?;
        let colors = some(data.colors.as_deref().map(<[_]>::as_flattened))?;
        Ok(Self {
            not_finite: first_not_finite(&data.positions),
            positions: spool.put(data.positions.as_flattened())?,
            normals,
            tangents,
            colors,
        })
    }

    /// Number of vertices.
    pub fn vertex_count(&self) -> usize {
        self.positions.len() / 3
    }

    /// True if the frame has colours.
    pub fn has_colors(&self) -> bool {
        self.colors.is_some()
    }

    /// All of the frame.
    ///
    /// # Errors
    /// If the spool cannot be read.
    pub fn read(&self) -> io::Result<FrameData> {
        self.range(0..self.vertex_count())
    }

    /// Some of its vertices.
    ///
    /// # Errors
    /// As [`Self::read`].
    pub fn range(&self, vertices: Range<usize>) -> io::Result<FrameData> {
        Ok(FrameData {
            positions: rows(&self.positions, &vertices)?,
            normals: optional_rows(self.normals.as_ref(), &vertices)?,
            tangents: optional_rows(self.tangents.as_ref(), &vertices)?,
            colors: optional_rows(self.colors.as_ref(), &vertices)?,
        })
    }

    /// Positions as numbers, without those that are not needed.
    pub(crate) fn position_numbers(&self) -> &Numbers {
        &self.positions
    }

    pub(crate) fn normal_numbers(&self) -> Option<&Numbers> {
        self.normals.as_ref()
    }

    pub(crate) fn tangent_numbers(&self) -> Option<&Numbers> {
        self.tangents.as_ref()
    }

    pub(crate) fn color_numbers(&self) -> Option<&Numbers> {
        self.colors.as_ref()
    }
}

fn rows<const N: usize>(numbers: &Numbers, vertices: &Range<usize>) -> io::Result<Vec<[f32; N]>> {
    let numbers = numbers.range(N * vertices.start..N * vertices.end)?;
    Ok(numbers.as_chunks::<N>().0.to_vec())
}

fn optional_rows<const N: usize>(
    numbers: Option<&Numbers>,
    vertices: &Range<usize>,
) -> io::Result<Option<Vec<[f32; N]>>> {
    numbers.map(|n| rows(n, vertices)).transpose()
}

impl CachedMesh<'_> {
    /// True if every frame has normals.
    pub fn has_normals(&self) -> bool {
        self.frames.iter().all(|f| f.normals.is_some())
    }
    /// True if every frame has colours.
    pub fn has_colors(&self) -> bool {
        self.frames.iter().all(CachedFrame::has_colors)
    }
    /// True if a frame has other colours than the first one.
    pub(crate) fn colors_vary(&self) -> io::Result<bool> {
        let colors = |f: &CachedFrame| f.colors.as_ref().map(|c| c.all().map(Cow::into_owned));
        let Some(first) = self.frames.first() else {
            return Ok(false);
        };
        let same_kind = |f: &CachedFrame| f.has_colors() == first.has_colors();
        if !self.frames.iter().all(same_kind) {
            return Ok(true);
        }
        let first = colors(first).transpose()?;
        for frame in &self.frames {
            if colors(frame).transpose()? != first {
                return Ok(true);
            }
        }
        Ok(false)
    }
    /// True if every frame has tangents.
    pub fn has_tangents(&self) -> bool {
        self.frames.iter().all(|f| f.tangents.is_some())
    }
}

impl<'a> FrameCache<'a> {
    /// A mesh at rest: one frame at 0 s.
    pub fn still(mesh: &'a Mesh) -> Self {
        Self {
            meshes: vec![CachedMesh::still(mesh)],
            times_secs: vec![0.0],
        }
    }
}

impl<'a> CachedMesh<'a> {
    /// A mesh at rest, under its own name.
    pub fn still(mesh: &'a Mesh) -> Self {
        let frame = FrameData {
            positions: mesh.positions.clone(),
            normals: mesh.normals.clone(),
            ..FrameData::default()
        };
        Self {
            name: mesh.name.clone(),
            mesh,
            frames: vec![frame.into()],
        }
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
                let location = format!("time of frame {k}");
                return Err(malformed(
                    path,
                    location,
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
            let location = format!("{what} of {name}");
            Err(malformed(
                path,
                location,
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
            let arrays = [
                ("positions", Some(&f.positions), 3),
                ("normals", f.normals.as_ref(), 3),
                ("tangents", f.tangents.as_ref(), 4),
                ("colours", f.colors.as_ref(), 4),
            ];
            for (what, numbers, width) in arrays {
                let found = numbers.map_or(vertex_count, |n| n.len() / width);
                count(&format!("frame {k} {what}"), found, vertex_count)?;
            }
            if let Some((v, position)) = f.not_finite {
                let location = format!("frame {k} of {name}, vertex {v}");
                return Err(malformed(
                    path,
                    location,
                    format!("{position:?}"),
                    "finite numbers",
                ));
            }
        }
        Ok(())
    }
}
