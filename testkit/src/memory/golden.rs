//! PyTorch's recorded allocator figures (`tests/golden/memory/allocator.txt`), read.

use std::collections::BTreeMap;

/// A call of a recorded script.
#[derive(Clone, Copy, Debug)]
pub enum Call {
    Alloc { id: usize, bytes: usize, stream: usize },
    Free { id: usize },
    EmptyCache,
    ResetPeak,
    Check,
}

/// What a script gave under a configuration.
#[derive(Debug)]
pub struct Recording {
    pub config: String,
    pub seed: u64,
    /// The text of `PYTORCH_CUDA_ALLOC_CONF`.
    pub text: String,
    pub calls: Vec<Call>,
    /// At each check, every key of torch's `memory_stats()`.
    pub checks: Vec<BTreeMap<String, i64>>,
}

fn call(words: &[&str]) -> Call {
    let number = |place: usize| words[place].parse().unwrap();
    match words[0] {
        "alloc" => Call::Alloc { id: number(1), bytes: number(2), stream: number(3) },
        "free" => Call::Free { id: number(1) },
        "empty_cache" => Call::EmptyCache,
        "reset_peak" => Call::ResetPeak,
        "check" => Call::Check,
        _ => panic!("allocator.txt: {words:?}"),
    }
}

/// Every recording.
pub fn read() -> Vec<Recording> {
    let path = crate::root().join("tests/golden/memory/allocator.txt");
    let text = std::fs::read_to_string(path).unwrap();
    let mut keys: Vec<String> = Vec::new();
    let mut scripts: BTreeMap<u64, Vec<Call>> = BTreeMap::new();
    let mut open = 0;
    let mut recordings: Vec<Recording> = Vec::new();
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words[..] {
            ["keys", ref names @ ..] => keys = names.iter().map(|&name| name.into()).collect(),
            ["script", seed] => {
                open = seed.parse().unwrap();
                scripts.insert(open, Vec::new());
            }
            ["recording", config, seed, text] => {
                let seed = seed.parse().unwrap();
                recordings.push(Recording {
                    config: config.to_owned(),
                    seed,
                    text: if text == "-" { String::new() } else { text.to_owned() },
                    calls: scripts[&seed].clone(),
                    checks: Vec::new(),
                });
            }
            ["figures", ref values @ ..] => {
                assert_eq!(values.len(), keys.len());
                let values = values.iter().map(|value| value.parse().unwrap());
                let figures = keys.iter().cloned().zip(values).collect();
                recordings.last_mut().unwrap().checks.push(figures);
            }
            _ => scripts.get_mut(&open).unwrap().push(call(&words)),
        }
    }
    recordings
}

/// The recordings of the policy that gets whole segments from the driver.
pub fn of_segments() -> Vec<Recording> {
    let recordings: Vec<_> =
        read().into_iter().filter(|recording| recording.config != "expandable").collect();
    assert_eq!(recordings.len(), 10);
    recordings
}

/// The recordings of the policy that maps pages.
pub fn of_pages() -> Vec<Recording> {
    let recordings: Vec<_> =
        read().into_iter().filter(|recording| recording.config == "expandable").collect();
    assert_eq!(recordings.len(), 2);
    recordings
}
