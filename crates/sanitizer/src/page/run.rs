//! A run in plain data, copied while the checker is locked, and its JSON, written after that.
#![forbid(unsafe_code)]

use std::collections::HashMap;
use std::fmt::Write as _;
use std::path::Path;

use sconce_base::json_text::{push, quoted};

use super::history::{History, Kept, Moment, Wait};
use crate::clock::{HOST, Lane};
use crate::order::Order;
use crate::report::{Report, place_words};
use crate::site::Site;

/// The most characters of a name: names of kernels may have thousands.
const MOST_CHARACTERS: usize = 400;
/// The most reports of the page.
const MOST_REPORTS: usize = 1000;

/// A stream of the run, or the host.
struct LaneWords {
    lane: Lane,
    words: String,
    short: String,
    device: Option<i32>,
}

/// A run.
pub(crate) struct Run {
    operations: Vec<Kept>,
    waits: Vec<Wait>,
    gaps: Vec<u64>,
    lanes: Vec<LaneWords>,
    seen: u64,
    /// Of how many operations nothing is known.
    unknown: u64,
    reports: Vec<Report>,
    more_reports: usize,
}

impl Run {
    /// A copy of what is kept.
    pub(crate) fn of(history: &History, order: &Order, unknown: u64, reports: &[Report]) -> Run {
        let words = |lane: Lane| LaneWords {
            lane,
            words: order.words(lane),
            short: order.short(lane),
            device: order.device(lane).map(|device| i32::from(device.as_u8())),
        };
        let reports: Vec<&Report> = history.forgotten().iter().chain(reports).collect();
        let shown = &reports[..reports.len().min(MOST_REPORTS)];
        Run {
            operations: history.operations().cloned().collect(),
            waits: history.all_waits().cloned().collect(),
            gaps: history.gaps().to_vec(),
            lanes: history.lanes().into_iter().map(words).collect(),
            seen: history.seen(),
            unknown,
            reports: shown.iter().map(|report| (*report).clone()).collect(),
            more_reports: reports.len() - shown.len(),
        }
    }

    /// The run as one JSON object.
    pub(crate) fn json(&self) -> String {
        let mut places = Places::default();
        let mut json = String::with_capacity(200 * self.operations.len() + 4096);
        let _ = write!(
            json,
            "{{\"program\":{},\"pid\":{},\"unknown\":{},\"seen\":{},\"kept\":{},\"more_reports\":{}",
            quoted(&program()),
            std::process::id(),
            self.unknown,
            self.seen,
            self.operations.len(),
            self.more_reports,
        );
        list(&mut json, "lanes", &self.lanes, |json, it| {
            let device = it.device.map_or("null".to_owned(), |device| device.to_string());
            let (lane, is_host) = (it.lane, it.lane == HOST);
            let _ =
                write!(json, "{{\"lane\":{lane},\"host\":{is_host},\"device\":{device},\"words\":");
            push(json, &it.words);
            json.push_str(",\"short\":");
            push(json, &it.short);
            json.push('}');
        });
        list(&mut json, "operations", &self.operations, |json, it| {
            operation(json, it, &mut places)
        });
        list(&mut json, "waits", &self.waits, |json, it| wait(json, it, &mut places));
        list(&mut json, "gaps", &self.gaps, |json, it| {
            let _ = write!(json, "{it}");
        });
        list(&mut json, "reports", &self.reports, report);
        list(&mut json, "places", &places.words, |json, it| push(json, it));
        json.push('}');
        json
    }
}

/// The name of the program's file.
fn program() -> String {
    let path = std::env::args_os().next().unwrap_or_default();
    Path::new(&path).file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

/// Places in words, each once: to look one up takes longer than all the rest.
#[derive(Default)]
struct Places {
    numbers: HashMap<Site, usize>,
    words: Vec<String>,
}

impl Places {
    fn number(&mut self, site: &Site) -> usize {
        if let Some(number) = self.numbers.get(site) {
            return *number;
        }
        let words =
            if *site == Site::default() { String::new() } else { place_words(&site.place()) };
        self.words.push(words);
        self.numbers.insert(site.clone(), self.words.len() - 1);
        self.words.len() - 1
    }
}

fn list<T>(json: &mut String, key: &str, items: &[T], mut one: impl FnMut(&mut String, &T)) {
    let _ = write!(json, ",\"{key}\":[");
    for (at, item) in items.iter().enumerate() {
        if at > 0 {
            json.push(',');
        }
        one(json, item);
    }
    json.push(']');
}

fn moment(Moment { operation, step }: Moment) -> String {
    format!("[{operation},{step}]")
}

fn operation(json: &mut String, it: &Kept, places: &mut Places) {
    let _ = write!(
        json,
        "{{\"number\":{},\"lane\":{},\"place\":{},\"captured\":{},\"allocator\":{},\"name\":",
        it.by.number,
        it.by.lane,
        places.number(&it.by.site),
        it.is_captured,
        it.is_of_allocator
    );
    match it.by.name.char_indices().nth(MOST_CHARACTERS) {
        Some((end, _)) => push(json, &format!("{}…", &it.by.name[..end])),
        None => push(json, &it.by.name),
    }
    list(json, "uses", &it.uses, |json, (writes, start, bytes)| {
        let _ = write!(json, "[{writes},\"{start:#x}\",{bytes}]");
    });
    let _ = write!(json, ",\"more_uses\":{}}}", it.more_uses);
}

fn wait(json: &mut String, it: &Wait, places: &mut Places) {
    let _ = write!(
        json,
        "{{\"kind\":\"{}\",\"from\":{},\"since\":{},\"to\":{},\"at\":{},\"place\":{}}}",
        it.kind.name(),
        it.from,
        it.since.map_or("null".to_owned(), moment),
        it.to,
        moment(it.at),
        places.number(&it.site)
    );
}

fn report(json: &mut String, it: &Report) {
    let _ = write!(
        json,
        "{{\"title\":{},\"count\":{},\"report\":{}}}",
        quoted(it.title()),
        it.count,
        it.json().trim_end()
    );
}
