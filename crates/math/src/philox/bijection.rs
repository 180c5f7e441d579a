//! Philox 4x32-10 (Salmon, Moraes, Dror, Shaw: Parallel random numbers: as easy as 1, 2, 3; 2011).

const ROUNDS: u32 = 10;
const MULTIPLIERS: [u32; 2] = [0xd251_1f53, 0xcd9e_8d57];
const KEY_STEPS: [u32; 2] = [0x9e37_79b9, 0xbb67_ae85];

/// The four words that belong to a key and a counter of two 64-bit halves: how many blocks into
/// the sequence, and which sequence.
#[inline]
pub fn philox(key: u64, block: u64, sequence: u64) -> [u32; 4] {
    let mut key = [key as u32, (key >> 32) as u32];
    let mut words = [block as u32, (block >> 32) as u32, sequence as u32, (sequence >> 32) as u32];
    for _ in 0..ROUNDS {
        let even = u64::from(words[0]) * u64::from(MULTIPLIERS[0]);
        let odd = u64::from(words[2]) * u64::from(MULTIPLIERS[1]);
        words = [
            (odd >> 32) as u32 ^ words[1] ^ key[0],
            odd as u32,
            (even >> 32) as u32 ^ words[3] ^ key[1],
            even as u32,
        ];
        key = [key[0].wrapping_add(KEY_STEPS[0]), key[1].wrapping_add(KEY_STEPS[1])];
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_answers_of_the_authors() {
        let vectors = [
            (0, 0, 0, [0x6627_e8d5, 0xe169_c58d, 0xbc57_ac4c, 0x9b00_dbd8]),
            (u64::MAX, u64::MAX, u64::MAX, [0x408f_276d, 0x41c8_3b0e, 0xa20b_c7c6, 0x6d54_51fd]),
            // Digits of pi: counter 243f6a88 85a308d3 13198a2e 03707344, key a4093822 299f31d0.
            (
                0x299f_31d0_a409_3822,
                0x85a3_08d3_243f_6a88,
                0x0370_7344_1319_8a2e,
                [0xd16c_fe09, 0x94fd_cceb, 0x5001_e420, 0x2412_6ea1],
            ),
        ];
        for (key, block, sequence, words) in vectors {
            assert_eq!(philox(key, block, sequence), words, "key {key:#x}");
        }
    }
}
