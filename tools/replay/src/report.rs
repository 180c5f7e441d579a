//! The output: the figures as a table for people and as JSON for programs.

use serde::{Deserialize, Serialize};

use crate::measure::{Measurement, ratio};
use crate::table::{Table, count, mebibytes, waste};
use crate::trace::Trace;

/// All figures of a run, as `--json` prints them.
#[derive(Debug, Deserialize, Serialize)]
pub(crate) struct Report {
    pub(crate) trace: About,
    /// The figures that PyTorch reported for the recorded run.
    pub(crate) recorded: Figures,
    pub(crate) measurements: Vec<Measurement>,
}

/// The trace.
#[derive(Debug, Deserialize, Serialize)]
pub(crate) struct About {
    pub(crate) name: String,
    pub(crate) events: u64,
    pub(crate) allocations: u64,
    pub(crate) streams: u64,
    pub(crate) alive_before: u64,
    pub(crate) skipped_frees: u64,
}

/// Peaks, as far as they are known.
#[derive(Debug, Deserialize, Serialize)]
pub(crate) struct Figures {
    pub(crate) source: Option<String>,
    pub(crate) conf: Option<String>,
    pub(crate) peak_requested: Option<u64>,
    pub(crate) peak_allocated: Option<u64>,
    pub(crate) peak_reserved: Option<u64>,
}

