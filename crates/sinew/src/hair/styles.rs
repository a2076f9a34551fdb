//! Kinds of hair by name: settings of growth that go together. The presets of the node `hair_sim` have the same names.

use super::tail::tail;
use super::{Comb, GrowRequest, HairError, density};
use crate::geom::{Attribute, GrowAmount, GrowSettings, Mesh};
use crate::play::Character;

/// A kind of hair.
#[derive(Debug)]
#[non_exhaustive]
pub struct HairStyle {
    /// Its name; [`hair_style`] finds it.
    pub name: &'static str,
    /// What it is, in one sentence.
    pub doc: &'static str,
    /// Where it is combed if nobody says it; `None` for hair that is tied at the back of the head.
    comb: Option<[f32; 3]>,
    strands: usize,
    /// Vertices of each strand.
    vertices: usize,
    /// Metres; see [`GrowSettings`] for this and all that follows.
    length: f32,
    length_variation: f32,
    fade: f32,
    bend: f32,
    droop: f32,
    /// Random tilt in degrees.
    lean: f32,
    curl_radius: f32,
    curl_length: f32,
    clump: f32,
    clump_size: f32,
    frizz: f32,
    frizz_length: f32,
    /// Diameters at root and tip, metres.
    thickness: [f32; 2],
    /// Linear RGB at root and tip.
    colors: [[f32; 3]; 2],
}

/// All kinds of hair.
pub const HAIR_STYLES: &[HairStyle] = &[
    HairStyle {
        name: "short",
        doc: "Short hair on a head: 9000 strands of 4.5 cm.",
        comb: Some([0.0, -0.8, 0.0]),
        strands: 9000,
        vertices: 8,
        length: 0.045,
        length_variation: 0.35,
        fade: 0.7,
        bend: 0.4,
        droop: 0.3,
        lean: 14.0,
        curl_radius: 0.0,
        curl_length: 0.05,
        clump: 0.45,
        clump_size: 0.008,
        frizz: 0.0012,
        frizz_length: 0.015,
        thickness: [0.000_28, 0.000_1],
        colors: [[0.045, 0.022, 0.012], [0.09, 0.045, 0.022]],
    },
    HairStyle {
        name: "long_straight",
        doc: "Long straight hair: 9000 strands of 34 cm.",
        comb: Some([0.0, -1.0, -0.3]),
        strands: 9000,
        vertices: 32,
        length: 0.34,
        length_variation: 0.15,
        fade: 0.3,
        bend: 0.12,
        droop: 6.0,
        lean: 4.0,
        curl_radius: 0.0,
        curl_length: 0.05,
        clump: 0.55,
        clump_size: 0.012,
        frizz: 0.003,
        frizz_length: 0.06,
        thickness: [0.000_25, 0.000_1],
        colors: [[0.16, 0.075, 0.028], [0.36, 0.2, 0.085]],
    },
    HairStyle {
        name: "curly",
        doc: "Curly hair: 7000 strands of 24 cm in ringlets.",
        comb: Some([0.0, -1.0, -0.1]),
        strands: 7000,
        vertices: 32,
        length: 0.24,
        length_variation: 0.25,
        fade: 0.3,
        bend: 0.25,
        droop: 2.5,
        lean: 8.0,
        curl_radius: 0.007,
        curl_length: 0.055,
        clump: 0.95,
        clump_size: 0.014,
        frizz: 0.0015,
        frizz_length: 0.02,
        thickness: [0.000_25, 0.000_12],
        colors: [[0.1, 0.03, 0.012], [0.24, 0.075, 0.026]],
    },
    HairStyle {
        name: "fur",
        doc: "Fur of an animal: 16000 strands of 2.5 cm in tufts.",
        comb: Some([0.0, -0.3, -0.7]),
        strands: 16_000,
        vertices: 8,
        length: 0.025,
        length_variation: 0.4,
        fade: 0.6,
        bend: 0.4,
        droop: 0.3,
        lean: 12.0,
        curl_radius: 0.0,
        curl_length: 0.05,
        clump: 0.65,
        clump_size: 0.006,
        frizz: 0.001,
        frizz_length: 0.01,
        thickness: [0.000_2, 0.000_03],
        colors: [[0.12, 0.075, 0.045], [0.5, 0.38, 0.26]],
    },
    HairStyle {
        name: "ponytail",
        doc: "Hair combed back to a tail: 8000 strands of 38 cm.",
        comb: None,
        strands: 8000,
        vertices: 32,
        length: 0.38,
        length_variation: 0.12,
        fade: 0.2,
        bend: 0.1,
        droop: 0.0,
        lean: 2.0,
        curl_radius: 0.0,
        curl_length: 0.05,
        clump: 0.4,
        clump_size: 0.008,
        frizz: 0.002,
        frizz_length: 0.05,
        thickness: [0.000_25, 0.000_1],
        colors: [[0.05, 0.028, 0.016], [0.13, 0.07, 0.035]],
    },
];

