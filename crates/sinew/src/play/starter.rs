//! Graphs that are made for a character: the default one, and commented ones to start from.

mod density;
mod draft;
mod poses;
mod shape;
mod templates;

use super::{Character, Document};
use crate::geom::names::instead_of;
use crate::io::Folders;
use draft::Draft;
use shape::Shape;
use templates::Maker;

/// What a starter graph is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Template {
    /// Morph targets and skinning, then delta mush with as many iterations as the mesh needs.
    Body,
    /// Morph targets and skinning, and a head to squash.
    Face,
    /// A garment that a wrap moves with the skinned body.
    Cloth,
    /// Strands that swing and stay out of the body.
    Hair,
    /// Morph targets and skinning with full delta mush, to bake into vertex animation textures.
    Vat,
    /// Weights of a joint's poses, which fade a delta mush in around the joint.
    Driver,
}

/// Why a character has no graph of a template.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TemplateError {
    /// There is nothing to skin.
    #[error(
        "this template needs a mesh with joint weights on all of its meshes, which {character} does not have"
    )]
    NoSkin {
        /// Path of the character.
        character: String,
    },
    /// Garment and body must be two meshes.
    #[error("this template needs a body and a garment as two meshes, but {character} has {found}")]
    OneMesh {
        /// Path of the character.
        character: String,
        /// Number of meshes.
        found: usize,
    },
    /// There is no hair.
    #[error(
        "this template needs strands, which {character} does not have; grow some first with `sinew hair grow`"
    )]
    NoStrands {
        /// Path of the character.
        character: String,
    },
    /// The requested joint does not exist, or none was found for the template.
    #[error("{}", no_joint(.name.as_deref(), .help))]
    NoJoint {
        /// The requested name, if there was one.
        name: Option<String>,
        /// Names that exist.
        help: String,
    },
}

fn no_joint(name: Option<&str>, help: &str) -> String {
    match name {
        Some(name) => format!("there is no joint '{name}'; {help}"),
        None => format!("no joint is called as elbows, knees or shoulders are; name one; {help}"),
    }
}

impl Document {
    /// A default graph for the character: morph targets, then linear skinning, as output `body`; strands that follow
    /// their joints, as output `hair`. A mesh with neither passes unchanged. Normals and tangents are recomputed.
    ///
    /// All meshes are one input. Thus skinning needs joint weights on every mesh. Morph targets need weights in the
    /// rig; targets without a weight in poses are ignored.
    pub fn default_of(character: &Character) -> Self {
        let mut draft = Draft::default();
        Shape::of(&character.asset).add_to(&mut draft);
        let name = format!("{} (no graph)", character.path.display());
        Self::from_text(name, draft.text(), Folders::of_file(&character.path))
    }

    /// A commented starter graph for the character, of [`Template::Body`]: [`Self::default_of`], with a delta mush
    /// after skinning if joints share vertices. Delta mush also smooths morph targets; if the character has some, its
    /// parameter `blend` is 0.
    pub fn starter_for(character: &Character) -> Self {
        let maker = Maker::new(&character.asset);
        Self::drafted(character, &maker.body())
    }

    /// A commented starter graph for the character. `joint`: for [`Template::Driver`], the joint that drives; without
    /// it, an elbow, knee or shoulder by its name. Its poses are the rotations of the character's clips that differ
    /// most.
    ///
    /// # Errors
    /// [`TemplateError`] if the character lacks what the template is about.
    ///
    /// # Cost
    /// For the driver, up to 240 poses of each clip are sampled.
    pub fn from_template(
        character: &Character,
        template: Template,
        joint: Option<&str>,
    ) -> Result<Self, TemplateError> {
        let asset = &character.asset;
        let named = || character.path.display().to_string();
        let maker = Maker::new(asset);
        let skinned = || match maker.shape.is_skinned {
            true => Ok(()),
            false => Err(TemplateError::NoSkin { character: named() }),
        };
        let draft = match template {
            Template::Body => maker.body(),
            Template::Face => maker.face(),
            Template::Vat => maker.vat(),
            Template::Cloth if asset.meshes.len() < 2 => {
                let found = asset.meshes.len();
                return Err(TemplateError::OneMesh {
                    character: named(),
                    found,
                });
            }
            Template::Cloth => maker.cloth(),
            Template::Hair if asset.strands.is_empty() => {
                return Err(TemplateError::NoStrands { character: named() });
            }
            Template::Hair => maker.hair(),
            Template::Driver => {
                skinned()?;
                let found = match joint {
                    Some(name) => asset.rig.find_joint(name),
                    None => maker.driver_joint(),
                };
                let names = (0..asset.rig.joints().len()).map(|j| asset.rig.joint_name(j));
                let found = found.ok_or_else(|| TemplateError::NoJoint {
                    name: joint.map(str::to_owned),
                    help: instead_of(joint.unwrap_or("forearm"), names),
                })?;
                maker.driver(found)
            }
        };
        Ok(Self::drafted(character, &draft))
    }

    fn drafted(character: &Character, draft: &Draft) -> Self {
        Self::from_text("starter", draft.text(), Folders::of_file(&character.path))
    }

    /// A starter graph for an unknown character: a mesh with a skin, and morph targets if it has some.
    pub fn starter() -> Self {
        let draft = Maker::unknown().body_with(10, "1.0");
        Self::from_text("starter", draft.text(), "")
    }
}
