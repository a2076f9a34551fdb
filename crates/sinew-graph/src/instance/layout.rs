//! Which attribute lives in which memory: virtual buffers, their lives, and the slots that they share.

use super::buffers::{ArrayRef, AttributeRef, Buffers};
use super::outputs::OutputSlot;
use super::{StepInput, StepOutput};
use sinew_deform::{AttributeEffect, AttributeRead, Line, MeshEffect, PortDesc};

/// Where one attribute of a mesh on a link is, before slots are assigned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Attribute {
    Constant(usize),
    Virtual(usize),
}

/// A mesh on a link.
#[derive(Clone, Copy, Debug)]
pub(super) struct MeshValue {
    /// Index of its authored rest mesh.
    pub(super) rest: usize,
    /// Positions, normals, tangents, colours; `None` where it has none.
    pub(super) attributes: [Option<Attribute>; 4],
    /// Whether the attribute no longer fits the positions.
    pub(super) stale: [bool; 4],
}

/// What is on a link.
#[derive(Clone, Copy, Debug)]
pub(super) enum Value {
    Mesh(MeshValue),
    Pose(usize),
    Mask(Array),
    Values(Array),
    Lines(Array),
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Array {
    pub(super) place: ArrayPlace,
    pub(super) len: usize,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum ArrayPlace {
    Constant(usize),
    Virtual(usize),
    Input(usize),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Element {
    Three,
    Four,
    Float,
    Line,
}

/// A buffer before it has memory.
#[derive(Clone, Debug)]
struct Virtual {
    element: Element,
    len: usize,
    live: bool,
    /// Index of the last step that reads it; outputs live for ever.
    last_use: usize,
    output: bool,
    slot: Option<usize>,
}

/// A step before its buffers have memory.
#[derive(Debug)]
pub(super) struct PendingStep {
    pub(super) inputs: Vec<Option<Value>>,
    /// What those are linked to.
    pub(super) ports: &'static [PortDesc],
    /// Which attributes of each input the step reads; known once liveness is.
    pub(super) reads: Vec<[bool; 4]>,
    pub(super) outputs: Vec<PendingOutput>,
    /// Runs even if nobody reads it (solvers).
    pub(super) always: bool,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum PendingOutput {
    Mesh {
        effect: MeshEffect,
        written: [Option<usize>; 4],
    },
    Mask(usize),
    Values(usize),
    Lines(usize),
}

pub(super) fn effects(effect: &MeshEffect) -> [AttributeEffect; 4] {
    [
        effect.positions,
        effect.normals,
        effect.tangents,
        effect.colors,
    ]
}

/// Which attributes of the mesh at `port` are read, for outputs of which `written` are written.
pub(super) fn attributes_read(port: &PortDesc, outputs: &[(MeshEffect, [bool; 4])]) -> [bool; 4] {
    let reads = port.reads.all();
    std::array::from_fn(|a| {
        let any = |wanted: &dyn Fn(&MeshEffect) -> bool| {
            outputs.iter().any(|(e, written)| written[a] && wanted(e))
        };
        let transformed =
            |e: &MeshEffect| e.from == port.name && effects(e)[a] == AttributeEffect::Transform;
        match reads[a] {
            AttributeRead::Always => true,
            AttributeRead::WithOutput => any(&|_| true),
            AttributeRead::Never => any(&transformed),
        }
    })
}

/// All virtual buffers of an instance.
#[derive(Debug, Default)]
pub(super) struct Layout {
    virtuals: Vec<Virtual>,
}

impl Layout {
    pub(super) fn add(&mut self, element: Element, len: usize) -> usize {
        self.virtuals.push(Virtual {
            element,
            len,
            live: false,
            last_use: 0,
            output: false,
            slot: None,
        });
        self.virtuals.len() - 1
    }

    fn read(&mut self, id: usize, step: usize) {
        let v = &mut self.virtuals[id];
        v.live = true;
        v.last_use = v.last_use.max(step);
    }

    /// Marks what an output of the graph needs.
    pub(super) fn read_output(&mut self, value: &Value) {
        let mut keep = |id: usize| {
            let v = &mut self.virtuals[id];
            (v.live, v.output, v.last_use) = (true, true, usize::MAX);
        };
        match value {
            Value::Mesh(m) => {
                for (attribute, stale) in m.attributes.iter().zip(m.stale) {
                    if let (Some(Attribute::Virtual(id)), false) = (attribute, stale) {
                        keep(*id);
                    }
                }
            }
            Value::Mask(a) | Value::Values(a) | Value::Lines(a) => {
                if let ArrayPlace::Virtual(id) = a.place {
                    keep(id);
                }
            }
            Value::Pose(_) => {}
        }
    }

    /// Walks the steps backwards and marks what each needs. Returns which of them run.
    pub(super) fn mark_live(&mut self, steps: &mut [PendingStep]) -> Vec<bool> {
        let mut runs = vec![false; steps.len()];
        for (index, step) in steps.iter_mut().enumerate().rev() {
            let mut any = step.always;
            let mut meshes = Vec::new();
            for output in &step.outputs {
                match output {
                    PendingOutput::Mesh { effect, written } => {
                        let live = written.map(|id| id.is_some_and(|id| self.virtuals[id].live));
                        any |= live.contains(&true);
                        meshes.push((*effect, live));
                    }
                    PendingOutput::Mask(id)
                    | PendingOutput::Values(id)
                    | PendingOutput::Lines(id) => any |= self.virtuals[*id].live,
                }
            }
            runs[index] = any;
            step.reads = step
                .ports
                .iter()
                .map(|port| attributes_read(port, &meshes))
                .collect();
            if any {
                self.read_inputs(step, index);
            }
        }
        runs
    }

    fn read_inputs(&mut self, step: &PendingStep, index: usize) {
        for (value, reads) in step.inputs.iter().zip(&step.reads) {
            match value {
                Some(Value::Mesh(m)) => {
                    for (a, &read) in reads.iter().enumerate() {
                        if let (Some(Attribute::Virtual(id)), false, true) =
                            (m.attributes[a], m.stale[a], read)
                        {
                            self.read(id, index);
                        }
                    }
                }
                Some(Value::Mask(a) | Value::Values(a) | Value::Lines(a)) => {
                    if let ArrayPlace::Virtual(id) = a.place {
                        self.read(id, index);
                    }
                }
                Some(Value::Pose(_)) | None => {}
            }
        }
    }

    /// Gives every live buffer a slot; a slot is free again after the last read of what it held.
    pub(super) fn assign_slots(&mut self, steps: &[PendingStep], runs: &[bool]) -> Buffers {
        let mut buffers = Buffers::default();
        // (element, length, last use of the current content) of each slot, by element.
        let mut slots: Vec<(Element, usize, usize, usize)> = Vec::new();
        for (index, step) in steps.iter().enumerate().filter(|s| runs[s.0]) {
            for id in step.outputs.iter().flat_map(written_ids) {
                let v = &self.virtuals[id];
                if !v.live {
                    continue;
                }
                let (element, len, output) = (v.element, v.len, v.output);
                let last_use = v.last_use.max(index);
                let free = slots
                    .iter_mut()
                    .find(|s| !output && s.0 == element && s.1 == len && s.2 < index);
                let slot = match free {
                    Some(s) => {
                        s.2 = last_use;
                        s.3
                    }
                    None => {
                        let slot = new_slot(&mut buffers, element, len, output);
                        slots.push((element, len, last_use, slot));
                        slot
                    }
                };
                self.virtuals[id].slot = Some(slot);
            }
        }
        buffers
    }

    fn attribute(&self, a: Option<Attribute>, stale: bool) -> Option<AttributeRef> {
        match a? {
            _ if stale => None,
            Attribute::Constant(m) => Some(AttributeRef::Constant(m)),
            Attribute::Virtual(id) => self.virtuals[id].slot.map(AttributeRef::Slot),
        }
    }

    fn attributes(&self, m: &MeshValue) -> [Option<AttributeRef>; 4] {
        std::array::from_fn(|a| self.attribute(m.attributes[a], m.stale[a]))
    }

    fn array(&self, a: Array) -> Option<ArrayRef> {
        Some(match a.place {
            ArrayPlace::Constant(i) => ArrayRef::Constant(i),
            ArrayPlace::Input(i) => ArrayRef::Input(i),
            ArrayPlace::Virtual(id) => ArrayRef::Slot(self.virtuals[id].slot?),
        })
    }

    /// A step sees only what it declares to read: other buffers may hold something else by then.
    pub(super) fn step_input(&self, value: &Value, reads: [bool; 4]) -> Option<StepInput> {
        Some(match value {
            Value::Mesh(m) => {
                let all = self.attributes(m);
                StepInput::Mesh(std::array::from_fn(|a| all[a].filter(|_| reads[a])))
            }
            Value::Pose(i) => StepInput::Pose(*i),
            Value::Mask(a) => StepInput::Mask(self.array(*a)?),
            Value::Values(a) => StepInput::Values(self.array(*a)?),
            Value::Lines(a) => StepInput::Lines(self.array(*a)?),
        })
    }

    pub(super) fn step_output(&self, output: &PendingOutput) -> Option<StepOutput> {
        let slot = |id: usize| self.virtuals[id].slot;
        Some(match output {
            PendingOutput::Mesh { written, .. } => {
                StepOutput::Mesh(written.map(|id| id.and_then(slot)))
            }
            PendingOutput::Mask(id) => StepOutput::Mask(slot(*id)?),
            PendingOutput::Values(id) => StepOutput::Values(slot(*id)?),
            PendingOutput::Lines(id) => StepOutput::Lines(slot(*id)?),
        })
    }

    pub(super) fn output_slot(&self, value: &Value) -> OutputSlot {
        match value {
            Value::Mesh(m) => OutputSlot::Mesh {
                rest: m.rest,
                attributes: self.attributes(m),
            },
            Value::Mask(a) | Value::Values(a) => {
                self.array(*a).map_or(OutputSlot::Pose, OutputSlot::Floats)
            }
            Value::Lines(a) => self.array(*a).map_or(OutputSlot::Pose, OutputSlot::Lines),
            Value::Pose(_) => OutputSlot::Pose,
        }
    }
}

fn written_ids(output: &PendingOutput) -> Vec<usize> {
    match output {
        PendingOutput::Mesh { written, .. } => written.iter().flatten().copied().collect(),
        PendingOutput::Mask(id) | PendingOutput::Values(id) | PendingOutput::Lines(id) => vec![*id],
    }
}

fn new_slot(buffers: &mut Buffers, element: Element, len: usize, output: bool) -> usize {
    match element {
        Element::Three => {
            buffers.threes.push(vec![[0.0; 3]; len]);
            buffers
                .previous_threes
                .push(output.then(|| vec![[0.0; 3]; len]));
            buffers.threes.len() - 1
        }
        Element::Four => {
            buffers.fours.push(vec![[0.0; 4]; len]);
            buffers
                .previous_fours
                .push(output.then(|| vec![[0.0; 4]; len]));
            buffers.fours.len() - 1
        }
        Element::Float => {
            buffers.floats.push(vec![0.0; len]);
            buffers.floats.len() - 1
        }
        Element::Line => {
            buffers.lines.push(vec![Line::default(); len]);
            buffers.lines.len() - 1
        }
    }
}
