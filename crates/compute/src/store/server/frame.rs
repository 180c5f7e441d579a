//! Where a request ends, found out while its bytes arrive. However small the pieces are in which they arrive, each part
//! of the request is looked at once.

use super::super::limits::{MOST_KEY_BYTES, MOST_KEYS, MOST_REQUEST_BYTES, MOST_VALUE_BYTES};
use super::super::request::kind;
use super::refusal::Refusal;

/// A part of a request.
#[derive(Clone, Copy)]
enum Field {
    /// So many bytes.
    Fixed(usize),
    /// A 64-bit length, and so many bytes.
    Key,
    Value,
    /// A 64-bit count, and so many entries of these parts. It is the last part of its request.
    List(&'static [Field]),
}

/// What follows the first byte of a request.
fn fields_of(kind: u8) -> Option<&'static [Field]> {
    use Field::{Fixed, Key, List, Value};
    Some(match kind {
        kind::VALIDATE | kind::PING => &[Fixed(4)],
        kind::SET | kind::APPEND | kind::QUEUE_PUSH => &[Key, Value],
        kind::COMPARE_SET => &[Key, Value, Value],
        kind::GET | kind::DELETE_KEY | kind::QUEUE_POP | kind::QUEUE_LEN => &[Key],
        kind::ADD => &[Key, Fixed(8)],
        kind::CHECK | kind::WAIT | kind::MULTI_GET => &[List(&[Key])],
        kind::MULTI_SET => &[List(&[Key, Value])],
        kind::NUM_KEYS | kind::CANCEL_WAIT => &[],
        _ => return None,
    })
}

/// How much of a request has been looked at.
#[derive(Default)]
pub(super) struct Frame {
    /// The bytes of the parts that are complete.
    at: usize,
    /// The request has at least so many bytes.
    needed: usize,
    /// The parts of the request, or of an entry of its list, and how many of them are complete.
    fields: &'static [Field],
    complete: usize,
    /// The entries that are not complete; 1 before a list begins.
    entries: usize,
}

impl Frame {
    /// Continues with all bytes of the request that have arrived, those of earlier calls included. Returns the number
    /// of the request's bytes once all of them are there. An error says what is wrong with the peer.
    pub(super) fn advance(&mut self, bytes: &[u8]) -> Result<Option<usize>, Refusal> {
        if bytes.len() < self.needed.max(1) {
            return Ok(None);
        }
        if self.at == 0 {
            self.fields = fields_of(bytes[0]).ok_or_else(|| {
                let why = format!("a request of the unknown kind {}", bytes[0]);
                Refusal::new("an unknown kind of request", why)
            })?;
            (self.at, self.entries) = (1, 1);
        }
        while self.entries > 0 {
            let Some(field) = self.fields.get(self.complete) else {
                (self.complete, self.entries) = (0, self.entries - 1);
                continue;
            };
            if !self.complete(*field, bytes)? {
                return Ok(None);
            }
        }
        Ok(Some(self.at))
    }

    /// Whether the next part is complete, which is noted.
    fn complete(&mut self, field: Field, bytes: &[u8]) -> Result<bool, Refusal> {
        if let Field::Fixed(count) = field {
            return self.ends_at(self.at + count, bytes);
        }
        self.need(self.at + 8)?;
        let Some(number) = bytes[self.at..].first_chunk() else { return Ok(false) };
        let number = u64::from_le_bytes(*number);
        let (most, what) = match field {
            Field::List(_) => (MOST_KEYS, "keys of a request"),
            Field::Value => (MOST_VALUE_BYTES, "bytes of a value"),
            _ => (MOST_KEY_BYTES, "bytes of a key"),
        };
        if number > most as u64 {
            let why = format!("{number} {what}; at most {most} are taken");
            return Err(Refusal::new("a number that is too large", why));
        }
        let number = number as usize;
        let Field::List(entry) = field else {
            return self.ends_at(self.at + 8 + number, bytes);
        };
        self.at += 8;
        // Each part of an entry has at least the 8 bytes of its length.
        self.need(self.at + 8 * entry.len() * number)?;
        (self.fields, self.complete, self.entries) = (entry, 0, number);
        Ok(true)
    }

    /// Whether the next part, which ends here, is complete, which is noted.
    fn ends_at(&mut self, end: usize, bytes: &[u8]) -> Result<bool, Refusal> {
        self.need(end)?;
        let is_complete = bytes.len() >= end;
        if is_complete {
            (self.at, self.complete) = (end, self.complete + 1);
        }
        Ok(is_complete)
    }

