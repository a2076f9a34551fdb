//! Parameter values of one instance.

use crate::bind::BoundGraph;
use crate::keyed::assign;
use crate::plan::{ParameterError, ParameterSource};
use crate::program::Step;
use crate::value::check_value;
use sinew_deform::ParameterValue;

/// The current values of a plan's parameters for one instance. Executors keep one per instance.
#[derive(Clone, Debug)]
pub struct ParameterState {
    values: Vec<ParameterValue>,
    /// An animated parameter follows its keys unless it is overridden.
    overridden: Vec<bool>,
}

impl ParameterState {
    /// Starts with the values that the graph was bound with.
    pub fn new(graph: &BoundGraph) -> Self {
        // With the capacity of the default and the first value: setting them again then does not allocate.
        let declared = graph.plan.parameters().iter();
        let mut values: Vec<ParameterValue> = declared.map(|p| p.default.clone()).collect();
        for (out, value) in values.iter_mut().zip(&graph.parameters) {
            assign(out, value);
        }
        Self {
            values,
            overridden: graph.overridden.clone(),
        }
    }

    /// Sets a parameter for the following frames. The value replaces the animation of the parameter, if any.
    ///
    /// # Errors
    /// [`ParameterError`] if there is no such parameter, the value does not fit, or the parameter is read in setup only.
    pub fn set(
        &mut self,
        graph: &BoundGraph,
        name: &str,
        value: &ParameterValue,
    ) -> Result<(), ParameterError> {
        let index = graph.plan.find_parameter(name)?;
        let decl = &graph.plan.parameters()[index];
        check_value(decl.ty, value).map_err(|message| ParameterError::Value {
            name: name.to_owned(),
            message,
        })?;
        if decl.setup {
            return Err(ParameterError::SetupOnly {
                name: name.to_owned(),
            });
        }
        check_bound(graph, index, value)?;
        assign(&mut self.values[index], value);
        self.overridden[index] = true;
        Ok(())
    }

    /// The values that callers set, for another graph: parameters of the same name keep them if they fit.
    pub fn carried(&self, own: &BoundGraph, to: &BoundGraph) -> Self {
        let mut out = Self::new(to);
        let declared = own.plan.parameters().iter().zip(&self.values);
        for ((decl, value), overridden) in declared.zip(&self.overridden) {
            if *overridden {
                // A parameter that setup reads has its value since binding.
                let _ = out.set(to, &decl.name, value);
            }
        }
        out
    }

    /// Samples animated parameters at a time.
    pub fn sample(&mut self, graph: &BoundGraph, time_secs: f64) {
        let declared = graph.plan.parameters().iter();
        for ((decl, value), overridden) in declared.zip(&mut self.values).zip(&self.overridden) {
            if let (Some(keyed), false) = (&decl.keyed, overridden) {
                keyed.sample(time_secs, value);
            }
        }
    }

    /// Writes the values of a step's parameters to `out`, in the order of its description. `out` must hold the values of an earlier
    /// time, or [`Step::values`]. Call [`crate::HostSteps::write_links`] next, which writes the linked parameters.
    pub fn write_step(&self, step: &Step, time_secs: f64, out: &mut [ParameterValue]) {
        for (value, source) in out.iter_mut().zip(&step.sources) {
            source.write(&self.values, time_secs, value);
        }
    }
}

/// Checks that all nodes that read the parameter accept the value.
fn check_bound(
    graph: &BoundGraph,
    index: usize,
    value: &ParameterValue,
) -> Result<(), ParameterError> {
    for step in &graph.program.update_steps {
        for (source, desc) in step.sources.iter().zip(step.desc.parameters) {
            if *source != ParameterSource::Parameter(index) {
                continue;
            }
            let fits = step.bound.check_value(desc.name, value);
            fits.map_err(|e| ParameterError::Value {
                name: graph.plan.parameters()[index].name.clone(),
                message: format!("node '{}' ({}): {e}", step.name, step.desc.name),
            })?;
        }
    }
    Ok(())
}
