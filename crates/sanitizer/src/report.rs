//! Findings, and the reports that are written of them: each pair of places once, with a count.
#![forbid(unsafe_code)]

use std::collections::HashMap;
use std::fmt::Write as _;
use std::sync::Arc;

use sconce_base::json_text::quoted;
use sconce_base::log;

use crate::clock::{HOST, Lane};
use crate::memory::Block;
use crate::operation::Operation;
use crate::order::Order;
use crate::site::{Place, Site};

/// What is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FindingKind {
    /// Two accesses of a byte, one of which writes, and nothing says which comes first.
    Race,
    /// A block was freed while a stream that was not recorded may still use it.
    MissingRecordStream,
    /// Memory is used whose block was freed.
    UseAfterFree,
    /// The allocator handed memory out that may still be in use: a defect of this library.
    EarlyReuse,
    /// A wait that does not end.
    Hang,
    /// Memory outside of the block in which an access begins, or of any block, is used.
    OutOfBounds,
    /// Bytes are read that nobody has written since their block was handed out.
    UninitializedRead,
    /// Something that the checker did not see has written behind the end of a block, or a freed block.
    Overwritten,
}

impl FindingKind {
    /// The kind in reports.
    pub fn name(self) -> &'static str {
        match self {
            FindingKind::Race => "race",
            FindingKind::MissingRecordStream => "missing_record_stream",
            FindingKind::UseAfterFree => "use_after_free",
            FindingKind::EarlyReuse => "early_reuse",
            FindingKind::Hang => "hang",
            FindingKind::OutOfBounds => "out_of_bounds",
            FindingKind::UninitializedRead => "uninitialized_read",
            FindingKind::Overwritten => "overwritten",
        }
    }
}

/// A finding, before it is in words.
pub(crate) struct Finding {
    pub(crate) kind: FindingKind,
    pub(crate) address: u64,
    pub(crate) bytes: u64,
    /// The earlier access, and whether it writes.
    pub(crate) first: Option<(Arc<Operation>, bool)>,
    pub(crate) second: (Arc<Operation>, bool),
    pub(crate) block: Option<Arc<Block>>,
}

impl Finding {
    /// The operations that the report names.
    pub(crate) fn operations(&self) -> Vec<Arc<Operation>> {
        let mut named: Vec<Arc<Operation>> =
            self.first.iter().map(|(by, _)| Arc::clone(by)).collect();
        named.push(Arc::clone(&self.second.0));
        if let Some(block) = &self.block {
            named.push(Arc::clone(&block.allocated));
            named.extend(block.freed.as_ref().map(|freed| Arc::clone(&freed.by)));
        }
        named
    }
}

/// A wait that does not end, before it is in words.
pub(crate) struct Hang {
    pub(crate) wait: Arc<Operation>,
    /// What it waits for, as far as that is known.
    pub(crate) by: Option<Arc<Operation>>,
    pub(crate) repair: String,
    /// The two wait for each other.
    pub(crate) is_cycle: bool,
}

/// One access of a report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReportedAccess {
    /// Its place among all operations of the process.
    pub number: u64,
    /// What it is, such as `copy`.
    pub name: String,
    /// Whether it writes; of a wait, whether each side waits for the other.
    pub writes: bool,
    /// Its stream in words.
    pub stream: String,
    /// Where the program made the call: `file:line`, or a function, or an address.
    pub site: String,
}

/// A report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// What is wrong.
    pub kind: FindingKind,
    /// The first byte.
    pub address: u64,
    /// How many bytes from there on both use, at most.
    pub bytes: u64,
    /// The block: its address, its bytes, and where it was allocated.
    pub block: Option<(u64, u64, String)>,
    /// The earlier access.
    pub first: Option<ReportedAccess>,
    /// The later access.
    pub second: ReportedAccess,
    /// What repairs it.
    pub repair: String,
    /// The line of code that is missing, if one repairs it, as C++ has it: it belongs before the later access.
    pub line: Option<String>,
    /// How often it was found at these places.
    pub count: u64,
}

/// The most reports that are kept. Names of operations may differ from call to call, so one place may be the cause of
/// many.
pub(crate) const MOST_REPORTS: usize = if cfg!(test) { 1500 } else { 10_000 };

/// What tells findings apart.
type Places = (FindingKind, Option<(Site, String)>, (Site, String));

/// All reports of the process.
#[derive(Default)]
pub(crate) struct Reports {
    by_places: HashMap<Places, usize>,
    by_words: HashMap<(FindingKind, String, String), usize>,
    all: Vec<Report>,
    /// How many reports have been passed on.
    passed_on: usize,
    /// The log says that there are too many.
    has_said_full: bool,
}

