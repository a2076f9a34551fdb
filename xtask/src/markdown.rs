//! What checks of the docs need to know of Markdown: fenced blocks, links, headings, words.

/// A fenced block of code.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Block<'a> {
    /// Line of the opening fence, counted from 1.
    pub(crate) line: usize,
    /// The text behind the fence, such as `sh,no_run`.
    pub(crate) info: &'a str,
    /// Lines between the fences.
    pub(crate) lines: Vec<&'a str>,
    /// The paragraph before the block.
    pub(crate) before: String,
}

impl Block<'_> {
    /// The language: the first word behind the fence.
    pub(crate) fn language(&self) -> &str {
        self.words().next().unwrap_or_default()
    }

    /// Whether this word stands behind the language.
    pub(crate) fn is_marked(&self, word: &str) -> bool {
        self.words().skip(1).any(|w| w == word)
    }

    fn words(&self) -> impl Iterator<Item = &str> {
        self.info.split([',', ' ']).map(str::trim)
    }
}

/// The fenced blocks of a page. A fence begins at the start of its line.
pub(crate) fn blocks(text: &str) -> Vec<Block<'_>> {
    let mut out = Vec::new();
    let (mut open, mut before) = (None::<Block<'_>>, String::new());
    let mut after_blank = true;
    for (number, line) in (1..).zip(text.lines()) {
        match (line.strip_prefix("```"), open.take()) {
            (Some(info), None) => {
                open = Some(Block {
                    line: number,
                    info: info.trim(),
                    lines: Vec::new(),
                    before: std::mem::take(&mut before),
                });
            }
            (Some(_), Some(block)) => out.push(block),
            (None, Some(mut block)) => {
                block.lines.push(line);
                open = Some(block);
            }
            (None, None) if line.trim().is_empty() => after_blank = true,
            (None, None) => {
                if std::mem::take(&mut after_blank) {
                    before.clear();
                }
                before.push_str(line);
                before.push(' ');
            }
        }
    }
    out
}

/// The lines outside fenced blocks, with their numbers. Lines of blocks are left out.
pub(crate) fn prose(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut in_block = false;
    (1..).zip(text.lines()).filter(move |(_, line)| {
        let is_fence = line.trim_start().starts_with("```");
        in_block ^= is_fence;
        !in_block && !is_fence
    })
}

/// Where the targets of the links of a line are, as byte ranges: `[text](target)`. Code between backticks has no links.
pub(crate) fn targets(line: &str) -> Vec<std::ops::Range<usize>> {
    let mut out = Vec::new();
    let (mut in_code, mut at) = (false, 0);
    while let Some(rest) = line.get(at..) {
        let Some(next) = rest.find(['`', ']']) else {
            break;
        };
        let found = at + next;
        at = found + 1;
        if rest[next..].starts_with('`') {
            in_code = !in_code;
        } else if !in_code
            && line[at..].starts_with('(')
            && let Some(length) = line[at + 1..].find(')')
        {
            out.push(at + 1..at + 1 + length);
            at += 1 + length;
        }
    }
    out
}

/// The anchors of the headings of a page, as web pages call them.
pub(crate) fn anchors(text: &str) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    for (_, line) in prose(text).filter(|(_, line)| line.starts_with('#')) {
        let slug = slug(line.trim_start_matches('#'));
        let again = out.iter().filter(|s| **s == slug).count();
        out.push(match again {
            0 => slug,
            again => format!("{slug}-{again}"),
        });
    }
    out
}

fn slug(heading: &str) -> String {
    // Of a link in a heading, the text counts.
    let mut text = heading.trim().to_owned();
    while let (Some(open), Some(close)) = (text.find("]("), text.find(')')) {
        if close < open {
            break;
        }
        text.replace_range(open..=close, "");
    }
    let kept = text.chars().filter_map(|c| match c {
        ' ' => Some('-'),
        '-' | '_' => Some(c),
        c if c.is_alphanumeric() => Some(c),
        _ => None,
    });
    kept.flat_map(char::to_lowercase).collect()
}

/// Words of a page, without blocks of code.
pub(crate) fn words(text: &str) -> usize {
    let is_word = |word: &&str| word.contains(char::is_alphanumeric);
    prose(text)
        .map(|(_, line)| line.split_whitespace().filter(is_word).count())
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = "# A `b` of c\n\nSay\nthis:\n\n```sh,no_run\n# no heading\n```\n\n## A [link](x.md)\nMore.\n```json\n{}\n```\n";

    #[test]
    fn blocks_have_their_line_language_marks_and_paragraph() {
        let found = blocks(PAGE);
        assert_eq!(found.len(), 2);
        assert_eq!(
            found[0],
            Block {
                line: 6,
                info: "sh,no_run",
                lines: vec!["# no heading"],
                before: "Say this: ".into()
            }
        );
        assert_eq!(found[0].language(), "sh");
        assert!(found[0].is_marked("no_run") && !found[0].is_marked("sh"));
        assert_eq!((found[1].line, found[1].language()), (12, "json"));
        assert_eq!(found[1].before, "## A [link](x.md) More. ");
    }

    #[test]
    fn links_are_found_outside_code() {
        let line = "![p](a.png) and [b](c.md#d), not `[e](f.md)`, [`g`](h.md)";
        let found: Vec<&str> = targets(line).into_iter().map(|r| &line[r]).collect();
        assert_eq!(found, ["a.png", "c.md#d", "h.md"]);
        assert!(targets("a [b] (c) [d").is_empty());
    }

    #[test]
    fn anchors_are_those_of_web_pages() {
        assert_eq!(anchors(PAGE), ["a-b-of-c", "a-link"]);
        assert_eq!(
            anchors("# `sinew psd check`\n# X\n# X\n# 5. The GPU side\n"),
            ["sinew-psd-check", "x", "x-1", "5-the-gpu-side"]
        );
    }

    #[test]
    fn words_of_blocks_do_not_count() {
        assert_eq!(words("# One two\n| three | - |\n```\nfour\n```\n"), 3);
    }
}
