//! `Output`: results of the last frame as arrays.

use crate::arrays::{fill, floats_into, matrices, matrix, move_rows, rows, rows_into};
use crate::device::Device;
use crate::errors::{self, usage};
use crate::player::Player;
use crate::posing::{Matrices, one_matrix};
use numpy::{PyArray1, PyArrayMethods};
use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use sinew::deform::{Line, PortType};
use sinew::geom::Affine;
use sinew::geom::nalgebra::RowVector3;
use sinew::geom::names::instead_of;
use sinew::graph::{Instance, OutputData, OutputMesh, Source};
use sinew::io::FrameData;
use sinew::play::{FieldGrid, Output as Copied, Runner};

/// An output of a player.
#[pyclass(frozen, module = "sinew_deform")]
pub(crate) struct Output {
    player: Py<Player>,
    name: String,
    index: usize,
}

/// A list of vectors of a mesh on the CPU.
type OfInstance<const N: usize> = for<'a> fn(&OutputMesh<'a>) -> Option<&'a [[f32; N]]>;
/// The same of a mesh that was read back from the GPU.
type OfCopy<const N: usize> = fn(&FrameData) -> Option<&[[f32; N]]>;

impl Output {
    pub(crate) fn find(player: &Bound<'_, Player>, name: &str) -> PyResult<Self> {
        let outputs = player.get().graph.plan().outputs();
        match outputs.iter().position(|o| o.name == name) {
            Some(index) => Ok(Self {
                player: player.clone().unbind(),
                name: name.to_owned(),
                index,
            }),
            None => {
                let known = outputs.iter().map(|o| o.name.as_str());
                let help = instead_of(name, known);
                let message = format!("the graph has no output '{name}'; {help}");
                Err(usage(player.py(), "no_output", message))
            }
        }
    }

    fn ty(&self) -> PortType {
        let plan = self.player.get().graph.plan();
        plan.source_type(plan.outputs()[self.index].source)
    }

    fn rest(&self) -> Option<&sinew::geom::Mesh> {
        let program = self.player.get().graph.program();
        match program.outputs().get(self.index)? {
            OutputData::Mesh { rest, .. } => program.meshes().get(*rest).map(AsRef::as_ref),
            _ => None,
        }
    }

    fn wrong_type(&self, py: Python<'_>, expected: &str) -> PyErr {
        let found = self.ty().as_str();
        let message = format!("output '{}' is of type {found}, not {expected}", self.name);
        usage(py, "output_type", message)
    }

    fn no_frame(&self, py: Python<'_>) -> PyErr {
        usage(
            py,
            "no_frame",
            "no frame has been evaluated yet; call advance(frame) first",
        )
    }

    /// A list of vectors of the mesh. Without `of_copy`, the GPU keeps it.
    fn vectors<'py, const N: usize>(
        &self,
        py: Python<'py>,
        out: Option<Bound<'py, PyAny>>,
        of_instance: OfInstance<N>,
        of_copy: Option<OfCopy<N>>,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        let player = self.player.get();
        if self.ty() != PortType::Mesh {
            return Err(self.wrong_type(py, "a mesh"));
        }
        let array = |list: Option<&[[f32; N]]>| list.map(|l| rows_into(py, l, out)).transpose();
        if player.device() == Device::Cpu {
            let state = player.lock(py);
            return match (state.player.runner(), state.player.frame()) {
                (Runner::Cpu(instance), Some(_)) => array(
                    instance
                        .mesh_output(&self.name)
                        .and_then(|m| of_instance(&m)),
                ),
                _ => Err(self.no_frame(py)),
            };
        }
        let of_copy = of_copy.ok_or_else(|| self.only_on_cpu(py))?;
        let state = player.copied(py)?;
        let mut copied = state.copied.iter().flatten();
        match copied.find(|(name, _)| *name == self.name) {
            Some((_, Copied::Mesh(mesh))) => array(of_copy(mesh)),
            _ => Err(self.no_frame(py)),
        }
    }

    fn only_on_cpu(&self, py: Python<'_>) -> PyErr {
        let message = "the previous frame of a GPU player stays on the GPU; keep the arrays of the frame before, or use device=\"cpu\"";
        usage(py, "previous_on_gpu", message)
    }

    /// Shows something else than a mesh: of the CPU, or a copy of the GPU.
    fn of_cpu<T>(
        &self,
        py: Python<'_>,
        expected: &str,
        show: impl FnOnce(&Instance) -> PyResult<Option<T>>,
    ) -> PyResult<T> {
        let state = self.player.get().lock(py);
        match (state.player.runner(), state.player.frame()) {
            (Runner::Cpu(instance), Some(_)) => {
                show(instance)?.ok_or_else(|| self.wrong_type(py, expected))
            }
            _ => Err(self.no_frame(py)),
        }
    }
}

