//! Recorded programs, each played again and again on the same pages: like hours of a service whose requests differ little.
//! What pages waste, and how many mappings they have, stays bounded. The recordings lie beside the repository, in
//! `../shared/traces`; where they are not, the test says so and does nothing. `SCONCE_TEST_SECONDS` lets it run longer.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use sconce_runtime::memory;
use sconce_runtime::stream::{self, Stream};
use testkit::memory::structure;
use testkit::threads::seconds;

use super::{figures, with_pages};

/// Passes that are always played of each program.
const PASSES: usize = 3;
/// Bytes reserved at most for a thousand that were asked for at most, however often a program is played. The program that
/// wastes most had 1,111 after 894 passes.
const MOST_RESERVED: usize = 1_150;

/// An event: a block, the bytes that are asked for (`None`: it is freed), and the stream.
struct Event {
    block: usize,
    bytes: Option<usize>,
    stream: usize,
}

fn read(path: &Path) -> Vec<Event> {
    let unpacked = Command::new("gzip").arg("-dc").arg(path).output().expect("gzip");
    assert!(unpacked.status.success(), "{}", path.display());
    let text = String::from_utf8(unpacked.stdout).unwrap();
    let event = |line: &str| {
        let words: Vec<&str> = line.split(',').collect();
        let number = |place: usize| words[place].parse::<usize>().unwrap();
        let bytes = (words[0] == "a").then(|| number(2));
        Event { block: number(1), bytes, stream: number(3) }
    };
    text.lines().filter(|line| !line.starts_with('#')).map(event).collect()
}

fn traces() -> Vec<PathBuf> {
    let folder = testkit::root().join("../shared/traces");
    let Ok(entries) = std::fs::read_dir(&folder) else { return Vec::new() };
    let paths = entries.map(|entry| entry.unwrap().path());
    let mut paths: Vec<PathBuf> =
        paths.filter(|path| path.to_string_lossy().ends_with(".csv.gz")).collect();
    paths.sort();
    paths
}

/// One pass. What the program never frees goes back at its end.
fn play(events: &[Event], streams: &[Stream], pass: usize) {
    let blocks = events.iter().map(|event| event.block + 1).max().unwrap_or(0);
    let mut held = vec![0_usize; blocks];
    for (number, event) in events.iter().enumerate() {
        match event.bytes {
            Some(0) => {}
            Some(bytes) => {
                held[event.block] = memory::alloc_on(bytes, streams[event.stream]).unwrap();
            }
            None => memory::free(std::mem::take(&mut held[event.block])).unwrap(),
        }
        if number % 1_000 == 0 {
            let now = figures();
            assert!(now.mappings <= 4 * now.pages, "pass {pass}, event {number}: {now:?}");
        }
    }
    held.into_iter().for_each(|block| memory::free(block).unwrap());
}

#[test]
fn recorded_programs_played_for_long_waste_little_and_have_few_mappings() {
    let test = "recorded_programs_played_for_long_waste_little_and_have_few_mappings";
    let paths = traces();
    if paths.is_empty() {
        println!("skipped: there is no ../shared/traces with recorded programs");
        return;
    }
    with_pages(test, "64G", || {
        let free_at_start = sconce_runtime::device::memory_info(0).unwrap().free_bytes;
        let others = (0..8).map(|_| stream::from_pool(0, 0).unwrap());
        let streams: Vec<Stream> =
            std::iter::once(stream::default(0).unwrap()).chain(others).collect();
        for path in &paths {
            let events = read(path);
            memory::reset_peak_stats(0).unwrap();
            let end = Instant::now() + seconds(0.0) / paths.len() as u32;
            let (mut passes, mut most_mappings) = (0, 0.0_f64);
            while passes < PASSES || Instant::now() < end {
                passes += 1;
                play(&events, &streams, passes);
                let now = figures();
                most_mappings = most_mappings.max(now.mappings as f64 / now.pages as f64);
                let stats = memory::stats(0).unwrap();
                let reserved = stats.reserved_bytes.all.peak as usize;
                let asked = stats.requested_bytes.all.peak as usize;
                let name = path.file_name().unwrap().to_string_lossy();
                assert!(
                    reserved * 1_000 <= asked * MOST_RESERVED,
                    "{name}, pass {passes}: {reserved} bytes reserved, {asked} asked for"
                );
            }
            let stats = memory::stats(0).unwrap();
            println!(
                "{}: {passes} passes, {:.3} reserved for each byte, at most {most_mappings:.2} mappings a page",
                path.file_name().unwrap().to_string_lossy(),
                stats.reserved_bytes.all.peak as f64 / stats.requested_bytes.all.peak as f64,
            );
            structure::assert_all_given_back(&[free_at_start]);
            assert_eq!((figures().pages, figures().mappings), (0, 0));
        }
    });
}
