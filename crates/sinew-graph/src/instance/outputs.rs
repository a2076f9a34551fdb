//! Reading the results of a frame.

use super::Instance;
use super::buffers::{ArrayRef, Arrays, AttributeRef};
use sinew_deform::Line;
use sinew_geom::Mesh;

/// Where an output's data is.
#[derive(Debug)]
pub(crate) enum OutputSlot {
    Mesh {
        rest: usize,
        attributes: [Option<AttributeRef>; 4],
    },
    Floats(ArrayRef),
    Lines(ArrayRef),
    Pose,
}

/// A mesh output after an update: current attributes and those of the frame before.
///
/// One element a vertex, in the vertex order of `rest`. After the first update previous equals current.
#[derive(Clone, Copy, Debug)]
pub struct OutputMesh<'a> {
    /// Topology, UVs, parts; its positions are the rest positions.
    pub rest: &'a Mesh,
    /// Positions in scene space.
    pub positions: &'a [[f32; 3]],
    /// Unit normals.
    pub normals: Option<&'a [[f32; 3]]>,
    /// Unit tangents with bitangent sign.
    pub tangents: Option<&'a [[f32; 4]]>,
    /// Colour set 0, linear RGBA.
    pub colors: Option<&'a [[f32; 4]]>,
    /// Positions of the frame before.
    pub previous_positions: &'a [[f32; 3]],
    /// Normals of the frame before.
    pub previous_normals: Option<&'a [[f32; 3]]>,
    /// Tangents of the frame before.
    pub previous_tangents: Option<&'a [[f32; 4]]>,
}

impl Instance {
    /// The mesh output of that name; `None` where there is no such mesh output.
    pub fn mesh_output(&self, name: &str) -> Option<OutputMesh<'_>> {
        let index = self.plan.outputs().iter().position(|o| o.name == name)?;
        let OutputSlot::Mesh { rest, attributes } = &self.outputs[index] else {
            return None;
        };
        let threes =
            |a: usize| attributes[a].and_then(|r| self.buffers.threes(r, a, &self.constants));
        let fours =
            |a: usize| attributes[a].and_then(|r| self.buffers.fours(r, a, &self.constants));
        let before3 = |a: usize| match attributes[a] {
            Some(AttributeRef::Slot(s)) => self.buffers.previous_threes[s].as_deref(),
            _ => threes(a),
        };
        let before4 = |a: usize| match attributes[a] {
            Some(AttributeRef::Slot(s)) => self.buffers.previous_fours[s].as_deref(),
            _ => fours(a),
        };
        Some(OutputMesh {
            rest: &self.constants[*rest],
            positions: threes(0)?,
            normals: threes(1),
            tangents: fours(2),
            colors: fours(3),
            previous_positions: before3(0)?,
            previous_normals: before3(1),
            previous_tangents: before4(2),
        })
    }

    /// The mask or values output of that name.
    pub fn float_output(&self, name: &str) -> Option<&[f32]> {
        match self.slot(name)? {
            OutputSlot::Floats(r) => Some(self.arrays().floats(*r)),
            _ => None,
        }
    }

    /// The lines output of that name.
    pub fn line_output(&self, name: &str) -> Option<&[Line]> {
        match self.slot(name)? {
            OutputSlot::Lines(r) => Some(self.arrays().lines(*r)),
            _ => None,
        }
    }

    fn slot(&self, name: &str) -> Option<&OutputSlot> {
        let index = self.plan.outputs().iter().position(|o| o.name == name)?;
        self.outputs.get(index)
    }

    fn arrays(&self) -> Arrays<'_> {
        Arrays {
            constant: &self.constant_arrays,
            slots: &self.buffers,
            inputs: &self.value_inputs,
        }
    }
}
