//! Recomputes stale normals and tangents before a node reads them.

use super::BindError;
use super::binder::{Binder, refused};
use super::value::{Location, MeshValue, Value, mesh_input};
use crate::plan::{ParameterSource, PlanNode};
use sinew_deform::{
    AttributeEffect, AttributeRead, MESH_ATTRIBUTES, NodeError, ParameterValue, find_node,
};

/// Normals and tangents that were made for some positions, so that they are made once.
#[derive(Clone, Copy)]
pub(super) struct Frames {
    positions: Option<Location>,
    with_tangents: bool,
    attributes: [Option<Location>; 2],
    stale: [bool; 2],
}

impl Binder<'_> {
    /// Brings up to date what the node reads of its mesh inputs, and makes what they lack.
    pub(super) fn refresh_reads(
        &mut self,
        node: &PlanNode,
        inputs: &mut [Option<Value>],
    ) -> Result<(), BindError> {
        for (i, port) in node.desc.inputs.iter().enumerate() {
            let Some(Value::Mesh(m)) = inputs[i] else {
                continue;
            };
            let reads = port.reads.all();
            let always = [1, 2].map(|a| reads[a] == AttributeRead::Always);
            let fresh = self.refreshed(m, always)?;
            inputs[i] = Some(Value::Mesh(fresh));
            let lacks = |a: usize| reads[a] == AttributeRead::Always && !fresh.is_fresh(a);
            if let Some(a) = (0..MESH_ATTRIBUTES).find(|&a| lacks(a)) {
                return Err(refused(node, self.cannot_be_made(port.name, &fresh, a)));
            }
        }
        // Needed only where the attribute comes out, which may be known only now.
        for (i, port) in node.desc.inputs.iter().enumerate() {
            let Some(Value::Mesh(m)) = inputs[i] else {
                continue;
            };
            let reads = port.reads.all();
            let comes_out = |a: usize| {
                let mut effects_of = node.desc.outputs.iter().filter_map(|o| o.effect);
                effects_of.any(|e| match e.all()[a] {
                    AttributeEffect::Recompute => true,
                    AttributeEffect::Transform => {
                        mesh_input(node, inputs, &e).is_some_and(|from| from.is_fresh(a))
                    }
                    AttributeEffect::Keep | AttributeEffect::Invalidate => false,
                })
            };
            let wants =
                [1, 2].map(|a| reads[a] == AttributeRead::WithOutput && m.stale[a] && comes_out(a));
            inputs[i] = Some(Value::Mesh(self.refreshed(m, wants)?));
        }
        Ok(())
    }

    fn cannot_be_made(&self, port: &'static str, m: &MeshValue, a: usize) -> NodeError {
        let rest = &self.meshes[m.rest];
        let (what, lacks) = match a {
            0 => ("positions", ""),
            3 => ("colours", ""),
            _ if rest.topology.triangles().is_empty() => (
                if a == 1 { "normals" } else { "tangents" },
                " and no triangles to make them from",
            ),
            1 => ("normals", ""),
            _ => ("tangents", " and no texture coordinates to make them from"),
        };
        NodeError::Input {
            port,
            message: format!(
                "the node reads {what}, but the mesh '{}' has none{lacks}",
                rest.name
            ),
        }
    }

    /// The mesh with the requested normals and tangents, as far as possible: inserts `tangent_frames` if they are missing or stale.
    pub(super) fn refreshed(
        &mut self,
        m: MeshValue,
        [normals, tangents]: [bool; 2],
    ) -> Result<MeshValue, BindError> {
        let unfit = |a: usize| !m.is_fresh(a);
        let rest = &self.meshes[m.rest];
        let can_tangents = m.attributes[2].is_some() || !rest.uvs.is_empty();
        let with_tangents = tangents && can_tangents;
        if !(normals && unfit(1) || with_tangents && unfit(2))
            || rest.topology.triangles().is_empty()
        {
            return Ok(m);
        }
        let known = self
            .frames
            .iter()
            .find(|f| f.positions == m.attributes[0] && f.with_tangents == with_tangents)
            .copied();
        let frames = match known {
            Some(frames) => frames,
            None => {
                let Some(frames) = self.make_frames(&m, with_tangents)? else {
                    return Ok(m);
                };
                self.frames.push(frames);
                frames
            }
        };
        let mut out = m;
        for (i, a) in [1, 2].into_iter().enumerate() {
            if a == 1 || with_tangents {
                (out.attributes[a], out.stale[a]) = (frames.attributes[i], frames.stale[i]);
            }
        }
        Ok(out)
    }

    fn make_frames(
        &mut self,
        m: &MeshValue,
        with_tangents: bool,
    ) -> Result<Option<Frames>, BindError> {
        let Some(desc) = find_node("tangent_frames") else {
            return Ok(None);
        };
        // Without texture coordinates the authored tangents are all there is to go by.
        let tangents = match (with_tangents, self.meshes[m.rest].uvs.is_empty()) {
            (false, _) => Some("none"),
            (true, true) => Some("project"),
            (true, false) => None,
        };
        let parameters = desc
            .parameters
            .iter()
            .map(|p| {
                let mode = tangents.filter(|_| p.name == "tangents");
                ParameterSource::Constant(mode.map_or_else(
                    || p.default_value(),
                    |mode| ParameterValue::Text(mode.into()),
                ))
            })
            .collect();
        let constant = |l: Location| self.layout.is_constant(l);
        let constant = m.attributes[0].is_some_and(constant);
        let node = PlanNode {
            name: format!("frames ({})", self.pending.len()),
            desc,
            kernel: None,
            inputs: vec![None; desc.inputs.len()],
            parameters,
            parameter_inputs: Vec::new(),
            fit: None,
            runs_in_setup: constant,
            implicit: true,
            location: String::new(),
        };
        let inputs = desc
            .inputs
            .iter()
            .map(|p| (p.name == "mesh").then_some(Value::Mesh(*m)))
            .collect();
        let values = self.bind_with(&node, inputs)?;
        let Some(Value::Mesh(fresh)) = values.first() else {
            return Ok(None);
        };
        Ok(Some(Frames {
            positions: m.attributes[0],
            with_tangents,
            attributes: [fresh.attributes[1], fresh.attributes[2]],
            stale: [fresh.stale[1], fresh.stale[2]],
        }))
    }
}
