//! Setup: names become target indices, and in-betweens get the positions of their neighbours.
//!
//! Meshes that were merged may have several targets of one name. All of them are driven. In-betweens and combinations pair targets and
//! parents in order, and the last parent stands for missing ones.
//!
//! A frame works through the results in this order: sums and mixtures, combinations in list order, in-betweens, parents of in-betweens. It
//! allocates nothing.

use crate::names::instead_of;
use sinew_geom::Mesh;

/// How the weights of the parents combine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CombinationRule {
    /// Their product.
    #[default]
    Product,
    /// The smallest of them.
    Minimum,
}

/// A shape on the way to another one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct InBetween<'a> {
    /// Name of the morph target of the in-between.
    pub target: &'a str,
    /// Name of the parent: the morph target on whose way it lies.
    pub of: &'a str,
    /// Weight of the parent at which the in-between has weight 1; above 0 and below 1.
    pub at: f32,
}

/// A corrective shape for a combination of others.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Combination<'a> {
    /// Name of the corrective morph target.
    pub target: &'a str,
    /// Names of the parents: two or more other morph targets.
    pub of: &'a [String],
    /// How the weights of the parents combine.
    pub rule: CombinationRule,
}

/// A shape whose weight is a linear mixture of the incoming weights.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mix<'a> {
    /// Name of the morph target.
    pub target: &'a str,
    /// One coefficient per incoming weight.
    pub weights: &'a [f64],
}

/// What drives what; see the page of the node.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct DriveMorphsConfig<'a> {
    /// Name of a morph target for each incoming weight; empty for one that drives none. Without any, `mix` says how many
    /// weights come in.
    pub targets: &'a [String],
    /// In any order; what they give adds to what `targets` gives.
    pub mix: Vec<Mix<'a>>,
    /// In any order.
    pub in_betweens: Vec<InBetween<'a>>,
    /// Those that are parents of others before those.
    pub combinations: Vec<Combination<'a>>,
    /// Whether weights are kept within 0 to 1.
    pub clamp: bool,
}

/// Why driving morph targets could not be set up.
#[derive(Debug, thiserror::Error, Clone, PartialEq)]
#[non_exhaustive]
pub(crate) enum DriveMorphsError {
    /// Nothing to drive.
    #[error("mesh '{mesh}' has no morph targets; select a mesh with morph targets")]
    NoTargets {
        /// Name of the mesh.
        mesh: String,
    },
    /// A name that is no morph target's.
    #[error("parameter '{parameter}': the mesh has no morph target '{name}'; {help}")]
    Unknown {
        /// Where the name stands.
        parameter: &'static str,
        /// The name.
        name: String,
        /// The closest name, or what there is.
        help: String,
    },
    /// An in-between that is full where nothing or the parent is.
    #[error(
        "in-between '{target}' of '{of}': 'at' is {at}, expected a number between 0 and 1 that no other in-between of '{of}' has"
    )]
    At {
        /// The in-between.
        target: String,
        /// Its parent.
        of: String,
        /// What was given.
        at: f32,
    },
    /// Not one coefficient for each incoming weight.
    #[error(
        "mix '{target}': 'weights' has {found} numbers, expected {expected}, one for each linked weight"
    )]
    MixCount {
        /// Its target.
        target: String,
        /// Numbers there are.
        found: usize,
        /// Incoming weights, by `targets` or the first mix.
        expected: usize,
    },
    /// A coefficient that is not a finite number in single precision.
    #[error("mix '{target}': number {index} of 'weights' is {found}, expected a finite number")]
    MixNumber {
        /// Its target.
        target: String,
        /// Which coefficient.
        index: usize,
        /// What was given.
        found: f64,
    },
    /// A name in a place that makes no sense.
    #[error("{what} '{target}': {message}")]
    Misplaced {
        /// "in-between" or "combination".
        what: &'static str,
        /// Its target.
        target: String,
        /// What was found and what was expected.
        message: String,
    },
}

fn misplaced(what: &'static str, target: &str, message: String) -> DriveMorphsError {
    DriveMorphsError::Misplaced {
        what,
        target: target.to_owned(),
        message,
    }
}

/// An in-between and the weights of its parent at which it begins, is full and ends.
#[derive(Clone, Copy, Debug)]
pub(super) struct BoundInBetween {
    pub(super) target: usize,
    pub(super) parent: usize,
    pub(super) knots: [f32; 3],
}

#[derive(Clone, Debug)]
pub(super) struct BoundCombination {
    pub(super) target: usize,
    pub(super) of: Vec<usize>,
    pub(super) rule: CombinationRule,
}

