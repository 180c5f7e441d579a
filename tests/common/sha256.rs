//! SHA-256 (FIPS 180-4), to compare whole results with recorded digests.

#![allow(dead_code, unreachable_pub, reason = "each test uses a part")]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

/// The fractional bits of the roots of the first primes, which are all the constants there are.
fn root_bits(count: usize, root: fn(f64) -> f64) -> Vec<u32> {
    (2_u32..)
        .filter(|n| (2..*n).all(|d| !n.is_multiple_of(d)))
        .take(count)
        .map(|prime| (root(f64::from(prime)).fract() * 4_294_967_296.0) as u32)
        .collect()
}

/// The digest in hexadecimal.
pub fn hex(data: &[u8]) -> String {
    let constants: [u32; 64] = root_bits(64, f64::cbrt).try_into().unwrap();
    let mut state: [u32; 8] = root_bits(8, f64::sqrt).try_into().unwrap();
    let whole = data.chunks_exact(64);
    let rest = whole.remainder();
    let mut end = rest.to_vec();
    end.push(0x80);
    while end.len() % 64 != 56 {
        end.push(0);
    }
    end.extend((data.len() as u64 * 8).to_be_bytes());
    for block in whole.chain(end.chunks_exact(64)) {
        compress(&mut state, block, &constants);
    }
    state.iter().map(|word| format!("{word:08x}")).collect()
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

#[test]
fn known_answers() {
    assert_eq!(hex(b""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    assert_eq!(hex(b"abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}
