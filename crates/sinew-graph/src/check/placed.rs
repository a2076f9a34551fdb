//! Keys of nodes with a region in the scene: with `follow` the region moves with a joint, with `fit` it is found from the mesh.

use super::Collector;
use super::linked::{follows_joint, mask_link};
use crate::diagnostic::listed;
use crate::json::{Json, Member};
use crate::plan::{Fit, FitOf, ParameterSource, Takes};
use crate::value::read_value;
use sinew_deform::{FOLLOW, NodeDesc, ParameterType, ParameterValue, Region};
use std::ops::Range;

/// Whether a node has this key beside its inputs and parameters.
pub(super) fn is_key(desc: &NodeDesc, key: &str) -> bool {
    key == FOLLOW.name && desc.placement().is_some()
}

/// Key of the vertices that the region is fitted to.
pub(crate) const FIT: &str = "fit";

/// Keys that `fit` sets.
fn set_by_fit(desc: &NodeDesc, region: Region) -> Vec<&'static str> {
    let placement = desc.placement().map(|(_, p)| p.name);
    let more: &[&str] = match region {
        Region::Axis => &["length"],
        Region::SizedBox => &["size", "origin"],
        Region::UnitBox | Region::Frame => &[],
    };
    placement.into_iter().chain(more.iter().copied()).collect()
}

impl Collector<'_> {
    /// Reads the key `fit` of a node: `"mesh"` or `{"mask": NAME, "joint": NAME, "margin": 0}` with at most one of both names.
    pub(super) fn read_fit(
        &mut self,
        scope: usize,
        desc: &NodeDesc,
        json: &Json,
        pose: Option<(String, Range<usize>)>,
        parameters: &[ParameterSource],
    ) -> Option<Fit> {
        let region = desc.fitted_region()?;
        let members = json.members().unwrap_or_default();
        let m = members.iter().find(|m| m.key == FIT)?;
        let set = set_by_fit(desc, region);
        if let Some(other) = members.iter().find(|m| set.contains(&m.key.as_str())) {
            let message = format!("'fit' finds '{}', which is given as well", other.key);
            self.reporter(scope).error(
                "fit_twice",
                &other.key_span,
                message,
                "remove one of the two",
            );
            return None;
        }
        if region == Region::UnitBox && !is_volume(desc, parameters) {
            let help = "use \"source\": \"box\" or \"sphere\", or remove 'fit'";
            self.reporter(scope).error(
                "fit_source",
                &m.key_span,
                "'fit' is for boxes and spheres",
                help,
            );
            return None;
        }
        let (of, at) = match m.value.text() {
            Some("mesh") => (FitOf::Mesh, m.value.span.start),
            _ => self.fit_of(scope, m, pose)?,
        };
        let ty = ParameterType::Float { min: 0.0, max: 1e6 };
        let margin = match m.value.get("margin") {
            None => 0.0,
            Some(margin) => match read_value("fit.margin", ty, margin, self.reporter(scope))? {
                ParameterValue::Float(margin) => margin,
                _ => return None,
            },
        };
        let location = self.location(scope, at);
        Some(Fit {
            of,
            margin,
            location,
            found: None,
        })
    }

    /// The vertices of an object, and where the document names them.
    fn fit_of(
        &mut self,
        scope: usize,
        m: &Member,
        pose: Option<(String, Range<usize>)>,
    ) -> Option<(FitOf, usize)> {
        const KEYS: [&str; 3] = ["mask", "joint", "margin"];
        let given = m.value.members();
        let is_known = |m: &Member| KEYS.contains(&m.key.as_str());
        let (mask, joint) = (m.value.get("mask"), m.value.get("joint"));
        let text = |json: Option<&Json>| json.is_none_or(|json| json.text().is_some());
        if !given.is_some_and(|all| all.iter().all(is_known)) || !text(mask) || !text(joint) {
            let help = "expected \"mesh\", {\"mask\": \"NAME\"}, {\"joint\": \"NAME\"} or {\"margin\": 0.1}; \
                 a margin may stand with each";
            let message = match given.and_then(|all| all.iter().find(|m| !is_known(m))) {
                Some(wrong) => format!("'fit' has no key '{}'", wrong.key),
                None => format!("'fit' is {}", m.value.describe()),
            };
            self.reporter(scope)
                .error("wrong_fit", &m.value.span, message, help);
            return None;
        }
        match (mask, joint) {
            (None, None) => Some((FitOf::Mesh, m.value.span.start)),
            (Some(mask), None) => {
                let link = mask_link(scope, FIT, mask.text()?, &mask.span);
                self.parameter_links.push(link);
                let of = FitOf::Mask(self.parameter_links.len() - 1);
                Some((of, mask.span.start))
            }
            (None, Some(joint)) => {
                let pose = match pose {
                    Some(pose) => pose.into(),
                    None => self.pose_of(scope, FIT, None, &joint.span)?,
                };
                let name = ParameterSource::Constant(ParameterValue::Text(String::new()));
                let at = joint.span.start;
                let (link, _) = follows_joint(scope, FIT, pose, at, name.clone(), name);
                self.parameter_links.push(link);
                let of = FitOf::Joint(self.parameter_links.len() - 1, joint.text()?.to_owned());
                Some((of, at))
            }
            (Some(_), Some(_)) => {
                let known = listed(KEYS[..2].iter().copied());
                let message = format!("'fit' has more than one of {known}");
                self.reporter(scope)
                    .error("wrong_fit", &m.value.span, message, "give one of them");
                None
            }
        }
    }

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
        let pose = match pose {
            Some(pose) => Some(pose.into()),
            None => self.pose_of(scope, FOLLOW.name, None, &m.value.span),
        };
        let Some(pose) = pose else { return };
        self.warn_of_rest_space(scope, desc, m, parameters);
        let offset = parameters[index].clone();
        let at = m.value.span.start;
        let link = follows_joint(scope, FOLLOW.name, pose, at, name, offset);
        parameters[index] = self.linked(link);
    }

    /// Warns of a volume that moves with a joint through positions that stand still.
    fn warn_of_rest_space(
        &mut self,
        scope: usize,
        desc: &NodeDesc,
        m: &Member,
        parameters: &[ParameterSource],
    ) {
        let is_at_rest = word(desc, parameters, "space") == Some("rest");
        let source = word(desc, parameters, "source");
        if is_at_rest && matches!(source, Some("box" | "sphere" | "plane")) {
            self.reporter(scope).warning(
                "follow_at_rest",
                &m.key_span,
                "'follow' moves the volume with a joint, but \"space\": \"rest\" tests rest positions, which do not move",
                "add \"space\": \"current\", or remove 'follow'",
            );
        }
    }

    fn follows_twice(&mut self, scope: usize, m: &Member, placement: &str) {
        let message = format!("'follow' names a joint, but '{placement}' follows one already");
        let help = format!("remove 'follow', or give '{placement}' the transform alone");
        self.reporter(scope)
            .error("follows_twice", &m.key_span, message, help);
    }
}

/// Whether the source of a mask is a box or a sphere.
fn is_volume(desc: &NodeDesc, parameters: &[ParameterSource]) -> bool {
    matches!(word(desc, parameters, "source"), Some("box" | "sphere"))
}

/// The word of a choice.
fn word<'a>(desc: &NodeDesc, parameters: &'a [ParameterSource], name: &str) -> Option<&'a str> {
    let index = desc.parameters.iter().position(|p| p.name == name)?;
    match parameters.get(index)? {
        ParameterSource::Constant(ParameterValue::Text(word)) => Some(word),
        _ => None,
    }
}
