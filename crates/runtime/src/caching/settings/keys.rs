//! The keys: what each accepts, and where it is written down.

use sconce_base::error::{Error, Result};

use super::Settings;
use super::notes::Note;
use super::roundup;
use super::tokens::{SettingEntry, SettingValue, entries, without_blanks};
use crate::caching::size_class::LARGE_OWN_SEGMENT;

/// The result of reading a text: the settings, and notes for the user about them.
#[derive(Debug)]
pub(super) struct Reading {
    pub(super) settings: Settings,
    pub(super) notes: Vec<Note>,
}

struct SettingKey {
    name: &'static str,
    /// How the default is written.
    default: &'static str,
    /// What a value must be.
    rule: &'static str,
    /// Writes the value down; `None` when it is not what the rule says.
    read: fn(&mut Settings, &SettingValue<'_>) -> Option<()>,
    /// The note that is logged, once, when another value than the default is set.
    note: Option<&'static str>,
}

const BOOLEAN: &str = "True or False";
const PAGES_ONLY: &str = "has no effect: addresses are reserved as they are needed";
const LOCK: &str = "has no effect: no lock is held while the driver allocates";
const WHOLE: &str = "a whole number of MiB";

/// In the order of the page that lists them.
const KEYS: &[SettingKey] = &[
    SettingKey {
        name: "max_split_size_mb",
        default: "",
        rule: "a whole number of MiB, not less than a large segment (20, or large_segment_size_mb)",
        read: |settings, value| {
            settings.max_split_bytes = mib(value, 0)?;
            Some(())
        },
        note: None,
    },
    SettingKey {
        name: "max_non_split_rounding_mb",
        default: "20",
        rule: "a whole number of MiB, 20 or more",
        read: |settings, value| {
            settings.max_non_split_rounding_bytes = mib(value, 20)?;
            Some(())
        },
        note: None,
    },
    SettingKey {
        name: "large_segment_size_mb",
        default: "20",
        rule: "a whole number of MiB, more than 10 and at most 1048576",
        read: |settings, value| {
            let bytes = mib(value, 0)?;
            settings.large_segment_bytes =
                Some(bytes).filter(|n| *n > LARGE_OWN_SEGMENT && *n <= 1 << 40)?;
            Some(())
        },
        note: None,
    },
    SettingKey {
        name: "roundup_power2_divisions",
        default: "1",
        rule: roundup::RULE,
        read: |settings, value| {
            settings.roundup_divisions = match value {
                SettingValue::Word(word) => roundup::uniform(word)?,
                SettingValue::List(pairs) => roundup::listed(pairs)?,
            };
            Some(())
        },
        note: None,
    },
    SettingKey {
        name: "garbage_collection_threshold",
        default: "",
        rule: "a number above 0 and below 1",
        read: |settings, value| {
            settings.garbage_collection_threshold =
                number(value.word()?).filter(|n| *n > 0.0 && *n < 1.0)?;
            Some(())
        },
        note: None,
    },
    SettingKey {
        name: "per_process_memory_fraction",
        default: "1.0",
        rule: "a number from 0 to 1",
        read: |settings, value| {
            settings.per_process_memory_fraction =
                number(value.word()?).filter(|n| (0.0..=1.0).contains(n))?;
            Some(())
        },
        note: None,
    },
    SettingKey {
        name: "policy",
        default: "segments",
        rule: "segments or pages",
        read: |settings, value| {
            settings.expandable_segments = match value.word()? {
                "segments" => false,
                "pages" => true,
                _ => return None,
            };
            Some(())
        },
        note: None,
    },
    SettingKey {
        name: "expandable_segments",
        default: "False",
        rule: BOOLEAN,
        read: |settings, value| {
            settings.expandable_segments = boolean(value)?;
            Some(())
        },
        note: None,
    },
    SettingKey {
        name: "expandable_segments_reserve",
        default: "",
        rule: "a share of the device's memory above 0, or GiB such as 40G",
        read: |_, value| reserve(value.word()?),
        note: Some(PAGES_ONLY),
    },
    SettingKey {
        name: "expandable_segments_reserve_by_class",
        default: "",
        rule: "a list such as [name:0.5,other:40G] of shares of the device's memory or GiB",
        read: |_, value| match value {
            SettingValue::List(pairs) => pairs.iter().try_for_each(|(_, share)| reserve(share)),
            SettingValue::Word(_) => None,
        },
        note: Some(PAGES_ONLY),
    },
    SettingKey {
        name: "graph_capture_record_stream_reuse",
        default: "False",
        rule: BOOLEAN,
        read: |settings, value| {
            settings.graph_capture_record_stream_reuse = boolean(value)?;
            Some(())
        },
        note: Some("has no effect so far: such memory is used again after the capture"),
    },
    SettingKey {
        name: "backend",
        default: "native",
        rule: "native or cudaMallocAsync",
        read: |_, value| matches!(value.word()?, "native" | "cudaMallocAsync").then_some(()),
        note: Some("has no meaning here: there is one allocator, and it is used"),
    },
    SettingKey {
        name: "throw_on_cudamalloc_oom",
        default: "False",
        rule: BOOLEAN,
        read: |_, value| boolean(value).map(drop),
        note: Some("has no meaning here: a request that passes the limit never reaches the driver"),
    },
    SettingKey {
        name: "release_lock_on_cudamalloc",
        default: "False",
        rule: BOOLEAN,
        read: release_lock,
        note: Some(LOCK),
    },
    SettingKey {
        name: "release_lock_on_hipmalloc",
        default: "False",
        rule: BOOLEAN,
        read: release_lock,
        note: Some(LOCK),
    },
    SettingKey {
        name: "pinned_use_cuda_host_register",
        default: "False",
        rule: BOOLEAN,
        read: host_register,
        note: None,
    },
    SettingKey {
        name: "pinned_use_hip_host_register",
        default: "False",
        rule: BOOLEAN,
        read: host_register,
        note: None,
    },
    SettingKey {
        name: "pinned_num_register_threads",
        default: "1",
        rule: "a power of two, at most 128",
        read: |settings, value| {
            settings.pinned.num_register_threads = whole(value)?
                .try_into()
                .ok()
                .filter(|n: &usize| n.is_power_of_two() && *n <= 128)?;
            Some(())
        },
        note: None,
    },
    SettingKey {
        name: "pinned_use_background_threads",
        default: "False",
        rule: BOOLEAN,
        read: |settings, value| {
            settings.pinned.use_background_threads = boolean(value)?;
            Some(())
        },
        note: None,
    },
    SettingKey {
        name: "pinned_reserve_segment_size_mb",
        default: "",
        rule: "a whole number of MiB above 0",
        read: |settings, value| {
            settings.pinned.reserve_segment_size_mb = whole(value).filter(|n| *n > 0)? as usize;
            Some(())
        },
        note: None,
    },
    SettingKey {
        name: "pinned_free_catch_all",
        default: "False",
        rule: BOOLEAN,
        read: |settings, value| {
            settings.pinned.free_catch_all = boolean(value)?;
            Some(())
        },
        note: None,
    },
    SettingKey {
        name: "pinned_max_round_threshold_mb",
        default: "",
        rule: WHOLE,
        read: |settings, value| {
            settings.pinned.max_round_threshold_mb = whole(value)? as usize;
            Some(())
        },
        note: None,
    },
    SettingKey {
        name: "pinned_max_cached_size_mb",
        default: "",
        rule: WHOLE,
        read: |settings, value| {
            settings.pinned.max_cached_size_mb = whole(value)? as usize;
            Some(())
        },
        note: None,
    },
];

/// Reads a text, beginning from the defaults; of a key that is repeated the last value holds.
pub(super) fn read(text: &str) -> Result<Reading> {
    let plain = without_blanks(text);
    let mut settings = Settings { text: text.to_owned(), ..Settings::default() };
    let mut notes = Vec::new();
    let mut max_split = None;
    for entry in entries(&plain).map_err(|error| error.context("allocator configuration"))? {
        let Some(key) = KEYS.iter().find(|key| key.name == entry.key) else {
            return Err(unknown(entry.key));
        };
        (key.read)(&mut settings, &entry.value).ok_or_else(|| refused(key, entry.written))?;
        if key.name == "max_split_size_mb" {
            max_split = Some((key, entry.written));
        }
        note(key, &entry, &mut notes);
    }
    // Compared at the end: the order of the keys must not matter.
    if settings.max_split_bytes < settings.large_segment_bytes
        && let Some((key, written)) = max_split
    {
        return Err(refused(key, written));
    }
    Ok(Reading { settings, notes })
}

fn note(key: &SettingKey, entry: &SettingEntry<'_>, notes: &mut Vec<Note>) {
    if let Some(what) = key.note.filter(|_| entry.value != SettingValue::Word(key.default)) {
        notes
            .push(Note { about: key.name, text: format!("{}:{} {what}", key.name, entry.written) });
    }
}

fn unknown(key: &str) -> Error {
    let names: Vec<&str> = KEYS.iter().map(|key| key.name).collect();
    let names = names.join(", ");
    Error::invalid_argument(format!(
        "allocator configuration: there is no key `{key}`; the keys are {names}"
    ))
}

fn refused(key: &SettingKey, written: &str) -> Error {
    let SettingKey { name, rule, .. } = key;
    Error::invalid_argument(format!(
        "allocator configuration: `{name}:{written}` is refused; the value must be {rule}"
    ))
}

fn release_lock(settings: &mut Settings, value: &SettingValue<'_>) -> Option<()> {
    settings.release_lock_on_cudamalloc = boolean(value)?;
    Some(())
}

fn host_register(settings: &mut Settings, value: &SettingValue<'_>) -> Option<()> {
    settings.pinned.use_cuda_host_register = boolean(value)?;
    Some(())
}

fn boolean(value: &SettingValue<'_>) -> Option<bool> {
    match value.word()? {
        "True" => Some(true),
        "False" => Some(false),
        _ => None,
    }
}

fn whole(value: &SettingValue<'_>) -> Option<u64> {
    value.word()?.parse().ok()
}

/// The bytes of a value in MiB, which must be at least `least`; more than an address can hold is no limit.
fn mib(value: &SettingValue<'_>, least: u64) -> Option<usize> {
    let mib = whole(value).filter(|n| *n >= least)?;
    Some(usize::try_from(mib).ok().and_then(|n| n.checked_mul(1 << 20)).unwrap_or(usize::MAX))
}

/// A number as people write it; not the words for infinity and for no number.
fn number(word: &str) -> Option<f64> {
    word.parse().ok().filter(|n: &f64| n.is_finite())
}

fn reserve(word: &str) -> Option<()> {
    let digits = word.strip_suffix(['G', 'g']).unwrap_or(word);
    number(digits).filter(|n| *n > 0.0).map(drop)
}
