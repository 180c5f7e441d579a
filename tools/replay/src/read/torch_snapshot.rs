//! A snapshot with history, as `torch.cuda.memory._dump_snapshot` writes it after
//! `_record_memory_history`, in a pickle or in JSON. This library's snapshots have that format too.
//!
//! Blocks are identified by their addresses. A block that was alive before the history began shows
//! later: it is freed without an allocation, or still exists at the end. Such blocks are allocated
//! first, in the order of their addresses, so that the replay holds the program's parameters too.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::io::Read;

use serde::Deserialize;

use super::shallow::Shallow;
use crate::error::{Failure, Result};
use crate::trace::{Trace, TraceBuilder};

#[derive(Deserialize)]
struct Snapshot {
    #[serde(default)]
    device_traces: Vec<Vec<Entry>>,
    segments: Option<Vec<Segment>>,
    #[serde(default)]
    allocator_settings: HashMap<String, Setting>,
}

#[derive(Deserialize)]
struct Entry {
    action: Action,
    #[serde(default)]
    addr: u64,
    #[serde(default)]
    size: u64,
    #[serde(default)]
    stream: u64,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(from = "String")]
enum Action {
    Alloc,
    FreeRequested,
    /// The driver returns a segment or a part of one.
    Grow,
    /// A segment or a part of one is returned to the driver.
    Shrink,
    /// Completed frees, failures, marks.
    Other,
}

impl From<String> for Action {
    fn from(name: String) -> Action {
        match name.as_str() {
            "alloc" => Action::Alloc,
            "free_requested" => Action::FreeRequested,
            "segment_alloc" | "segment_map" => Action::Grow,
            "segment_free" | "segment_unmap" => Action::Shrink,
            _ => Action::Other,
        }
    }
}

#[derive(Deserialize)]
struct Segment {
    #[serde(default)]
    device: usize,
    #[serde(default)]
    address: u64,
    #[serde(default)]
    total_size: u64,
    #[serde(default)]
    stream: u64,
    #[serde(default)]
    blocks: Vec<Block>,
}

#[derive(Deserialize)]
struct Block {
    address: Option<u64>,
    size: u64,
    requested_size: Option<u64>,
    state: String,
}

/// A visitor that keeps texts only.
#[derive(Deserialize)]
#[serde(untagged)]
enum Setting {
    Text(String),
    Other(serde::de::IgnoredAny),
}

pub(super) fn from_pickle<R: Read>(source: R, device: Option<usize>) -> Result<Trace> {
    // The crate takes an object for recursive if it occurs again inside another shared one, as
    // frames do in shared stacks. Nothing that is read here stands in such a place.
    let options = serde_pickle::DeOptions::new().replace_recursive_structures();
    let snapshot = serde_pickle::from_reader(Shallow::new(source), options);
    trace(snapshot.map_err(unreadable)?, device)
}

pub(super) fn from_json<R: Read>(source: R, device: Option<usize>) -> Result<Trace> {
    trace(serde_json::from_reader(source).map_err(unreadable)?, device)
}

fn unreadable(error: impl std::fmt::Display) -> Failure {
    Failure::new(format!("it is no memory snapshot of torch's: {error}"))
}

fn trace(snapshot: Snapshot, device: Option<usize>) -> Result<Trace> {
    let busiest = (0..snapshot.device_traces.len())
        .max_by_key(|&device| (snapshot.device_traces[device].len(), usize::MAX - device));
    let device = device.or(busiest).unwrap_or(0);
    let history = snapshot.device_traces.get(device).map_or(&[][..], Vec::as_slice);
    if history.is_empty() {
        return Err(Failure::new(format!(
            "the snapshot holds no history of device {device}; turn it on with \
             torch.cuda.memory._record_memory_history() before the part of the program to record"
        )));
    }
    let segments: Option<Vec<&Segment>> = snapshot
        .segments
        .as_ref()
        .map(|all| all.iter().filter(|segment| segment.device == device).collect());

    let mut builder = TraceBuilder::default();
    let mut streams = Streams::default();
    let before = alive_before(history, segments.as_deref().unwrap_or(&[]));
    builder.notes().alive_before = before.len();
    for (address, block) in before {
        builder.alloc(address, block.bytes, streams.number(block.stream))?;
    }
    for (number, entry) in (1..).zip(history) {
        match entry.action {
            Action::Alloc => builder
                .alloc(entry.addr, entry.size, streams.number(entry.stream))
                .map_err(|failure| failure.context(format_args!("history entry {number}")))?,
            Action::FreeRequested => {
                let known = builder.free(entry.addr);
                builder.notes().skipped_frees += usize::from(!known);
            }
            _ => {}
        }
    }
    let recorded = &mut builder.notes().recorded;
    recorded.peak_reserved = segments.and_then(|segments| peak_reserved(history, &segments));
    recorded.conf = ["PYTORCH_ALLOC_CONF", "PYTORCH_CUDA_ALLOC_CONF"].iter().find_map(|name| {
        match snapshot.allocator_settings.get(*name) {
            Some(Setting::Text(text)) => Some(text.clone()),
            Some(Setting::Other(_)) | None => None,
        }
    });
    builder.finish()
}

