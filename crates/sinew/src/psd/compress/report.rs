//! Reports of the groups.

use super::BasisReport;

/// Result for the targets of one node `drive_morphs`.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct GroupReport {
    /// Name of the node.
    pub node: String,
    /// Name of the pose driver of its weights.
    pub driver: String,
    /// Targets that stay, with the reason.
    pub kept: Vec<(String, Kept)>,
    /// Targets that a basis can replace.
    pub targets: Vec<String>,
    /// The basis; `None` if none was computed.
    pub basis: Option<GroupBasis>,
    /// The reason why the group is unchanged; `None` if the basis replaces the targets.
    pub unchanged: Option<Unchanged>,
}

/// The basis of a group.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct GroupBasis {
    /// Names of the basis targets.
    pub names: Vec<String>,
    /// Bytes of the targets' deltas in the file: positions, normals and tangents, sparse if smaller.
    pub bytes_before: usize,
    /// Bytes of the basis, likewise.
    pub bytes_after: usize,
    /// Error of the basis.
    pub report: BasisReport,
}

/// Reason why a target stays.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Kept {
    /// Its weight is not linear in those of the poses.
    #[error("the in-betweens of '{node}' use it")]
    InBetween {
        /// The node.
        node: String,
    },
    /// As above.
    #[error("the combinations of '{node}' use it")]
    Combination {
        /// The node.
        node: String,
    },
    /// It would have to be a mix of two bases.
    #[error("'{node}' drives it, too")]
    OtherNode {
        /// The other node.
        node: String,
    },
    /// Another node refers to it by name.
    #[error("'{node}' refers to it by name")]
    NamedBy {
        /// The other node.
        node: String,
    },
    /// Its name is not unique.
    #[error("mesh '{mesh}' has several targets of that name")]
    Twice {
        /// The mesh.
        mesh: String,
    },
}

/// Reason why a group is unchanged.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Unchanged {
    /// A node clamps the weights, and the basis needs weights outside 0 to 1.
    #[error("'{node}' clamps weights to 0 to 1, but weights of basis targets leave this range")]
    Clamps {
        /// The node with `clamp`.
        node: String,
    },
    /// Its parameters are not lists in the node itself.
    #[error("its '{parameter}' is not a list in the node itself")]
    NotOwn {
        /// The parameter.
        parameter: &'static str,
    },
    /// The node is in another document.
    #[error("it is in another document ({location})")]
    OtherDocument {
        /// Its location.
        location: String,
    },
    /// It already has a basis.
    #[error("it already has a 'mix'")]
    HasMix,
    /// Its mesh is not an unchanged mesh of the character's file.
    #[error("its mesh is not from the character's file")]
    OtherMesh,
    /// Another node or output needs one weight per target, by index.
    #[error("{by} reads weights by target index, and indices would change")]
    ReadByPlace {
        /// The node or output.
        by: String,
    },
    /// All targets must stay.
    #[error("a basis cannot replace any of its targets")]
    NoTarget,
    /// The tolerance exceeds all offsets, probably because of a wrong unit: the mesh would have no correctives.
    #[error(
        "no correctives would be left: the longest offset is {largest:e} m, but the tolerance is {tolerance:e} m; use a smaller tolerance"
    )]
    NothingLeft {
        /// The longest offset, metres.
        largest: f64,
        /// The given tolerance, metres.
        tolerance: f64,
    },
    /// A basis would not be smaller.
    #[error(
        "a basis of {components} targets would need {after} bytes, but the targets only need {before}"
    )]
    NotSmaller {
        /// Number of basis targets.
        components: usize,
        /// Bytes of the targets.
        before: usize,
        /// Bytes of the basis.
        after: usize,
    },
}
