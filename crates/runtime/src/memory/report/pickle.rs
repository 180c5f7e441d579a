//! A snapshot as a pickle, protocol 2, for `torch.cuda._memory_viz` and its web viewer.
//!
//! Only opcodes that the viewer's own reader knows. Known words are written once and recalled by
//! number. Lists are appended a thousand items at a time, as Python does: the viewer passes each
//! portion as the arguments of one call, and a browser limits their number.

use super::sink::{Sink, Word};
use super::tree;
use crate::memory::Snapshot;

const PROTO: u8 = 0x80;
const STOP: u8 = b'.';
const MARK: u8 = b'(';
const EMPTY_DICT: u8 = b'}';
const SETITEMS: u8 = b'u';
const EMPTY_LIST: u8 = b']';
const APPENDS: u8 = b'e';
const BININT: u8 = b'J';
const BININT1: u8 = b'K';
const BININT2: u8 = b'M';
const LONG1: u8 = 0x8a;
const BINFLOAT: u8 = b'G';
const NEWTRUE: u8 = 0x88;
const NEWFALSE: u8 = 0x89;
const BINUNICODE: u8 = b'X';
const BINPUT: u8 = b'q';
const BINGET: u8 = b'h';
const TUPLE2: u8 = 0x86;

const VERSION: u8 = 2;
/// Items appended at a time.
const PORTION: usize = 1000;
/// Bytes that one block or event is not likely to exceed.
const BLOCK_BYTES: usize = 48;
const EVENT_BYTES: usize = 56;
const OTHER_BYTES: usize = 4096;

/// The snapshot with torch's keys.
pub(crate) fn snapshot_pickle(snapshot: &Snapshot) -> Vec<u8> {
    let events: usize = snapshot.traces.iter().map(Vec::len).sum();
    let segments = snapshot.segments.len() * 2;
    let bytes =
        (snapshot.blocks.len() + segments) * BLOCK_BYTES + events * EVENT_BYTES + OTHER_BYTES;
    let mut pickle = Pickle { bytes: Vec::with_capacity(bytes), written: [false; 256] };
    pickle.bytes.extend_from_slice(&[PROTO, VERSION]);
    tree::walk(snapshot, &mut pickle);
    pickle.bytes.push(STOP);
    pickle.bytes
}

/// Writes opcodes.
struct Pickle {
    bytes: Vec<u8>,
    /// Which words can be recalled.
    written: [bool; 256],
}

impl Pickle {
    /// An opcode and what belongs to it.
    #[inline]
    fn opcode<const N: usize>(&mut self, opcode: u8, argument: [u8; N]) {
        self.bytes.push(opcode);
        self.bytes.extend_from_slice(&argument);
    }

    /// The low bytes of a number in two's complement, as few as identify it.
    fn long(&mut self, value: i128) {
        let bytes = value.to_le_bytes();
        let sign = if value < 0 { 0xff } else { 0 };
        let mut count = bytes.len();
        while count > 1 && bytes[count - 1] == sign && (bytes[count - 2] ^ sign) & 0x80 == 0 {
            count -= 1;
        }
        self.bytes.extend_from_slice(&[LONG1, count as u8]);
        self.bytes.extend_from_slice(&bytes[..count]);
    }
}

impl Sink for Pickle {
    #[inline]
    fn open_map(&mut self) {
        self.bytes.extend_from_slice(&[EMPTY_DICT, MARK]);
    }

    #[inline]
    fn close_map(&mut self) {
        self.bytes.push(SETITEMS);
    }

    #[inline]
    fn open_list(&mut self) {
        self.bytes.extend_from_slice(&[EMPTY_LIST, MARK]);
    }

    #[inline]
    fn item(&mut self, index: usize) {
        if index != 0 && index.is_multiple_of(PORTION) {
            self.bytes.extend_from_slice(&[APPENDS, MARK]);
        }
    }

    #[inline]
    fn close_list(&mut self) {
        self.bytes.push(APPENDS);
    }

    #[inline]
    fn empty_list(&mut self) {
        self.bytes.push(EMPTY_LIST);
    }

    #[inline]
    fn key(&mut self, key: &Word) {
        self.word(key);
    }

    fn number_key(&mut self, key: u32) {
        self.text(&key.to_string());
    }

    #[inline]
    fn unsigned(&mut self, value: u64) {
        match value {
            0..=0xff => self.opcode(BININT1, [value as u8]),
            0x100..=0xffff => self.opcode(BININT2, (value as u16).to_le_bytes()),
            0x1_0000..=0x7fff_ffff => self.opcode(BININT, (value as u32).to_le_bytes()),
            _ => self.long(i128::from(value)),
        }
    }

    #[inline]
    fn signed(&mut self, value: i64) {
        match u64::try_from(value) {
            Ok(value) => self.unsigned(value),
            Err(_) => self.long(i128::from(value)),
        }
    }

    fn float(&mut self, value: f64) {
        self.opcode(BINFLOAT, value.to_be_bytes());
    }

    #[inline]
    fn boolean(&mut self, value: bool) {
        self.bytes.push(if value { NEWTRUE } else { NEWFALSE });
    }