/// What drives what, by index.
#[derive(Clone, Debug)]
pub(crate) struct DriveMorphsBind {
    pub(super) weight_count: usize,
    pub(super) target_count: usize,
    /// Weight and target.
    pub(super) driven: Vec<(usize, usize)>,
    /// Targets that get mixtures.
    pub(super) mixed: Vec<usize>,
    /// A row for each of those, a column for each weight.
    pub(super) coefficients: Vec<f32>,
    pub(super) combinations: Vec<BoundCombination>,
    pub(super) in_betweens: Vec<BoundInBetween>,
    /// Targets with in-betweens, and where the last of those is full.
    pub(super) parents: Vec<(usize, f32)>,
    pub(super) clamp: bool,
}

impl DriveMorphsBind {
    /// Looks up all names among the morph targets of the mesh. Where several have one name, as in meshes that were
    /// merged, all of them are driven, and in in-betweens and combinations the first goes with the first, the second with
    /// the second (or the last there is).
    ///
    /// # Errors
    /// [`DriveMorphsError`] names the first name that does not fit.
    pub(crate) fn new(
        mesh: &Mesh,
        config: &DriveMorphsConfig<'_>,
    ) -> Result<Self, DriveMorphsError> {
        if mesh.morph_targets.is_empty() {
            return Err(DriveMorphsError::NoTargets {
                mesh: mesh.name.clone(),
            });
        }
        let names = Names(mesh);
        let weight_count = weight_count(config);
        let (mixed, coefficients) = bind_mix(&names, &config.mix, weight_count)?;
        let mut driven = Vec::new();
        for (weight, name) in config.targets.iter().enumerate() {
            if !name.is_empty() {
                let targets = names.find("targets", name)?;
                driven.extend(targets.into_iter().map(|target| (weight, target)));
            }
        }
        let (in_betweens, parents) = bind_in_betweens(&names, &config.in_betweens)?;
        Ok(Self {
            weight_count,
            target_count: mesh.morph_targets.len(),
            driven,
            mixed,
            coefficients,
            combinations: bind_combinations(&names, &config.combinations)?,
            in_betweens,
            parents,
            clamp: config.clamp,
        })
    }

    /// Weights that [`super::DriveMorphsJob`] takes.
    #[cfg(test)]
    pub(crate) fn weight_count(&self) -> usize {
        self.weight_count
    }
    /// Bytes held.
    pub(crate) fn bytes(&self) -> usize {
        let of = self.combinations.iter().map(|c| size_of_val(&*c.of));
        size_of_val(&*self.driven)
            + size_of_val(&*self.mixed)
            + size_of_val(&*self.coefficients)
            + size_of_val(&*self.combinations)
            + of.sum::<usize>()
            + size_of_val(&*self.in_betweens)
            + size_of_val(&*self.parents)
    }
}

/// All targets of these names.
pub(super) fn places(
    mesh: &Mesh,
    parameter: &'static str,
    names: &[String],
) -> Result<Vec<usize>, DriveMorphsError> {
    let all = Names(mesh);
    let found = names.iter().map(|name| all.find(parameter, name));
    let found: Vec<Vec<usize>> = found.collect::<Result<_, _>>()?;
    Ok(found.into_iter().flatten().collect())
}

struct Names<'a>(&'a Mesh);

impl Names<'_> {
    /// All targets of that name; at least one.
    fn find(&self, parameter: &'static str, name: &str) -> Result<Vec<usize>, DriveMorphsError> {
        let names = self.0.morph_targets.iter().map(|t| t.name.as_str());
        let found: Vec<usize> = names
            .clone()
            .enumerate()
            .filter_map(|(i, n)| (n == name).then_some(i))
            .collect();
        if found.is_empty() {
            return Err(DriveMorphsError::Unknown {
                parameter,
                name: name.to_owned(),
                help: instead_of(name, names),
            });
        }
        Ok(found)
    }
}

/// How many weights come in.
fn weight_count(config: &DriveMorphsConfig<'_>) -> usize {
    match config.mix.first() {
        Some(mix) if config.targets.is_empty() => mix.weights.len(),
        _ => config.targets.len(),
    }
}

