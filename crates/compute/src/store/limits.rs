//! The limits of keys, values and requests, and their checks; what counters hold.

use sconce_base::error::{Error, Result};

/// The longest key, with its prefixes, as in PyTorch's server.
pub(crate) const MOST_KEY_BYTES: usize = 8 << 10;
/// The longest value, as in PyTorch's server.
pub(crate) const MOST_VALUE_BYTES: usize = 8 << 20;
/// The most keys of one request, as in PyTorch's server.
pub(crate) const MOST_KEYS: usize = 128 << 10;
/// The most bytes of one request.
pub(crate) const MOST_REQUEST_BYTES: usize = 20 << 20;
/// The most bytes of one reply.
pub(crate) const MOST_REPLY_BYTES: usize = 32 << 20;
/// The most bytes of all keys and values of a table.
pub(crate) const MOST_TABLE_BYTES: usize = 256 << 20;

/// Refuses a key that a server would refuse.
pub(super) fn check_key(key: &[u8]) -> Result<()> {
    if key.len() <= MOST_KEY_BYTES {
        return Ok(());
    }
    Err(Error::invalid_argument(format!(
        "key has {} bytes with its prefixes; at most {MOST_KEY_BYTES} are possible",
        key.len()
    )))
}

/// Refuses a value that a server would refuse.
pub(super) fn check_value(value: &[u8], name: &str) -> Result<()> {
    if value.len() <= MOST_VALUE_BYTES {
        return Ok(());
    }
    Err(Error::invalid_argument(format!(
        "{name} has {} bytes; a store holds values of at most {MOST_VALUE_BYTES}; split it, or send it by other \
         means",
        value.len()
    )))
}

/// Refuses keys that a server would refuse.
pub(super) fn check_keys(keys: &[Vec<u8>]) -> Result<()> {
    if keys.len() > MOST_KEYS {
        return Err(Error::invalid_argument(format!(
            "keys has {} entries; at most {MOST_KEYS} are possible",
            keys.len()
        )));
    }
    let bytes: usize = keys.iter().map(|key| key.len() + 8).sum();
    if bytes > MOST_REQUEST_BYTES - 64 {
        return Err(Error::invalid_argument(format!(
            "keys has {bytes} bytes; at most {} are possible; ask for fewer keys at once",
            MOST_REQUEST_BYTES - 64
        )));
    }
    keys.iter().try_for_each(|key| check_key(key))
}

/// The text of a key, for messages.
pub(super) fn shown(key: &[u8]) -> String {
    const MOST_SHOWN: usize = 200;
    let cut = key.len().min(MOST_SHOWN);
    let more = if key.len() > cut { "…" } else { "" };
    format!("{}{more}", String::from_utf8_lossy(&key[..cut]).escape_debug())
}

/// The text of some keys, for messages.
pub(super) fn shown_all(keys: &[Vec<u8>]) -> String {
    let mut text: Vec<String> =
        keys.iter().take(4).map(|key| format!("\"{}\"", shown(key))).collect();
    if keys.len() > 4 {
        text.push(format!("and {} more", keys.len() - 4));
    }
    text.join(", ")
}

/// The sum of a counter, which is decimal text, and a number. A missing counter is 0.
pub(super) fn sum_of(counter: Option<&[u8]>, delta: i64) -> std::result::Result<i64, String> {
    let old = match counter {
        None => 0,
        Some(text) => std::str::from_utf8(text)
            .ok()
            .and_then(|text| text.trim().parse::<i64>().ok())
            .ok_or_else(|| format!("whose value \"{}\" is no 64-bit number", shown(text)))?,
    };
    old.checked_add(delta).ok_or_else(|| format!("whose value {old} and {delta} overflow 64 bits"))
}
