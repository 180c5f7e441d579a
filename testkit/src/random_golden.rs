//! Reads `tests/golden/rng.txt` and `rng.bin`: what PyTorch drew on an H200.

/// One fill of the recording.
#[derive(Clone, Debug)]
pub struct Operation {
    pub name: String,
    pub dtype: String,
    pub n: u64,
    /// Parameters as they are written.
    pub parameters: [String; 2],
    pub sha256: String,
    pub state_after: [u8; 16],
    /// Whether `bytes` are all elements, or the three pieces of a sample.
    pub whole: bool,
    pub bytes: Vec<u8>,
}

impl Operation {
    pub fn real_parameters(&self) -> [f64; 2] {
        self.parameters.each_ref().map(|text| text.parse().unwrap())
    }

    pub fn integer_parameters(&self) -> [i64; 2] {
        self.parameters.each_ref().map(|text| text.parse().unwrap())
    }

    /// The elements that `bytes` hold, out of all of them.
    pub fn recorded_part(&self, all: &[u8], element: usize) -> Vec<u8> {
        if self.whole {
            return all.to_vec();
        }
        let n = self.n as usize;
        [0, n / 2, n - 64]
            .into_iter()
            .flat_map(|start| all[start * element..(start + 64) * element].iter().copied())
            .collect()
    }
}

/// A seed and the fills that followed.
#[derive(Debug)]
pub struct Sequence {
    pub seed: u64,
    pub operations: Vec<Operation>,
}

#[derive(Debug)]
pub struct Golden {
    pub multi_processors: u32,
    pub threads_per_multi_processor: u32,
    pub sequences: Vec<Sequence>,
}

fn state(hex: &str) -> [u8; 16] {
    assert_eq!(hex.len(), 32);
    std::array::from_fn(|i| u8::from_str_radix(&hex[2 * i..2 * i + 2], 16).unwrap())
}

pub fn read() -> Golden {
    let folder = crate::root().join("tests/golden");
    let text = std::fs::read_to_string(folder.join("rng.txt")).unwrap();
    let values = std::fs::read(folder.join("rng.bin")).unwrap();
    let mut golden =
        Golden { multi_processors: 0, threads_per_multi_processor: 0, sequences: Vec::new() };
    let mut at = 0;
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words[..] {
            ["device", multi_processors, threads] => {
                golden.multi_processors = multi_processors.parse().unwrap();
                golden.threads_per_multi_processor = threads.parse().unwrap();
            }
            ["seed", seed] => {
                let seed = seed.parse().unwrap();
                golden.sequences.push(Sequence { seed, operations: Vec::new() });
            }
            [name, dtype, n, first, second, sha256, after, kind, bytes] => {
                let end = at + bytes.parse::<usize>().unwrap();
                golden.sequences.last_mut().unwrap().operations.push(Operation {
                    name: name.to_owned(),
                    dtype: dtype.to_owned(),
                    n: n.parse().unwrap(),
                    parameters: [first, second].map(str::to_owned),
                    sha256: sha256.to_owned(),
                    state_after: state(after),
                    whole: kind == "whole",
                    bytes: values[at..end].to_vec(),
                });
                at = end;
            }
            _ => panic!("rng.txt: {line:?}"),
        }
    }
    assert_eq!(at, values.len(), "rng.bin and rng.txt belong together");
    golden
}
