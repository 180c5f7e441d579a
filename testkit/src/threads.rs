//! What tests of many threads share: how long they run, and random choices.

use std::time::Duration;

/// The value of `SCONCE_TEST_SECONDS`, which lets tests of many threads run longer.
pub fn asked_seconds() -> Option<f64> {
    std::env::var("SCONCE_TEST_SECONDS").ok().map(|text| text.parse().unwrap())
}

/// How long a test of many threads runs, unless `SCONCE_TEST_SECONDS` has another time.
pub fn seconds(default: f64) -> Duration {
    Duration::from_secs_f64(asked_seconds().unwrap_or(default))
}

/// A small generator of pseudo-random numbers, one for each thread. The seed must not be 0.
pub struct Xorshift(pub u64);

impl Xorshift {
    /// A number below `limit`.
    pub fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 16) as usize % limit
    }
}
