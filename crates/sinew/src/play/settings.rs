//! Parameters by name, as text.

use super::PlayError;
use crate::deform::ParameterValue;
use crate::graph::Plan;

/// Reads parameter values as people type them (JSON, or plain text where a text is wanted), for
/// [`Cast::bind`](super::Cast::bind). `given` holds names and values.
///
/// # Errors
/// [`PlayError::Setting`] names the first that the plan does not have or that takes other values.
pub fn parse_settings<'a>(
    plan: &Plan,
    given: &[(&'a str, &str)],
) -> Result<Vec<(&'a str, ParameterValue)>, PlayError> {
    let parse = |&(name, text): &(&'a str, &str)| match plan.parse_parameter(name, text) {
        Ok(value) => Ok((name, value)),
        Err(source) => Err(PlayError::Setting {
            name: name.to_owned(),
            text: text.to_owned(),
            source,
        }),
    };
    given.iter().map(parse).collect()
}
