//! The recorded script of PyTorch 2.11, played on the simulator: the figures, the table, every
//! segment and block of the snapshot and every event of the history must be those of the H200, but
//! for addresses, times and the drivers' handles of streams.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

use std::collections::BTreeMap;

use sconce_runtime::memory::{self, report};
use sconce_runtime::stream;
use testkit::json::Json;

fn golden(name: &str) -> String {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/memory");
    std::fs::read_to_string(path.join(name)).unwrap()
}

/// Allocates and frees as recorded.
fn play() {
    let streams = [
        stream::default(0).unwrap(),
        stream::from_pool(0, 0).unwrap(),
        stream::from_pool(0, 0).unwrap(),
    ];
    let mut blocks: BTreeMap<u64, usize> = BTreeMap::new();
    for call in Json::read(&golden("snapshot_script.json")).items() {
        let number = |place: usize| call[place].number::<u64>();
        match call[0].text() {
            "alloc" => {
                let (bytes, stream) = (call[2].number(), streams[call[3].number::<usize>()]);
                blocks.insert(number(1), memory::alloc_on(bytes, stream).unwrap());
            }
            "free" => memory::free(blocks.remove(&number(1)).unwrap()).unwrap(),
            // Those who recorded it left these out: no segment went, and no peak fell.
            "check" | "record_stream_idle" | "empty_cache" | "reset_peak" => {}
            other => panic!("snapshot_script.json: {other}"),
        }
    }
}

/// Numbers in place of what differs from run to run.
#[derive(Default)]
struct Names {
    /// Address, bytes and number of the segments that are there.
    segments: Vec<(u64, u64, usize)>,
    counted: usize,
    streams: Vec<u64>,
}

impl Names {
    fn stream(&mut self, handle: u64) -> usize {
        let known = self.streams.iter().position(|stream| *stream == handle);
        known.unwrap_or_else(|| {
            self.streams.push(handle);
            self.streams.len() - 1
        })
    }

    /// The segment's number and how far into it the address is.
    fn place(&self, address: u64) -> (usize, u64) {
        let inside =
            |(start, bytes, _): &&(u64, u64, usize)| (*start..start + bytes).contains(&address);
        let (start, _, number) = self.segments.iter().find(inside).unwrap();
        (*number, address - start)
    }

    fn event(&mut self, event: &Json) -> String {
        let (address, bytes) = (event["addr"].number::<u64>(), event["size"].number());
        let action = event["action"].text();
        let stream = self.stream(event["stream"].number());
        if action == "segment_alloc" {
            self.segments.push((address, bytes, self.counted));
            self.counted += 1;
        }
        let (segment, offset) = self.place(address);
        if action == "segment_free" {
            self.segments.retain(|(start, _, _)| *start != address);
        }
        format!("{action} of {bytes} at {segment}+{offset} for stream {stream}")
    }

    fn segment(&mut self, segment: &Json) -> (usize, String) {
        let (number, offset) = self.place(segment["address"].number());
        assert_eq!(offset, 0);
        let stream = self.stream(segment["stream"].number());
        let mut text = format!("segment {number} for stream {stream}");
        for key in ["total_size", "allocated_size", "active_size", "requested_size"] {
            text += &format!(", {key} {}", segment[key].number::<u64>());
        }
        let pool = &segment["segment_pool_id"];
        assert_eq!((pool[0].number::<u64>(), pool[1].number::<u64>()), (0, 0));
        text += &format!(", {} pool", segment["segment_type"].text());
        for block in segment["blocks"].items() {
            let (inside, offset) = self.place(block["address"].number());
            assert_eq!(inside, number);
            let [bytes, requested] =
                ["size", "requested_size"].map(|key| block[key].number::<u64>());
            let state = block["state"].text();
            text += &format!("\n  {offset}: {bytes} for {requested} {state}");
        }
        (number, text)
    }
}

/// Events, then segments in the order they came.
fn story(snapshot: &Json) -> (Vec<String>, Vec<(usize, String)>) {
    let mut names = Names::default();
    let events = snapshot["device_traces"][0].items();
    let events = events.iter().map(|event| names.event(event)).collect();
    let mut segments: Vec<_> =
        snapshot["segments"].items().iter().map(|segment| names.segment(segment)).collect();
    segments.sort();
    (events, segments)
}

#[test]
fn the_recorded_script_gives_the_recorded_reports() {
    let environment = [("SCONCE_BACKEND", "sim")];
    testkit::in_child("the_recorded_script_gives_the_recorded_reports", &environment, || {
        memory::record_history(true, 100_000).unwrap();
        play();
        let snapshot = memory::snapshot().unwrap();
        let ours = Json::read(&report::snapshot_json(&snapshot));
        let theirs = Json::read(&golden("snapshot.json"));
        let ((our_events, our_segments), (events, segments)) = (story(&ours), story(&theirs));
        for (index, (ours, theirs)) in our_events.iter().zip(&events).enumerate() {
            assert_eq!(ours, theirs, "event {index}");
        }
        assert_eq!(our_events.len(), events.len(), "{:?}", our_events.last());
        assert_eq!(our_segments, segments);
        assert_eq!(ours["allocator_settings"], theirs["allocator_settings"]);

        let stats = memory::stats(0).unwrap();
        let figures = report::stats_json(&stats).replace(',', ", ").replace(':', ": ");
        assert_eq!(figures, golden("stats.json"));
        for (name, abbreviated) in [("summary.txt", false), ("summary_abbreviated.txt", true)] {
            let table = report::summary(&stats, 0, abbreviated);
            let differing: Vec<_> = (table.lines().zip(golden(name).lines()))
                .enumerate()
                .filter(|(_, (ours, theirs))| ours != theirs)
                .map(|(line, _)| line)
                .collect();
            assert_eq!(differing, [1], "only the title may differ\n{table}");
        }
    });
}
