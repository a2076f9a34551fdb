//! Binding as all commands do it: with a progress bar where it takes long, until Ctrl-C, from saved setup results where they fit.

use crate::exit::{Failure, Outcome};
use crate::reporter::Reporter;
use sinew::deform::{Par, ParameterValue};
use sinew::graph::{
    BindError, BindOptions, BoundGraph, CacheError, InputBinding, Plan, join_setup_caches,
};
use sinew::play::{PlayError, PlayInputs};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The file of `--cache`: setup results of all graphs that a command binds.
#[derive(Debug, Default)]
pub(crate) struct SetupFile {
    path: Option<PathBuf>,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// What the file held; `None` where it was no cache.
    read: Option<Vec<u8>>,
    /// What this command wrote to it.
    written: Option<Vec<u8>>,
    /// What was bound.
    graphs: Vec<Arc<BoundGraph>>,
}

impl State {
    /// All that is known.
    fn known(&self) -> Result<Option<Vec<u8>>, CacheError> {
        match (&self.read, &self.written) {
            (Some(read), Some(written)) => join_setup_caches(&[read, written]).map(Some),
            (Some(one), None) | (None, Some(one)) => Ok(Some(one.clone())),
            (None, None) => Ok(None),
        }
    }
}

impl SetupFile {
    /// Reads what is there.
    pub(crate) fn open(path: Option<&Path>) -> Outcome<Self> {
        let mut state = State::default();
        if let Some(path) = path.filter(|p| p.exists()) {
            state.read = Some(sinew::io::read_bytes(path).map_err(Failure::input)?);
        }
        Ok(Self {
            path: path.map(Path::to_owned),
            state: Mutex::new(state),
        })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Binds with what is known. Warns of a file that is damaged or no cache, and replaces it.
    fn bind(
        &self,
        reporter: &Reporter,
        bind: impl Fn(Option<&[u8]>) -> Result<BoundGraph, BindError>,
    ) -> Result<BoundGraph, BindError> {
        let known = self.state().known();
        let bound = match &known {
            Ok(known) => bind(known.as_deref()),
            Err(e) => Err((*e).into()),
        };
        match (bound, &self.path) {
            (Err(BindError::Cache(e)), Some(path)) => {
                reporter.warning("cache", &format!("{}: {e}", path.display()));
                self.state().read = None;
                let written = self.state().written.clone();
                bind(written.as_deref())
            }
            (other, _) => other,
        }
    }

    /// Keeps what was bound, if the file lacks any of it.
    fn keep(&self, graph: &Arc<BoundGraph>, reporter: &Reporter) -> Outcome {
        let Some(path) = &self.path else {
            return Ok(());
        };
        let mut state = self.state();
        let found = graph.cache_use();
        let (restored, all) = (found.restored, found.restored + found.made);
        let file = path.display();
        if restored > 0 && found.made > 0 {
            let message = format!("setup of {restored} of {all} nodes read from {file}");
            reporter.info("cache_read", &message);
        } else if restored > 0 {
            reporter.info("cache_read", &format!("setup read from {file}"));
        }
        state.graphs.push(graph.clone());
        let is_there = state.read.is_some() || state.written.is_some();
        if found.made == 0 && is_there && state.written.is_none() {
            return Ok(());
        }
        let caches: Vec<Vec<u8>> = state.graphs.iter().map(|g| g.setup_cache()).collect();
        let caches: Vec<&[u8]> = caches.iter().map(Vec::as_slice).collect();
        let bytes = join_setup_caches(&caches).map_err(Failure::output)?;
        if state.written.as_ref() == Some(&bytes) {
            return Ok(());
        }
        sinew::io::write_bytes(path, &bytes).map_err(Failure::output)?;
        state.written = Some(bytes);
        reporter.wrote_file();
        reporter.info("cache_written", &format!("setup written to {file}"));
        Ok(())
    }
}

/// Binds the plan of a cast; shows what its nodes found.
pub(crate) fn bind(
    cast: &PlayInputs,
    plan: &Arc<Plan>,
    parameters: &[(&str, ParameterValue)],
    file: &SetupFile,
    reporter: &Reporter,
) -> Outcome<Arc<BoundGraph>> {
    bind_inputs(plan, cast.bindings(), parameters, file, reporter)
}

/// Binds a plan to inputs.
pub(crate) fn bind_inputs(
    plan: &Arc<Plan>,
    inputs: &[InputBinding],
    parameters: &[(&str, ParameterValue)],
    file: &SetupFile,
    reporter: &Reporter,
) -> Outcome<Arc<BoundGraph>> {
    let bound = file.bind(reporter, |cache| {
        reporter.follow_setup(|watch| {
            let options = BindOptions::from(Par::Rayon).watch(watch).cache(cache);
            BoundGraph::bind(plan.clone(), inputs, parameters, options)
        })
    });
    let graph = bound.map_err(|e: BindError| Failure::from(PlayError::from(e)))?;
    for w in graph.warnings() {
        reporter.warning("node", &w.to_string());
    }
    for note in graph.notes() {
        reporter.note(&note);
    }
    let graph = Arc::new(graph);
    file.keep(&graph, reporter)?;
    Ok(graph)
}
