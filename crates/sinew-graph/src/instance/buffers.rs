//! The memory that frames are written to.

use super::StepOutput;
use sinew_deform::{Line, MeshViewMut, OutputValue};
use sinew_geom::Mesh;
use std::sync::Arc;

/// Where one attribute of a mesh is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AttributeRef {
    /// The attribute of a rest mesh (or of what setup made of one).
    Constant(usize),
    /// A frame buffer.
    Slot(usize),
}

/// Where a mask, values or lines are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ArrayRef {
    /// Computed in setup.
    Constant(usize),
    /// A frame buffer.
    Slot(usize),
    /// Given with each frame.
    Input(usize),
}

/// Masks, values and lines that setup computed.
#[derive(Debug, Default)]
pub(crate) struct ConstantArrays {
    pub(crate) floats: Vec<Vec<f32>>,
    pub(crate) lines: Vec<Vec<Line>>,
}

/// Frame buffers by element type.
#[derive(Debug, Default)]
pub(crate) struct Buffers {
    pub(crate) threes: Vec<Vec<[f32; 3]>>,
    pub(crate) fours: Vec<Vec<[f32; 4]>>,
    pub(crate) floats: Vec<Vec<f32>>,
    pub(crate) lines: Vec<Vec<Line>>,
    /// The frame before, of the slots that outputs read.
    pub(crate) previous_threes: Vec<Option<Vec<[f32; 3]>>>,
    pub(crate) previous_fours: Vec<Option<Vec<[f32; 4]>>>,
}

impl Buffers {
    pub(crate) fn threes<'a>(
        &'a self,
        r: AttributeRef,
        attribute: usize,
        constants: &'a [Arc<Mesh>],
    ) -> Option<&'a [[f32; 3]]> {
        match (r, attribute) {
            (AttributeRef::Slot(s), _) => self.threes.get(s).map(Vec::as_slice),
            (AttributeRef::Constant(m), 0) => Some(&constants[m].positions),
            (AttributeRef::Constant(m), _) => constants[m].normals.as_deref(),
        }
    }

    pub(crate) fn fours<'a>(
        &'a self,
        r: AttributeRef,
        attribute: usize,
        constants: &'a [Arc<Mesh>],
    ) -> Option<&'a [[f32; 4]]> {
        match (r, attribute) {
            (AttributeRef::Slot(s), _) => self.fours.get(s).map(Vec::as_slice),
            (AttributeRef::Constant(m), 2) => constants[m].tangents.as_deref(),
            (AttributeRef::Constant(m), _) => constants[m].colors.first().map(Vec::as_slice),
        }
    }

    pub(crate) fn swap_previous(&mut self) {
        for (now, before) in self.threes.iter_mut().zip(&mut self.previous_threes) {
            if let Some(before) = before {
                std::mem::swap(now, before);
            }
        }
        for (now, before) in self.fours.iter_mut().zip(&mut self.previous_fours) {
            if let Some(before) = before {
                std::mem::swap(now, before);
            }
        }
    }

    pub(crate) fn copy_to_previous(&mut self) {
        for (now, before) in self.threes.iter().zip(&mut self.previous_threes) {
            if let Some(before) = before {
                before.copy_from_slice(now);
            }
        }
        for (now, before) in self.fours.iter().zip(&mut self.previous_fours) {
            if let Some(before) = before {
                before.copy_from_slice(now);
            }
        }
    }

    pub(crate) fn bytes(&self) -> usize {
        let threes = self
            .threes
            .iter()
            .chain(self.previous_threes.iter().flatten())
            .map(|v| v.len() * 12);
        let fours = self
            .fours
            .iter()
            .chain(self.previous_fours.iter().flatten())
            .map(|v| v.len() * 16);
        let floats = self.floats.iter().map(|v| v.len() * 4);
        let lines = self.lines.iter().map(|v| v.len() * size_of::<Line>());
        threes.chain(fours).chain(floats).chain(lines).sum()
    }

    pub(crate) fn take(&mut self, output: StepOutput) -> Taken {
        use std::mem::take;
        let mut out = Taken {
            mesh: matches!(output, StepOutput::Mesh(_)),
            mask: matches!(output, StepOutput::Mask(_)),
            ..Taken::default()
        };
        match output {
            StepOutput::Mesh(slots) => {
                out.has = slots.map(|s| s.is_some());
                out.positions = slots[0]
                    .map(|s| take(&mut self.threes[s]))
                    .unwrap_or_default();
                out.normals = slots[1]
                    .map(|s| take(&mut self.threes[s]))
                    .unwrap_or_default();
                out.tangents = slots[2]
                    .map(|s| take(&mut self.fours[s]))
                    .unwrap_or_default();
                out.colors = slots[3]
                    .map(|s| take(&mut self.fours[s]))
                    .unwrap_or_default();
            }
            StepOutput::Mask(s) | StepOutput::Values(s) => out.floats = take(&mut self.floats[s]),
            StepOutput::Lines(s) => {
                out.is_lines = true;
                out.lines = take(&mut self.lines[s]);
            }
        }
        out
    }

    pub(crate) fn give_back(&mut self, output: StepOutput, t: Taken) {
        match output {
            StepOutput::Mesh([p, n, tangents, colors]) => {
                for (slot, v) in [(p, t.positions), (n, t.normals)] {
                    if let Some(s) = slot {
                        self.threes[s] = v;
                    }
                }
                for (slot, v) in [(tangents, t.tangents), (colors, t.colors)] {
                    if let Some(s) = slot {
                        self.fours[s] = v;
                    }
                }
            }
            StepOutput::Mask(s) | StepOutput::Values(s) => self.floats[s] = t.floats,
            StepOutput::Lines(s) => self.lines[s] = t.lines,
        }
    }
}

