//! The results of a frame.

use super::Instance;
use crate::program::{DataRef, OutputData};
use sinew_deform::{Line, MESH_ATTRIBUTES, MeshAttribute, MeshView};
use sinew_geom::{Bounds, Mesh, Pose};

/// A mesh output after an update: attributes of the current and the previous frame.
///
/// Each array has one element per vertex, in the vertex order of `rest`. After the first update, previous equals current.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct OutputMesh<'a> {
    /// Mesh with topology, UVs and parts; its positions are the rest positions.
    pub rest: &'a Mesh,
    /// Positions in scene space.
    pub positions: &'a [[f32; 3]],
    /// Unit normals.
    pub normals: Option<&'a [[f32; 3]]>,
    /// Unit tangents with bitangent sign.
    pub tangents: Option<&'a [[f32; 4]]>,
    /// Colour set 0, linear RGBA.
    pub colors: Option<&'a [[f32; 4]]>,
    /// Positions of the previous frame.
    pub previous_positions: &'a [[f32; 3]],
    /// Normals of the previous frame.
    pub previous_normals: Option<&'a [[f32; 3]]>,
    /// Tangents of the previous frame.
    pub previous_tangents: Option<&'a [[f32; 4]]>,
}

impl OutputMesh<'_> {
    /// Bounding box of the positions; `None` without vertices. Computed at each call.
    pub fn bounds(&self) -> Option<Bounds> {
        sinew_geom::bounds(self.positions)
    }
}

impl Instance {
    /// The mesh output of that name; `None` if there is no such mesh output.
    pub fn mesh_output(&self, name: &str) -> Option<OutputMesh<'_>> {
        let Some(OutputData::Mesh {
            rest, attributes, ..
        }) = self.output(name)
        else {
            return None;
        };
        let (now, before) = (self.sources(), self.previous_mesh(attributes));
        let view = now.mesh(attributes);
        attributes[0]?;
        Some(OutputMesh {
            rest: now.meshes.get(*rest)?,
            positions: view.positions,
            normals: view.normals,
            tangents: view.tangents,
            colors: view.colors,
            previous_positions: before.positions,
            previous_normals: before.normals,
            previous_tangents: before.tangents,
        })
    }

    /// The previous frame; data that does not change has no separate buffer for it.
    fn previous_mesh(&self, attributes: &[Option<DataRef>; MESH_ATTRIBUTES]) -> MeshView<'_> {
        let now = self.sources();
        let buffer = |a: MeshAttribute| match attributes[a.index()]? {
            DataRef::Frame(i) => self.previous.get(i)?.as_ref(),
            DataRef::Rest(_) | DataRef::Setup(_) | DataRef::Input(_) => None,
        };
        let vec3 = |a| match buffer(a) {
            Some(buffer) => buffer.vec3(),
            None => now.vec3(attributes[a.index()]?, a),
        };
        let vec4 = |a| match buffer(a) {
            Some(buffer) => buffer.vec4(),
            None => now.vec4(attributes[a.index()]?, a),
        };
        MeshView {
            positions: vec3(MeshAttribute::Positions).unwrap_or_default(),
            normals: vec3(MeshAttribute::Normals),
            tangents: vec4(MeshAttribute::Tangents),
            colors: vec4(MeshAttribute::Colors),
            ..MeshView::default()
        }
    }

    /// The mask or values output of that name.
    pub fn float_output(&self, name: &str) -> Option<&[f32]> {
        match self.output(name)? {
            OutputData::Floats(place) => self.sources().floats(*place),
            _ => None,
        }
    }

    /// The lines output of that name.
    pub fn line_output(&self, name: &str) -> Option<&[Line]> {
        match self.output(name)? {
            OutputData::Lines(place) => self.sources().lines(*place),
            _ => None,
        }
    }

    /// The 32-bit words of the field output of that name.
    pub fn field_output(&self, name: &str) -> Option<&[u32]> {
        match self.output(name)? {
            OutputData::Field(place) => self.sources().words(*place),
            _ => None,
        }
    }

    /// The pose output of that name, if a node computed it. `None` for a pose input that is also an output: the caller has it.
    pub fn pose_output(&self, name: &str) -> Option<&Pose> {
        match self.output(name)? {
            OutputData::Pose(place) => self.sources().pose(*place),
            _ => None,
        }
    }

    fn output(&self, name: &str) -> Option<&OutputData> {
        let plan = self.graph.plan();
        let index = plan.outputs().iter().position(|o| o.name == name)?;
        self.graph.program().outputs().get(index)
    }
}