#[pymethods]
impl Output {
    #[getter]
    fn name(&self) -> &str {
        &self.name
    }

    #[getter]
    fn kind(&self) -> &'static str {
        match self.rest() {
            Some(rest) if rest.topology.strands().is_some() => "strands",
            _ => self.ty().as_str(),
        }
    }

    #[getter]
    fn input(&self) -> Option<&str> {
        self.player.get().graph.input_of_output(&self.name)
    }

    #[getter]
    fn vertex_count(&self) -> Option<usize> {
        self.rest().map(|mesh| mesh.vertex_count())
    }

    #[getter]
    fn triangles<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let rest = self.rest().filter(|m| m.topology.strands().is_none());
        rest.map(|m| Ok(rows(py, m.topology.triangles())?.into_any()))
            .transpose()
    }

    #[getter]
    fn strand_counts<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyAny>> {
        let strands = self.rest()?.topology.strands()?;
        let counts: Vec<u32> = strands.offsets().windows(2).map(|w| w[1] - w[0]).collect();
        Some(PyArray1::from_slice(py, &counts).into_any())
    }

    #[pyo3(signature = (out=None, transform=None))]
    fn positions<'py>(
        &self,
        py: Python<'py>,
        out: Option<Bound<'py, PyAny>>,
        transform: Option<Matrices<'py>>,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        let transform = transform.map(|t| one_matrix(py, &t)).transpose()?;
        let found = self.vectors(py, out, |m| Some(m.positions), Some(|m| Some(&m.positions)))?;
        if let (Some(array), Some(transform)) = (&found, transform) {
            move_rows(array, &transform)?;
        }
        Ok(found)
    }

    #[pyo3(signature = (out=None))]
    fn normals<'py>(
        &self,
        py: Python<'py>,
        out: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        self.vectors(py, out, |m| m.normals, Some(|m| m.normals.as_deref()))
    }

    #[pyo3(signature = (out=None))]
    fn previous_positions<'py>(
        &self,
        py: Python<'py>,
        out: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        self.vectors(py, out, |m| Some(m.previous_positions), None)
    }

    #[pyo3(signature = (out=None))]
    fn previous_normals<'py>(
        &self,
        py: Python<'py>,
        out: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        self.vectors(py, out, |m| m.previous_normals, None)
    }

    #[pyo3(signature = (out=None))]
    fn tangents<'py>(
        &self,
        py: Python<'py>,
        out: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        self.vectors(py, out, |m| m.tangents, Some(|m| m.tangents.as_deref()))
    }

    #[pyo3(signature = (out=None))]
    fn previous_tangents<'py>(
        &self,
        py: Python<'py>,
        out: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        self.vectors(py, out, |m| m.previous_tangents, None)
    }

    #[pyo3(signature = (out=None))]
    fn colors<'py>(
        &self,
        py: Python<'py>,
        out: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        self.vectors(py, out, |m| m.colors, Some(|m| m.colors.as_deref()))
    }

    #[pyo3(signature = (out=None))]
    fn floats<'py>(
        &self,
        py: Python<'py>,
        out: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let player = self.player.get();
        let expected = "a mask or values";
        if player.device() == Device::Cpu {
            let show = |instance: &Instance| {
                let floats = instance.float_output(&self.name);
                floats.map(|f| floats_into(py, f, out)).transpose()
            };
            return self.of_cpu(py, expected, show);
        }
        let state = player.copied(py)?;
        let copied = state.copied.as_ref().ok_or_else(|| self.no_frame(py))?;
        match copied.iter().find(|(name, _)| *name == self.name) {
            Some((_, Copied::Floats(floats))) => floats_into(py, floats, out),
            _ => Err(self.wrong_type(py, expected)),
        }
    }

    fn lines<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let player = self.player.get();
        if player.device() == Device::Cpu {
            let show = |instance: &Instance| {
                instance
                    .line_output(&self.name)
                    .map(|l| lines(py, l))
                    .transpose()
            };
            return self.of_cpu(py, "lines", show);
        }
        let state = player.copied(py)?;
        let copied = state.copied.as_ref().ok_or_else(|| self.no_frame(py))?;
        match copied.iter().find(|(name, _)| *name == self.name) {
            Some((_, Copied::Lines(all))) => lines(py, all),
            _ => Err(self.wrong_type(py, "lines")),
        }
    }

    fn field<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        if self.ty() != PortType::Field {
            return Err(self.wrong_type(py, "a field"));
        }
        let read = {
            let mut state = self.player.get().lock(py);
            if state.player.frame().is_none() {
                return Err(self.no_frame(py));
            }
            state
                .player
                .read_fields()
                .map_err(|e| errors::play(py, &e))?
        };
        let Some((_, grid)) = read.into_iter().find(|(name, _)| *name == self.name) else {
            let message = format!(
                "output '{}' is a field of solids, which has no grid",
                self.name
            );
            return Err(usage(py, "no_grid", message));
        };
        grid_arrays(py, &grid)
    }

    fn pose<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let player = self.player.get();
        let state = player.lock(py);
        if state.player.frame().is_none() {
            return Err(self.no_frame(py));
        }
        let made = match state.player.runner() {
            Runner::Cpu(instance) => instance.pose_output(&self.name),
            #[cfg(feature = "gpu")]
            Runner::Gpu(instances) => instances.pose_output(&self.name, 0),
            _ => None,
        };
        // A pose input that is an output, too.
        let given = || match player.graph.plan().outputs()[self.index].source {
            Source::Input(input) => {
                let mut inputs = state.player.inputs().posed_inputs();
                inputs.find(|(i, _)| *i == input).map(|(_, pose)| pose)
            }
            _ => None,
        };
        let Some(pose) = made.or_else(given) else {
            return Err(self.wrong_type(py, "a pose"));
        };
        let nodes = crate::character::joint_nodes(player.rig());
        let of_node = |&node: &usize| pose.scene_from_node.get(node).copied();
        let all: Vec<Affine<f64>> = nodes.iter().filter_map(of_node).collect();
        Ok(matrices(py, all.into_iter())?.into_any())
    }

    fn __repr__(&self) -> String {
        format!("<output '{}': {}>", self.name, self.kind())
    }
}

