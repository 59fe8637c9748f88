//! Finding, reading and inheriting: from a name or a path to one layer.

use super::BUILTIN;
use super::error::{BoardError, Conflict};
use super::keys;
use super::layer::Layer;
use super::words::{any_of, one_line, quoted, visible};
use std::fs::{File, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use toml::{Table, Value};

/// Largest board file in octets: a hundred times what a commented one needs.
const LARGEST: u64 = 64 * 1024;

/// Most boards that one can inherit from, one through the other.
const MOST_ANCESTORS: usize = 8;

/// Where a board's text is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Place {
    Builtin { name: &'static str, text: &'static str },
    File(PathBuf),
}

/// Where board `name` is, and what it says with all it inherits.
pub(super) fn flatten(name: &str) -> Result<(Place, Layer), BoardError> {
    let first = Place::find(name, None).ok_or_else(|| unknown(name))?;
    let mut layer = first.read()?;
    let mut above = vec![first.clone()];
    let mut place = first.clone();
    while let Some(parent) = layer.inherit.take() {
        place = place.parent(&parent)?;
        let again = above.contains(&place);
        above.push(place.clone());
        if again || above.len() > MOST_ANCESTORS + 1 {
            return Err(BoardError::Loop { chain: shown_chain(&above), most: MOST_ANCESTORS });
        }
        layer = layer.over(place.read()?);
    }
    Ok((first, layer))
}

fn unknown(name: &str) -> BoardError {
    BoardError::Unknown { name: quoted(name), right: places() }
}

fn places() -> String {
    format!("{}, or a path with a / or ending in .toml", any_of(BUILTIN.map(|(name, _)| name)))
}

fn shown_chain(chain: &[Place]) -> String {
    chain.iter().map(Place::shown).collect::<Vec<_>>().join(" > ")
}

impl Place {
    /// A built-in board of that name, else a path if it looks like one; paths are taken from `folder`.
    fn find(name: &str, folder: Option<&Path>) -> Option<Self> {
        if let Some((name, text)) = BUILTIN.into_iter().find(|(builtin, _)| *builtin == name) {
            return Some(Self::Builtin { name, text });
        }
        let is_path = name.contains('/') || name.ends_with(".toml");
        is_path.then(|| Self::File(folder.unwrap_or(Path::new("")).join(name)))
    }

    /// The board that this one inherits from as `name`.
    fn parent(&self, name: &str) -> Result<Self, BoardError> {
        let folder = match self {
            Self::Builtin { .. } => None,
            Self::File(path) => path.parent(),
        };
        Self::find(name, folder).ok_or_else(|| BoardError::BadValue {
            board: self.shown(),
            key: "inherit".to_owned(),
            value: quoted(name),
            right: places(),
        })
    }

    /// For refusals: what the user can find it by.
    pub fn shown(&self) -> String {
        match self {
            Self::Builtin { name, .. } => (*name).to_owned(),
            Self::File(path) => visible(&path.to_string_lossy()),
        }
    }

    /// The refusal of this board for keys that do not go together.
    pub fn refuse(&self, conflict: Conflict) -> BoardError {
        BoardError::Conflict { board: self.shown(), conflict }
    }

    /// For the log: the built-in name, or the file's name without its ending.
    pub fn name(&self) -> String {
        match self {
            Self::Builtin { name, .. } => (*name).to_owned(),
            Self::File(path) => visible(&path.file_stem().unwrap_or_default().to_string_lossy()),
        }
    }

    fn read(&self) -> Result<Layer, BoardError> {
        match self {
            Self::Builtin { text, .. } => parse(&self.shown(), text),
            Self::File(path) => {
                let board = self.shown();
                let text = read_text(path, &board)?;
                parse(&board, &text)
            }
        }
    }
}

/// Opens a plain file, and nothing that could keep its reader waiting.
fn open(path: &Path) -> io::Result<File> {
    let file = OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK).open(path)?;
    let kind = file.metadata()?.file_type();
    if kind.is_file() || kind.is_dir() { Ok(file) } else { Err(io::Error::other("it is no plain file")) }
}

