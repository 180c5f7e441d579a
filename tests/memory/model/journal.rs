//! What a script holds, and what is noted of it, when it is played on either policy.

use sconce_runtime::memory::PoolStats;

use super::oracle::MIB;

/// A block that a script holds.
pub struct Held {
    pub id: usize,
    pub address: usize,
    pub bytes: usize,
    pub value: u8,
    pub stream: usize,
    /// Another stream uses it.
    pub shared: bool,
}

impl Held {
    /// Something of every page.
    pub fn parts(&self) -> impl Iterator<Item = (usize, usize)> {
        let last = self.bytes.saturating_sub(512);
        let starts = (0..self.bytes).step_by(2 * MIB).chain([last]);
        starts.map(|at| (at, 512.min(self.bytes - at)))
    }
}

/// How a script went under a policy.
#[derive(Default)]
pub struct Journal {
    /// For each allocation, whether there was memory.
    pub served: Vec<bool>,
    /// The figure that must be the same, after each step.
    pub figures: Vec<PoolStats>,
    /// How many requests had been made by then.
    pub requests: Vec<usize>,
    /// Segments have served in place of pages.
    pub fell_back: bool,
}

/// The settings of a script under a policy.
pub fn settings(text: &str, paged: bool) -> String {
    match (paged, text) {
        (false, text) => text.to_owned(),
        (true, "") => "policy:pages".to_owned(),
        (true, text) => format!("policy:pages,{text}"),
    }
}

/// Driver calls that wait for queued work.
pub fn waits() -> u64 {
    ["event_synchronize", "stream_synchronize", "device_synchronize", "memory_free"]
        .map(|call| sconce::sim_controls::call_count(call).unwrap())
        .iter()
        .sum()
}
