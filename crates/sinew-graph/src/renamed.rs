//! Names that documents may still use for one version: the old name, and the one that replaces it.

/// Node kinds.
const KINDS: [(&str, &str); 2] = [
    ("documented_hair_sim", "tressfx_hair"),
    ("documented_sdf", "tressfx_sdf"),
];

/// Choices of parameters. The new name says which parameters are meant: only those know it.
const CHOICES: [(&str, &str); 2] = [("documented", "published"), ("document_004", "psd_json")];

/// The node kind that replaces an old name.
pub fn kind(old: &str) -> Option<&'static str> {
    renamed(&KINDS, old)
}

/// The choice that replaces an old name.
pub(crate) fn choice(old: &str) -> Option<&'static str> {
    renamed(&CHOICES, old)
}

/// What to do about an old name.
pub(crate) fn help(new: &str) -> String {
    format!("write \"{new}\"; the next version does not read the old name")
}

fn renamed(names: &[(&str, &'static str)], old: &str) -> Option<&'static str> {
    names.iter().find(|n| n.0 == old).map(|n| n.1)
}
