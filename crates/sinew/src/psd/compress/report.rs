//! What became of the groups.

use super::BasisReport;

/// What became of the targets that one node `drive_morphs` drives.
#[derive(Clone, Debug, PartialEq)]
pub struct GroupReport {
    /// Name of the node.
    pub node: String,
    /// Name of the pose driver that its weights come from.
    pub driver: String,
    /// Targets that the weights drive one by one, with what keeps those that must stay.
    pub kept: Vec<(String, Kept)>,
    /// Those that could be mixtures of a basis.
    pub targets: Vec<String>,
    /// Of the basis that was found; `None` where none was looked for.
    pub basis: Option<GroupBasis>,
    /// Why everything stays as it is; `None` where the basis took the place of the targets.
    pub unchanged: Option<Unchanged>,
}

/// The basis of a group.
#[derive(Clone, Debug, PartialEq)]
pub struct GroupBasis {
    /// Names of the basis targets.
    pub names: Vec<String>,
    /// Bytes of the targets' deltas as they are written: positions, normals and tangents, sparse where that is smaller.
    pub bytes_before: usize,
    /// The same of the basis.
    pub bytes_after: usize,
    /// How well it does.
    pub report: BasisReport,
}

/// Why a target stays.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Kept {
    /// Its weight is not linear in those of the poses.
    #[error("it takes part in the in-betweens of '{node}'")]
    InBetween {
        /// The node that says so.
        node: String,
    },
    /// As above.
    #[error("it takes part in the combinations of '{node}'")]
    Combination {
        /// The node that says so.
        node: String,
    },
    /// It would have to be a mixture of two bases.
    #[error("'{node}' drives it, too")]
    OtherNode {
        /// That node.
        node: String,
    },
    /// Something reads it besides the weights.
    #[error("'{node}' names it")]
    NamedBy {
        /// That node.
        node: String,
    },
    /// Its name says not which.
    #[error("mesh '{mesh}' has several targets of that name")]
    Twice {
        /// The mesh.
        mesh: String,
    },
}

/// Why a group stays as it is.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Unchanged {
    /// What it drives passes limits that a basis must not.
    #[error("'{node}' clamps, and what a basis target gets leaves 0 to 1")]
    Clamps {
        /// The node with `clamp`.
        node: String,
    },
    /// Its parameters are not written where it stands.
    #[error("its '{parameter}' is not a list of its own")]
    NotOwn {
        /// Which.
        parameter: &'static str,
    },
    /// It stands elsewhere.
    #[error("it stands in another document ({place})")]
    OtherDocument {
        /// Where.
        place: String,
    },
    /// It has a basis already.
    #[error("it has a 'mix' already")]
    HasMix,
    /// Its mesh is not that of the character, as it is in the file.
    #[error("its mesh is not one of the character's file")]
    OtherMesh,
    /// Somebody else wants one weight for each target.
    #[error("{by} takes weights by the place of their targets, and places would change")]
    ReadByPlace {
        /// Who.
        by: String,
    },
    /// All targets must stay.
    #[error("none of its targets can be a mixture")]
    NoTarget,
    /// The tolerance is larger than all there is, a matter of units most likely: what would be left is a mesh without correctives.
    #[error(
        "nothing would be left: no offset is longer than {largest:e} m, the tolerance is {tolerance:e} m"
    )]
    NothingLeft {
        /// The longest offset, metres.
        largest: f64,
        /// As asked for, metres.
        tolerance: f64,
    },
    /// It does not pay.
    #[error("a basis of {components} would take {after} bytes, the targets take {before}")]
    NotSmaller {
        /// Basis targets that it needs.
        components: usize,
        /// Bytes of the targets.
        before: usize,
        /// Bytes of the basis.
        after: usize,
    },
}
