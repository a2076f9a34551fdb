//! The key `follow` of nodes with a region in the scene: the region moves with a joint.

use super::Collector;
use super::linked::follows_joint;
use crate::json::{Json, Member};
use crate::plan::{ParameterSource, Takes};
use sinew_deform::{FOLLOW, NodeDesc, ParameterValue};
use std::ops::Range;

/// Whether a node has this key beside its inputs and parameters.
pub(super) fn is_key(desc: &NodeDesc, key: &str) -> bool {
    key == FOLLOW.name && desc.placement().is_some()
}

impl Collector<'_> {
    /// Reads the key `follow` of a node: its region then moves with the joint. `pose`: link of the node's input `pose`, if it has one.
    pub(super) fn read_follow(
        &mut self,
        scope: usize,
        desc: &NodeDesc,
        json: &Json,
        pose: Option<(String, Range<usize>)>,
        parameters: &mut [ParameterSource],
    ) {
        let Some((index, placement)) = desc.placement() else {
            return;
        };
        let members = json.members().unwrap_or_default();
        let Some(m) = members.iter().find(|m| m.key == FOLLOW.name) else {
            return;
        };
        let Some(name) = self.read_source(scope, &FOLLOW, m) else {
            return;
        };
        if name == ParameterSource::Constant(ParameterValue::Text(String::new())) {
            return;
        }
        if let ParameterSource::Linked(link) = &parameters[index]
            && let Takes::Joint { .. } = link.takes
        {
            self.follows_twice(scope, m, placement.name);
            return;
        }
        let pose = pose.or_else(|| self.pose_of(scope, FOLLOW.name, None, &m.value.span));
        let Some(pose) = pose else { return };
        let offset = parameters[index].clone();
        let at = m.value.span.start;
        let link = follows_joint(scope, FOLLOW.name, pose, at, name, offset);
        parameters[index] = self.linked(link);
    }

    fn follows_twice(&mut self, scope: usize, m: &Member, placement: &str) {
        let message = format!("'follow' names a joint, but '{placement}' follows one already");
        let help = format!("remove 'follow', or give '{placement}' the transform alone");
        self.reporter(scope)
            .error("follows_twice", &m.key_span, message, help);
    }
}
