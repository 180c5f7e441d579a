//! The rules of sizes: what is rounded to what, which shelf serves it, what is cut and what not.

pub const MIB: usize = 1 << 20;

/// Blocks up to 1 MiB, and blocks above.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    Small,
    Large,
}

/// A configuration.
#[derive(Clone, Debug)]
pub struct Rules {
    /// Blocks from this size on are not cut; `usize::MAX` is none.
    pub max_split: usize,
    /// By how much a block that is not cut may be too large.
    pub most_waste: usize,
    /// Steps between a power of two and the next, for sizes below 2 MiB, 4 MiB, ….
    pub steps: [usize; 16],
    /// What is asked of the driver for large requests below 10 MiB.
    pub large_segment: usize,
    /// The share of the limit at which old blocks are given back; 0 is never.
    pub collect_at: f64,
}

impl Rules {
    /// Reads the few keys that the tests use; anything else is the test's mistake.
    pub fn read(text: &str) -> Rules {
        let mut rules = Rules {
            max_split: usize::MAX,
            most_waste: 20 * MIB,
            steps: [0; 16],
            large_segment: 20 * MIB,
            collect_at: 0.0,
        };
        let mut rest = text;
        while let Some((key, after)) = rest.split_once(':') {
            let list = after.starts_with('[');
            let end = after.find(if list { ']' } else { ',' }).unwrap_or(after.len());
            let value = after[..end].trim_start_matches('[');
            rest = after[end..].trim_start_matches([']', ',']);
            let number = || value.parse::<usize>().expect("a number");
            match key {
                "max_split_size_mb" => rules.max_split = number() * MIB,
                "max_non_split_rounding_mb" => rules.most_waste = number() * MIB,
                "large_segment_size_mb" => rules.large_segment = number() * MIB,
                "garbage_collection_threshold" => {
                    rules.collect_at = value.parse().expect("a fraction");
                }
                "roundup_power2_divisions" if list => rules.steps = steps(value),
                "roundup_power2_divisions" => rules.steps = [number(); 16],
                _ => panic!("the oracle does not know {key}"),
            }
        }
        rules
    }

    /// The size of the block that serves a request.
    pub fn rounded(&self, bytes: usize) -> usize {
        let power = 1 << bytes.ilog2();
        let interval = (bytes.ilog2() as usize).saturating_sub(20).min(15);
        let steps = self.steps[interval];
        if steps > 1 && bytes > 512 * steps {
            let step = power / steps;
            return bytes.div_ceil(step) * step;
        }
        bytes.div_ceil(512) * 512
    }

    pub fn kind(&self, rounded: usize) -> Kind {
        if rounded <= MIB { Kind::Small } else { Kind::Large }
    }

    /// What is asked of the driver.
    pub fn segment(&self, rounded: usize) -> usize {
        if rounded <= MIB {
            2 * MIB
        } else if rounded < 10 * MIB {
            self.large_segment
        } else {
            rounded.div_ceil(2 * MIB) * 2 * MIB
        }
    }

    /// Whether a found block is cut so that `rest` stays free.
    pub fn cuts(&self, kind: Kind, rounded: usize, rest: usize) -> bool {
        match kind {
            Kind::Small => rest >= 512,
            Kind::Large => rounded < self.max_split && rest > MIB,
        }
    }

    /// Whether the smallest block that fits is still not to be used.
    pub fn refuses(&self, rounded: usize, found: usize) -> bool {
        if rounded < self.max_split {
            found >= self.max_split
        } else {
            found >= rounded + self.most_waste
        }
    }
}

/// `256:1,512:2,>:8`: from the interval of each size on; what comes before the first is as it.
fn steps(list: &str) -> [usize; 16] {
    let mut steps = [0; 16];
    let mut next = 0;
    for pair in list.split(',') {
        let (size, value) = pair.split_once(':').expect("size:steps");
        let value = value.parse().expect("a number");
        let place = match size {
            ">" => 15,
            size => size.parse::<usize>().expect("MiB").ilog2() as usize,
        };
        if size == ">" || next == 0 {
            steps[next..=place].fill(value);
        }
        steps[place] = value;
        next = place + 1;
    }
    steps
}