/// A row of the table: its name, the recorded figure, and the replay's.
type Peak = (&'static str, Option<u64>, fn(&Measurement) -> Option<u64>);

impl Report {
    /// Describes a trace; `name` is used if the trace states none.
    pub(crate) fn new(trace: &Trace, name: &str, measurements: Vec<Measurement>) -> Report {
        let recorded = &trace.recorded;
        let torch = recorded.torch.as_ref().map(|version| format!("PyTorch {version}"));
        let source = match (torch, &recorded.gpu) {
            (Some(torch), Some(gpu)) => Some(format!("{torch}, {gpu}")),
            (torch, _) => torch,
        };
        Report {
            trace: About {
                name: recorded.workload.clone().unwrap_or_else(|| name.to_owned()),
                events: trace.events.len() as u64,
                allocations: trace.allocations as u64,
                streams: trace.streams as u64,
                alive_before: trace.alive_before as u64,
                skipped_frees: trace.skipped_frees as u64,
            },
            recorded: Figures {
                source,
                conf: recorded.conf.clone(),
                peak_requested: recorded.peak_requested,
                peak_allocated: recorded.peak_allocated,
                peak_reserved: recorded.peak_reserved,
            },
            measurements,
        }
    }

    /// The text for a person.
    pub(crate) fn text(&self) -> String {
        let mut text = self.heading();
        text.push('\n');
        text += &self.table().to_string();
        if self.measurements.iter().any(|measurement| measurement.shares_streams) {
            text += "\nThere are fewer streams than the threads want: some share theirs.\n";
        }
        text
    }

    fn heading(&self) -> String {
        let About { name, events, allocations, streams, alive_before, skipped_frees } = &self.trace;
        let mut text = format!(
            "{name}: {} events, {} allocations, {}",
            count(*events),
            count(*allocations),
            plural(*streams, "stream"),
        );
        if let Some(source) = &self.recorded.source {
            text += &format!("; recorded with {source}");
        }
        text.push('\n');
        if *alive_before > 0 {
            text += &format!(
                "{} older than the history; allocated first, in the order of addresses\n",
                plural(*alive_before, "block")
            );
        }
        if *skipped_frees > 0 {
            text += &format!("{} of unknown blocks left out\n", plural(*skipped_frees, "free"));
        }
        if let Some(measurement) = self.measurements.first() {
            let threads = u64::from(measurement.threads);
            let place = match measurement.backend.as_str() {
                "simulator" => "the simulator",
                backend => backend,
            };
            text += &format!("replayed on {place} by {}", plural(threads, "thread"));
            if threads > 1 {
                text += ", each the whole trace on streams of its own";
            }
            text.push('\n');
        }
        text
    }

    /// The recorded figures, then those of each configuration; for a single one also the
    /// difference.
    fn table(&self) -> Table {
        let recorded = &self.recorded;
        // The recorded figures are those of one copy of the program.
        let alone = self.measurements.iter().all(|ours| ours.threads == 1);
        let known =
            alone && (recorded.peak_requested.is_some() || recorded.peak_reserved.is_some());
        let compared = match &self.measurements[..] {
            [only] if known => Some(only),
            _ => None,
        };
        let mut table = Table::default();
        let mut row =
            |name: &str, theirs: Option<String>, ours: &dyn Fn(&Measurement) -> String, mark| {
                let mut cells = vec![name.to_owned()];
                cells.extend(known.then(|| theirs.unwrap_or_else(unknown)));
                cells.extend(self.measurements.iter().map(ours));
                cells.extend::<Option<String>>(mark);
                table.row(cells);
            };

        row("", Some("recorded".to_owned()), &|ours| ours.configuration.clone(), None);
        let peaks: [Peak; 3] = [
            ("peak requested", recorded.peak_requested, |ours| ours.peak_requested),
            ("peak allocated", recorded.peak_allocated, |ours| ours.peak_allocated),
            ("peak reserved", recorded.peak_reserved, |ours| ours.peak_reserved),
        ];
        for (name, theirs, ours) in peaks {
            let both = theirs.zip(compared.and_then(ours));
            let mark = both.map(|(theirs, ours)| difference(theirs, ours));
            row(
                name,
                theirs.map(mebibytes),
                &|only| ours(only).map_or_else(unknown, mebibytes),
                mark,
            );
        }
        let theirs = ratio(recorded.peak_reserved, recorded.peak_requested);
        row("waste", theirs.map(waste), &|ours| ours.ratio().map_or_else(unknown, waste), None);
        row("driver calls", None, &|ours| count(ours.driver_calls), None);
        row("first pass", None, &|ours| per_event(Some(ours.first_pass_ns)), None);
        row("later passes", None, &|ours| per_event(ours.later_pass_ns), None);
        row("events a second", None, &|ours| count(ours.events_per_second as u64), None);
        table
    }
}

fn unknown() -> String {
    "-".to_owned()
}

fn difference(theirs: u64, ours: u64) -> String {
    if theirs == ours {
        return "equal".to_owned();
    }
    let percent = (ours as f64 / theirs.max(1) as f64 - 1.0) * 100.0;
    format!("differs by {:+} bytes ({percent:+.2} %)", i128::from(ours) - i128::from(theirs))
}

fn per_event(nanoseconds: Option<f64>) -> String {
    nanoseconds.map_or_else(unknown, |value| format!("{value:.1} ns/event"))
}

fn plural(number: u64, noun: &str) -> String {
    format!("{} {noun}{}", count(number), if number == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measurement(configuration: &str, reserved: u64) -> Measurement {
        Measurement {
            configuration: configuration.to_owned(),
            backend: "simulator".to_owned(),
            threads: 1,
            peak_requested: Some(3 << 20),
            peak_allocated: Some(3 << 20),
            peak_reserved: Some(reserved),
            driver_calls: 1234,
            first_pass_ns: 25.25,
            later_pass_ns: None,
            events_per_second: 1e7,
            shares_streams: false,
        }
    }

    fn trace() -> Trace {
        let mut trace = Trace { streams: 1, allocations: 2, ..Trace::default() };
        trace.recorded.torch = Some("2.11.0".to_owned());
        trace.recorded.peak_requested = Some(3 << 20);
        trace.recorded.peak_reserved = Some(4 << 20);
        trace
    }

    #[test]
    fn one_configuration_is_compared_with_what_was_recorded() {
        let report = Report::new(&trace(), "x.csv", vec![measurement("default", 4 << 20)]);
        let text = report.text();
        assert!(
            text.starts_with("x.csv: 0 events, 2 allocations, 1 stream; recorded with PyTorch")
        );
        let line =
            |name: &str| text.lines().find(|line| line.starts_with(name)).unwrap().to_owned();
        assert!(line("peak reserved").ends_with("equal"), "{text}");
        assert!(!line("peak allocated").contains("equal"), "{text}");
        assert_eq!(line("waste").matches("33.3 % (1.333x)").count(), 2, "{text}");
        assert!(line("driver calls").ends_with("1,234"), "{text}");

        let report = Report::new(&trace(), "x.csv", vec![measurement("default", (4 << 20) + 512)]);
        assert!(report.text().contains("differs by +512 bytes (+0.01 %)"), "{}", report.text());
    }

    #[test]
    fn several_stand_side_by_side() {
        let both = vec![measurement("default", 4 << 20), measurement("policy:pages", 3 << 20)];
        let report = Report::new(&trace(), "x.csv", both);
        let text = report.text();
        let head = text.lines().find(|line| line.trim_start().starts_with("recorded")).unwrap();
        let columns: Vec<&str> = head.split_whitespace().collect();
        assert_eq!(columns, ["recorded", "default", "policy:pages"]);
        assert!(!text.contains("equal"), "{text}");
    }

    #[test]
    fn what_is_not_known_is_a_dash() {
        let mut uncached = measurement("uncached", 0);
        (uncached.peak_allocated, uncached.peak_reserved) = (None, None);
        let text = Report::new(&trace(), "x.csv", vec![uncached]).text();
        let line =
            |name: &str| text.lines().find(|line| line.starts_with(name)).unwrap().to_owned();
        assert!(line("peak reserved").ends_with(" -"), "{text}");
        assert!(line("waste").ends_with(" -"), "{text}");
        assert!(line("later passes").ends_with(" -"), "{text}");
    }

    #[test]
    fn many_threads_are_not_compared_with_one_program() {
        let mut busy = measurement("default", 4 << 20);
        busy.threads = 2;
        let text = Report::new(&trace(), "x.csv", vec![busy]).text();
        assert!(text.contains("by 2 threads, each the whole trace"), "{text}");
        assert!(!text.contains(" PyTorch\n") && !text.contains("equal"), "{text}");
        assert!(!text.lines().any(|line| line.trim_start().starts_with("recorded")), "{text}");
    }

    #[test]
    fn what_a_history_lacks_is_told() {
        let mut trace = trace();
        (trace.alive_before, trace.skipped_frees) = (1, 20);
        trace.recorded = crate::trace::Recorded::default();
        let text = Report::new(&trace, "x", vec![measurement("default", 1)]).text();
        assert!(text.contains("1 block older than the history"), "{text}");
        assert!(text.contains("20 frees of unknown blocks left out"), "{text}");
        assert!(!text.contains("PyTorch"), "{text}");
    }

    #[test]
    fn json_can_be_read_back() {
        let report = Report::new(&trace(), "x", vec![measurement("default", 5)]);
        let text = serde_json::to_string(&report).unwrap();
        let back: Report = serde_json::from_str(&text).unwrap();
        assert_eq!(back.measurements[0].peak_reserved, Some(5));
        assert_eq!(back.recorded.peak_allocated, None);
    }
}
