//! Shared by OBJ and PLY: a borrowed mesh for the writers, repairs for the readers.

use crate::fault::{file_stem, warning};
use crate::{FrameData, IoError};
use sinew_geom::{Asset, Attribute, Mesh, Topology, Warning};
use std::collections::{BTreeMap, HashMap};
use std::path::Path;

/// A borrowed mesh of one frame: the content of a mesh file.
#[derive(Clone, Copy, Debug)]
pub struct Surface<'a> {
    /// Name of the object.
    pub name: &'a str,
    /// Faces.
    pub topology: &'a Topology,
    /// Positions in metres, one per vertex.
    pub positions: &'a [[f32; 3]],
    /// Unit normals, one per vertex.
    pub normals: Option<&'a [[f32; 3]]>,
    /// Texture coordinates with `v` down, one per vertex.
    pub uvs: Option<&'a [[f32; 2]]>,
    /// Linear RGBA, one per vertex. Byte colours in files, and all colours in OBJ, are sRGB.
    pub colors: Option<&'a [[f32; 4]]>,
    /// User attributes. PLY stores them; OBJ cannot.
    pub attributes: Option<&'a BTreeMap<String, Attribute>>,
}

impl<'a> From<&'a Mesh> for Surface<'a> {
    fn from(mesh: &'a Mesh) -> Self {
        Self {
            name: &mesh.name,
            topology: &mesh.topology,
            positions: &mesh.positions,
            normals: mesh.normals.as_deref(),
            uvs: mesh.uvs.first().map(Vec::as_slice),
            colors: mesh.colors.first().map(Vec::as_slice),
            attributes: Some(&mesh.attributes),
        }
    }
}

impl<'a> Surface<'a> {
    /// One frame of a mesh, with the remaining data of that mesh.
    pub fn of_frame(name: &'a str, mesh: &'a Mesh, frame: &'a FrameData) -> Self {
        Self {
            name,
            positions: &frame.positions,
            normals: frame.normals.as_deref(),
            colors: frame
                .colors
                .as_deref()
                .or(mesh.colors.first().map(Vec::as_slice)),
            ..Self::from(mesh)
        }
    }

    /// Corners of each face: polygons if the topology has them, else triangles.
    pub(crate) fn faces(&self) -> Box<dyn Iterator<Item = &'a [u32]> + 'a> {
        let topology = self.topology;
        match topology.polygons() {
            Some(p) => Box::new((0..p.len()).map(|f| p.face(f))),
            None => Box::new(topology.triangles().iter().map(|t| t.as_slice())),
        }
    }

    /// Number of faces of [`Self::faces`].
    pub(crate) fn face_count(&self) -> usize {
        self.topology
            .polygons()
            .map_or(self.topology.triangles().len(), |p| p.len())
    }

    /// Checks that all arrays have one entry per vertex.
    pub(crate) fn check(&self, path: &Path) -> Result<(), IoError> {
        let expected = self.topology.vertex_count();
        let lengths = [
            ("positions", Some(self.positions.len())),
            ("normals", self.normals.map(<[_]>::len)),
            ("texture coordinates", self.uvs.map(<[_]>::len)),
            ("colours", self.colors.map(<[_]>::len)),
        ];
        for (what, found) in lengths {
            if found.is_some_and(|n| n != expected) {
                let found = found.unwrap_or(0).to_string();
                return Err(crate::fault::malformed(
                    path,
                    what,
                    found,
                    expected.to_string(),
                ));
            }
        }
        Ok(())
    }
}

/// An asset of one mesh, as OBJ and PLY give it.
pub(crate) fn asset_of(path: &Path, mut mesh: Mesh, warnings: Vec<Warning>) -> Asset {
    let name = file_stem(path);
    if mesh.name.is_empty() {
        mesh.name.clone_from(&name);
    }
    Asset {
        name,
        meshes: vec![mesh],
        warnings,
        ..Asset::default()
    }
}

/// A face corner: indices of position, texture coordinate and normal.
pub(crate) type Corner = [u32; 3];

/// No such index at this corner.
pub(crate) const NONE: u32 = u32::MAX;

/// One vertex for each combination in use: the first one of vertex `v` of the `count` that there are is vertex `v` of the mesh, the others
/// follow at the end in the order of their first use. Gives vertices and the vertex of each corner; `None` where these are 2^32.
pub(crate) fn split(
    count: usize,
    corners: impl Iterator<Item = Corner>,
) -> Option<(Vec<Corner>, Vec<u32>)> {
    let mut vertices: Vec<Corner> = (0_u32..).take(count).map(|v| [v, NONE, NONE]).collect();
    let mut used = vec![false; count];
    let mut further: HashMap<Corner, u32> = HashMap::new();
    let mut indices = Vec::with_capacity(corners.size_hint().0);
    for corner in corners {
        let first = corner[0] as usize;
        if !used[first] {
            used[first] = true;
            vertices[first] = corner;
        }
        if vertices[first] == corner {
            indices.push(corner[0]);
            continue;
        }
        let next = u32::try_from(vertices.len()).ok().filter(|&n| n < NONE)?;
        let index = *further.entry(corner).or_insert(next);
        if index == next {
            vertices.push(corner);
        }
        indices.push(index);
    }
    Some((vertices, indices))
}