impl Reports {
    /// Adds a wait that does not end. Whether it makes a new report.
    pub(crate) fn add_hang(&mut self, hang: Hang, order: &Order) -> bool {
        let Hang { wait, by, repair, is_cycle } = hang;
        let key = |by: &Operation| (by.site.clone(), without_sizes(&by.name).to_owned());
        let places = (FindingKind::Hang, by.as_ref().map(|by| key(by)), key(&wait));
        if let Some(at) = self.by_places.get(&places) {
            self.all[*at].count += 1;
            return false;
        }
        if self.is_full() {
            return false;
        }
        self.by_places.insert(places, self.all.len());
        self.all.push(Report {
            kind: FindingKind::Hang,
            address: 0,
            bytes: 0,
            block: None,
            first: by.map(|by| access_words(&by, is_cycle, order)),
            second: access_words(&wait, is_cycle, order),
            repair,
            line: None,
            count: 1,
        });
        true
    }

    /// Adds a finding. Whether it makes a new report.
    pub(crate) fn add(&mut self, finding: Finding, order: &Order) -> bool {
        let key = |by: &Operation| (by.site.clone(), without_sizes(&by.name).to_owned());
        let first = finding.first.as_ref().map(|(by, _)| key(by));
        let places = (finding.kind, first, key(&finding.second.0));
        if let Some(at) = self.by_places.get(&places) {
            self.all[*at].count += 1;
            return false;
        }
        if self.is_full() {
            return false;
        }
        let report = words(&finding, order);
        let first = report.first.as_ref().map_or(String::new(), words_of_place);
        let second = words_of_place(&report.second);
        let at = *self.by_words.entry((finding.kind, first, second)).or_insert(self.all.len());
        self.by_places.insert(places, at);
        match self.all.get_mut(at) {
            Some(known) => {
                known.count += 1;
                false
            }
            None => {
                self.all.push(report);
                true
            }
        }
    }

    /// Whether there are as many reports as are kept. Says so once.
    fn is_full(&mut self) -> bool {
        let is_full = self.all.len() >= MOST_REPORTS;
        if is_full && !std::mem::replace(&mut self.has_said_full, true) {
            log::warn(format_args!(
                "sanitizer: there are {MOST_REPORTS} reports; what is found at other places is left out until \
                 sconce_sanitizer_reset"
            ));
        }
        is_full
    }

    pub(crate) fn all(&self) -> &[Report] {
        &self.all
    }

    /// The reports that have not been passed on.
    pub(crate) fn take_new(&mut self) -> Vec<Report> {
        let new = self.all[self.passed_on..].to_vec();
        self.passed_on = self.all.len();
        new
    }

    pub(crate) fn clear(&mut self) {
        *self = Reports::default();
    }
}

/// A name without the sizes at its end, which differ from call to call.
fn without_sizes(name: &str) -> &str {
    let sizes =
        |at: &(usize, &str)| name[at.0 + at.1.len()..].starts_with(|it: char| it.is_ascii_digit());
    name.match_indices(" of ").find(sizes).map_or(name, |(at, _)| &name[..at])
}

fn words_of_place(access: &ReportedAccess) -> String {
    format!("{}|{}", without_sizes(&access.name), access.site)
}

/// A place as reports have it.
pub(crate) fn place_words(place: &Place) -> String {
    match &place.file {
        Some(file) => format!("{file}:{}", place.line),
        None if !place.function.is_empty() => format!("{} ({:#x})", place.function, place.address),
        None => format!("{:#x}", place.address),
    }
}

fn access_words(by: &Operation, writes: bool, order: &Order) -> ReportedAccess {
    ReportedAccess {
        number: by.number,
        name: by.name.clone(),
        writes,
        stream: order.words(by.lane),
        site: place_words(&by.site.place()),
    }
}

fn words(finding: &Finding, order: &Order) -> Report {
    let first = finding.first.as_ref().map(|(by, writes)| access_words(by, *writes, order));
    let second = access_words(&finding.second.0, finding.second.1, order);
    let missing = missing(finding, order);
    let stream = |lane: Option<Lane>| lane.map_or(String::new(), |lane| order.short(lane));
    let streams = [finding.first.as_ref().map(|(by, _)| by.lane), Some(finding.second.0.lane)];
    let repair = repair(&missing, first.as_ref(), &second, streams.map(stream));
    let line = line(&missing, order);
    let block = finding
        .block
        .as_ref()
        .map(|block| (block.address, block.bytes, place_words(&block.allocated.site.place())));
    let (kind, address, bytes) = (finding.kind, finding.address, finding.bytes);
    Report { kind, address, bytes, block, first, second, repair, line, count: 1 }
}