    /// Notes that the request has at least so many bytes.
    fn need(&mut self, bytes: usize) -> Result<(), Refusal> {
        self.needed = self.needed.max(bytes);
        if self.needed <= MOST_REQUEST_BYTES {
            return Ok(());
        }
        let why = format!(
            "a request of at least {} bytes; at most {MOST_REQUEST_BYTES} are taken",
            self.needed
        );
        Err(Refusal::new("a request that is too long", why))
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::request::{put_bytes, with_key, with_keys, with_number};
    use super::*;

    fn whole(bytes: &[u8]) -> Result<Option<usize>, Refusal> {
        Frame::default().advance(bytes)
    }

    fn why(bytes: &[u8]) -> String {
        whole(bytes).unwrap_err().why
    }

    fn with_values(kind: u8, key: &[u8], values: &[&[u8]]) -> Vec<u8> {
        let mut out = with_key(kind, key);
        values.iter().for_each(|value| put_bytes(&mut out, value));
        out
    }

    /// A request of each kind.
    fn requests() -> Vec<Vec<u8>> {
        let keys = [b"x".to_vec(), Vec::new(), b"yz".to_vec()];
        let pairs = [&[kind::MULTI_SET][..], &2_u64.to_le_bytes()].concat();
        vec![
            with_number(kind::VALIDATE, 7),
            with_values(kind::SET, b"/a", &[b"value"]),
            with_values(kind::COMPARE_SET, b"/a", &[b"", b"desired"]),
            with_key(kind::GET, b"/b"),
            [with_key(kind::ADD, b"n"), vec![1; 8]].concat(),
            with_keys(kind::CHECK, &keys),
            with_keys(kind::WAIT, &keys),
            vec![kind::NUM_KEYS],
            with_key(kind::DELETE_KEY, b""),
            with_values(kind::APPEND, b"/a", &[b"value"]),
            with_keys(kind::MULTI_GET, &[]),
            [pairs, with_values(3, b"k", &[b"v"])[1..].to_vec(), vec![0; 16]].concat(),
            vec![kind::CANCEL_WAIT],
            with_number(kind::PING, 9),
            with_values(kind::QUEUE_PUSH, b"q", &[b""]),
            with_key(kind::QUEUE_POP, b"q"),
            with_key(kind::QUEUE_LEN, b"q"),
        ]
    }

    #[test]
    fn a_request_ends_where_it_ends_in_whatever_pieces_it_arrives() {
        for (kind, request) in requests().iter().enumerate() {
            assert_eq!(usize::from(request[0]), kind);
            let followed = [&request[..], &[255; 9]].concat();
            assert_eq!(whole(&followed).unwrap(), Some(request.len()), "{kind}");
            for step in 1..=request.len() {
                let mut frame = Frame::default();
                for end in (0..request.len()).step_by(step) {
                    assert_eq!(frame.advance(&request[..end]).unwrap(), None, "{kind}, {end}");
                }
                assert_eq!(frame.advance(&followed).unwrap(), Some(request.len()), "{kind}");
            }
        }
    }

    #[test]
    fn lengths_beyond_the_limits_are_refused_before_their_bytes_arrive() {
        for (kind, length) in [
            (kind::GET, MOST_KEY_BYTES as u64 + 1),
            (kind::SET, u64::MAX),
            (kind::WAIT, MOST_KEYS as u64 + 1),
            (kind::MULTI_SET, 1 << 63),
        ] {
            let claimed = [&[kind][..], &length.to_le_bytes()].concat();
            assert!(why(&claimed).contains(&length.to_string()), "{}", why(&claimed));
        }
        let mut bytes = with_key(kind::SET, b"k");
        bytes.extend((MOST_VALUE_BYTES as u64 + 1).to_le_bytes());
        assert!(why(&bytes).contains("bytes of a value"));
        assert!(why(&[17]).contains("unknown kind 17"));
    }

    #[test]
    fn a_request_of_many_large_values_is_refused() {
        let mut bytes = vec![kind::MULTI_SET];
        bytes.extend(3_u64.to_le_bytes());
        let value = vec![0; MOST_VALUE_BYTES];
        for _ in 0..3 {
            put_bytes(&mut bytes, b"k");
            put_bytes(&mut bytes, &value);
        }
        // What has arrived when the limit is passed is less than the request.
        assert!(why(&bytes[..MOST_REQUEST_BYTES]).contains("a request of at least"));
    }
}
