//! SHA-256: names and checksums that do not show what they were made from.
#![forbid(unsafe_code)]

use sha2::{Digest as _, Sha256};

/// The digest of `data`.
pub fn digest(data: &[u8]) -> [u8; 32] {
    Sha256::digest(data).into()
}

/// The digest of `data` in hexadecimal.
pub fn hex(data: &[u8]) -> String {
    use std::fmt::Write as _;
    digest(data).iter().fold(String::with_capacity(64), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_answers() {
        let known = [
            ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
            ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
        ];
        for (data, digest) in known {
            assert_eq!(hex(data.as_bytes()), digest);
        }
    }
}
