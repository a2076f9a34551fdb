//! Rest offsets: instances with another rest shape than the bound mesh.

use crate::bind::BoundGraph;
use crate::input::InputBinding;
use crate::program::{DataRef, OutputData, PortData, Program};
use sinew_deform::{MeshAttribute, Phase};

/// Why rest offsets were refused. Nothing changes then.
#[derive(Debug, thiserror::Error, Clone, PartialEq)]
#[non_exhaustive]
pub enum RestOffsetError {
    /// No input has this name.
    #[error("the graph has no input '{name}'; mesh inputs: {}", if .known.is_empty() { "none".to_owned() } else { .known.join(", ") })]
    Unknown {
        /// Requested name.
        name: String,
        /// Names of all mesh inputs.
        known: Vec<String>,
    },
    /// The input is not a mesh.
    #[error("input '{input}' is not a mesh and has no rest positions to offset")]
    NotAMesh {
        /// Name of the input.
        input: String,
    },
    /// The number of offsets is not the number of vertices.
    #[error("input '{input}': found {found} offsets, expected {expected}, one for each vertex")]
    Count {
        /// Name of the input.
        input: String,
        /// Number of offsets.
        found: usize,
        /// Vertices of the bound mesh.
        expected: usize,
    },
    /// An offset or the position that it gives is NaN or infinite.
    #[error(
        "input '{input}': the offset of vertex {vertex} is {found:?}, which makes the position NaN or infinite"
    )]
    NotFinite {
        /// Name of the input.
        input: String,
        /// Index of the vertex.
        vertex: usize,
        /// Its offset.
        found: [f32; 3],
    },
    /// The rest positions are read in setup only.
    #[error(
        "input '{input}': rest offsets would have no effect, because no frame reads the rest positions: {reader} in setup, once for all \
         instances; use a parameter of the graph in that node to run it in every frame"
    )]
    SetupOnly {
        /// Name of the input.
        input: String,
        /// The node that reads them.
        reader: String,
    },
}

fn reads(port: &Option<PortData>, mesh: usize) -> bool {
    let positions = MeshAttribute::Positions.index();
    matches!(port, Some(PortData::Mesh(places)) if places[positions] == Some(DataRef::Rest(mesh)))
}

/// Fails if no frame reads the rest positions of a mesh.
fn check_read(program: &Program, mesh: usize, input: &str) -> Result<(), RestOffsetError> {
    let positions = MeshAttribute::Positions.index();
    let mut steps = program.steps(Phase::Update).iter();
    let is_output = program.outputs().iter().any(|output| match output {
        OutputData::Mesh { attributes, .. } => attributes[positions] == Some(DataRef::Rest(mesh)),
        OutputData::Pose(_)
        | OutputData::Floats(_)
        | OutputData::Lines(_)
        | OutputData::Field(_) => false,
    });
    if is_output || steps.any(|s| s.inputs.iter().any(|port| reads(port, mesh))) {
        return Ok(());
    }
    let mut setup = program.steps(Phase::Setup).iter();
    let reader = setup.find(|s| s.inputs.iter().any(|port| reads(port, mesh)));
    Err(RestOffsetError::SetupOnly {
        input: input.to_owned(),
        reader: reader.map_or_else(
            || "nodes read them".to_owned(),
            |s| format!("node '{}' ({}) runs", s.name, s.desc.name),
        ),
    })
}

impl BoundGraph {
    /// Adds `offsets`, one per vertex, to the rest positions of a mesh input and writes the result to `out`. Returns the index of the
    /// mesh in [`Program::meshes`]. For executors; see [`crate::Instance::set_rest_offsets`].
    ///
    /// # Errors
    /// [`RestOffsetError`]. The content of `out` is undefined then.
    pub fn offset_rest(
        &self,
        input: &str,
        offsets: &[[f32; 3]],
        out: &mut Vec<[f32; 3]>,
    ) -> Result<usize, RestOffsetError> {
        let mesh = self.mesh_of_input(input)?;
        check_read(&self.program, mesh, input)?;
        let rest = &self.program.meshes[mesh].positions;
        if offsets.len() != rest.len() {
            return Err(RestOffsetError::Count {
                input: input.to_owned(),
                found: offsets.len(),
                expected: rest.len(),
            });
        }
        out.clear();
        out.reserve_exact(rest.len());
        for (vertex, (p, offset)) in rest.iter().zip(offsets).enumerate() {
            let moved = [p[0] + offset[0], p[1] + offset[1], p[2] + offset[2]];
            if !moved.iter().all(|c| c.is_finite()) {
                return Err(RestOffsetError::NotFinite {
                    input: input.to_owned(),
                    vertex,
                    found: *offset,
                });
            }
            out.push(moved);
        }
        Ok(mesh)
    }

    fn mesh_of_input(&self, name: &str) -> Result<usize, RestOffsetError> {
        let declared = || self.plan.inputs().iter().zip(&self.inputs);
        let is_mesh = |binding: &InputBinding| binding.mesh().is_some();
        let Some(at) = declared().position(|(decl, _)| decl.name == name) else {
            let known = declared().filter(|(_, binding)| is_mesh(binding));
            return Err(RestOffsetError::Unknown {
                name: name.to_owned(),
                known: known.map(|(decl, _)| decl.name.clone()).collect(),
            });
        };
        if !is_mesh(&self.inputs[at]) {
            return Err(RestOffsetError::NotAMesh {
                input: name.to_owned(),
            });
        }
        // The program has the meshes of the mesh inputs in the order of the inputs.
        Ok(self.inputs[..at].iter().filter(|i| is_mesh(i)).count())
    }
}