/// What a program lacks.
enum Missing {
    /// A wait of the second lane for the first.
    Wait(Lane, Lane),
    /// A wait of the host for a lane.
    Synchronize(Lane),
    /// A lane as a user of the block.
    RecordStream(Lane),
    /// A wait for an event of another process.
    Process,
    /// An access that ends in its block.
    Bounds,
    /// A write.
    Contents,
    /// What is known of a kernel.
    Declaration,
    /// A longer life of the block.
    Life,
    /// Nothing: the library is wrong.
    Nothing,
}

fn missing(finding: &Finding, order: &Order) -> Missing {
    let (first, second) = (finding.first.as_ref().map(|(by, _)| by.lane), finding.second.0.lane);
    match (finding.kind, first) {
        (FindingKind::OutOfBounds, _) => Missing::Bounds,
        (FindingKind::UninitializedRead, _) => Missing::Contents,
        (FindingKind::Overwritten, _) => Missing::Declaration,
        (FindingKind::EarlyReuse | FindingKind::Hang, _) => Missing::Nothing,
        (FindingKind::UseAfterFree, _) | (_, None) => Missing::Life,
        (FindingKind::MissingRecordStream, Some(first)) => Missing::RecordStream(first),
        (FindingKind::Race, Some(first)) if order.is_process(first) => Missing::Process,
        (FindingKind::Race, Some(first)) if second == HOST => Missing::Synchronize(first),
        (FindingKind::Race, Some(first)) => Missing::Wait(second, first),
    }
}

/// The line of code that is missing, if it is one.
fn line(missing: &Missing, order: &Order) -> Option<String> {
    match *missing {
        Missing::Wait(second, first) => {
            Some(format!("{}.wait_stream({});", order.variable(second)?, order.variable(first)?))
        }
        Missing::Synchronize(first) => Some(format!("{}.synchronize();", order.variable(first)?)),
        Missing::RecordStream(first) => {
            Some(format!("block.record_stream({});", order.variable(first)?))
        }
        _ => None,
    }
}

/// What is missing, in words.
fn repair(
    missing: &Missing,
    first: Option<&ReportedAccess>,
    second: &ReportedAccess,
    [stream_of_first, stream_of_second]: [String; 2],
) -> String {
    let of =
        |access: &ReportedAccess| format!("{} #{} ({})", access.name, access.number, access.site);
    match (missing, first) {
        (Missing::Bounds, _) => format!(
            "{} reaches outside of its block: correct its address, sizes or strides, or allocate more",
            of(second)
        ),
        (Missing::Contents, _) => format!(
            "nothing has written these bytes since their block was allocated: fill them (zeros instead of empty), or queue \
             the work that writes them before {}",
            of(second)
        ),
        (Missing::Declaration, Some(first)) => format!(
            "a kernel whose memory is not declared wrote there after {}, at the latest {}: free the block after its last \
             use, with record_stream for uses on other streams, and declare what the kernels use to find which",
            of(first),
            of(second)
        ),
        (Missing::Declaration, None) => format!(
            "a kernel whose memory is not declared wrote there, at the latest {}: check the bounds of the kernels that \
             use the block, and declare what they use to find which",
            of(second)
        ),
        (Missing::Nothing, None) => format!(
            "{} received memory of a block that is not freed: this is a defect of the library, please report it",
            of(second)
        ),
        (_, None) => format!("do not use the memory after it was freed, as {} does", of(second)),
        (Missing::Life, Some(first)) => format!(
            "the block was freed by {} before {} used it: free it later, or, if the use comes first in the program, keep \
             a reference to it until then",
            of(first),
            of(second)
        ),
        (Missing::RecordStream(_), Some(first)) if stream_of_second == "the host" => format!(
            "{stream_of_first} was never recorded as a user of the pinned block, and the host has not waited for it: call \
             record_stream(block, {stream_of_first}) before {}, or have the host wait for {}",
            of(second),
            of(first)
        ),
        (Missing::RecordStream(_), Some(first)) => format!(
            "{stream_of_first} was never recorded as a user of the block, and the block's stream does not wait for it: call \
             record_stream(block, {stream_of_first}) before {}, or have the block's stream wait for {}",
            of(second),
            of(first)
        ),
        (Missing::Nothing, Some(first)) => format!(
            "the allocator handed out memory that {} may still use: this is a defect of the library, please report it",
            of(first)
        ),
        (Missing::Synchronize(_), Some(first)) => format!(
            "the host never waited for {}: call synchronize() on {stream_of_first}, or on an event recorded behind it, \
             before {}",
            of(first),
            of(second)
        ),
        (Missing::Process, Some(_)) => format!(
            "{stream_of_second} never waited for the process that shares the memory, and that may still write it: wait for \
             an event that it has recorded behind its work, before {}",
            of(second)
        ),
        (Missing::Wait(..), Some(first)) => format!(
            "{stream_of_second} never waited for {stream_of_first} after {}: call wait_stream({stream_of_first}) on \
             {stream_of_second}, or wait there for an event recorded behind #{}, before #{}",
            of(first),
            first.number,
            second.number
        ),
    }
}

