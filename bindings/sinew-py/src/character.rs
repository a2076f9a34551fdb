//! `Character` and what it shows of its parts.

use crate::arrays::{frozen, matrix, rows};
use crate::errors;
use crate::from_arrays::{self, ClipObject, JointObject, MeshObject, StrandsObject};
use numpy::PyArray1;
use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use sinew::geom::{Asset, Attribute, Mesh, Rig};
use std::path::PathBuf;
use std::sync::Arc;

/// Meshes, joints and clips.
#[pyclass(frozen, module = "sinew_deform")]
pub(crate) struct Character {
    pub(crate) inner: Arc<sinew::play::Character>,
}

impl Character {
    fn new(py: Python<'_>, inner: sinew::play::Character) -> PyResult<Self> {
        let warnings = inner.asset.warnings.iter();
        let warnings: Vec<(&str, &str)> = warnings.map(|w| (w.code, w.message.as_str())).collect();
        if !warnings.is_empty() {
            let support = py.import("sinew_deform._support")?;
            support.getattr("log_warnings")?.call1((warnings,))?;
        }
        Ok(Self {
            inner: Arc::new(inner),
        })
    }

    fn asset(&self) -> &Asset {
        &self.inner.asset
    }

    fn views(&self, strands: bool) -> Vec<MeshView> {
        let of = if strands {
            &self.asset().strands
        } else {
            &self.asset().meshes
        };
        let view = |index| MeshView {
            character: self.inner.clone(),
            index,
            strands,
        };
        (0..of.len()).map(view).collect()
    }
}

#[pymethods]
impl Character {
    #[staticmethod]
    fn load(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        let read = py.detach(|| sinew::play::Character::load_rest(&path));
        Self::new(py, read.map_err(|e| errors::play(py, &e))?)
    }

    #[staticmethod]
    fn sample(py: Python<'_>, name: &str) -> PyResult<Self> {
        let made = py.detach(|| match name {
            "arm" => Some(sinew_samples::arm_with_hand()),
            "creature" => Some(sinew_samples::creature()),
            "ball" => Some(sinew_samples::ball()),
            "head" => Some(sinew_samples::head()),
            _ => None,
        });
        let Some(made) = made else {
            let message = format!("there is no sample '{name}'; known: arm, creature, ball, head");
            return Err(errors::usage(py, "no_sample", message));
        };
        let asset = made.map_err(|e| errors::usage(py, "sample", e))?;
        Self::new(py, sinew::play::Character::from_asset(asset))
    }

    #[staticmethod]
    #[pyo3(signature = (name, meshes, joints=Vec::new(), strands=Vec::new(), clips=Vec::new()))]
    fn from_arrays(
        py: Python<'_>,
        name: &str,
        meshes: Vec<MeshObject<'_>>,
        joints: Vec<JointObject<'_>>,
        strands: Vec<StrandsObject<'_>>,
        clips: Vec<ClipObject<'_>>,
    ) -> PyResult<Self> {
        let made = from_arrays::character(py, name, &meshes, &joints, &strands, &clips)?;
        Self::new(py, made)
    }

    #[getter]
    fn name(&self) -> &str {
        &self.asset().name
    }

    #[getter]
    fn path(&self) -> PathBuf {
        self.inner.path.clone()
    }

    #[getter]
    fn meshes(&self) -> Vec<MeshView> {
        self.views(false)
    }

    #[getter]
    fn strands(&self) -> Vec<MeshView> {
        self.views(true)
    }

    #[getter]
    fn joints(&self) -> Vec<JointView> {
        let nodes = joint_nodes(&self.asset().rig);
        let view = |&node: &usize| JointView {
            character: self.inner.clone(),
            node,
            parent: parent_joint(&self.asset().rig, &nodes, node),
        };
        nodes.iter().map(view).collect()
    }

    #[getter]
    fn clips(&self) -> Vec<ClipView> {
        let clips = self.asset().clips.iter();
        let view = clips.map(|clip| {
            let (start, end) = clip.range();
            ClipView {
                name: clip.name.clone(),
                start,
                end,
            }
        });
        view.collect()
    }

