//! How surfaces look: from the words of the command line.

use crate::exit::{Failure, Outcome};
use crate::render_args::{LightingChoice, LookArgs};
use sinew::geom::{Attribute, Mesh, Rig};
use sinew::picture::ColorMap;
use sinew::render::Lighting;

/// `--look`, understood.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Look {
    Shaded,
    Clay,
    Matcap,
    Normals,
    Uv,
    Colors,
    /// Each joint in its own colour.
    Weights,
    /// Numbers in the colours of a map.
    Numbers(Source),
}

/// Where the numbers of a look come from.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Source {
    /// Weight of one joint.
    Weight(String),
    /// A vertex attribute of the file; a component of it, or its length.
    Attribute(String, Option<usize>),
    /// A mask or values that the graph puts out.
    Output(String),
    /// Millimetres to another stack.
    Difference,
}

const KNOWN: &str = "shaded, clay, matcap, normals, uv, colors, weights, weights:JOINT, attribute:NAME[.x], output:NAME or difference";

impl Look {
    pub(super) fn parse(text: &str) -> Outcome<Self> {
        let (word, name) = match text.split_once(':') {
            Some((word, name)) if !name.is_empty() => (word, Some(name)),
            _ => (text, None),
        };
        Ok(match (word, name) {
            ("shaded", None) => Self::Shaded,
            ("clay", None) => Self::Clay,
            ("matcap", None) => Self::Matcap,
            ("normals", None) => Self::Normals,
            ("uv", None) => Self::Uv,
            ("colors", None) => Self::Colors,
            ("weights", None) => Self::Weights,
            ("difference", None) => Self::Numbers(Source::Difference),
            ("weights", Some(joint)) => Self::Numbers(Source::Weight(joint.to_owned())),
            ("output", Some(name)) => Self::Numbers(Source::Output(name.to_owned())),
            ("attribute", Some(name)) => {
                let (name, component) = component(name);
                Self::Numbers(Source::Attribute(name.to_owned(), component))
            }
            _ => {
                return Err(Failure::usage(format!(
                    "--look is '{text}', expected {KNOWN}"
                )));
            }
        })
    }

    pub(super) fn lighting(&self, args: &LookArgs) -> Lighting {
        match (args.lighting, self) {
            (Some(LightingChoice::Studio), _) => Lighting::Studio,
            (Some(LightingChoice::Soft), _) => Lighting::Soft,
            (Some(LightingChoice::Matcap), _) | (None, Self::Matcap) => Lighting::Matcap,
            (Some(LightingChoice::Flat), _) | (None, Self::Normals) => Lighting::Flat,
            (None, Self::Weights | Self::Numbers(_)) => Lighting::Soft,
            (None, _) => Lighting::Studio,
        }
    }

    /// What the scale bar is about.
    pub(super) fn title(&self, against: &str) -> String {
        match self {
            Self::Numbers(Source::Weight(joint)) => format!("weight of {joint}"),
            Self::Numbers(Source::Attribute(name, None) | Source::Output(name)) => name.clone(),
            Self::Numbers(Source::Attribute(name, Some(c))) => format!("{name}.{}", COMPONENTS[*c]),
            Self::Numbers(Source::Difference) => {
                format!("mm from {}", against.replace('_', " "))
            }
            _ => String::new(),
        }
    }
}

const COMPONENTS: [char; 4] = ['x', 'y', 'z', 'w'];

/// `velocity.y` is component 1 of `velocity`.
fn component(name: &str) -> (&str, Option<usize>) {
    let found = name.rsplit_once('.').and_then(|(stem, letter)| {
        let index = COMPONENTS.iter().position(|c| letter == c.to_string())?;
        Some((stem, index))
    });
    found.map_or((name, None), |(stem, index)| (stem, Some(index)))
}

pub(super) fn color_map(name: Option<&str>) -> Outcome<ColorMap> {
    let Some(name) = name else {
        return Ok(ColorMap::default());
    };
    ColorMap::from_name(name).ok_or_else(|| {
        let known: Vec<&str> = ColorMap::ALL.iter().map(|m| m.name()).collect();
        Failure::usage(format!("--map is '{name}', expected {}", known.join(", ")))
    })
}

