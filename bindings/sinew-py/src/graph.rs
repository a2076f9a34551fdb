//! `Graph`: a document, its checks and its description.

use crate::character::Character;
use crate::errors::{self, Details, Kind, Problem, exception};
use crate::from_arrays::to_document;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use serde_json::Value;
use sinew::graph::{BoundGraph, Plan};
use sinew::play::{Document, PlayError, PlayInputs, Template};
use std::path::PathBuf;
use std::sync::Arc;

/// A graph document.
#[pyclass(frozen, module = "sinew_deform")]
pub(crate) struct Graph {
    pub(crate) document: Document,
}

impl Graph {
    pub(crate) fn compile(&self, py: Python<'_>) -> PyResult<Plan> {
        compile(py, &self.document)
    }

    fn interface(&self, py: Python<'_>) -> PyResult<Value> {
        Ok(self.compile(py)?.interface())
    }
}

/// A graph, or the path of one (`example:NAME` for a built-in one).
#[derive(FromPyObject)]
pub(crate) enum GraphLike {
    Graph(Py<Graph>),
    Path(PathBuf),
}

impl GraphLike {
    pub(crate) fn load(self, py: Python<'_>) -> PyResult<Py<Graph>> {
        let path = match self {
            Self::Graph(graph) => return Ok(graph),
            Self::Path(path) => path,
        };
        let name = path.to_str().and_then(|p| p.strip_prefix("example:"));
        let mut examples = sinew::deform::examples();
        let example = name.and_then(|name| examples.find(|e| e.name == name));
        match (name, example) {
            (Some(name), Some(example)) => {
                let document = Document::from_text(name, example.graph, "");
                Py::new(py, Graph { document })
            }
            (Some(name), None) => {
                let known: Vec<&str> = sinew::deform::examples().map(|e| e.name).collect();
                let help = sinew::geom::names::instead_of(name, known.iter().copied());
                let message = format!("there is no example '{name}'; {help}");
                Err(errors::usage(py, "no_example", message))
            }
            (None, _) => Py::new(py, Graph::load(py, path)?),
        }
    }
}

/// Checks and compiles a document.
pub(crate) fn compile(py: Python<'_>, document: &Document) -> PyResult<Plan> {
    let compiled = py.detach(|| document.compile());
    compiled.map_err(|problems| errors::graph(py, &problems))
}

#[pymethods]
impl Graph {
    #[staticmethod]
    fn load(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        let read = py.detach(|| Document::from_file(&path));
        let document = read.map_err(|e| errors::play(py, &e))?;
        Ok(Self { document })
    }

    #[staticmethod]
    #[pyo3(signature = (text, name="graph", folder=PathBuf::new()))]
    fn from_text(text: String, name: &str, folder: PathBuf) -> Self {
        let document = Document::from_text(name, text, folder.as_path());
        Self { document }
    }

    #[staticmethod]
    #[pyo3(signature = (document, name="graph", folder=PathBuf::new()))]
    fn from_dict(document: &Bound<'_, PyAny>, name: &str, folder: PathBuf) -> PyResult<Self> {
        Ok(Self::from_text(to_document(document)?, name, folder))
    }

    #[staticmethod]
    #[pyo3(signature = (*stack, inputs=None, parameters=None, outputs=None, **nodes))]
    fn from_nodes(
        py: Python<'_>,
        stack: &Bound<'_, PyTuple>,
        inputs: Option<Bound<'_, PyAny>>,
        parameters: Option<Bound<'_, PyAny>>,
        outputs: Option<Bound<'_, PyAny>>,
        nodes: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Self> {
        let named = PyDict::new(py);
        named.set_item("inputs", inputs)?;
        named.set_item("parameters", parameters)?;
        named.set_item("outputs", outputs)?;
        let nodes = nodes.map_or_else(|| PyDict::new(py), Clone::clone);
        let module = py.import("sinew_deform.graph")?;
        let document = module
            .getattr("document")?
            .call((stack, nodes), Some(&named))?;
        Self::from_dict(&document, "graph", PathBuf::new())
    }

    #[staticmethod]
    fn default_for(character: &Character) -> Self {
        let document = Document::default_of(&character.inner);
        Self { document }
    }

    #[staticmethod]
    fn embedded(character: &Character) -> Option<Self> {
        let document = Document::embedded(&character.inner)?;
        Some(Self { document })
    }

    #[staticmethod]
    #[pyo3(signature = (character, name="body", joint=None))]
    fn template(
        py: Python<'_>,
        character: &Character,
        name: &str,
        joint: Option<&str>,
    ) -> PyResult<Self> {
        let template = match name {
            "body" => Template::Body,
            "face" => Template::Face,
            "cloth" => Template::Cloth,
            "hair" => Template::Hair,
            "vat" => Template::Vat,
            "driver" => Template::Driver,
            _ => {
                let known = "body, face, cloth, hair, vat, driver";
                let message = format!("there is no template '{name}'; known: {known}");
                return Err(errors::usage(py, "no_template", message));
            }
        };
        let made = py.detach(|| Document::from_template(&character.inner, template, joint));
        let details = Details {
            code: "template".into(),
            ..Details::default()
        };
        let document = made.map_err(|e| exception(py, Kind::Bind, &e.to_string(), &details))?;
        Ok(Self { document })
    }

    #[getter]
    fn text(&self) -> &str {
        &self.document.text
    }

    #[getter]
    fn name(&self) -> &str {
        &self.document.name
    }

    #[getter]
    fn inputs<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        by_name(py, &self.interface(py)?["inputs"])
    }

