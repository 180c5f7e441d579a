//! The protocol of PyTorch's `TCPStore`: requests and their bytes.
//!
//! All numbers are little-endian, as every machine sends them that PyTorch runs on.

/// What the first request of a connection holds.
pub(crate) const VALIDATION: u32 = 0x3C85_F7CE;

/// The answer of a wait whose keys are there.
pub(crate) const STOP_WAITING: u8 = 0;
/// The answer of a cancelled wait.
pub(crate) const WAIT_CANCELED: u8 = 1;
/// The answer of a check that found all keys.
pub(crate) const READY: u8 = 0;
/// The answer of a check that missed a key.
pub(crate) const NOT_READY: u8 = 1;

/// The first bytes of requests.
pub(crate) mod kind {
    pub(crate) const VALIDATE: u8 = 0;
    pub(crate) const SET: u8 = 1;
    pub(crate) const COMPARE_SET: u8 = 2;
    pub(crate) const GET: u8 = 3;
    pub(crate) const ADD: u8 = 4;
    pub(crate) const CHECK: u8 = 5;
    pub(crate) const WAIT: u8 = 6;
    pub(crate) const NUM_KEYS: u8 = 7;
    pub(crate) const DELETE_KEY: u8 = 8;
    pub(crate) const APPEND: u8 = 9;
    pub(crate) const MULTI_GET: u8 = 10;
    pub(crate) const MULTI_SET: u8 = 11;
    pub(crate) const CANCEL_WAIT: u8 = 12;
    pub(crate) const PING: u8 = 13;
    pub(crate) const QUEUE_PUSH: u8 = 14;
    pub(crate) const QUEUE_POP: u8 = 15;
    pub(crate) const QUEUE_LEN: u8 = 16;
}

/// A request with its arguments, which lie in the bytes that were read.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Request<'a> {
    Validate(u32),
    Ping(u32),
    Set { key: &'a [u8], value: &'a [u8] },
    CompareSet { key: &'a [u8], expected: &'a [u8], desired: &'a [u8] },
    Get(&'a [u8]),
    Add { key: &'a [u8], delta: i64 },
    Check(Vec<&'a [u8]>),
    Wait(Vec<&'a [u8]>),
    NumKeys,
    DeleteKey(&'a [u8]),
    Append { key: &'a [u8], value: &'a [u8] },
    MultiGet(Vec<&'a [u8]>),
    MultiSet(Vec<(&'a [u8], &'a [u8])>),
    CancelWait,
    QueuePush { key: &'a [u8], value: &'a [u8] },
    QueuePop(&'a [u8]),
    QueueLen(&'a [u8]),
}

/// Reads a request from its bytes, whose end a frame of the server has found. `None` if they are no request.
pub(crate) fn parse(bytes: &[u8]) -> Option<Request<'_>> {
    let mut reader = Reader { rest: bytes };
    let [kind] = reader.fixed()?;
    Some(match kind {
        kind::VALIDATE => Request::Validate(u32::from_le_bytes(reader.fixed()?)),
        kind::PING => Request::Ping(u32::from_le_bytes(reader.fixed()?)),
        kind::SET => Request::Set { key: reader.bytes()?, value: reader.bytes()? },
        kind::COMPARE_SET => Request::CompareSet {
            key: reader.bytes()?,
            expected: reader.bytes()?,
            desired: reader.bytes()?,
        },
        kind::GET => Request::Get(reader.bytes()?),
        kind::ADD => {
            Request::Add { key: reader.bytes()?, delta: i64::from_le_bytes(reader.fixed()?) }
        }
        kind::CHECK => Request::Check(reader.several(Reader::bytes)?),
        kind::WAIT => Request::Wait(reader.several(Reader::bytes)?),
        kind::NUM_KEYS => Request::NumKeys,
        kind::DELETE_KEY => Request::DeleteKey(reader.bytes()?),
        kind::APPEND => Request::Append { key: reader.bytes()?, value: reader.bytes()? },
        kind::MULTI_GET => Request::MultiGet(reader.several(Reader::bytes)?),
        kind::MULTI_SET => {
            Request::MultiSet(reader.several(|reader| Some((reader.bytes()?, reader.bytes()?)))?)
        }
        kind::CANCEL_WAIT => Request::CancelWait,
        kind::QUEUE_PUSH => Request::QueuePush { key: reader.bytes()?, value: reader.bytes()? },
        kind::QUEUE_POP => Request::QueuePop(reader.bytes()?),
        kind::QUEUE_LEN => Request::QueueLen(reader.bytes()?),
        _ => return None,
    })
}

struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    fn fixed<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (taken, rest) = self.rest.split_first_chunk()?;
        self.rest = rest;
        Some(*taken)
    }

    fn number(&mut self) -> Option<usize> {
        self.fixed().and_then(|number| usize::try_from(u64::from_le_bytes(number)).ok())
    }

    /// A key or a value.
    fn bytes(&mut self) -> Option<&'a [u8]> {
        let length = self.number()?;
        let (taken, rest) = self.rest.split_at_checked(length)?;
        self.rest = rest;
        Some(taken)
    }

    /// A counted list. Its entries have arrived, and each of them has at least 8 bytes, so the memory that the list
    /// takes is bounded by the limit of a request.
    fn several<T>(&mut self, mut one: impl FnMut(&mut Self) -> Option<T>) -> Option<Vec<T>> {
        let count = self.number().filter(|count| *count <= self.rest.len() / 8)?;
        (0..count).map(|_| one(self)).collect()
    }
}

/// Appends a 64-bit length and the bytes.
pub(crate) fn put_bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    out.extend((bytes.len() as u64).to_le_bytes());
    out.extend(bytes);
}

/// A request of a kind and one key.
pub(crate) fn with_key(kind: u8, key: &[u8]) -> Vec<u8> {
    let mut out = vec![kind];
    put_bytes(&mut out, key);
    out
}

/// A request of a kind and a counted list of keys.
pub(crate) fn with_keys(kind: u8, keys: &[Vec<u8>]) -> Vec<u8> {
    let mut out = vec![kind];
    out.extend((keys.len() as u64).to_le_bytes());
    for key in keys {
        put_bytes(&mut out, key);
    }
    out
}

/// A request of a kind and a 32-bit number.
pub(crate) fn with_number(kind: u8, number: u32) -> Vec<u8> {
    let mut out = vec![kind];
    out.extend(number.to_le_bytes());
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_and_numbers_are_read() {
        let mut bytes = with_key(kind::SET, b"/a");
        put_bytes(&mut bytes, b"value");
        assert_eq!(parse(&bytes), Some(Request::Set { key: b"/a", value: b"value" }));
        let keys = [b"x".to_vec(), Vec::new()];
        let bytes = with_keys(kind::WAIT, &keys);
        assert_eq!(parse(&bytes), Some(Request::Wait(vec![b"x", b""])));
        let bytes = with_number(kind::VALIDATE, VALIDATION);
        assert_eq!(parse(&bytes), Some(Request::Validate(VALIDATION)));
        let mut bytes = with_key(kind::ADD, b"n");
        bytes.extend((-3_i64).to_le_bytes());
        assert_eq!(parse(&bytes), Some(Request::Add { key: b"n", delta: -3 }));
    }

    #[test]
    fn bytes_that_are_no_request_are_not_read() {
        for bytes in [&[][..], &[17], &[kind::GET, 2, 0, 0, 0, 0, 0, 0, 0, b'k']] {
            assert_eq!(parse(bytes), None);
        }
        let claimed = [&[kind::CHECK][..], &[255; 8]].concat();
        assert_eq!(parse(&claimed), None);
    }
}