/// Numbers of a vertex attribute: one component, the only one, or the length.
pub(super) fn attribute_values(
    mesh: &Mesh,
    name: &str,
    component: Option<usize>,
) -> Outcome<Vec<f32>> {
    let missing = || {
        let known: Vec<&str> = mesh.attributes.keys().map(String::as_str).collect();
        let known = if known.is_empty() {
            "none".to_owned()
        } else {
            known.join(", ")
        };
        Failure::usage(format!(
            "mesh '{}' has no attribute '{name}'; known: {known}",
            mesh.name
        ))
    };
    let attribute = mesh.attributes.get(name).ok_or_else(missing)?;
    let width = match attribute {
        Attribute::Scalar(_) => 1,
        Attribute::Vec2(_) => 2,
        Attribute::Vec3(_) => 3,
        Attribute::Vec4(_) => 4,
    };
    if let Some(c) = component.filter(|&c| c >= width) {
        let message = format!(
            "attribute '{name}' has {width} components, but no '{}'",
            COMPONENTS[c]
        );
        return Err(Failure::usage(message));
    }
    let number = |v: usize| match component {
        Some(c) => attribute.component(v, c).unwrap_or(f32::NAN),
        None if width == 1 => attribute.component(v, 0).unwrap_or(f32::NAN),
        None => {
            let all = (0..width).filter_map(|c| attribute.component(v, c));
            all.map(|x| x * x).sum::<f32>().sqrt()
        }
    };
    Ok((0..mesh.vertex_count()).map(number).collect())
}

/// Index of a joint by name.
pub(super) fn joint(rig: &Rig, name: &str) -> Outcome<u32> {
    let found = rig.find_joint(name);
    found.map(|j| j as u32).ok_or_else(|| {
        let known: Vec<&str> = (0..rig.joints().len()).map(|j| rig.joint_name(j)).collect();
        Failure::usage(match known.len() {
            0 => format!("there is no joint '{name}': the file has no joints"),
            n => format!(
                "there is no joint '{name}'; the file has {n}: {}",
                shortened(&known)
            ),
        })
    })
}

/// The first forty names.
fn shortened(names: &[&str]) -> String {
    let first: Vec<&str> = names.iter().copied().take(40).collect();
    let more = if names.len() > 40 { ", ..." } else { "" };
    format!("{}{more}", first.join(", "))
}

/// Weight of a joint at each vertex.
pub(super) fn weights_of(mesh: &Mesh, joint: Option<u32>) -> Vec<f32> {
    let (Some(influences), Some(joint)) = (&mesh.influences, joint) else {
        return vec![0.0; mesh.vertex_count()];
    };
    let weight = |v: usize| {
        influences
            .row(v)
            .find(|i| i.0 == joint)
            .map_or(0.0, |i| i.1)
    };
    (0..mesh.vertex_count()).map(weight).collect()
}

/// Each joint in its own colour, mixed by weight; linear RGBA.
pub(super) fn weight_colors(mesh: &Mesh) -> Vec<[f32; 4]> {
    let Some(influences) = &mesh.influences else {
        return vec![[0.5, 0.5, 0.5, 1.0]; mesh.vertex_count()];
    };
    let mix = |v: usize| {
        let mut out = [0.0, 0.0, 0.0, 1.0];
        for (joint, weight) in influences.row(v) {
            let color = joint_color(joint);
            (0..3).for_each(|c| out[c] += weight * color[c]);
        }
        out
    };
    (0..mesh.vertex_count()).map(mix).collect()
}

/// Hues that differ from joint to joint: steps of the golden ratio around the wheel, and three levels of brightness.
fn joint_color(joint: u32) -> [f32; 3] {
    let hue = (joint as f32 * 0.618_034).fract() * 6.0;
    let value = [0.85, 0.62, 0.42][(joint % 3) as usize];
    let channel = |shift: f32| {
        let k = (hue + shift).rem_euclid(6.0);
        value * (1.0 - 0.75 * k.min(4.0 - k).clamp(0.0, 1.0))
    };
    [channel(5.0), channel(3.0), channel(1.0)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn looks() {
        let attribute = |name: &str, c| Look::Numbers(Source::Attribute(name.into(), c));
        for (text, expected) in [
            ("shaded", Look::Shaded),
            ("weights", Look::Weights),
            (
                "weights:hand.L",
                Look::Numbers(Source::Weight("hand.L".into())),
            ),
            ("attribute:heat", attribute("heat", None)),
            ("attribute:a.b.y", attribute("a.b", Some(1))),
        ] {
            assert_eq!(Look::parse(text).expect(text), expected);
        }
        for bad in ["", "shade", "attribute", "attribute:", "clay:x"] {
            assert!(Look::parse(bad).is_err(), "{bad}");
        }
    }
}
