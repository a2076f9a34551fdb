//! Text on its way to a terminal: names come from files of strangers, drivers write to standard error by themselves.

use std::borrow::Cow;

/// The text with characters that command a terminal, or turn the direction of writing, as `\\u001b`: the way JSON has it, so that lines of JSON stay so.
pub(crate) fn escaped(text: &str) -> Cow<'_, str> {
    if !text.contains(commands) {
        return text.into();
    }
    let mut out = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        match commands(c) {
            true => out.push_str(&format!("\\u{:04x}", c as u32)),
            false => out.push(c),
        }
    }
    out.into()
}

/// The text with one harmless character for each of those, of as many bytes: offsets in it stay.
pub(crate) fn masked(text: &str) -> Cow<'_, str> {
    if !text.contains(commands) {
        return text.into();
    }
    let mask = |c: char| match (commands(c), c.len_utf8()) {
        (false, _) => c,
        (_, 1) => '?',
        (_, 2) => '\u{bf}',
        _ => char::REPLACEMENT_CHARACTER,
    };
    text.chars().map(mask).collect::<String>().into()
}

/// A message: lines after the first one are indented, so that a name with a line break does not look like a message of ours.
pub(crate) fn message(text: &str) -> String {
    escaped(text).replace('\n', "\n  ")
}

/// Control characters but ends of lines and tabs, other ends of lines, and marks that turn the direction of writing.
fn commands(c: char) -> bool {
    let turns = matches!(c, '\u{200e}' | '\u{200f}' | '\u{061c}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    turns || c.is_control() && c != '\n' && c != '\t'
}

/// Calls `work`, and gives the lines that drivers and their libraries wrote to standard error meanwhile.
#[cfg(all(unix, feature = "gpu"))]
pub(crate) fn overheard<T>(work: impl FnOnce() -> T) -> (T, Vec<String>) {
    use std::io::{Read, Seek};
    use std::os::fd::{AsFd, OwnedFd};

    /// Brings standard error back, whatever happens.
    struct Back(OwnedFd);
    impl Drop for Back {
        fn drop(&mut self) {
            let _ = rustix::stdio::dup2_stderr(&self.0);
        }
    }

    let taken = || {
        let file = tempfile::tempfile()?;
        let back = Back(std::io::stderr().as_fd().try_clone_to_owned()?);
        rustix::stdio::dup2_stderr(&file)?;
        Ok::<_, std::io::Error>((file, back))
    };
    let Ok((mut file, back)) = taken() else {
        return (work(), Vec::new());
    };
    let done = work();
    drop(back);
    let mut text = Vec::new();
    let _ = file.rewind().and_then(|()| file.read_to_end(&mut text));
    let text = String::from_utf8_lossy(&text);
    let lines = text.lines().filter(|l| !l.trim().is_empty());
    (done, lines.map(str::to_owned).collect())
}

#[cfg(all(not(unix), feature = "gpu"))]
pub(crate) fn overheard<T>(work: impl FnOnce() -> T) -> (T, Vec<String>) {
    (work(), Vec::new())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_that_command_a_terminal_are_shown() {
        let name = "a\u{1b}]0;x\u{7}b\u{9b}c\u{202e}d\n\te\u{e9}";
        assert_eq!(
            escaped(name),
            "a\\u001b]0;x\\u0007b\\u009bc\\u202ed\n\te\u{e9}"
        );
        let masked = masked(name);
        assert_eq!(masked.len(), name.len());
        assert_eq!(masked, "a?]0;x?b\u{bf}c\u{fffd}d\n\te\u{e9}");
        assert!(matches!(escaped("plain"), Cow::Borrowed(_)));
    }
}
