//! Whether a kernel accesses only its own element: it can then share a dispatch with adjacent kernels.

use std::ops::Range;

use crate::snippet::{Snippet, SnippetKind};
use crate::tokens::TokenKind;

impl Snippet {
    /// Whether `accessor` is called only for the kernel's own element: each use is a call in the entry function with exactly the
    /// function's first parameter as first argument. Also true without any use. False in a library, if the parameter's name is declared
    /// again, and if the tokens alone do not show it (`let i = index;`). Linear in the length of the text.
    ///
    /// ```
    /// let kernel = sinew_wgsl::Snippet::parse("k", "write_value(index, read_value(index + 1u));")?;
    /// assert!(kernel.touches_only_own("write_value"));
    /// assert!(!kernel.touches_only_own("read_value"));
    /// # Ok::<(), sinew_wgsl::KernelErrors>(())
    /// ```
    pub fn touches_only_own(&self, accessor: &str) -> bool {
        let text = self.text();
        let tokens = self.tokens();
        let Some((parameter, body)) = self.own_parameter() else {
            return false;
        };
        let word = |at: usize| tokens.get(at).map_or("", |t| t.text(text));
        let names = || (0..tokens.len()).filter(|i| tokens[*i].kind == TokenKind::Name);
        let declared_again = names().any(|at| {
            let behind_keyword = at > 0
                && matches!(
                    tokens[at - 1].kind,
                    TokenKind::Keyword | TokenKind::TemplateClose
                )
                && !matches!(word(at - 1), "return" | "if" | "while" | "switch" | "case");
            body.contains(&at) && word(at) == parameter && behind_keyword
        });
        let own = |at: usize| {
            body.contains(&at)
                && word(at + 1) == "("
                && word(at + 2) == parameter
                && matches!(word(at + 3), "," | ")")
        };
        !declared_again && names().filter(|at| word(*at) == accessor).all(own)
    }

    /// Name of the entry function's first parameter, and the tokens of its body.
    fn own_parameter(&self) -> Option<(&str, Range<usize>)> {
        let entry = self.entry();
        if self.kind() == SnippetKind::Body {
            let name = entry.parameters.first()?.0.as_str();
            return Some((name, 0..self.tokens().len()));
        }
        let declared = self.declarations().iter();
        let parts = declared
            .filter(|d| self.tokens()[d.name].text(self.text()) == entry.name)
            .find_map(|d| d.function.as_ref())?;
        let name = self.tokens().get(parts.parameters.start)?;
        Some((name.text(self.text()), parts.body.clone()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn own(text: &str) -> bool {
        let snippet = Snippet::parse("k", text).unwrap_or_else(|e| panic!("{e}"));
        snippet.touches_only_own("read")
    }

    #[test]
    fn calls_with_the_index_itself_are_own() {
        for text in [
            "let p = read(index);",
            "let p = read( /* here */ index, 1u) + read(index);",
            "write(index, a.read); // read(other)",
            "if index > 3u { return; } let q = read(index);",
            "fn f(p: f32) -> f32 { return p; } fn kernel(i: u32) { let a = f(read(i)); }",
        ] {
            assert!(own(text), "{text}");
        }
    }

    #[test]
    fn all_else_is_not() {
        for text in [
            "let p = read(index + 1u);",
            "let p = read(0u);",
            "let i = index; let p = read(i);",
            "let p = read(index) + read(other(index));",
            "{ let index = 3u; let p = read(index); }",
            "{ var<function> index = 3u; let p = read(index); }",
            "for (var index = 0u; index < 3u; index++) { let p = read(index); }",
            "fn f(index: u32) -> f32 { return read(index); } fn kernel(index: u32) { let a = f(0u); }",
            "let a = read;",
        ] {
            assert!(!own(text), "{text}");
        }
    }
}
