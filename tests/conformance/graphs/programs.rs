//! Random programs of streams, events, fills, additions and copies: their graph does what they do.

use sconce_base::types::DevicePtr;
use sconce_driver::Driver;

use super::{ZERO, capture, instantiate};
use crate::support::objects::{Event, Probe, Stream};
use crate::support::stage::{Outcome, Stage};

crate::support::runner::tests![a_graph_does_what_its_program_does];

/// Words that a program works on.
const WORDS: usize = 64;
const STREAMS: usize = 4;
const PROGRAMS: u64 = 40;

/// A step of a program: on which stream, and what.
#[derive(Clone, Copy, Debug)]
enum Step {
    Fill {
        at: usize,
        count: usize,
        value: u32,
    },
    Add {
        at: usize,
        count: usize,
        value: u32,
    },
    Copy {
        to: usize,
        from: usize,
        count: usize,
    },
    /// The stream waits for the work of another one so far.
    Follow {
        earlier: usize,
    },
}

/// A random number generator of 64 bits (SplitMix64).
struct Numbers(u64);

impl Numbers {
    fn next(&mut self, below: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut word = self.0;
        word = (word ^ (word >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((word ^ (word >> 31)) % below as u64) as usize
    }
}

/// The accesses that the model must order: for each word the streams' clocks of its last write and of its reads.
type Clock = [usize; STREAMS];

/// A program without races: a step that would race with another stream's is preceded by waits for all streams.
fn program(numbers: &mut Numbers) -> Vec<(usize, Step)> {
    let mut steps = vec![];
    let mut clocks = [[0; STREAMS]; STREAMS];
    let mut last: Vec<Vec<(usize, usize)>> = vec![vec![]; WORDS];
    for stream in 1..STREAMS {
        follow(&mut steps, &mut clocks, stream, 0);
    }
    for _ in 0..numbers.next(40) + 4 {
        let stream = numbers.next(STREAMS);
        let count = numbers.next(16) + 1;
        let (at, from) = (numbers.next(WORDS - count), numbers.next(WORDS - count));
        let value = numbers.next(1000) as u32;
        let step = match numbers.next(8) {
            0 | 1 => Step::Fill { at, count, value },
            2..=4 => Step::Add { at, count, value },
            5 if at.abs_diff(from) >= count => Step::Copy { to: at, from, count },
            _ => {
                let earlier = numbers.next(STREAMS);
                if earlier != stream {
                    follow(&mut steps, &mut clocks, stream, earlier);
                }
                continue;
            }
        };
        let mut touched: Vec<usize> = (at..at + count).collect();
        if matches!(step, Step::Copy { .. }) {
            touched.extend(from..from + count);
        }
        let races = |clock: &Clock| {
            let mut uses = touched.iter().flat_map(|word| &last[*word]);
            uses.any(|(by, time)| clock[*by] < *time)
        };
        if races(&clocks[stream]) {
            for earlier in (0..STREAMS).filter(|earlier| *earlier != stream) {
                follow(&mut steps, &mut clocks, stream, earlier);
            }
        }
        clocks[stream][stream] += 1;
        let time = clocks[stream][stream];
        for word in touched {
            last[word].retain(|(by, _)| *by != stream);
            last[word].push((stream, time));
        }
        steps.push((stream, step));
    }
    for earlier in 1..STREAMS {
        follow(&mut steps, &mut clocks, 0, earlier);
    }
    steps
}

fn follow(
    steps: &mut Vec<(usize, Step)>,
    clocks: &mut [Clock; STREAMS],
    stream: usize,
    earlier: usize,
) {
    let seen = clocks[earlier];
    for (own, other) in clocks[stream].iter_mut().zip(seen) {
        *own = (*own).max(other);
    }
    steps.push((stream, Step::Follow { earlier }));
}

/// What the program does to the words, one step after the other.
fn model(words: &mut [u32], steps: &[(usize, Step)]) {
    for (_, step) in steps {
        match *step {
            Step::Fill { at, count, value } => words[at..at + count].fill(value),
            Step::Add { at, count, value } => {
                words[at..at + count].iter_mut().for_each(|word| *word += value)
            }
            Step::Copy { to, from, count } => words.copy_within(from..from + count, to),
            Step::Follow { .. } => {}
        }
    }
}

struct Place<'a> {
    driver: &'a dyn Driver,
    probe: Probe<'a>,
    streams: Vec<Stream<'a>>,
    events: Vec<Event<'a>>,
    memory: DevicePtr,
}

fn play(place: &Place<'_>, steps: &[(usize, Step)]) -> Outcome {
    let word = |at: usize| place.memory.offset(at as u64 * 4);
    for (stream, step) in steps {
        let stream = &place.streams[*stream];
        match *step {
            Step::Fill { at, count, value } => {
                place.probe.fill(stream, word(at), count as u64, value)?
            }
            Step::Add { at, count, value } => {
                place.probe.add(stream, word(at), count as u64, value)?
            }
            Step::Copy { to, from, count } => {
                place.driver.copy_async(word(to).into(), word(from).into(), count * 4, stream.at)?
            }
            Step::Follow { earlier } => {
                super::follow(stream, &place.streams[earlier], &place.events[earlier])?
            }
        }
    }
    Ok(())
}

fn a_graph_does_what_its_program_does(stage: &Stage<'_>) -> Outcome {
    let memory = stage.memory(ZERO, WORDS * 4)?;
    let mut place = Place {
        driver: stage.driver,
        probe: stage.probe(ZERO)?,
        streams: vec![],
        events: vec![],
        memory: memory.ptr,
    };
    for _ in 0..STREAMS {
        place.streams.push(stage.stream(ZERO)?);
        place.events.push(stage.event(ZERO)?);
    }
    for seed in 0..PROGRAMS {
        let steps = program(&mut Numbers(seed));
        let mut expected = vec![0; WORDS];
        let first = &place.streams[0];
        stage.driver.fill_async(memory.ptr, 0, WORDS * 4, first.at)?;
        let graph = {
            first.synchronize()?;
            capture(stage, first, || play(&place, &steps))?
        };
        let exec = instantiate(stage, &graph)?;
        // Queued and launched alternately, all of it on one stream in the end.
        for round in 0..4 {
            if round == 1 {
                play(&place, &steps)?;
            } else {
                exec.launch(first)?;
            }
            model(&mut expected, &steps);
        }
        first.synchronize()?;
        let words = stage.words(ZERO, memory.ptr, WORDS)?;
        assert_eq!(words, expected, "program {seed}: {steps:?}");
    }
    Ok(())
}