    #[inline]
    fn word(&mut self, value: &Word) {
        if self.written[usize::from(value.number)] {
            self.bytes.extend_from_slice(&[BINGET, value.number]);
        } else {
            self.text(value.plain);
            self.bytes.extend_from_slice(&[BINPUT, value.number]);
            self.written[usize::from(value.number)] = true;
        }
    }

    fn text(&mut self, value: &str) {
        // Texts are words and the configuration; 4 GiB are not among them.
        self.opcode(BINUNICODE, (value.len() as u32).to_le_bytes());
        self.bytes.extend_from_slice(value.as_bytes());
    }

    #[inline]
    fn pair(&mut self, value: (u64, u64)) {
        self.unsigned(value.0);
        self.unsigned(value.1);
        self.bytes.push(TUPLE2);
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;
    use std::process::{Command, Stdio};

    use super::*;
    use crate::memory::report::golden;
    use crate::memory::report::snapshot_json;

    /// Reads the pickle with Python and compares it with the JSON; then every opcode with the list
    /// of those that the viewer's reader knows.
    const COMPARE: &str = r#"
import json, pickle, pickletools, struct, sys
data = sys.stdin.buffer.read()
size = struct.unpack("<Q", data[:8])[0]
text, data = data[8:8 + size], data[8 + size:]
known = set("""PROTO STOP MARK EMPTY_DICT SETITEMS EMPTY_LIST APPENDS BININT BININT1 BININT2 LONG1
    BINFLOAT NEWTRUE NEWFALSE BINUNICODE BINPUT BINGET TUPLE2""".split())
for opcode, _, _ in pickletools.genops(data):
    assert opcode.name in known, opcode.name
def plain(value, pairs):
    if isinstance(value, dict):
        return {key: plain(inner, pairs) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        pairs.append(value) if isinstance(value, tuple) else None
        return [plain(inner, pairs) for inner in value]
    return value
def typed(value):
    if isinstance(value, dict):
        return [(key, typed(inner)) for key, inner in value.items()]
    return [typed(inner) for inner in value] if isinstance(value, list) else (type(value), value)
pairs = []
read = plain(pickle.loads(data), pairs)
assert typed(read) == typed(json.loads(text)), "the forms differ"
events = [event for trace in read["device_traces"] for event in trace]
assert len(pairs) == len(read["segments"]) + sum("pool_id" in event for event in events)
print("same")
"#;

    fn compare(snapshot: &Snapshot) {
        let started = Command::new("python3")
            .args(["-c", COMPARE])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn();
        let Ok(mut python) = started else {
            println!("skipped: there is no python3 to read the pickle with");
            return;
        };
        let (text, pickle) = (snapshot_json(snapshot), snapshot_pickle(snapshot));
        let mut input = python.stdin.take().unwrap();
        input.write_all(&(text.len() as u64).to_le_bytes()).unwrap();
        input.write_all(text.as_bytes()).unwrap();
        input.write_all(&pickle).unwrap();
        drop(input);
        let output = python.wait_with_output().unwrap();
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{errors}");
        assert!(String::from_utf8_lossy(&output.stdout).starts_with("same"), "{errors}");
    }

    #[test]
    fn python_reads_what_the_json_says() {
        compare(&golden::snapshot());
        compare(&golden::everything());
        let mut empty = golden::everything();
        empty.segments.clear();
        empty.traces.clear();
        compare(&empty);
    }

    #[test]
    fn numbers_take_as_few_bytes_as_tell_them_apart() {
        let written = |value: i64| {
            let mut pickle = Pickle { bytes: Vec::new(), written: [false; 256] };
            pickle.signed(value);
            pickle.bytes
        };
        assert_eq!(written(0), [BININT1, 0]);
        assert_eq!(written(255), [BININT1, 255]);
        assert_eq!(written(256), [BININT2, 0, 1]);
        assert_eq!(written(65_536), [BININT, 0, 0, 1, 0]);
        assert_eq!(written(1 << 31), [LONG1, 5, 0, 0, 0, 128, 0]);
        assert_eq!(written(-1), [LONG1, 1, 255]);
        assert_eq!(written(-128), [LONG1, 1, 128]);
        assert_eq!(written(-129), [LONG1, 2, 127, 255]);
        assert_eq!(written(i64::MIN), [LONG1, 8, 0, 0, 0, 0, 0, 0, 0, 128]);
    }

    #[test]
    fn long_lists_are_appended_in_portions() {
        let mut snapshot = golden::everything();
        let count = |snapshot: &Snapshot| {
            let pickle = snapshot_pickle(snapshot);
            pickle.windows(2).filter(|pair| *pair == [APPENDS, MARK]).count()
        };
        snapshot.segments.truncate(1);
        for (blocks, portions) in [(999, 0), (1000, 0), (1001, 1), (2000, 1), (2493, 2)] {
            // Free blocks of no bytes, so that no number looks like an opcode.
            snapshot.blocks.iter_mut().for_each(|block| {
                (block.address, block.bytes, block.requested_bytes) = (0, 0, 0);
            });
            snapshot.segments[0].blocks = 0..blocks;
            assert_eq!(count(&snapshot), portions, "{blocks} blocks");
        }
    }
}