    #[getter]
    fn warnings(&self) -> Vec<Warning> {
        let all = self.asset().warnings.iter();
        let warning = all.map(|w| Warning {
            code: w.code.to_owned(),
            message: w.message.clone(),
        });
        warning.collect()
    }

    #[getter]
    fn expressions(&self) -> Vec<String> {
        let all = self.asset().expressions.iter();
        all.map(|e| e.name.clone()).collect()
    }

    #[getter]
    fn graph(&self) -> Option<&str> {
        self.asset().graph.as_deref()
    }

    fn __repr__(&self) -> String {
        let asset = self.asset();
        format!(
            "<Character '{}': {} meshes, {} strands, {} joints, {} clips>",
            asset.name,
            asset.meshes.len(),
            asset.strands.len(),
            joint_nodes(&asset.rig).len(),
            asset.clips.len()
        )
    }
}

/// A character, or the path of one (`sample:NAME` for a built-in one).
#[derive(FromPyObject)]
pub(crate) enum CharacterLike {
    Character(Py<Character>),
    Path(PathBuf),
}

impl CharacterLike {
    pub(crate) fn load(self, py: Python<'_>) -> PyResult<Py<Character>> {
        let path = match self {
            Self::Character(character) => return Ok(character),
            Self::Path(path) => path,
        };
        let sample = path.to_str().and_then(|p| p.strip_prefix("sample:"));
        let loaded = match sample {
            Some(name) => Character::sample(py, name)?,
            None => Character::load(py, path)?,
        };
        Py::new(py, loaded)
    }
}

/// The node of each joint. A node that is a joint of several skins is listed once.
pub(crate) fn joint_nodes(rig: &Rig) -> Vec<usize> {
    let mut seen = vec![false; rig.nodes().len()];
    let joints = rig.joints().iter().map(|j| j.node);
    joints
        .filter(|&node| !std::mem::replace(&mut seen[node], true))
        .collect()
}

/// Index among the joints of the nearest ancestor that is one.
fn parent_joint(rig: &Rig, joints: &[usize], node: usize) -> Option<usize> {
    let mut at = rig.nodes()[node].parent;
    while let Some(parent) = at {
        if let Some(index) = joints.iter().position(|&j| j == parent) {
            return Some(index);
        }
        at = rig.nodes()[parent].parent;
    }
    None
}

/// A mesh, or strands.
#[pyclass(frozen, module = "sinew_deform")]
pub(crate) struct MeshView {
    character: Arc<sinew::play::Character>,
    index: usize,
    strands: bool,
}

impl MeshView {
    fn mesh(&self) -> &Mesh {
        let asset = &self.character.asset;
        match self.strands {
            true => &asset.strands[self.index],
            false => &asset.meshes[self.index],
        }
    }
}

#[pymethods]
impl MeshView {
    #[getter]
    fn name(&self) -> &str {
        &self.mesh().name
    }

    #[getter]
    fn vertex_count(&self) -> usize {
        self.mesh().vertex_count()
    }

