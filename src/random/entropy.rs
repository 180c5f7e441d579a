//! Seeds that nobody can foresee.

use std::fs::File;
use std::io::Read;

use crate::error::{Error, Result, Status};

/// torch keeps such seeds to what a double holds exactly.
const SEED_MASK: u64 = (1 << 53) - 1;

/// A seed from the operating system.
pub(super) fn seed() -> Result<u64> {
    let mut bytes = [0; 8];
    File::open("/dev/urandom").and_then(|mut file| file.read_exact(&mut bytes)).map_err(|why| {
        Error::new(
            Status::Io,
            format!(
                "no seed from /dev/urandom ({why}); give one with sconce_generator_set_seed or \
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