    #[getter]
    fn parameters<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        by_name(py, &self.interface(py)?["parameters"])
    }

    #[getter]
    fn outputs<'py>(&self, py: Python<'py>) -> PyResult<Vec<String>> {
        let plan = self.compile(py)?;
        Ok(plan.outputs().iter().map(|o| o.name.clone()).collect())
    }

    #[pyo3(signature = (character=None))]
    fn check<'py>(
        &self,
        py: Python<'py>,
        character: Option<&Character>,
    ) -> PyResult<Vec<Bound<'py, PyAny>>> {
        let problems = py.detach(|| problems(&self.document, character));
        problems.iter().map(|p| p.object(py)).collect()
    }

    #[pyo3(signature = (character=None))]
    fn explain(&self, py: Python<'_>, character: Option<&Character>) -> PyResult<String> {
        let plan = Arc::new(self.compile(py)?);
        let Some(character) = character else {
            return Ok(plan.explain());
        };
        let bound = py.detach(|| {
            let folders = &self.document.folders;
            let inputs = PlayInputs::load(character.inner.clone(), &plan, folders)?;
            inputs.bind(&plan, &[])
        });
        let graph = bound.map_err(|e| errors::play(py, &e))?;
        Ok(graph.instance().explain())
    }

    fn __repr__(&self) -> String {
        format!("<Graph '{}'>", self.document.name)
    }
}

/// Every problem of a document, and of the document with a character.
fn problems(document: &Document, character: Option<&Character>) -> Vec<Problem> {
    let plan = match document.compile() {
        Ok(plan) => Arc::new(plan),
        Err(problems) => return problems.0.iter().map(Problem::from).collect(),
    };
    let mut out: Vec<Problem> = plan.warnings().iter().map(Problem::from).collect();
    let Some(character) = character else {
        return out;
    };
    let bind_error = errors::bind_problem;
    match PlayInputs::load(character.inner.clone(), &plan, &document.folders) {
        Ok(inputs) => {
            let of_inputs = inputs.input_warnings(&plan);
            let warnings = of_inputs.into_iter().chain(inputs.unread(&plan));
            let warnings = warnings.map(|w| Problem {
                code: w.code.to_owned(),
                message: w.message,
                ..Problem::default()
            });
            out.extend(warnings);
            let all = BoundGraph::problems(
                plan.clone(),
                inputs.bindings(),
                &[],
                sinew::deform::Par::Rayon,
            );
            out.extend(all.iter().map(|e| bind_error(e.to_string())));
        }
        Err(PlayError::Bind(error)) => out.push(bind_error(error.to_string())),
        Err(error) => out.push(bind_error(error.to_string())),
    }
    out
}

/// A list of objects with names, as a dictionary of them.
fn by_name<'py>(py: Python<'py>, list: &Value) -> PyResult<Bound<'py, PyAny>> {
    let named = list.as_array().into_iter().flatten();
    let map = named.filter_map(|v| Some((v["name"].as_str()?.to_owned(), v.clone())));
    json(py, &Value::Object(map.collect()))
}

/// Data for Python.
pub(crate) fn json<'py>(py: Python<'py>, value: &Value) -> PyResult<Bound<'py, PyAny>> {
    py.import("json")?
        .getattr("loads")?
        .call1((value.to_string(),))
}