/// The kind of hair of that name.
pub fn hair_style(name: &str) -> Option<&'static HairStyle> {
    HAIR_STYLES.iter().find(|s| s.name == name)
}

impl HairStyle {
    /// Settings of growth of this kind of hair.
    pub fn settings(&self) -> GrowSettings {
        let mut out = GrowSettings::default();
        out.amount = GrowAmount::Strands(self.strands);
        out.vertices = self.vertices;
        out.length = self.length;
        out.length_variation = self.length_variation;
        out.fade = self.fade;
        out.bend = self.bend;
        out.droop = self.droop;
        out.lean = self.lean.to_radians();
        out.curl_radius = self.curl_radius;
        out.curl_length = self.curl_length;
        out.clump = self.clump;
        out.clump_size = self.clump_size;
        out.frizz = self.frizz;
        out.frizz_length = self.frizz_length;
        out.thickness = Some(self.thickness);
        out.colors = Some(self.colors);
        if self.comb.is_none() {
            out.gather = GATHER;
        }
        out
    }

    /// Says where hair grows and how it is combed, where the request does not:
    ///
    /// | the request has | then |
    /// |---|---|
    /// | no density, joints, boxes and mask | the painted attribute `scalp` is the density, if the meshes have it |
    /// | no comb and no guides | a ponytail gets guide curves to the back of the head and down; other hair follows the painted attribute `comb`, if there is one, or falls down |
    ///
    /// Names of attributes may be in upper case, as in glTF files. Gives whether something limits where hair grows.
    ///
    /// # Errors
    /// [`HairError`] if the character has no such mesh, attribute or joint, or hair grows nowhere.
    pub fn complete(
        &self,
        request: &mut GrowRequest,
        character: &Character,
    ) -> Result<bool, HairError> {
        let mesh = character.asset.merged(&request.meshes)?;
        let is_limited = request.density.is_some()
            || request.mask.is_some()
            || !request.joints.is_empty()
            || !request.boxes.is_empty();
        if !is_limited {
            request.density = painted(&mesh, "scalp", |a| matches!(a, Attribute::Scalar(_)));
        }
        if request.comb.is_some() || !request.guides.is_empty() {
            return Ok(is_limited || request.density.is_some());
        }
        match self.comb {
            Some(direction) => {
                let painted = painted(&mesh, "comb", |a| matches!(a, Attribute::Vec3(_)));
                let direction = Comb::Direction(direction);
                request.comb = Some(painted.map_or(direction, Comb::Attribute));
            }
            None => {
                let density = density(&mesh, &character.asset, request)?;
                request.guides = tail(&dense(&mesh, density.as_deref()));
            }
        }
        Ok(is_limited || request.density.is_some())
    }
}

/// How far the strands of a ponytail come together.
const GATHER: f32 = 0.88;

/// Positions where the density is above half of its maximum.
fn dense(mesh: &Mesh, density: Option<&[f32]>) -> Vec<[f32; 3]> {
    let Some(density) = density else {
        return mesh.positions.clone();
    };
    let least = 0.5 * density.iter().copied().fold(0.0, f32::max);
    let all = mesh.positions.iter().zip(density);
    all.filter(|(_, d)| **d > least).map(|(p, _)| *p).collect()
}

/// An attribute of that name and type, whatever the case of its letters.
fn painted(mesh: &Mesh, name: &str, fits: impl Fn(&Attribute) -> bool) -> Option<String> {
    let mut all = mesh.attributes.iter();
    let found = all.find(|(n, a)| n.eq_ignore_ascii_case(name) && fits(a));
    found.map(|(n, _)| n.clone())
}
