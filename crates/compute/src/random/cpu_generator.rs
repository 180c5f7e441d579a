//! The state of a generator of the CPU.

use sconce_base::error::{Error, Result};
use sconce_math::mersenne::{STATE_BYTES, Sequence};

/// A sequence that fills take their numbers from. A fill holds the generator's lock until it is done.
#[derive(Clone)]
pub(super) struct CpuGenerator {
    pub(super) is_default: bool,
    pub(super) sequence: Sequence,
}

impl CpuGenerator {
    pub(super) fn new(is_default: bool, seed: u64) -> CpuGenerator {
        CpuGenerator { is_default, sequence: Sequence::new(seed) }
    }

    /// Replaces the state by one in torch's bytes.
    pub(super) fn set_state(&mut self, bytes: &[u8]) -> Result<()> {
        let bytes: &[u8; STATE_BYTES] = bytes.try_into().map_err(|_| {
            Error::invalid_argument(format!(
                "RNG state is wrong size: {} bytes, not the {STATE_BYTES} of a generator of the CPU",
                bytes.len()
            ))
        })?;
        self.sequence = Sequence::from_bytes(bytes)
            .ok_or_else(|| Error::invalid_argument("state: Invalid mt19937 state"))?;
        Ok(())
    }
}
