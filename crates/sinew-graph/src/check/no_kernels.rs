//! Nodes of kind `kernel` in a build without the feature `kernels`: an error, as nothing could check their text.

use super::Collector;
use crate::json::Json;
use std::ops::Range;

impl Collector<'_> {
    /// Refuses the node.
    pub(super) fn collect_kernel(
        &mut self,
        scope: usize,
        name: &str,
        span: &Range<usize>,
        _: &Json,
        _: &[(&str, String)],
    ) {
        self.reporter(scope).error(
            "no_kernels",
            span,
            format!("node '{name}' is a custom kernel, and this program was built without custom kernels"),
            "build it with the feature `kernels` of the crate sinew or sinew-graph",
        );
    }
}
