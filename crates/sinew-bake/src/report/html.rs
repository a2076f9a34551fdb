//! A page of HTML without scripts, links or anything that is loaded.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

const STYLE: &str = "body{font:15px/1.45 system-ui,sans-serif;color:#1d2126;background:#fff;max-width:60rem;margin:2rem auto;padding:0 1rem}\
h1{font-size:1.6rem;margin:0 0 .3rem}h2{font-size:1.15rem;margin:2rem 0 .5rem}\
table{border-collapse:collapse;margin:.5rem 0}th,td{text-align:left;vertical-align:top;padding:.2rem .9rem .2rem 0;border-bottom:1px solid #dfe3e8}\
th{font-weight:600}td.n{text-align:right;font-variant-numeric:tabular-nums}\
figure{display:inline-block;margin:.3rem .6rem .3rem 0}figcaption{font-size:.85rem;color:#555}\
svg,img{display:block;max-width:100%}pre{background:#f4f6f8;padding:.7rem;overflow:auto;font-size:.85rem}\
.wrong{color:#a4262c;font-weight:600}.small{color:#555;font-size:.9rem}";

/// What stands before the sequence that a page is about.
const SEQUENCE: &str = "<meta name=\"sequence\" content=\"";

/// The sequence that a page is about; `None` where it does not say.
pub(crate) fn sequence_in(page: &str) -> Option<String> {
    let head = page.split_once("</head>")?.0;
    let (found, _) = head.split_once(SEQUENCE)?.1.split_once('"')?;
    Some(unescaped(found))
}

/// A page in the making.
pub(crate) struct Page {
    text: String,
}

impl Page {
    /// Begins with a title and a name to be found again by [`sequence_in`].
    pub(crate) fn new(title: &str, sequence: &str) -> Self {
        let (title, sequence) = (escaped(title), escaped(sequence));
        let text = format!(
            "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n{SEQUENCE}{sequence}\">\n<title>{title}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<h1>{title}</h1>\n"
        );
        Self { text }
    }

    /// Begins a section.
    pub(crate) fn section(&mut self, title: &str) {
        self.html(&format!("<h2>{}</h2>", escaped(title)));
    }

    /// A paragraph of plain text.
    pub(crate) fn paragraph(&mut self, text: &str) {
        self.html(&format!("<p>{}</p>", escaped(text)));
    }

    /// Names and what stands for them; plain text.
    pub(crate) fn pairs(&mut self, rows: &[(&str, String)]) {
        self.html("<table>");
        for (name, value) in rows {
            let (name, value) = (escaped(name), escaped(value));
            self.html(&format!("<tr><th>{name}</th><td>{value}</td></tr>"));
        }
        self.html("</table>");
    }

    /// A table of plain text. Cells that begin with a digit stand at the right.
    pub(crate) fn table(&mut self, heads: &[&str], rows: &[Vec<String>]) {
        let heads: String = heads
            .iter()
            .map(|h| format!("<th>{}</th>", escaped(h)))
            .collect();
        self.html(&format!("<table>\n<tr>{heads}</tr>"));
        for row in rows {
            let cells: String = row.iter().map(|c| cell(c)).collect();
            self.html(&format!("<tr>{cells}</tr>"));
        }
        self.html("</table>");
    }

    /// Text as it stands, to be opened.
    pub(crate) fn details(&mut self, title: &str, text: &str) {
        let (title, text) = (escaped(title), escaped(text));
        self.html(&format!(
            "<details><summary>{title}</summary><pre>{text}</pre></details>"
        ));
    }

    /// A piece of HTML of our own making.
    pub(crate) fn html(&mut self, html: &str) {
        self.text.push_str(html);
        self.text.push('\n');
    }

    /// The whole page.
    pub(crate) fn finish(mut self) -> String {
        self.html("</body>\n</html>");
        self.text
    }
}

fn cell(text: &str) -> String {
    let is_number = text.starts_with(|c: char| c.is_ascii_digit());
    let class = if is_number { " class=\"n\"" } else { "" };
    format!("<td{class}>{}</td>", escaped(text))
}

/// The text that was [`escaped`].
fn unescaped(text: &str) -> String {
    let pairs = [
        ("&lt;", "<"),
        ("&gt;", ">"),
        ("&quot;", "\""),
        ("&#39;", "'"),
    ];
    let text = pairs
        .iter()
        .fold(text.to_owned(), |t, (from, to)| t.replace(from, to));
    // Last, since what stands behind it may look like one of the others.
    text.replace("&amp;", "&")
}

/// Text that stays text, in elements and in attributes.
pub(crate) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            // Not allowed in pages, not even escaped; or they turn the direction of what follows.
            c if c.is_control() && !matches!(c, '\n' | '\t') => out.push('\u{fffd}'),
            '\u{200e}'
            | '\u{200f}'
            | '\u{061c}'
            | '\u{202a}'..='\u{202e}'
            | '\u{2066}'..='\u{2069}' => {
                out.push('\u{fffd}');
            }
            c => out.push(c),
        }
    }
    out
}

/// A PNG as the address of an image.
pub(crate) fn data_uri(png: &[u8]) -> String {
    format!("data:image/png;base64,{}", STANDARD.encode(png))
}

/// `1017000` as `1,017,000`.
pub(crate) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (i, c) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(c);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stay_text() {
        let mut page = Page::new("<script>alert('x')</script>", "a\"></head>'&amp;");
        let found = sequence_in(&page.text);
        assert_eq!(found.as_deref(), Some("a\"></head>'&amp;"));
        assert_eq!(sequence_in("<html></html>"), None);
        page.pairs(&[("a & b", "\"</td>\u{0}".into())]);
        page.table(&["<b>"], &[vec!["<i>".into()]]);
        page.details("t", "</pre><script>\u{202e}\u{2066}\u{9b}");
        let text = page.finish();
        assert!(!text.contains("<script") && !text.contains("<i>") && !text.contains("<b>"));
        assert!(!text.contains(['\u{202e}', '\u{2066}', '\u{9b}']));
        assert!(text.contains("&lt;script&gt;alert(&#39;x&#39;)"));
        assert!(text.contains("a &amp; b") && text.contains("&quot;&lt;/td&gt;\u{fffd}"));
    }

    #[test]
    fn numbers_are_grouped_by_thousands() {
        let known = [
            (0, "0"),
            (999, "999"),
            (1000, "1,000"),
            (1_017_000, "1,017,000"),
        ];
        for (number, text) in known {
            assert_eq!(grouped(number), text);
        }
    }

    /// RFC 4648, section 10.
    #[test]
    fn images_are_in_base_64() {
        assert_eq!(data_uri(b"foobar"), "data:image/png;base64,Zm9vYmFy");
    }
}
