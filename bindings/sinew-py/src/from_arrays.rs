//! `Character.from_arrays`: objects of `sinew_deform._arrays` as slices.

use crate::arrays::{TRANSPOSE, from_rows, is_affine};
use crate::errors::{self, usage};
use numpy::ndarray::Dimension;
use numpy::{
    PyReadonlyArray, PyReadonlyArray1, PyReadonlyArray2, PyReadonlyArrayDyn, PyUntypedArrayMethods,
};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use sinew::geom::{Affine, Attribute};
use sinew::play::{
    Character, CharacterArrays, ClipArrays, Faces, JointArrays, JointTrack, MeshArrays, SkinArrays,
    StrandArrays, TargetArrays,
};
use std::collections::BTreeMap;

type Rows<'py, T> = PyReadonlyArray2<'py, T>;
type Row<'py, T> = PyReadonlyArray1<'py, T>;

#[derive(FromPyObject)]
pub(crate) struct JointObject<'py> {
    name: String,
    parent: Option<usize>,
    matrix: Rows<'py, f64>,
    inverse_bind: Option<Rows<'py, f64>>,
}

#[derive(FromPyObject)]
pub(crate) struct TargetObject<'py> {
    name: String,
    deltas: Rows<'py, f32>,
    vertices: Option<Row<'py, u32>>,
    normals: Option<Rows<'py, f32>>,
    weight: f32,
}

#[derive(FromPyObject)]
pub(crate) struct MeshObject<'py> {
    name: String,
    positions: Rows<'py, f32>,
    triangles: Option<Rows<'py, u32>>,
    face_counts: Option<Row<'py, u32>>,
    face_corners: Option<Row<'py, u32>>,
    normals: Option<Rows<'py, f32>>,
    tangents: Option<Rows<'py, f32>>,
    uvs: Vec<Rows<'py, f32>>,
    colors: Vec<Rows<'py, f32>>,
    joint_indices: Option<Rows<'py, u32>>,
    joint_weights: Option<Rows<'py, f32>>,
    targets: Vec<TargetObject<'py>>,
    attributes: BTreeMap<String, PyReadonlyArrayDyn<'py, f32>>,
}

#[derive(FromPyObject)]
pub(crate) struct StrandsObject<'py> {
    name: String,
    positions: Rows<'py, f32>,
    counts: Row<'py, u32>,
    guides: Option<Row<'py, u32>>,
    thickness: Option<Row<'py, f32>>,
    joint_indices: Option<Rows<'py, u32>>,
    joint_weights: Option<Rows<'py, f32>>,
}

#[derive(FromPyObject)]
pub(crate) struct ClipObject<'py> {
    name: String,
    times: Row<'py, f32>,
    translations: BTreeMap<usize, Rows<'py, f32>>,
    rotations: BTreeMap<usize, Rows<'py, f32>>,
    scales: BTreeMap<usize, Rows<'py, f32>>,
    weights: BTreeMap<usize, Rows<'py, f32>>,
}

