//! The log's grammar, as its documentation has it.

/// Where the grammar is documented.
const DOCUMENTATION: &str = include_str!("../../src/journal/text.rs");

/// The tags of the documented table.
fn tags() -> Vec<&'static str> {
    let rows = DOCUMENTATION.lines().filter_map(|line| line.strip_prefix("//! | `"));
    let tags: Vec<&str> = rows.filter_map(|row| Some(row.split_once('`')?.0)).collect();
    assert!(tags.len() > 10, "the table has moved");
    tags
}

/// One line taken apart.
#[derive(Debug, PartialEq)]
pub struct Parsed<'a> {
    /// Milliseconds.
    pub stamp: u64,
    pub tag: &'a str,
    pub fields: Vec<&'a str>,
}

/// Reads a line; an error tells what the grammar does not have.
pub fn parse(line: &str) -> Result<Parsed<'_>, String> {
    let (stamp, rest) = stamp(line).ok_or_else(|| format!("no stamp in {line:?}"))?;
    let (tag, rest) = rest.split_once(' ').map_or((rest, None), |(tag, rest)| (tag, Some(rest)));
    if !tags().contains(&tag) {
        return Err(format!("no tag {tag:?} is documented"));
    }
    let fields = rest.map_or_else(|| Ok(Vec::new()), fields)?;
    fields.iter().try_for_each(|field| check_field(field))?;
    Ok(Parsed { stamp, tag, fields })
}

/// Seconds in six places, a point, three decimals, a blank.
fn stamp(line: &str) -> Option<(u64, &str)> {
    let point = line.find('.')?;
    let (seconds, rest) = (line.get(..point)?, line.get(point + 1..)?);
    let (millis, rest) = (rest.get(..3)?, rest.get(3..)?.strip_prefix(' ')?);
    let aligned = seconds.len() == 6 || seconds.len() > 6 && !seconds.starts_with(' ');
    let seconds: u64 = seconds.trim_start().parse().ok().filter(|_| aligned)?;
    Some((seconds * 1000 + millis.parse::<u64>().ok()?, rest))
}

/// Splits at ", " outside quotes.
fn fields(rest: &str) -> Result<Vec<&str>, String> {
    let (mut fields, mut from, mut quoted, mut escaped) = (Vec::new(), 0, false, false);
    for (at, c) in rest.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' if quoted => escaped = true,
            '"' => quoted = !quoted,
            ',' if !quoted => {
                fields.push(&rest[from..at]);
                from = at + 1;
                from += rest[from..].strip_prefix(' ').map(|_| 1).ok_or("no blank after a comma")?;
            }
            _ => {}
        }
    }
    if quoted { Err(format!("open quotes in {rest:?}")) } else { Ok([fields, vec![&rest[from..]]].concat()) }
}

/// Words and numbers, or one text in quotes with a name before it.
fn check_field(field: &str) -> Result<(), String> {
    let (plain, text) = field.split_once('"').map_or((field, None), |(plain, text)| (plain, Some(text)));
    let ends = text.is_none_or(|text| text.ends_with('"'));
    let words: Vec<&str> =
        plain.strip_suffix(' ').filter(|_| text.is_some()).unwrap_or(plain).split(' ').collect();
    let plain = words.iter().all(|word| is_word(word)) || text.is_some() && plain.is_empty();
    if plain && ends { Ok(()) } else { Err(format!("{field:?} is no field")) }
}

fn is_word(word: &str) -> bool {
    let fits = |c: char| c.is_ascii_alphanumeric() || "./>-+:%()".contains(c);
    !word.is_empty() && word.chars().all(fits)
}

/// Every line is one, and time does not go back; gives them back.
pub fn check<'a>(lines: &[&'a str]) -> Vec<Parsed<'a>> {
    let parsed: Vec<Parsed> = lines.iter().map(|line| parse(line).unwrap()).collect();
    assert!(parsed.is_sorted_by_key(|line| line.stamp), "time goes back in {lines:#?}");
    parsed
}

#[test]
fn the_checker_takes_what_is_documented_and_nothing_else() {
    let line = "    12.345 rate A>B 9.998 Gb/s, B>A N/A, lost 17, left 7 s";
    let fields = vec!["A>B 9.998 Gb/s", "B>A N/A", "lost 17", "left 7 s"];
    assert_eq!(parse(line), Ok(Parsed { stamp: 12_345, tag: "rate", fields }));
    let line = "1000000.000 note \"one\\\", lost 0\"";
    assert_eq!(parse(line).map(|line| line.fields), Ok(vec!["\"one\\\", lost 0\""]));
    assert_eq!(parse("     6.116 end").map(|line| line.tag), Ok("end"));
    for wrong in [
        "",
        "end",
        "12.345 end",
        "    12.34 end",
        "    12.345  end",
        "    12.345 ends",
        "    12.345 rate ",
        "    12.345 rate lost 1,left 7 s",
        "    12.345 rate lost 1, ",
        "    12.345 note \"open",
        "    12.345 note \"one\" two",
        "    12.345 rate lost  1",
        "    12.345 rate lost 1\u{1b}",
    ] {
        assert!(parse(wrong).is_err(), "{wrong:?}");
    }
}