/// Targets, and a row of coefficients for each.
fn bind_mix(
    names: &Names<'_>,
    list: &[Mix<'_>],
    weight_count: usize,
) -> Result<(Vec<usize>, Vec<f32>), DriveMorphsError> {
    let (mut mixed, mut coefficients) = (Vec::new(), Vec::new());
    for mix in list {
        let row = mix_row(mix, weight_count)?;
        for target in names.find("mix", mix.target)? {
            mixed.push(target);
            coefficients.extend_from_slice(&row);
        }
    }
    Ok((mixed, coefficients))
}

fn mix_row(mix: &Mix<'_>, weight_count: usize) -> Result<Vec<f32>, DriveMorphsError> {
    let target = || mix.target.to_owned();
    if mix.weights.len() != weight_count {
        return Err(DriveMorphsError::MixCount {
            target: target(),
            found: mix.weights.len(),
            expected: weight_count,
        });
    }
    let row: Vec<f32> = mix.weights.iter().map(|&w| w as f32).collect();
    match row.iter().position(|w| !w.is_finite()) {
        Some(index) => Err(DriveMorphsError::MixNumber {
            target: target(),
            index,
            found: mix.weights[index],
        }),
        None => Ok(row),
    }
}

/// The `k`th, or the last; lists from [`Names::find`] are never empty.
fn nth(list: &[usize], k: usize) -> usize {
    list.get(k).or(list.last()).copied().unwrap_or_default()
}

type Parents = Vec<(usize, f32)>;

fn bind_in_betweens(
    names: &Names<'_>,
    list: &[InBetween<'_>],
) -> Result<(Vec<BoundInBetween>, Parents), DriveMorphsError> {
    let (mut bound, mut parents): (Vec<BoundInBetween>, Parents) = Default::default();
    for (i, b) in list.iter().enumerate() {
        check_in_between(b, list, i)?;
        let neighbours = list.iter().filter(|o| o.of == b.of).map(|o| o.at);
        let before = neighbours.clone().filter(|&at| at < b.at);
        let after = neighbours.clone().filter(|&at| at > b.at);
        let knots = [before.fold(0.0, f32::max), b.at, after.fold(1.0, f32::min)];
        let last = neighbours.fold(0.0, f32::max);
        let of = names.find("in_betweens", b.of)?;
        let targets = names.find("in_betweens", b.target)?;
        for (k, target) in targets.into_iter().enumerate() {
            let parent = nth(&of, k);
            bound.push(BoundInBetween {
                target,
                parent,
                knots,
            });
            if !parents.contains(&(parent, last)) {
                parents.push((parent, last));
            }
        }
    }
    Ok((bound, parents))
}

fn check_in_between(
    b: &InBetween<'_>,
    list: &[InBetween<'_>],
    index: usize,
) -> Result<(), DriveMorphsError> {
    let others = || list.iter().enumerate().filter(|(i, _)| *i != index);
    let is_taken = others().any(|(_, o)| o.of == b.of && o.at == b.at);
    if !(b.at > 0.0 && b.at < 1.0) || is_taken {
        return Err(DriveMorphsError::At {
            target: b.target.to_owned(),
            of: b.of.to_owned(),
            at: b.at,
        });
    }
    let what = if list.iter().any(|o| o.of == b.target) {
        "it has in-betweens itself; an in-between cannot have in-betweens"
    } else if others().any(|(_, o)| o.target == b.target) {
        "it is listed twice; list it once"
    } else {
        return Ok(());
    };
    Err(misplaced("in-between", b.target, what.to_owned()))
}

fn bind_combinations(
    names: &Names<'_>,
    list: &[Combination<'_>],
) -> Result<Vec<BoundCombination>, DriveMorphsError> {
    let mut bound = Vec::new();
    for (i, c) in list.iter().enumerate() {
        check_combination(c, list, i)?;
        let of = c.of.iter().map(|name| names.find("combinations", name));
        let of: Vec<Vec<usize>> = of.collect::<Result<_, _>>()?;
        let targets = names.find("combinations", c.target)?;
        for (k, target) in targets.into_iter().enumerate() {
            bound.push(BoundCombination {
                target,
                of: of.iter().map(|parent| nth(parent, k)).collect(),
                rule: c.rule,
            });
        }
    }
    Ok(bound)
}

fn check_combination(
    c: &Combination<'_>,
    list: &[Combination<'_>],
    index: usize,
) -> Result<(), DriveMorphsError> {
    let fail = |message: String| Err(misplaced("combination", c.target, message));
    if list[..index].iter().any(|o| o.target == c.target) {
        return fail("it is listed twice; list it once".into());
    }
    if c.of.len() < 2 {
        return fail(format!(
            "'of' names {} morph targets, expected two or more",
            c.of.len()
        ));
    }
    for (k, parent) in c.of.iter().enumerate() {
        if parent == c.target {
            return fail("'of' names the target itself, expected other targets".into());
        }
        if c.of[..k].contains(parent) {
            return fail(format!("'of' names '{parent}' twice"));
        }
        if list[index + 1..].iter().any(|o| o.target == parent) {
            return fail(format!(
                "'of' names '{parent}', a combination that comes later; list '{parent}' first"
            ));
        }
    }
    Ok(())
}