/// A character from objects.
pub(crate) fn character(
    py: Python<'_>,
    name: &str,
    meshes: &[MeshObject<'_>],
    joints: &[JointObject<'_>],
    strands: &[StrandsObject<'_>],
    clips: &[ClipObject<'_>],
) -> PyResult<Character> {
    let at = At { py };
    let each = |list: &str, i: usize| format!("{list}[{i}]");
    let arrays = CharacterArrays {
        name,
        joints: collected(joints, |i, j| at.joint(&each("joints", i), j))?,
        meshes: collected(meshes, |i, m| at.mesh(&each("meshes", i), m))?,
        strands: collected(strands, |i, s| at.strands(&each("strands", i), s))?,
        clips: collected(clips, |i, c| at.clip(&each("clips", i), c))?,
    };
    let made = py.detach(|| Character::from_arrays(&arrays));
    made.map_err(|e| errors::arrays(py, &e))
}

fn collected<'a, T, U>(
    list: &'a [T],
    made: impl Fn(usize, &'a T) -> PyResult<U>,
) -> PyResult<Vec<U>> {
    list.iter()
        .enumerate()
        .map(|(i, item)| made(i, item))
        .collect()
}

/// Makes slices; locations are in errors.
struct At<'py> {
    py: Python<'py>,
}

impl At<'_> {
    fn wrong(&self, at: &str, found: &[usize], expected: &str) -> PyErr {
        let message = format!("{at}: found an array of shape {found:?}, expected {expected}");
        usage(self.py, "arrays", message)
    }

    fn strided(&self, at: &str) -> PyErr {
        let message =
            format!("{at}: found an array that is not C-contiguous, expected one that is");
        usage(self.py, "arrays", message)
    }

    /// The numbers of an array in C order; `as_slice` takes the order of Fortran, too.
    fn slice<'a, T: numpy::Element, D: Dimension>(
        &self,
        at: &str,
        array: &'a PyReadonlyArray<'_, T, D>,
    ) -> PyResult<&'a [T]> {
        match array.as_slice() {
            Ok(slice) if array.is_c_contiguous() => Ok(slice),
            _ => Err(self.strided(at)),
        }
    }

    /// (n, N) as vectors.
    fn rows<'a, T: numpy::Element, const N: usize>(
        &self,
        at: &str,
        array: &'a Rows<'_, T>,
    ) -> PyResult<&'a [[T; N]]> {
        let shape = array.as_array().shape().to_vec();
        if shape[1] != N {
            return Err(self.wrong(at, &shape, &format!("(n, {N})")));
        }
        let flat = self.slice(at, array)?;
        Ok(flat.as_chunks::<N>().0)
    }

    fn some_rows<'a, T: numpy::Element, const N: usize>(
        &self,
        at: &str,
        array: &'a Option<Rows<'_, T>>,
    ) -> PyResult<Option<&'a [[T; N]]>> {
        array.as_ref().map(|array| self.rows(at, array)).transpose()
    }

    fn row<'a, T: numpy::Element>(&self, at: &str, array: &'a Row<'_, T>) -> PyResult<&'a [T]> {
        self.slice(at, array)
    }

    fn some_row<'a, T: numpy::Element>(
        &self,
        at: &str,
        array: &'a Option<Row<'_, T>>,
    ) -> PyResult<Option<&'a [T]>> {
        array.as_ref().map(|array| self.row(at, array)).transpose()
    }

    fn matrix(&self, at: &str, array: &Rows<'_, f64>) -> PyResult<Affine<f64>> {
        let shape = array.as_array().shape().to_vec();
        if shape != [4, 4] {
            return Err(self.wrong(at, &shape, "(4, 4)"));
        }
        let numbers = self.slice(at, array)?;
        if !is_affine(numbers) {
            let message = format!(
                "{at}: found the last row {:?}, expected {TRANSPOSE}",
                &numbers[12..]
            );
            return Err(usage(self.py, "arrays", message));
        }
        Ok(from_rows(numbers))
    }

    fn joint<'a>(&self, at: &str, j: &'a JointObject<'_>) -> PyResult<JointArrays<'a>> {
        let inverse = j.inverse_bind.as_ref();
        let inverse = inverse.map(|m| self.matrix(&format!("{at}.inverse_bind"), m));
        Ok(JointArrays {
            name: &j.name,
            parent: j.parent,
            parent_from_joint: self.matrix(&format!("{at}.matrix"), &j.matrix)?,
            joint_from_bind: inverse.transpose()?,
        })
    }

    fn mesh<'a>(&self, at: &str, m: &'a MeshObject<'_>) -> PyResult<MeshArrays<'a>> {
        let of = |what: &str| format!("{at}.{what}");
        Ok(MeshArrays {
            name: &m.name,
            positions: self.rows(&of("positions"), &m.positions)?,
            faces: self.faces(at, m)?,
            normals: self.some_rows(&of("normals"), &m.normals)?,
            tangents: self.some_rows(&of("tangents"), &m.tangents)?,
            uvs: collected(&m.uvs, |i, a| self.rows(&of(&format!("uvs[{i}]")), a))?,
            colors: collected(&m.colors, |i, a| self.rows(&of(&format!("colors[{i}]")), a))?,
            attributes: self.attributes(at, m)?,
            skin: self.skin(at, &m.joint_indices, &m.joint_weights)?,
            targets: collected(&m.targets, |i, t| {
                let of = |what: &str| format!("{at}.targets[{i}].{what}");
                Ok(TargetArrays {
                    name: &t.name,
                    vertices: self.some_row(&of("vertices"), &t.vertices)?,
                    positions: self.rows(&of("deltas"), &t.deltas)?,
                    normals: self.some_rows(&of("normals"), &t.normals)?,
                    weight: t.weight,
                })
            })?,
        })
    }

    fn faces<'a>(&self, at: &str, m: &'a MeshObject<'_>) -> PyResult<Faces<'a>> {
        match (&m.triangles, &m.face_counts, &m.face_corners) {
            (Some(triangles), ..) => Ok(Faces::Triangles(
                self.rows(&format!("{at}.triangles"), triangles)?,
            )),
            (None, Some(counts), Some(corners)) => Ok(Faces::Polygons {
                counts: self.row(&format!("{at}.face_counts"), counts)?,
                corners: self.row(&format!("{at}.face_corners"), corners)?,
            }),
            _ => {
                let message = format!("{at}: found no faces, expected triangles or polygons");
                Err(usage(self.py, "arrays", message))
            }
        }
    }

    fn attributes<'a>(
        &self,
        at: &str,
        m: &'a MeshObject<'_>,
    ) -> PyResult<Vec<(&'a str, Attribute)>> {
        let mut out = Vec::new();
        for (name, array) in &m.attributes {
            let at = format!("{at}.attributes['{name}']");
            let flat = self.slice(&at, array)?;
            let shape = array.as_array().shape().to_vec();
            let attribute = match shape[..] {
                [_] | [_, 1] => Attribute::Scalar(flat.to_vec()),
                [_, 2] => Attribute::Vec2(flat.as_chunks().0.to_vec()),
                [_, 3] => Attribute::Vec3(flat.as_chunks().0.to_vec()),
                [_, 4] => Attribute::Vec4(flat.as_chunks().0.to_vec()),
                _ => return Err(self.wrong(&at, &shape, "(n,) or (n, 2) to (n, 4)")),
            };
            out.push((name.as_str(), attribute));
        }
        Ok(out)
    }

    fn skin<'a>(
        &self,
        at: &str,
        joints: &'a Option<Rows<'_, u32>>,
        weights: &'a Option<Rows<'_, f32>>,
    ) -> PyResult<Option<SkinArrays<'a>>> {
        let (joints, weights) = match (joints, weights) {
            (None, None) => return Ok(None),
            (Some(joints), Some(weights)) => (joints, weights),
            _ => {
                let message = format!("{at}: joint_indices and joint_weights belong together");
                return Err(usage(self.py, "arrays", message));
            }
        };
        let shapes = [joints.as_array().shape(), weights.as_array().shape()].map(<[usize]>::to_vec);
        if shapes[0] != shapes[1] {
            let expected = format!("{:?} as joint_indices", shapes[0]);
            return Err(self.wrong(&format!("{at}.joint_weights"), &shapes[1], &expected));
        }
        Ok(Some(SkinArrays {
            per_vertex: shapes[0][1],
            joints: self.slice(at, joints)?,
            weights: self.slice(at, weights)?,
        }))
    }

    fn strands<'a>(&self, at: &str, s: &'a StrandsObject<'_>) -> PyResult<StrandArrays<'a>> {
        let of = |what: &str| format!("{at}.{what}");
        Ok(StrandArrays {
            name: &s.name,
            positions: self.rows(&of("positions"), &s.positions)?,
            counts: self.row(&of("counts"), &s.counts)?,
            guides: self.some_row(&of("guides"), &s.guides)?,
            thickness: self.some_row(&of("thickness"), &s.thickness)?,
            skin: self.skin(at, &s.joint_indices, &s.joint_weights)?,
        })
    }

    fn clip<'a>(&self, at: &str, c: &'a ClipObject<'_>) -> PyResult<ClipArrays<'a>> {
        let mut tracks: BTreeMap<usize, JointTrack<'a>> = BTreeMap::new();
        for (&joint, keys) in &c.translations {
            let keys = self.rows(&format!("{at}.translations[{joint}]"), keys)?;
            of_joint(&mut tracks, joint).translations = Some(keys);
        }
        for (&joint, keys) in &c.rotations {
            let keys = self.rows(&format!("{at}.rotations[{joint}]"), keys)?;
            of_joint(&mut tracks, joint).rotations = Some(keys);
        }
        for (&joint, keys) in &c.scales {
            let keys = self.rows(&format!("{at}.scales[{joint}]"), keys)?;
            of_joint(&mut tracks, joint).scales = Some(keys);
        }
        let mut weights = Vec::new();
        for (&mesh, keys) in &c.weights {
            let at = format!("{at}.weights[{mesh}]");
            weights.push((mesh, self.slice(&at, keys)?));
        }
        Ok(ClipArrays {
            name: &c.name,
            times: self.row(&format!("{at}.times"), &c.times)?,
            joints: tracks.into_values().collect(),
            weights,
        })
    }
}

fn of_joint<'t, 'a>(
    tracks: &'t mut BTreeMap<usize, JointTrack<'a>>,
    joint: usize,
) -> &'t mut JointTrack<'a> {
    tracks.entry(joint).or_insert(JointTrack {
        joint,
        ..JointTrack::default()
    })
}

/// The text of a document, one key a line.
pub(crate) fn to_document(value: &Bound<'_, PyAny>) -> PyResult<String> {
    let support = value.py().import("sinew_deform._support")?;
    support.getattr("to_document")?.call1((value,))?.extract()
}

/// JSON of a value, by the Python side.
pub(crate) fn to_json(value: &Bound<'_, PyAny>) -> PyResult<String> {
    let support = value.py().import("sinew_deform._support")?;
    support.getattr("to_json")?.call1((value,))?.extract()
}

/// The same of keywords, one by one.
pub(crate) fn settings(named: Option<&Bound<'_, PyDict>>) -> PyResult<Vec<(String, String)>> {
    let Some(named) = named else {
        return Ok(Vec::new());
    };
    let one = |(name, value): (Bound<'_, PyAny>, Bound<'_, PyAny>)| {
        Ok((name.extract()?, to_json(&value)?))
    };
    named.iter().map(one).collect()
}
