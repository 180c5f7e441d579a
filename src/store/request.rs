//! The protocol of PyTorch's `TCPStore`: requests, read from bytes that arrive in pieces.
//!
//! All numbers are little-endian, as every machine sends them that PyTorch runs on.

use super::limits::{MOST_KEY_BYTES, MOST_KEYS, MOST_REQUEST_BYTES, MOST_VALUE_BYTES};

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

/// What the bytes of a connection begin with.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Parsed<'a> {
    /// A request, and how many bytes it has.
    Whole(Request<'a>, usize),
    /// The beginning of a request that has at least so many bytes.
    Part(usize),
}

/// Reads one request from the beginning of `bytes`. An error says what is wrong with the peer.
pub(crate) fn parse(bytes: &[u8]) -> Result<Parsed<'_>, String> {
    let mut reader = Reader { bytes, at: 0 };
    match reader.request() {
        Ok(request) => Ok(Parsed::Whole(request, reader.at)),
        Err(Stop::Short(needed)) if needed <= MOST_REQUEST_BYTES => Ok(Parsed::Part(needed)),
        Err(Stop::Short(needed)) => Err(format!(
            "a request of at least {needed} bytes; at most {MOST_REQUEST_BYTES} are taken"
        )),
        Err(Stop::Wrong(why)) => Err(why),
    }
}

/// Why a request cannot be read.
enum Stop {
    /// So many bytes are needed from the request's beginning.
    Short(usize),
    /// No request begins like this.
    Wrong(String),
}

struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    fn request(&mut self) -> Result<Request<'a>, Stop> {
        Ok(match self.take(1)?[0] {
            kind::VALIDATE => Request::Validate(u32::from_le_bytes(self.fixed()?)),
            kind::PING => Request::Ping(u32::from_le_bytes(self.fixed()?)),
            kind::SET => Request::Set { key: self.key()?, value: self.value()? },
            kind::COMPARE_SET => Request::CompareSet {
                key: self.key()?,
                expected: self.value()?,
                desired: self.value()?,
            },
            kind::GET => Request::Get(self.key()?),
            kind::ADD => {
                Request::Add { key: self.key()?, delta: i64::from_le_bytes(self.fixed()?) }
            }
            kind::CHECK => Request::Check(self.several(Self::key)?),
            kind::WAIT => Request::Wait(self.several(Self::key)?),
            kind::NUM_KEYS => Request::NumKeys,
            kind::DELETE_KEY => Request::DeleteKey(self.key()?),
            kind::APPEND => Request::Append { key: self.key()?, value: self.value()? },
            kind::MULTI_GET => Request::MultiGet(self.several(Self::key)?),
            kind::MULTI_SET => {
                Request::MultiSet(self.several(|reader| Ok((reader.key()?, reader.value()?)))?)
            }
            kind::CANCEL_WAIT => Request::CancelWait,
            kind::QUEUE_PUSH => Request::QueuePush { key: self.key()?, value: self.value()? },
            kind::QUEUE_POP => Request::QueuePop(self.key()?),
            kind::QUEUE_LEN => Request::QueueLen(self.key()?),
            other => return Err(Stop::Wrong(format!("a request of the unknown kind {other}"))),
        })
    }

    fn take(&mut self, count: usize) -> Result<&'a [u8], Stop> {
        let needed = self.at + count;
        let taken = self.bytes.get(self.at..needed).ok_or(Stop::Short(needed))?;
        self.at = needed;
        Ok(taken)
    }

    fn fixed<const N: usize>(&mut self) -> Result<[u8; N], Stop> {
        let taken = self.take(N)?;
        Ok(std::array::from_fn(|index| taken[index]))
    }

    fn number(&mut self, most: usize, what: &str) -> Result<usize, Stop> {
        let number = u64::from_le_bytes(self.fixed()?);
        match usize::try_from(number) {
            Ok(number) if number <= most => Ok(number),
            _ => Err(Stop::Wrong(format!("{number} {what}; at most {most} are taken"))),
        }
    }

    fn key(&mut self) -> Result<&'a [u8], Stop> {
        let length = self.number(MOST_KEY_BYTES, "bytes of a key")?;
        self.take(length)
    }

    fn value(&mut self) -> Result<&'a [u8], Stop> {
        let length = self.number(MOST_VALUE_BYTES, "bytes of a value")?;
        self.take(length)
    }

    /// A counted list. Each entry has at least the 8 bytes of a length, so the memory that it takes
    /// is bounded by the bytes that have arrived.
    fn several<T>(
        &mut self,
        mut one: impl FnMut(&mut Self) -> Result<T, Stop>,
    ) -> Result<Vec<T>, Stop> {
        let count = self.number(MOST_KEYS, "keys of a request")?;
        let least = self.at + 8 * count;
        if self.bytes.len() < least {
            return Err(Stop::Short(least));
        }
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

    fn set(key: &[u8], value: &[u8]) -> Vec<u8> {
        let mut out = with_key(kind::SET, key);
        put_bytes(&mut out, value);
        out
    }

    #[test]
    fn a_request_is_read_once_all_of_it_is_there() {
        let mut bytes = set(b"/a", b"value");
        let whole = bytes.len();
        bytes.extend(with_key(kind::GET, b"/b"));
        let request = Request::Set { key: b"/a", value: b"value" };
        assert_eq!(parse(&bytes), Ok(Parsed::Whole(request, whole)));
        for cut in 0..whole {
            match parse(&bytes[..cut]) {
                Ok(Parsed::Part(needed)) => assert!(needed > cut && needed <= whole, "{cut}"),
                other => panic!("{cut}: {other:?}"),
            }
        }
        assert_eq!(parse(&bytes[whole..]), Ok(Parsed::Whole(Request::Get(b"/b"), 11)));
    }

    #[test]
    fn lists_and_numbers_are_read() {
        let keys = [b"x".to_vec(), Vec::new()];
        let bytes = with_keys(kind::WAIT, &keys);
        assert_eq!(parse(&bytes), Ok(Parsed::Whole(Request::Wait(vec![b"x", b""]), bytes.len())));
        let bytes = with_number(kind::VALIDATE, VALIDATION);
        assert_eq!(parse(&bytes), Ok(Parsed::Whole(Request::Validate(VALIDATION), 5)));
        let mut bytes = with_key(kind::ADD, b"n");
        bytes.extend((-3_i64).to_le_bytes());
        let request = Request::Add { key: b"n", delta: -3 };
        assert_eq!(parse(&bytes), Ok(Parsed::Whole(request, bytes.len())));
    }

    #[test]
    fn lengths_beyond_the_limits_are_refused_before_their_bytes_arrive() {
        let claimed = |kind: u8, length: u64| {
            let mut bytes = vec![kind];
            bytes.extend(length.to_le_bytes());
            bytes
        };
        for (kind, length) in [
            (kind::GET, MOST_KEY_BYTES as u64 + 1),
            (kind::SET, u64::MAX),
            (kind::WAIT, MOST_KEYS as u64 + 1),
            (kind::MULTI_SET, 1 << 63),
        ] {
            let why = parse(&claimed(kind, length)).unwrap_err();
            assert!(why.contains(&length.to_string()), "{why}");
        }
        let mut bytes = with_key(kind::SET, b"k");
        bytes.extend((MOST_VALUE_BYTES as u64 + 1).to_le_bytes());
        assert!(parse(&bytes).unwrap_err().contains("bytes of a value"));
        assert!(parse(&[17]).unwrap_err().contains("unknown kind 17"));
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
        assert!(parse(&bytes[..MOST_REQUEST_BYTES]).unwrap_err().contains("a request of at least"));
    }
}