/// The trace's numbers for the driver's stream handles, in the order of their first use.
#[derive(Default)]
struct Streams(HashMap<u64, u64>);

impl Streams {
    fn number(&mut self, handle: u64) -> u64 {
        let next = self.0.len() as u64 + 1;
        if handle == 0 { 0 } else { *self.0.entry(handle).or_insert(next) }
    }
}

struct Before {
    bytes: u64,
    stream: u64,
}

/// The blocks that existed when the history began, by address.
fn alive_before(history: &[Entry], segments: &[&Segment]) -> BTreeMap<u64, Before> {
    let mut before = BTreeMap::new();
    let (mut seen, mut live) = (HashSet::new(), HashSet::new());
    for entry in history {
        match entry.action {
            Action::Alloc => {
                seen.insert(entry.addr);
                live.insert(entry.addr);
            }
            Action::FreeRequested => {
                let known = live.remove(&entry.addr);
                if !known && seen.insert(entry.addr) {
                    before.insert(entry.addr, Before { bytes: entry.size, stream: entry.stream });
                }
            }
            _ => {}
        }
    }
    for segment in segments {
        // Older snapshots leave the addresses to be added up: blocks tile their segment.
        let mut next = segment.address;
        for block in &segment.blocks {
            let address = block.address.unwrap_or(next);
            next = address.wrapping_add(block.size);
            if block.state == "active_allocated" && seen.insert(address) {
                let bytes = block.requested_size.unwrap_or(block.size);
                before.insert(address, Before { bytes, stream: segment.stream });
            }
        }
    }
    before
}

