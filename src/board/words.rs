//! Words for refusals: one line, whatever the text in it was.

/// Longest piece of somebody's text that a refusal repeats, in characters.
const LONGEST: usize = 80;

/// `text` on one line, whole: control characters escaped. For paths, whose end matters most.
pub(crate) fn visible(text: &str) -> String {
    text.chars().flat_map(escaped).collect()
}

/// `text` on one line, cut at [`LONGEST`] characters: control characters escaped.
pub(crate) fn one_line(text: &str) -> String {
    cut(text.chars().flat_map(escaped))
}

/// `text` as a quoted string on one line, cut like [`one_line`].
pub(crate) fn quoted(text: &str) -> String {
    format!("\"{}\"", cut(text.chars().flat_map(char::escape_debug)))
}

/// `number` in the shortest form that reads back the same.
pub(crate) fn number(number: f64) -> String {
    format!("{number:?}").trim_end_matches(".0").to_owned()
}

/// A list in a sentence: "a, b or c".
pub(crate) fn any_of<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    let mut names: Vec<_> = names.into_iter().collect();
    let last = names.pop().unwrap_or_default();
    if names.is_empty() { last.to_owned() } else { format!("{} or {last}", names.join(", ")) }
}

/// Whichever of `known` is most like `word`, if any is like it at all.
pub(crate) fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let word: String = word.chars().take(LONGEST).collect();
    known
        .into_iter()
        .map(|name| (strsim::jaro_winkler(&word, name), name))
        .filter(|&(likeness, _)| likeness > 0.8)
        .max_by(|(one, _), (other, _)| one.total_cmp(other))
        .map(|(_, name)| name)
}

fn escaped(c: char) -> impl Iterator<Item = char> {
    let escape = c.is_control().then(|| c.escape_default());
    let plain = escape.is_none().then_some(c);
    escape.into_iter().flatten().chain(plain)
}

fn cut(text: impl Iterator<Item = char>) -> String {
    let mut text = text;
    let mut kept: String = text.by_ref().take(LONGEST).collect();
    if text.next().is_some() {
        kept.push('…');
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_never_break_the_line() {
        assert_eq!(one_line("a\nb\u{1b}"), "a\\nb\\u{1b}");
        assert_eq!(quoted("a\n\"b\""), "\"a\\n\\\"b\\\"\"");
    }

    #[test]
    fn long_text_is_cut() {
        assert_eq!(one_line(&"x".repeat(1000)).chars().count(), LONGEST + 1);
    }

    #[test]
    fn a_path_is_never_cut() {
        assert_eq!(visible(&"x".repeat(1000)).len(), 1000);
        assert_eq!(visible("a\tb"), "a\\tb");
    }

    #[test]
    fn a_list_reads_as_a_sentence() {
        assert_eq!(any_of(["a", "b", "c"]), "a, b or c");
        assert_eq!(any_of(["a"]), "a");
        assert_eq!(any_of([]), "");
    }

    #[test]
    fn a_slip_finds_its_word_and_nonsense_finds_none() {
        assert_eq!(nearest("mtuu", ["mix", "mtu", "cable"]), Some("mtu"));
        assert_eq!(nearest("zzz", ["mix", "mtu", "cable"]), None);
    }

    #[test]
    fn whole_numbers_print_without_a_fraction() {
        assert_eq!(number(10.0), "10");
        assert_eq!(number(2.5), "2.5");
        assert_eq!(number(1e-12), "1e-12");
    }
}
