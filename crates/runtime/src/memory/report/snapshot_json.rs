//! A snapshot as JSON, without blanks.
//!
//! Every value is followed by a comma, which the end of its map or list takes back: no step asks
//! whether it is the first.

use sconce_base::json_text;

use super::sink::{Sink, Word};
use super::tree;
use crate::memory::Snapshot;

/// Bytes that one block, segment or event is not likely to exceed.
const BLOCK_BYTES: usize = 112;
const SEGMENT_BYTES: usize = 320;
const EVENT_BYTES: usize = 160;
const OTHER_BYTES: usize = 1024;

/// The snapshot with torch's keys.
pub fn snapshot_json(snapshot: &Snapshot) -> String {
    let events: usize = snapshot.traces.iter().map(Vec::len).sum();
    let bytes = snapshot.blocks.len() * BLOCK_BYTES
        + snapshot.segments.len() * SEGMENT_BYTES
        + events * EVENT_BYTES
        + OTHER_BYTES;
    let mut json = Json { text: String::with_capacity(bytes) };
    tree::walk(snapshot, &mut json);
    json.drop_comma();
    json.text
}

/// Writes JSON.
struct Json {
    text: String,
}

impl Json {
    #[inline]
    fn drop_comma(&mut self) {
        if self.text.ends_with(',') {
            self.text.truncate(self.text.len() - 1);
        }
    }

    #[inline]
    fn digits(&mut self, value: impl itoa::Integer) {
        self.text.push_str(itoa::Buffer::new().format(value));
    }
}

impl Sink for Json {
    #[inline]
    fn open_map(&mut self) {
        self.text.push('{');
    }

    #[inline]
    fn close_map(&mut self) {
        self.drop_comma();
        self.text.push_str("},");
    }

    #[inline]
    fn open_list(&mut self) {
        self.text.push('[');
    }

    #[inline]
    fn item(&mut self, _index: usize) {}

    #[inline]
    fn close_list(&mut self) {
        self.drop_comma();
        self.text.push_str("],");
    }

    #[inline]
    fn empty_list(&mut self) {
        self.text.push_str("[],");
    }

    #[inline]
    fn key(&mut self, key: &Word) {
        self.text.push_str(key.key);
    }

    fn number_key(&mut self, key: u32) {
        self.text.push('"');
        self.digits(key);
        self.text.push_str("\":");
    }

    #[inline]
    fn unsigned(&mut self, value: u64) {
        self.digits(value);
        self.text.push(',');
    }

    #[inline]
    fn signed(&mut self, value: i64) {
        self.digits(value);
        self.text.push(',');
    }

    fn float(&mut self, value: f64) {
        // With a point or an exponent always, so that readers make a float of it.
        self.text.push_str(&format!("{value:?},"));
    }

    #[inline]
    fn boolean(&mut self, value: bool) {
        self.text.push_str(if value { "true," } else { "false," });
    }

    #[inline]
    fn word(&mut self, value: &Word) {
        self.text.push_str(value.quoted);
    }

    fn text(&mut self, value: &str) {
        json_text::push(&mut self.text, value);
        self.text.push(',');
    }

    #[inline]
    fn pair(&mut self, value: (u64, u64)) {
        self.text.push('[');
        self.unsigned(value.0);
        self.digits(value.1);
        self.text.push_str("],");
    }
}

#[cfg(test)]
mod tests {
    use testkit_json::Json;

    use super::super::golden;
    use super::*;
    use crate::caching::settings::Settings;

    #[test]
    fn the_recorded_snapshot_is_written_as_torch_wrote_it() {
        assert_eq!(snapshot_json(&golden::snapshot()), golden::compact(golden::SNAPSHOT));
    }

    #[test]
    fn every_value_of_a_full_snapshot_comes_back() {
        let snapshot = golden::everything();
        let read = Json::read(&snapshot_json(&snapshot));
        let segment = &read["segments"][1];
        assert_eq!(segment["blocks"][1]["address"].number::<u64>(), u64::MAX);
        assert_eq!(segment["blocks"][1]["state"].text(), "active_pending_free");
        let numbers = [
            ("device", 1),
            ("address", 1 << 47),
            ("total_size", 1 << 31),
            ("allocated_size", (1 << 32) + 5),
            ("active_size", 127),
            ("requested_size", 128),
            ("stream", 0x7fff_dead_beef),
        ];
        for (key, expected) in numbers {
            assert_eq!(segment[key].number::<u64>(), expected, "{key}");
        }
        assert_eq!(segment["segment_pool_id"], Json::read("[3, 4]"));
        assert_eq!(segment["segment_type"].text(), "small");
        assert_eq!(read["segments"][0]["segment_type"].text(), "large");
        assert_eq!(read["segments"][2]["blocks"], Json::read("[]"));
        let events = &read["device_traces"][1];
        let actions: Vec<&str> = events.items().iter().map(|e| e["action"].text()).collect();
        assert_eq!(actions, golden::ACTIONS.map(|action| action.name()));
        assert_eq!(events[6]["device_free"].number::<u64>(), 7);
        assert_eq!(events[6]["time_us"].number::<i64>(), -1);
        assert!(events[6].get("addr").is_none() && events[6].get("pool_id").is_none());
        assert_eq!(events[1]["pool_id"], Json::read("[9, 0]"));
        assert!(events[1].get("device_free").is_none());
        let settings = &read["allocator_settings"];
        assert_eq!(settings["PYTORCH_CUDA_ALLOC_CONF"].text(), snapshot.settings.text);
        assert_eq!(settings["max_split_size"].number::<usize>(), 21 << 20);
        assert_eq!(settings["garbage_collection_threshold"], Json::Float(0.85));
        assert_eq!(settings["roundup_power2_divisions"]["1"].number::<u32>(), 1);
        assert_eq!(settings["roundup_power2_divisions"]["32768"].number::<u32>(), 16);
        assert_eq!(settings["pinned_num_register_threads"].number::<usize>(), 8);
    }

    type Flag = fn(&mut Settings) -> &mut bool;

    /// One flag set at a time, so that none stands under another's key.
    #[test]
    fn flags_stand_under_their_own_keys() {
        let flags: [(&str, Flag); 4] = [
            ("expandable_segments", |s| &mut s.expandable_segments),
            ("release_lock_on_cudamalloc", |s| &mut s.release_lock_on_cudamalloc),
            ("pinned_use_cuda_host_register", |s| &mut s.pinned.use_cuda_host_register),
            ("graph_capture_record_stream_reuse", |s| &mut s.graph_capture_record_stream_reuse),
        ];
        for (name, flag) in flags {
            let mut snapshot = golden::snapshot();
            *flag(&mut snapshot.settings) = true;
            let read = Json::read(&snapshot_json(&snapshot));
            for (other, _) in flags {
                let expected = Json::Boolean(other == name);
                assert_eq!(read["allocator_settings"][other], expected, "{name}, {other}");
            }
        }
    }

    #[test]
    fn every_device_with_segments_has_a_history() {
        let mut snapshot = golden::everything();
        snapshot.traces.clear();
        let traces =
            |snapshot: &Snapshot| Json::read(&snapshot_json(snapshot))["device_traces"].clone();
        assert_eq!(traces(&snapshot), Json::read("[[], [], [], []]"));
        snapshot.segments.clear();
        assert_eq!(traces(&snapshot), Json::read("[]"));
    }
}
