//! Seeds that nobody can foresee.

use rustix::io::Errno;
use rustix::rand::{GetRandomFlags, getrandom};

use crate::error::{Error, Result, Status};

/// torch keeps such seeds to what a double holds exactly.
const SEED_MASK: u64 = (1 << 53) - 1;

/// A seed from the operating system. Needs no file descriptor.
pub(super) fn seed() -> Result<u64> {
    let mut bytes = [0; 8];
    // The kernel answers so short a request as a whole, unless a signal interrupts the wait for the
    // first entropy after the machine's start.
    loop {
        match getrandom(&mut bytes, GetRandomFlags::empty()) {
            Ok(8) => return Ok(u64::from_le_bytes(bytes) & SEED_MASK),
            Ok(_) | Err(Errno::INTR) => {}
            Err(why) => {
                return Err(Error::new(
                    Status::Io,
                    format!(
                        "no seed from the operating system (getrandom: {why}); give one with \
                         sconce_generator_set_seed or sconce_random_manual_seed"
                    ),
                ));
            }
        }
    }
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