/// Ends (n, 2, 3) and colours (n, 4).
fn lines<'py>(py: Python<'py>, all: &[Line]) -> PyResult<Bound<'py, PyAny>> {
    let ends: Vec<f32> = all.iter().flat_map(|l| [l.from, l.to]).flatten().collect();
    let ends = PyArray1::from_slice(py, &ends).reshape([all.len(), 2, 3])?;
    let colors: Vec<[f32; 4]> = all.iter().map(|l| l.color).collect();
    (ends, rows(py, &colors)?).into_bound_py_any(py)
}

/// Distances (x, y, z) and the matrix that places the nodes.
fn grid_arrays<'py>(py: Python<'py>, grid: &FieldGrid) -> PyResult<Bound<'py, PyAny>> {
    let shape = grid.nodes.map(|n| n as usize);
    let distances = PyArray1::from_slice(py, &grid.distances).reshape(shape)?;
    let mut affine = Affine::identity();
    for (row, &[x, y, z, translation]) in grid.scene_from_node.iter().enumerate() {
        affine.linear.set_row(row, &RowVector3::new(x, y, z).cast());
        affine.translation[row] = f64::from(translation);
    }
    (distances, matrix(py, &affine)?).into_bound_py_any(py)
}

/// Positions of many instances, (count, n, 3).
pub(crate) fn stacked<'py>(
    py: Python<'py>,
    all: &[f32],
    shape: [usize; 3],
    out: Option<Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    match out {
        Some(out) => fill(py, all, &shape, out),
        None => Ok(PyArray1::from_slice(py, all).reshape(shape)?.into_any()),
    }
}