/// Buffers that left the pool while a step writes them.
#[derive(Debug, Default)]
pub(crate) struct Taken {
    mesh: bool,
    mask: bool,
    is_lines: bool,
    has: [bool; 4],
    positions: Vec<[f32; 3]>,
    normals: Vec<[f32; 3]>,
    tangents: Vec<[f32; 4]>,
    colors: Vec<[f32; 4]>,
    floats: Vec<f32>,
    lines: Vec<Line>,
}

impl Taken {
    pub(crate) fn value(&mut self) -> OutputValue<'_> {
        if self.mesh {
            OutputValue::Mesh(MeshViewMut {
                positions: self.has[0].then_some(&mut self.positions),
                normals: self.has[1].then_some(&mut self.normals),
                tangents: self.has[2].then_some(&mut self.tangents),
                colors: self.has[3].then_some(&mut self.colors),
            })
        } else if self.is_lines {
            OutputValue::Lines(&mut self.lines)
        } else if self.mask {
            OutputValue::Mask(&mut self.floats)
        } else {
            OutputValue::Values(&mut self.floats)
        }
    }
}

/// Everything that an [`ArrayRef`] may point to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arrays<'a> {
    pub(crate) constant: &'a ConstantArrays,
    pub(crate) slots: &'a Buffers,
    pub(crate) inputs: &'a [Vec<f32>],
}

impl<'a> Arrays<'a> {
    pub(crate) fn floats(&self, r: ArrayRef) -> &'a [f32] {
        match r {
            ArrayRef::Constant(i) => &self.constant.floats[i],
            ArrayRef::Slot(i) => &self.slots.floats[i],
            ArrayRef::Input(i) => &self.inputs[i],
        }
    }
    pub(crate) fn lines(&self, r: ArrayRef) -> &'a [Line] {
        match r {
            ArrayRef::Constant(i) => &self.constant.lines[i],
            ArrayRef::Slot(i) => &self.slots.lines[i],
            ArrayRef::Input(_) => &[],
        }
    }
}
