//! Notes about a configuration, each logged once a process: settings that are accepted and have no effect.

use std::collections::BTreeSet;

use sconce_base::lock::{Mutex, rank};
use sconce_base::log;

/// Something the user should know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Note {
    /// What it is about. A second note about the same is not said.
    pub(super) about: &'static str,
    pub(super) text: String,
}

static SAID: Mutex<rank::SettingsNotes, BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());

/// Says what has not been said yet. No lock is held meanwhile.
pub(super) fn say(notes: Vec<Note>) {
    for note in unsaid(&SAID, notes) {
        log::warn(format_args!("allocator configuration: {}", note.text));
    }
}

fn unsaid(
    said: &Mutex<rank::SettingsNotes, BTreeSet<&'static str>>,
    notes: Vec<Note>,
) -> Vec<Note> {
    let mut said = said.lock();
    notes.into_iter().filter(|note| said.insert(note.about)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_is_said_once() {
        let said = Mutex::new(BTreeSet::new());
        let note = |about: &'static str, text: &str| Note { about, text: text.to_owned() };
        let first = unsaid(&said, vec![note("a", "1"), note("b", "1"), note("a", "2")]);
        assert_eq!(first, [note("a", "1"), note("b", "1")]);
        assert_eq!(unsaid(&said, vec![note("b", "3"), note("c", "1")]), [note("c", "1")]);
    }
}