impl Report {
    /// What is wrong, in a few words.
    pub fn title(&self) -> &'static str {
        match self.kind {
            FindingKind::Race => "race between streams",
            FindingKind::MissingRecordStream => "block freed while another stream uses it",
            FindingKind::UseAfterFree => "use of freed memory",
            FindingKind::EarlyReuse => "memory handed out too early",
            FindingKind::Hang if self.second.writes => "waits in a cycle",
            FindingKind::Hang => "wait that does not end",
            FindingKind::OutOfBounds => "use of memory outside of a block",
            FindingKind::UninitializedRead => "read of memory that nobody has written",
            FindingKind::Overwritten => "memory overwritten outside of live blocks",
        }
    }

    fn text_of_hang(&self) -> String {
        let of =
            |it: &ReportedAccess| format!("{} on {}\n          at {}", it.name, it.stream, it.site);
        let mut text = format!("{}\n  waits:  {}", self.title(), of(&self.second));
        if let Some(first) = &self.first {
            let _ = write!(text, "\n  for:    #{} {}", first.number, of(first));
        }
        let _ = write!(text, "\n  repair: {}", self.repair);
        text
    }

    /// The report for people.
    pub fn text(&self) -> String {
        if self.kind == FindingKind::Hang {
            return self.text_of_hang();
        }
        let mut text = self.title().to_owned();
        let _ = write!(text, "\n  {} bytes from {:#x} on", self.bytes, self.address);
        if let Some((address, bytes, site)) = &self.block {
            let _ = write!(
                text,
                ", in the block of {bytes} bytes at {address:#x} (allocated at {site})"
            );
        }
        let access = |access: &ReportedAccess| {
            let verb = if access.writes { "writes" } else { "reads" };
            format!(
                "#{} {} {verb}, on {}\n          at {}",
                access.number, access.name, access.stream, access.site
            )
        };
        if let Some(first) = &self.first {
            let _ = write!(text, "\n  first:  {}", access(first));
        }
        let _ = write!(text, "\n  second: {}", access(&self.second));
        let _ = write!(text, "\n  repair: {}", self.repair);
        if let Some(line) = &self.line {
            let _ = write!(text, "\n  line:   {line}  // before #{}", self.second.number);
        }
        text
    }

    /// The report as one JSON object, in one line.
    pub fn json(&self) -> String {
        let access = |access: &ReportedAccess| {
            format!(
                "{{\"operation\":{},\"name\":{},\"access\":\"{}\",\"stream\":{},\"site\":{}}}",
                access.number,
                quoted(&access.name),
                match (self.kind, access.writes) {
                    (FindingKind::Hang, _) => "wait",
                    (_, true) => "write",
                    (_, false) => "read",
                },
                quoted(&access.stream),
                quoted(&access.site)
            )
        };
        let block = self.block.as_ref().map_or("null".to_owned(), |(address, bytes, site)| {
            format!(
                "{{\"address\":\"{address:#x}\",\"bytes\":{bytes},\"allocated\":{}}}",
                quoted(site)
            )
        });
        format!(
            "{{\"kind\":\"{}\",\"pid\":{},\"address\":\"{:#x}\",\"bytes\":{},\"block\":{block},\"first\":{},\"second\":{},\
             \"repair\":{},\"line\":{}}}\n",
            self.kind.name(),
            std::process::id(),
            self.address,
            self.bytes,
            self.first.as_ref().map_or("null".to_owned(), access),
            access(&self.second),
            quoted(&self.repair),
            self.line.as_ref().map_or("null".to_owned(), |line| quoted(line))
        )
    }
}
