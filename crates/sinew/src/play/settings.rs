//! Parameters by name, as text.

use super::PlayError;
use crate::deform::ParameterValue;
use crate::graph::Plan;

/// Parses parameter values from text (JSON, or plain text for text parameters), for [`PlayInputs::bind`](super::PlayInputs::bind).
/// `given` contains names and values.
///
/// # Errors
/// [`PlayError::Setting`] for the first unknown parameter or invalid value.
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
