//! Names that `--set`, `--values`, `--input` and `--point-cache` give: one of the graphs that are drawn must know each.

use crate::exit::{Failure, Outcome};
use crate::graph_args::GraphInputs;
use sinew::geom::names::closest;
use sinew::graph::{InputType, Plan};

/// Refuses names that no graph knows. With several graphs (`--compare`), each takes those that it knows.
pub(super) fn check(given: &GraphInputs, plans: &[Plan]) -> Outcome {
    let parameters = plans.iter().flat_map(Plan::parameters);
    let parameters = parameters.map(|p| p.name.as_str()).collect();
    each("--set", "parameter", &given.set, parameters)?;
    let inputs = || plans.iter().flat_map(Plan::inputs);
    let values = inputs().filter(|i| i.ty == InputType::Values);
    let values = values.map(|i| i.name.as_str()).collect();
    each("--values", "values input", &given.values, values)?;
    let names: Vec<&str> = inputs().map(|i| i.name.as_str()).collect();
    each("--input", "input", &given.input_files, names.clone())?;
    let caches = given.point_caches.iter().filter(|a| a.contains('='));
    each("--point-cache", "input", caches, names)
}

fn each<'a>(
    flag: &str,
    what: &str,
    arguments: impl IntoIterator<Item = &'a String>,
    mut known: Vec<&str>,
) -> Outcome {
    let is_known = |name: &str| known.contains(&name);
    let names = arguments
        .into_iter()
        .map(|a| (a, a.split('=').next().unwrap_or_default()));
    let Some((argument, name)) = names.into_iter().find(|(_, name)| !is_known(name)) else {
        return Ok(());
    };
    known.sort_unstable();
    known.dedup();
    let close = closest(name, known.iter().copied()).filter(|_| known.len() > 1);
    let meant = close.map_or(String::new(), |c| format!("did you mean '{c}'? "));
    let known = if known.is_empty() {
        "none".to_owned()
    } else {
        known.join(", ")
    };
    Err(Failure::usage(format!(
        "{flag} {argument}: none of the graphs has a {what} '{name}'; {meant}known: {known}"
    )))
}
