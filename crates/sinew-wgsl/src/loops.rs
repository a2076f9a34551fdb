//! A counter for the loops of a kernel: WGSL allows endless loops, and a GPU that runs one does nothing else.

use std::ops::Range;

use crate::brackets;
use crate::snippet::{Snippet, SnippetKind};

impl Snippet {
    /// Texts to insert, with the byte to insert them at, to make every loop end. Each iteration of any loop decrements the variable
    /// `counter` (`var<private>` of type `u32`); at zero the function returns the zero value of its type. Empty without loops. The
    /// snippet must not use the name `counter`.
    pub fn loop_counters(&self, counter: &str) -> Vec<(usize, String)> {
        let mut out = Vec::new();
        // A snippet was paired when it was read.
        let Ok(partners) = brackets::pair(self.text(), self.tokens()) else {
            return out;
        };
        let walk = |body: Range<usize>, result: &str, out: &mut Vec<(usize, String)>| {
            let leave = match result {
                "" => "return;".to_owned(),
                result => format!("return {result}();"),
            };
            // Where the block ends in which a function cannot return.
            let mut continuing = 0;
            let mut expected = false;
            for at in body {
                let token = self.tokens()[at];
                if ["loop", "while", "for"]
                    .iter()
                    .any(|w| token.is_keyword(self.text(), w))
                {
                    expected = true;
                } else if token.is_keyword(self.text(), "continuing") {
                    continuing = partners.get(at + 1).copied().unwrap_or(0).max(continuing);
                } else if expected && token.is(self.text(), b'{') {
                    expected = false;
                    let leave = if at < continuing { "break;" } else { &leave };
                    let text = format!(" if ({counter} == 0u) {{ {leave} }} {counter} -= 1u;");
                    out.push((token.end, text));
                }
            }
        };
        if self.kind() == SnippetKind::Body {
            walk(0..self.tokens().len(), "", &mut out);
        }
        for function in self
            .declarations()
            .iter()
            .filter_map(|d| d.function.as_ref())
        {
            let result = self.bytes(&function.result);
            walk(function.body.clone(), &self.text()[result], &mut out);
        }
        out
    }
}
