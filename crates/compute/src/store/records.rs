//! The file of a file store: records of a key and a value, in PyTorch's format.

use std::collections::HashMap;

use super::limits::{MOST_KEY_BYTES, MOST_VALUE_BYTES};

/// A key that begins with this deletes the key that follows.
const DELETION: &[u8] = b"-";

/// What a file holds, read up to a place.
#[derive(Default)]
pub(super) struct Replay {
    pub(super) values: HashMap<Vec<u8>, Vec<u8>>,
    /// How many bytes of the file have been read.
    pub(super) read: u64,
}

impl Replay {
    /// Reads the records that stand behind those read before. An error names what is wrong with the file.
    pub(super) fn extend(&mut self, bytes: &[u8]) -> Result<(), String> {
        let mut at = 0;
        while at < bytes.len() {
            let start = self.read;
            let mut next = at;
            let mut part = |most: usize, what: &str| {
                let broken = |why: String| format!("the record at byte {start}: {why}");
                let head = bytes.get(next..next + 4).ok_or_else(|| {
                    broken(format!("the file ends within the length of the {what}"))
                })?;
                let length = u32::from_le_bytes([head[0], head[1], head[2], head[3]]) as usize;
                if length > most {
                    return Err(broken(format!(
                        "its {what} has {length} bytes; at most {most} are possible"
                    )));
                }
                let part = bytes.get(next + 4..next + 4 + length).ok_or_else(|| {
                    broken(format!("its {what} has {length} bytes, but the file ends before"))
                })?;
                next += 4 + length;
                Ok(part)
            };
            let key = part(MOST_KEY_BYTES + 1, "key")?;
            let value = part(MOST_VALUE_BYTES, "value")?;
            match key.strip_prefix(DELETION) {
                Some(deleted) => drop(self.values.remove(deleted)),
                None => drop(self.values.insert(key.to_vec(), value.to_vec())),
            }
            self.read += (next - at) as u64;
            at = next;
        }
        Ok(())
    }
}

/// A record that sets a key.
pub(super) fn record(key: &[u8], value: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(8 + key.len() + value.len());
    for part in [key, value] {
        out.extend((part.len() as u32).to_le_bytes());
        out.extend(part);
    }
    out
}

/// A record that deletes a key.
pub(super) fn deletion(key: &[u8]) -> Vec<u8> {
    record(&[DELETION, key].concat(), b"")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn later_records_replace_and_delete() {
        let mut replay = Replay::default();
        let first = [record(b"/a", b"1"), record(b"/b", b"2")].concat();
        replay.extend(&first).unwrap();
        replay.extend(&[record(b"/a", b"3"), deletion(b"/b")].concat()).unwrap();
        assert_eq!(replay.values, HashMap::from([(b"/a".to_vec(), b"3".to_vec())]));
        assert_eq!(replay.read, (first.len() + 11 + 11) as u64);
    }

    #[test]
    fn a_file_that_is_cut_or_lies_is_named() {
        let whole = record(b"/key", b"value");
        for cut in 1..whole.len() {
            let why = Replay::default().extend(&whole[..cut]).unwrap_err();
            assert!(why.contains("the record at byte 0"), "{why}");
        }
        let mut lying = record(b"/a", b"");
        lying.extend(u32::MAX.to_le_bytes());
        let why = Replay::default().extend(&lying).unwrap_err();
        assert!(why.contains("at byte 10") && why.contains("4294967295"), "{why}");
    }
}
