//! SHA-256 (FIPS 180-4): names and checksums that do not show what they were made from.
//!
//! Its users hash 64 bytes at a time and rarely, so the constants are calculated at each call.
#![forbid(unsafe_code)]

/// The first 32 fractional bits of the roots of the first `N` primes.
fn root_bits<const N: usize>(root: fn(f64) -> f64) -> [u32; N] {
    let mut primes = (2_u32..).filter(|n| (2..*n).all(|d| !n.is_multiple_of(d)));
    std::array::from_fn(|_| {
        let prime = primes.next().unwrap_or_default();
        (root(f64::from(prime)).fract() * 4_294_967_296.0) as u32
    })
}

/// The digest of `data`.
pub fn digest(data: &[u8]) -> [u8; 32] {
    let constants = root_bits(f64::cbrt);
    let mut state: [u32; 8] = root_bits(f64::sqrt);
    let whole = data.chunks_exact(64);
    let mut end = whole.remainder().to_vec();
    end.push(0x80);
    while end.len() % 64 != 56 {
        end.push(0);
    }
    end.extend((data.len() as u64 * 8).to_be_bytes());
    for block in whole.chain(end.chunks_exact(64)) {
        compress(&mut state, block, &constants);
    }
    let mut digest = [0; 32];
    for (bytes, word) in digest.chunks_exact_mut(4).zip(state) {
        bytes.copy_from_slice(&word.to_be_bytes());
    }
    digest
}

/// The digest of `data` in hexadecimal.
pub fn hex(data: &[u8]) -> String {
    use std::fmt::Write as _;
    digest(data).iter().fold(String::with_capacity(64), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

fn compress(state: &mut [u32; 8], block: &[u8], constants: &[u32; 64]) {
    let mut schedule = [0_u32; 64];
    for (word, bytes) in schedule.iter_mut().zip(block.chunks_exact(4)) {
        *word = u32::from_be_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
    }
    for i in 16..64 {
        let (a, b) = (schedule[i - 15], schedule[i - 2]);
        let near = a.rotate_right(7) ^ a.rotate_right(18) ^ (a >> 3);
        let far = b.rotate_right(17) ^ b.rotate_right(19) ^ (b >> 10);
        schedule[i] =
            schedule[i - 16].wrapping_add(near).wrapping_add(schedule[i - 7]).wrapping_add(far);
    }
    let [mut a, mut b, mut c, mut d, mut e, mut f, mut g, mut h] = *state;
    for (word, constant) in schedule.iter().zip(constants) {
        let choice = (e & f) ^ (!e & g);
        let first = h
            .wrapping_add(e.rotate_right(6) ^ e.rotate_right(11) ^ e.rotate_right(25))
            .wrapping_add(choice)
            .wrapping_add(*constant)
            .wrapping_add(*word);
        let majority = (a & b) ^ (a & c) ^ (b & c);
        let second =
            (a.rotate_right(2) ^ a.rotate_right(13) ^ a.rotate_right(22)).wrapping_add(majority);
        (h, g, f, e, d, c, b, a) =
            (g, f, e, d.wrapping_add(first), c, b, a, first.wrapping_add(second));
    }
    for (word, add) in state.iter_mut().zip([a, b, c, d, e, f, g, h]) {
        *word = word.wrapping_add(add);
    }
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