/// The peak of bytes held from the driver, counted back from the segments at the end; `None` if the
/// segments contradict the history.
fn peak_reserved(history: &[Entry], segments: &[&Segment]) -> Option<u64> {
    let change = |entry: &Entry| {
        let bytes = i64::try_from(entry.size).unwrap_or(i64::MAX);
        match entry.action {
            Action::Grow => bytes,
            Action::Shrink => -bytes,
            _ => 0,
        }
    };
    let at_end: u64 = segments.iter().map(|segment| segment.total_size).sum();
    let mut now = history
        .iter()
        .try_fold(i64::try_from(at_end).ok()?, |sum, entry| sum.checked_sub(change(entry)))?;
    let mut peak = now;
    for entry in history {
        if now < 0 {
            return None;
        }
        now = now.checked_add(change(entry))?;
        peak = peak.max(now);
    }
    u64::try_from(peak).ok()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::trace::Kind;

    fn entry(action: &str, addr: u64, size: u64, stream: u64) -> Value {
        // With fields that newer versions add; they are ignored.
        json!({"action": action, "addr": addr, "size": size, "stream": stream, "time_us": 17,
               "frames": [{"name": "f", "filename": "x.py", "line": 3}], "user_metadata": ""})
    }

    fn snapshot() -> Value {
        json!({
            "segments": [
                {"device": 0, "address": 1000, "total_size": 2097152, "stream": 0, "blocks": [
                    {"address": 1000, "size": 512, "requested_size": 300,
                     "state": "active_allocated", "frames": []},
                    {"address": 1512, "size": 512, "requested_size": 0, "state": "inactive"}]},
                {"device": 1, "address": 9000, "total_size": 77, "stream": 0, "blocks": [
                    {"address": 9000, "size": 512, "state": "active_allocated"}]},
            ],
            "device_traces": [[
                entry("free_requested", 4000, 40, 0xabc),
                entry("free_completed", 4000, 40, 0xabc),
                entry("segment_alloc", 8000, 20971520, 0xdef),
                entry("alloc", 8000, 5000, 0xdef),
                entry("alloc", 4000, 50, 0xabc),
                entry("free_requested", 8000, 5000, 0xdef),
                entry("free_requested", 8000, 5000, 0xdef),
                entry("segment_free", 8000, 20971520, 0xdef),
                {"action": "oom", "device_free": 5, "size": 1_u64 << 40, "stream": 0},
                entry("free_requested", 4000, 50, 0xabc),
            ], []],
            "allocator_settings": {"PYTORCH_CUDA_ALLOC_CONF": "max_split_size_mb:64",
                                   "max_split_size": 67108864,
                                   "roundup_power2_divisions": {"1": 0}},
        })
    }

    /// The bytes that Python's pickler would write, as far as the reader can distinguish.
    fn pickle(value: &Value) -> Vec<u8> {
        serde_pickle::to_vec(value, serde_pickle::SerOptions::new()).unwrap()
    }

    fn check(trace: &Trace) {
        assert_eq!((trace.alive_before, trace.skipped_frees), (2, 1));
        let events: Vec<(Kind, u64, u16)> =
            trace.events.iter().map(|event| (event.kind, event.bytes, event.stream)).collect();
        let expected = [
            (Kind::Alloc, 300, 0), // The block at 1000, which is there at the end.
            (Kind::Alloc, 40, 1),  // The block at 4000, which is freed first.
            (Kind::Free, 40, 1),
            (Kind::Alloc, 5000, 2),
            (Kind::Alloc, 50, 1),
            (Kind::Free, 5000, 2),
            (Kind::Free, 50, 1),
        ];
        assert_eq!(events, expected);
        assert_eq!(trace.peak_requested, 5350);
        assert_eq!(trace.recorded.peak_reserved, Some((2 << 20) + (20 << 20)));
        assert_eq!(trace.recorded.conf.as_deref(), Some("max_split_size_mb:64"));
    }

    #[test]
    fn json_and_pickle_give_the_same_trace() {
        check(&from_json(snapshot().to_string().as_bytes(), None).unwrap());
        check(&from_pickle(&pickle(&snapshot())[..], None).unwrap());
        check(&from_pickle(&pickle(&snapshot())[..], Some(0)).unwrap());
    }

    /// The bytes that Python wrote with `pickle.dumps(…, protocol=4)`: strings and stacks of calls
    /// are shared by the memo, pairs are tuples.
    #[test]
    fn a_pickle_of_protocol_4_with_shared_strings_is_read() {
        let bytes: &[u8] = include_bytes!("protocol4.pickle");
        let trace = from_pickle(bytes, None).unwrap();
        assert_eq!(trace.events.len(), 2);
        assert_eq!(trace.recorded.peak_reserved, Some(2 << 20));
    }

    #[test]
    fn what_holds_no_history_says_how_to_record_one() {
        for text in [r#"{"segments": []}"#, r#"{"device_traces": [[]]}"#, "{}"] {
            let words = from_json(text.as_bytes(), None).unwrap_err().to_string();
            assert!(words.contains("_record_memory_history"), "{words}");
        }
        let words = from_json(snapshot().to_string().as_bytes(), Some(7)).unwrap_err().to_string();
        assert!(words.contains("no history of device 7"), "{words}");
    }

    #[test]
    fn snapshots_that_are_nested_too_deeply_are_errors() {
        let deep = [vec![0x80, 4], vec![b'('; 1 << 20], vec![b'l'; 1 << 20], vec![b'.']].concat();
        let words = from_pickle(&deep[..], None).unwrap_err().to_string();
        assert!(words.contains("contain each other more than 100 times"), "{words}");
        let deep = "[".repeat(1 << 20);
        assert!(from_json(deep.as_bytes(), None).is_err());
    }

    #[test]
    fn broken_snapshots_are_errors() {
        let text = snapshot().to_string();
        assert!(from_json(&text.as_bytes()[..text.len() / 2], None).is_err());
        let bytes = pickle(&snapshot());
        assert!(from_pickle(&bytes[..bytes.len() / 2], None).is_err());
        let twice = json!({"device_traces": [[entry("alloc", 5, 1, 0), entry("alloc", 5, 1, 0)]]});
        let words = from_json(twice.to_string().as_bytes(), None).unwrap_err().to_string();
        assert!(words.starts_with("history entry 2: allocation 5 exists already"), "{words}");
    }

    #[test]
    fn a_segment_list_that_does_not_fit_gives_no_peak() {
        let odd = json!({"segments": [], "device_traces": [[
            entry("segment_alloc", 1, 100, 0), entry("alloc", 1, 10, 0)]]});
        let trace = from_json(odd.to_string().as_bytes(), None).unwrap();
        assert_eq!(trace.recorded.peak_reserved, None);
        assert_eq!(trace.peak_requested, 10);
    }
}