    #[getter]
    fn positions<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        frozen(rows(py, &self.mesh().positions)?.into_any())
    }

    #[getter]
    fn triangles<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        frozen(rows(py, self.mesh().topology.triangles())?.into_any())
    }

    #[getter]
    fn normals<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let all = self.mesh().normals.as_ref();
        all.map(|n| frozen(rows(py, n)?.into_any())).transpose()
    }

    #[getter]
    fn tangents<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let all = self.mesh().tangents.as_ref();
        all.map(|n| frozen(rows(py, n)?.into_any())).transpose()
    }

    #[getter]
    fn uvs<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyAny>>> {
        let sets = self.mesh().uvs.iter();
        sets.map(|set| frozen(rows(py, set)?.into_any())).collect()
    }

    #[getter]
    fn colors<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyAny>>> {
        let sets = self.mesh().colors.iter();
        sets.map(|set| frozen(rows(py, set)?.into_any())).collect()
    }

    #[getter]
    fn targets(&self) -> Vec<String> {
        let targets = self.mesh().morph_targets.iter();
        targets.map(|t| t.name.clone()).collect()
    }

    #[getter]
    fn attributes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let out = PyDict::new(py);
        for (name, attribute) in &self.mesh().attributes {
            let array = match attribute {
                Attribute::Scalar(v) => PyArray1::from_slice(py, v).into_any(),
                Attribute::Vec2(v) => rows(py, v)?.into_any(),
                Attribute::Vec3(v) => rows(py, v)?.into_any(),
                Attribute::Vec4(v) => rows(py, v)?.into_any(),
            };
            out.set_item(name, frozen(array)?)?;
        }
        Ok(out)
    }

    #[getter]
    fn influences<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let Some(rows) = &self.mesh().influences else {
            return Ok(None);
        };
        // Joints as `Character.joints` counts them.
        let rig = &self.character.asset.rig;
        let nodes = joint_nodes(rig);
        let mut index_of_node = vec![0_u32; rig.nodes().len()];
        for (index, node) in (0_u32..).zip(&nodes) {
            index_of_node[*node] = index;
        }
        let index = |j: &u32| index_of_node[rig.joints()[*j as usize].node];
        let joints: Vec<u32> = rows.joints().iter().map(index).collect();
        let offsets = PyArray1::from_slice(py, rows.offsets());
        let joints = PyArray1::from_slice(py, &joints);
        let weights = PyArray1::from_slice(py, rows.weights());
        Ok(Some((offsets, joints, weights).into_bound_py_any(py)?))
    }

    #[getter]
    fn strand_counts<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyAny>> {
        let strands = self.mesh().topology.strands()?;
        let counts: Vec<u32> = strands.offsets().windows(2).map(|w| w[1] - w[0]).collect();
        Some(PyArray1::from_slice(py, &counts).into_any())
    }

    #[getter]
    fn guides<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyAny>> {
        let strands = self.mesh().topology.strands()?;
        Some(PyArray1::from_slice(py, strands.guides()).into_any())
    }

    #[getter]
    fn part_names<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        PyList::new(py, self.mesh().parts.iter().map(|p| p.name.as_str()))
    }

    fn __repr__(&self) -> String {
        let mesh = self.mesh();
        let what = if self.strands { "strands" } else { "mesh" };
        format!("<{what} '{}': {} vertices>", mesh.name, mesh.vertex_count())
    }
}

/// A joint.
#[pyclass(frozen, module = "sinew_deform")]
pub(crate) struct JointView {
    character: Arc<sinew::play::Character>,
    node: usize,
    parent: Option<usize>,
}

#[pymethods]
impl JointView {
    #[getter]
    fn name(&self) -> &str {
        &self.character.asset.rig.nodes()[self.node].name
    }

    #[getter]
    fn parent(&self) -> Option<usize> {
        self.parent
    }

    #[getter]
    fn rest<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let pose = self.character.asset.rig.rest_pose();
        frozen(matrix(py, &pose.scene_from_node[self.node])?.into_any())
    }

    #[getter]
    fn local<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let local = self.character.asset.rig.nodes()[self.node].local;
        frozen(matrix(py, &local.to_affine())?.into_any())
    }

    fn __repr__(&self) -> String {
        format!("<joint '{}'>", self.name())
    }
}

/// A clip.
#[pyclass(frozen, get_all, module = "sinew_deform")]
pub(crate) struct ClipView {
    name: String,
    start: f32,
    end: f32,
}

#[pymethods]
impl ClipView {
    fn __repr__(&self) -> String {
        format!("<clip '{}': {} s to {} s>", self.name, self.start, self.end)
    }
}

/// A repair that a reader made.
#[pyclass(frozen, get_all, module = "sinew_deform")]
pub(crate) struct Warning {
    code: String,
    message: String,
}

#[pymethods]
impl Warning {
    fn __repr__(&self) -> String {
        format!("<warning {}: {}>", self.code, self.message)
    }
}