fn read_text(path: &Path, board: &str) -> Result<String, BoardError> {
    let mut octets = Vec::new();
    open(path)
        .and_then(|file| file.take(LARGEST + 1).read_to_end(&mut octets))
        .map_err(|source| BoardError::Read { board: board.to_owned(), source })?;
    if u64::try_from(octets.len()).is_ok_and(|length| length > LARGEST) {
        return Err(BoardError::TooLarge { board: board.to_owned(), most: LARGEST });
    }
    String::from_utf8(octets).map_err(|error| BoardError::NotText {
        board: board.to_owned(),
        at: error.utf8_error().valid_up_to(),
    })
}

/// Reads a board's text; `board` names it in refusals.
fn parse(board: &str, text: &str) -> Result<Layer, BoardError> {
    let table: Table = text.parse().map_err(|error| syntax(board, text, &error))?;
    table.iter().try_for_each(|(key, value)| check(board, key, value))?;
    table.try_into().map_err(|error| syntax(board, text, &error))
}

fn syntax(board: &str, text: &str, error: &toml::de::Error) -> BoardError {
    let before = error.span().and_then(|span| text.as_bytes().get(..span.start)).unwrap_or_default();
    let message: Vec<_> = error.message().lines().collect();
    BoardError::Syntax {
        board: board.to_owned(),
        line: 1 + before.iter().filter(|octet| **octet == b'\n').count(),
        message: one_line(&message.join(", ")),
    }
}

/// Refuses a key that does not exist or whose value, read alone, is not what it should be.
fn check(board: &str, key: &str, value: &Value) -> Result<(), BoardError> {
    let Some(right) = keys::right(key) else {
        return Err(BoardError::UnknownKey {
            board: board.to_owned(),
            key: one_line(key),
            hint: keys::hint(key),
        });
    };
    let alone = Table::from_iter([(key.to_owned(), value.clone())]);
    alone.try_into::<Layer>().map(drop).map_err(|_| BoardError::BadValue {
        board: board.to_owned(),
        key: key.to_owned(),
        value: shown_value(value),
        right: right.to_owned(),
    })
}

