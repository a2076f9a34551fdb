//! Instances whose rest mesh has another shape: offsets of the rest positions.

use crate::bind::{BoundGraph, InputBinding};
use crate::program::{OutputPlace, Place, PortPlace, Program};
use sinew_deform::{MeshAttribute, Phase};

/// Why offsets of rest positions were refused. Nothing has changed then.
#[derive(Debug, thiserror::Error, Clone, PartialEq)]
#[non_exhaustive]
pub enum RestOffsetError {
    /// No such input.
    #[error("the graph has no input '{name}'; its mesh inputs are {}", if .known.is_empty() { "none".to_owned() } else { .known.join(", ") })]
    Unknown {
        /// What was asked for.
        name: String,
        /// The mesh inputs that there are.
        known: Vec<String>,
    },
    /// The input takes something else.
    #[error("input '{input}' takes no mesh, so it has no rest positions to offset")]
    NotAMesh {
        /// Name of the input.
        input: String,
    },
    /// Not one offset a vertex.
    #[error("input '{input}': found {found} offsets, expected {expected}, one for each vertex")]
    Count {
        /// Name of the input.
        input: String,
        /// Offsets given.
        found: usize,
        /// Vertices of the mesh that was bound.
        expected: usize,
    },
    /// A number is infinite or not a number, or the moved point would be.
    #[error(
        "input '{input}': the offset of vertex {vertex} is {found:?}, which gives no finite position"
    )]
    NotFinite {
        /// Name of the input.
        input: String,
        /// Which vertex.
        vertex: usize,
        /// Its offset.
        found: [f32; 3],
    },
    /// The rest positions are read in setup only.
    #[error(
        "input '{input}': offsets would change nothing, as no frame reads its rest positions: {reader} in setup, once for all instances; \
         give that node a parameter of the graph, so that it runs in every frame"
    )]
    SetupOnly {
        /// Name of the input.
        input: String,
        /// Who reads them.
        reader: String,
    },
}

fn reads(port: &Option<PortPlace>, mesh: usize) -> bool {
    let positions = MeshAttribute::Positions.index();
    matches!(port, Some(PortPlace::Mesh(places)) if places[positions] == Some(Place::Rest(mesh)))
}

/// Fails where no frame reads the rest positions of a mesh.
fn check_read(program: &Program, mesh: usize, input: &str) -> Result<(), RestOffsetError> {
    let positions = MeshAttribute::Positions.index();
    let mut steps = program.steps(Phase::Update).iter();
    let is_output = program.outputs().iter().any(|output| match output {
        OutputPlace::Mesh { attributes, .. } => attributes[positions] == Some(Place::Rest(mesh)),
        OutputPlace::Pose(_)
        | OutputPlace::Floats(_)
        | OutputPlace::Lines(_)
        | OutputPlace::Field(_) => false,
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
    /// Writes the rest positions of a mesh input, moved by `offsets`, one a vertex, to `out`; gives the mesh's index in
    /// [`Program::meshes`]. For executors; see [`crate::Instance::set_rest_offsets`].
    ///
    /// # Errors
    /// [`RestOffsetError`]. `out` may hold anything then.
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
        let is_mesh = |binding: &InputBinding| matches!(binding, InputBinding::Mesh(_));
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
