//! Unpredictable seeds.

use sconce_base::entropy::random_bytes;
use sconce_base::error::{Error, Result};

/// The bits of a seed: as in torch, those that a double represents exactly.
const SEED_MASK: u64 = (1 << 53) - 1;

/// A seed from the operating system.
pub(super) fn seed() -> Result<u64> {
    let bytes = random_bytes::<8>().map_err(|error| {
        let words = error.message();
        Error::new(
            error.status(),
            format!(
                "no seed: {words}; set one with sconce_generator_set_seed or \
                 sconce_random_manual_seed"
            ),
        )
    })?;
    Ok(u64::from_le_bytes(bytes) & SEED_MASK)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seeds_differ_and_fit_a_double() {
        let seeds: Vec<u64> = (0..64).map(|_| seed().unwrap()).collect();
        assert!(seeds.iter().all(|seed| *seed <= SEED_MASK));
        assert!(seeds.iter().any(|seed| *seed > u64::from(u32::MAX)));
        for (i, seed) in seeds.iter().enumerate() {
            assert!(!seeds[..i].contains(seed));
        }
    }
}