fn shown_value(value: &Value) -> String {
    match value {
        Value::String(text) => quoted(text),
        Value::Integer(number) => number.to_string(),
        Value::Float(number) => super::words::number(*number),
        Value::Boolean(yes) => yes.to_string(),
        Value::Datetime(moment) => moment.to_string(),
        Value::Array(list) => {
            one_line(&format!("[{}]", list.iter().map(shown_value).collect::<Vec<_>>().join(", ")))
        }
        Value::Table(_) => "a table".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn refusal(text: &str) -> String {
        parse("my.toml", text).unwrap_err().to_string()
    }

    #[test]
    fn a_refusal_names_file_key_value_and_what_is_right() {
        for (text, line) in [
            ("mtuu = 9000", "board my.toml: unknown key mtuu; did you mean mtu?"),
            ("mtu = 67", "board my.toml: mtu = 67 is not a whole number from 68 to 9198 (octets)"),
            ("mtu = -1", "board my.toml: mtu = -1 is not a whole number from 68 to 9198 (octets)"),
            ("mtu = 9000.5", "board my.toml: mtu = 9000.5 is not a whole number from 68 to 9198 (octets)"),
            ("mtu = \"big\"", "board my.toml: mtu = \"big\" is not a whole number from 68 to 9198 (octets)"),
            ("mtu = {}", "board my.toml: mtu = a table is not a whole number from 68 to 9198 (octets)"),
            ("streams = 0", "board my.toml: streams = 0 is not a whole number from 1 to 7 (a direction)"),
            ("streams = 8", "board my.toml: streams = 8 is not a whole number from 1 to 7 (a direction)"),
            (
                "pace-mbps = 0",
                "board my.toml: pace-mbps = 0 is not a whole number from 1 to 400000 (Mb/s of L1 rate)",
            ),
            ("settle-s = nan", "board my.toml: settle-s = NaN is not a number from 0 to 600 (seconds)"),
            ("link-restart = 1", "board my.toml: link-restart = 1 is not true or false"),
            (
                "cable = \"fibre\"",
                "board my.toml: cable = \"fibre\" is not \"virtual\", \"emulated\" or \"ports\"",
            ),
        ] {
            assert_eq!(refusal(text), line);
        }
    }

    #[test]
    fn every_key_refuses_a_list_of_lists() {
        for key in keys::KEYS {
            let line = refusal(&format!("{} = [[true]]", key.name));
            assert_eq!(line, format!("board my.toml: {} = [[true]] is not {}", key.name, key.right));
        }
    }

    #[test]
    fn ethertypes_are_few_different_and_free() {
        for list in [
            "[]",
            "[0x05ff]",
            "[0x88b5, 0x88b5]",
            "[0x8100]",
            "[0x10000]",
            "[1536,1537,1538,1539,1540,1541,1542,1543]",
        ] {
            assert!(
                refusal(&format!("ethertypes = {list}"))
                    .contains(" is not a list of 1 to 7 different numbers")
            );
        }
        assert!(parse("my.toml", "ethertypes = [0x0600, 0xFFFF]").is_ok());
    }

    #[test]
    fn a_syntax_error_names_its_line() {
        let line = refusal("cable = \"virtual\"\nmtu = = 3\n");
        assert!(line.starts_with("board my.toml: line 2: "), "{line}");
    }

    #[test]
    fn a_key_given_twice_is_refused() {
        assert!(refusal("mtu = 1500\nmtu = 9000").starts_with("board my.toml: line 2: duplicate key"));
    }

    #[test]
    fn a_nested_key_is_refused() {
        assert_eq!(refusal("[x]\nmtu = 9000").split(';').next(), Some("board my.toml: unknown key x"));
    }

    /// One board file with a few octets overwritten, taken out or put in.
    fn damaged() -> impl Strategy<Value = String> {
        let edit = (any::<prop::sample::Index>(), 0..3_u8, any::<u8>());
        (0..BUILTIN.len(), prop::collection::vec(edit, 1..6)).prop_map(|(board, edits)| {
            let mut octets = BUILTIN[board].1.as_bytes().to_vec();
            for (at, kind, octet) in edits {
                let at = at.index(octets.len());
                match kind {
                    0 => octets[at] = octet,
                    1 => drop(octets.remove(at)),
                    _ => octets.insert(at, octet),
                }
            }
            String::from_utf8_lossy(&octets).into_owned()
        })
    }

    fn one_clear_line_or_a_board(text: &str) {
        if let Err(error) = parse("my.toml", text) {
            let line = error.to_string();
            assert!(line.starts_with("board my.toml: "), "{line:?}");
            assert!(!line.chars().any(char::is_control), "{line:?}");
        }
    }

    proptest! {
        #[test]
        fn arbitrary_text_is_a_board_or_one_clear_line(text in any::<String>()) {
            one_clear_line_or_a_board(&text);
        }

        #[test]
        fn arbitrary_values_are_a_board_or_one_clear_line(
            key in prop::sample::select(keys::KEYS.map(|key| key.name).to_vec()),
            value in "[-+]?[0-9a-fx_.e]{1,30}|\"\"\"[^\"]{0,200}\"\"\"|\\[[0-9, ]{0,200}\\]",
        ) {
            one_clear_line_or_a_board(&format!("{key} = {value}\n"));
        }

        #[test]
        fn damaged_boards_are_a_board_or_one_clear_line(text in damaged()) {
            one_clear_line_or_a_board(&text);
        }
    }

    #[test]
    fn deep_nesting_is_refused() {
        one_clear_line_or_a_board(&format!("mix = {}", "[".repeat(60_000)));
        assert!(parse("my.toml", &format!("mix = {}{}", "[".repeat(9_000), "]".repeat(9_000))).is_err());
    }
}