/// Rotates a mesh from Z up (Blender, most scans and simulations) to Y up: `(x, y, z)` becomes `(x, z, -y)` for
/// positions, normals, tangents and the attribute `velocity`. OBJ and PLY files do not state their up axis.
pub fn turn_z_up_to_y_up(mesh: &mut Mesh) {
    fn turn(v: &mut [f32]) {
        v.swap(1, 2);
        // Subtracting from zero keeps 0.0 from becoming -0.0.
        v[2] = 0.0 - v[2];
    }
    mesh.positions.iter_mut().for_each(|p| turn(p));
    mesh.normals.iter_mut().flatten().for_each(|n| turn(n));
    mesh.tangents.iter_mut().flatten().for_each(|t| turn(t));
    if let Some(Attribute::Vec3(v)) = mesh.attributes.get_mut("velocity") {
        v.iter_mut().for_each(|v| turn(v));
    }
}

/// Normalizes normals. Sets those that are zero or not finite to +Y and counts them.
pub(crate) fn repair_normals(normals: &mut [[f32; 3]], warnings: &mut Vec<Warning>) {
    let mut bad = 0_usize;
    for n in normals {
        match unit(*n) {
            Some(u) => *n = u,
            None => {
                bad += 1;
                *n = [0.0, 1.0, 0.0];
            }
        }
    }
    if bad > 0 {
        warnings.push(warning(
            "normals_without_direction",
            format!("{bad} normals are zero or not finite; they were set to +Y"),
        ));
    }
}

/// Sets numbers that are not finite to zero and counts them.
pub(crate) fn repair_numbers<'a>(
    what: &str,
    numbers: impl Iterator<Item = &'a mut f32>,
    warnings: &mut Vec<Warning>,
) {
    let mut bad = 0_usize;
    for n in numbers.filter(|n| !n.is_finite()) {
        *n = 0.0;
        bad += 1;
    }
    if bad > 0 {
        let message = format!("{bad} numbers of {what} are not finite; they were set to 0");
        warnings.push(warning("not_finite", message));
    }
}

/// Linear from sRGB (IEC 61966-2-1): 1 is the brightest, numbers beyond follow the same curve.
pub(crate) fn linear_from_srgb(c: f32) -> f32 {
    let c = f64::from(c);
    let linear = match c <= 0.04045 {
        true => c / 12.92,
        false => ((c + 0.055) / 1.055).powf(2.4),
    };
    linear as f32
}

/// The other way round.
pub(crate) fn srgb_from_linear(c: f32) -> f32 {
    let c = f64::from(c);
    let srgb = match c <= 0.003_130_8 {
        true => c * 12.92,
        false => 1.055 * c.powf(1.0 / 2.4) - 0.055,
    };
    srgb as f32
}

/// A colour as files hold it: alpha stays as it is.
pub(crate) fn srgb_color([r, g, b, a]: [f32; 4]) -> [f32; 4] {
    let [r, g, b] = [r, g, b].map(srgb_from_linear);
    [r, g, b, a]
}

/// `v` with length one; vectors already within rounding of it are returned as they are. `None` where it has no
/// direction.
pub(crate) fn unit(v: [f32; 3]) -> Option<[f32; 3]> {
    let d = v.map(f64::from);
    let length = (d[0] * d[0] + d[1] * d[1] + d[2] * d[2]).sqrt();
    if !length.is_finite() || length < 1e-30 {
        return None;
    }
    if (length - 1.0).abs() < 1e-6 {
        return Some(v);
    }
    Some(d.map(|c| (c / length) as f32))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn z_up_becomes_y_up_without_mirroring() {
        let topology = Topology::new(3, vec![[0, 1, 2]]).expect("valid");
        let mut mesh = Mesh::new(
            "m",
            topology,
            vec![[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]],
        );
        mesh.normals = Some(mesh.positions.clone());
        let velocity = Attribute::Vec3(mesh.positions.clone());
        mesh.attributes.insert("velocity".into(), velocity);
        turn_z_up_to_y_up(&mut mesh);
        let expected = [[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]];
        assert_eq!(mesh.positions, expected);
        assert_eq!(mesh.normals.as_deref(), Some(&expected[..]));
        assert_eq!(
            mesh.attributes["velocity"],
            Attribute::Vec3(expected.to_vec())
        );
    }

    /// Numbers by the formulas of IEC 61966-2-1 in double precision.
    #[test]
    fn srgb_is_that_of_the_standard() {
        for (byte, linear) in [
            (0.0, 0.0),
            (10.0, 0.003_035_27),
            (51.0, 0.033_104_766),
            (127.0, 0.212_230_76),
            (187.0, 0.496_933),
            (255.0, 1.0),
        ] {
            let found = linear_from_srgb(byte / 255.0);
            assert!((found - linear).abs() < 1e-7, "{byte}: {found}");
            let back = srgb_from_linear(linear) * 255.0;
            assert!((back - byte).abs() < 1e-4, "{byte}: {back}");
        }
        for beyond in [-0.5, 1.5, 20.0] {
            let back = linear_from_srgb(srgb_from_linear(beyond));
            assert!((back - beyond).abs() < 1e-5 * beyond.abs(), "{back}");
        }
    }

    #[test]
    fn units_keep_their_bits_and_zero_has_none() {
        assert_eq!(unit([0.6, 0.0, 0.8]), Some([0.6, 0.0, 0.8]));
        assert_eq!(unit([0.0, 0.0, 1e-20]), Some([0.0, 0.0, 1.0]));
        assert_eq!(unit([0.0; 3]), None);
        assert_eq!(unit([f32::INFINITY, 0.0, 0.0]), None);
    }
}
