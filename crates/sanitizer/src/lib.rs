//! Finds races between streams, and uses of freed memory, without that they have to happen. See
//! `docs/design/sanitizer.md`.
//!
//! [`wrap`] puts a checked driver in front of a backend. It passes every call on, and tells the checker what the call
//! orders and which bytes it reads and writes. Nothing here waits for a device, and nothing reads or writes its memory,
//! so that the program behaves as without it.
//!
//! | file | idea |
//! |---|---|
//! | `clock` | vector clocks: what precedes what |
//! | `pattern` | sets of bytes with strides, and what two have in common |
//! | `site` | where the program made a call |
//! | `operation` | what was queued |
//! | `memory` | the accesses of each piece of memory that later ones may conflict with |
//! | `unwritten` | bytes that nobody has written |
//! | `scope` | what the calling thread has declared |
//! | `order` | streams, events and the host |
//! | `meetings` | collective calls of several ranks |
//! | `report` | findings in words |
//! | `page` | a run as a page for a browser |
//! | `collective` | which ranks have come to a collective call, and calls in different orders |
//! | `pending` | what a wait that does not end waits for |
//! | `checker` | what each call means for order and memory |
//! | `watch` | threads that wait, and for how long |
//! | `checked` | the driver that tells the checker |

mod checked;
mod checker;
mod clock;
mod collective;
mod meetings;
mod memory;
mod operation;
mod order;
mod page;
mod pattern;
mod pending;
mod report;
mod scope;
mod site;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;
mod unwritten;
mod watch;

use std::collections::BTreeMap;
use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use sconce_base::config::SanitizerConfig;
use sconce_base::error::{Error, Result, Status};
use sconce_base::lock::{Mutex, OnceCell, rank};
use sconce_base::program_code::later;
use sconce_base::{log, process, whole_file};
use sconce_driver::{Driver, HostElements, PointerKind, StreamRef};
use sconce_sim::{Intent, MemoryAccess};

use checked::CheckedDriver;
use checker::{Checker, Reading, Told, Use};
use meetings::{Meetings, Met, Way};
use pattern::Pattern;
pub use report::{FindingKind, Report, ReportedAccess};
use watch::Waits;

/// What is called with each report.
pub type Callback = Arc<dyn Fn(&Report) + Send + Sync>;

/// The sanitizer of the process.
pub struct Sanitizer {
    checker: Mutex<rank::Sanitizer, Checker>,
    pinned: Mutex<rank::SanitizerPinned, BTreeMap<usize, usize>>,
    meetings: Mutex<rank::SanitizerKernels, Meetings>,
    callback: Mutex<rank::SanitizerKernels, Option<Callback>>,
    waits: Mutex<rank::SanitizerWaits, Waits>,
    driver: &'static dyn Driver,
    is_enabled: AtomicBool,
    config: SanitizerConfig,
    /// Whether nothing but the library writes memory of devices, and the program's own memory lies elsewhere.
    knows_writers: bool,
    /// The driver in front of the backend.
    front: OnceCell<rank::SanitizerKernels, &'static CheckedDriver>,
}

static SANITIZER: OnceCell<rank::SanitizerKernels, Arc<Sanitizer>> = OnceCell::new();

/// The sanitizer, if the backend was opened with it. None in a forked child, where a lock may be held for ever.
pub fn sanitizer() -> Option<&'static Sanitizer> {
    if process::in_child() {
        return None;
    }
    SANITIZER.get().map(|sanitizer| &**sanitizer)
}

/// Puts the checks in front of a driver. The driver and the checks live as long as the process. `knows_writers`:
/// whether nothing but the library writes memory of devices, as on simulated ones.
pub fn wrap(
    inner: &'static dyn Driver,
    config: &SanitizerConfig,
    knows_writers: bool,
) -> &'static dyn Driver {
    let sanitizer = SANITIZER.get_or_init(|| {
        let mut checker = Checker::default();
        if config.page.is_some() {
            checker.keep_history(Some(page::USUAL_OPERATIONS));
            if let Err(why) = process::at_exit(save_page_at_exit) {
                log::warn(format_args!("{why}; the page of the run will not be written"));
            }
        }
        if knows_writers {
            checker.follow_unwritten();
        }
        Arc::new(Sanitizer {
            checker: Mutex::new(checker),
            pinned: Mutex::default(),
            meetings: Mutex::default(),
            callback: Mutex::default(),
            waits: Mutex::default(),
            driver: inner,
            is_enabled: AtomicBool::new(true),
            config: config.clone(),
            knows_writers,
            front: OnceCell::new(),
        })
    });
    let driver: &'static CheckedDriver =
        Box::leak(Box::new(CheckedDriver::new(inner, Arc::clone(sanitizer))));
    let _ = sanitizer.front.set(driver);
    driver
}

/// Writes the page of the run that the environment asks for.
extern "C" fn save_page_at_exit() {
    // A forked child has the parent's run, and locks that may be held for ever.
    if let (false, Some(sanitizer)) = (process::in_child(), sanitizer()) {
        sanitizer.save_page_at_end();
    }
}

/// Memory that a program declares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeclaredRange {
    /// The first byte.
    pub address: u64,
    /// How many; `None`: to the end of the block.
    pub bytes: Option<u64>,
    /// Whether the memory is written.
    pub writes: bool,
}

/// Elements of a tensor that an operation uses.
#[derive(Clone, Copy, Debug)]
pub struct DeclaredTensor<'a> {
    /// Where the first one lies, how large each is, how many there are, and how far apart.
    pub elements: HostElements<'a>,
    /// The stream that uses them; `None` for tensors of the CPU.
    pub stream: Option<StreamRef>,
    /// Whether they are written.
    pub writes: bool,
}

impl DeclaredTensor<'_> {
    fn used(&self) -> Use {
        // What a schema says is read need not be read to the last byte, so it may be partly unwritten.
        Use { reading: Reading::None, ..Use::new(self.writes, pattern_of(&self.elements)) }
    }
}

fn pattern_of(elements: &HostElements<'_>) -> Pattern {
    let HostElements { address, element, sizes, strides } = *elements;
    let axis = |(size, stride): (&i64, &i64)| {
        (u64::try_from(*size).unwrap_or(0), stride.saturating_mul(element as i64))
    };
    let axes = sizes.iter().zip(strides).map(axis);
    Pattern::of(&MemoryAccess::strided(Intent::Read, address as u64, element as u64, axes))
}

/// What was known of a send or a receive when it was queued.
enum Transferred {
    Captured,
    Queued(Option<Met>),
}

#[cold]
fn gone(address: u64) -> Error {
    Error::invalid_argument(format!(
        "memory at {address:#x} was given back to the driver before this use; free it after its last use"
    ))
}

impl Sanitizer {
    /// Tells the checker something, unless it is switched off.
    fn tell(&self, what: impl FnOnce(&mut Checker)) {
        if !self.is_enabled() {
            return;
        }
        let mut checker = self.checker.lock();
        what(&mut checker);
        let new = checker.reports.take_new();
        drop(checker);
        for report in new {
            self.pass_on(&report);
        }
    }

    /// Work that a call queues; `uses` as in [`Checker::queued`]. What the driver refuses was never done. Work on
    /// memory that was given back to the driver is refused here: the device, or a simulated one's process, would not
    /// survive it.
    fn queue<T>(
        &self,
        stream: StreamRef,
        name: &str,
        uses: Option<Vec<Use>>,
        call: impl FnOnce() -> Result<T>,
    ) -> Result<T> {
        let capture = self.capture_of(stream);
        let queued = |checker: &mut Checker| {
            checker.found_capture(stream, capture);
            checker.queued(stream, name, uses)
        };
        self.attempt(queued, call)
    }

    /// The number of the capture that a stream is in, as the driver has it: captures of other code say nothing.
    fn capture_of(&self, stream: StreamRef) -> Option<u64> {
        if !self.is_enabled() {
            return None;
        }
        self.driver.stream_seen_capture(stream)
    }

    /// An operation that `what` tells and `call` queues: its number is what the first returns.
    fn attempt<T>(
        &self,
        what: impl FnOnce(&mut Checker) -> Told,
        call: impl FnOnce() -> Result<T>,
    ) -> Result<T> {
        let mut told = None;
        self.tell(|checker| told = Some(what(checker)));
        if let Some(address) = told.as_ref().and_then(|told| told.released) {
            return Err(gone(address));
        }
        let result = call();
        if let Some(Told { number, .. }) = told.filter(|_| result.is_err()) {
            self.note(|checker| checker.refused(number));
        }
        result
    }

    /// Tells the checker of an object that was made, used in order or destroyed, also while it is switched off:
    /// otherwise it would take the next object of that number for the old one. Never the cause of a report.
    fn note<T>(&self, what: impl FnOnce(&mut Checker) -> T) -> T {
        what(&mut self.checker.lock())
    }

    fn pass_on(&self, report: &Report) {
        log::warn(format_args!("sanitizer: {}", report.text()));
        if let Some(path) = &self.config.file {
            let file = OpenOptions::new().create(true).append(true).open(path);
            // One write, so that lines of several processes do not mix.
            if let Err(why) = file.and_then(|mut file| file.write_all(report.json().as_bytes())) {
                log::error(format_args!("SCONCE_SANITIZER_FILE: {path} cannot be written ({why})"));
            }
        }
        let callback = self.callback.lock().clone();
        if let Some(callback) = callback {
            // A function of the program, while locks of the library may be held.
            let report = report.clone();
            later(move || callback(&report));
        }
        if self.config.aborts {
            let _ = writeln!(std::io::stderr(), "sconce sanitizer: {}", report.text());
            self.save_page_at_end();
            std::process::abort();
        }
    }

    /// Keeps so many of the newest operations, and those of reports, for the page of the run; `None`: none, and forgets
    /// what was kept.
    pub fn record_history(&self, most: Option<usize>) {
        self.checker.lock().keep_history(most);
    }

    /// Writes the page of the run so far.
    pub fn save_page(&self, path: &Path) -> Result<()> {
        let checker = self.checker.lock();
        let Some((history, order)) = checker.kept() else {
            return Err(Error::new(
                Status::InvalidState,
                "nothing of the run was kept; set SCONCE_SANITIZER_PAGE, or call sconce_sanitizer_record_history before \
                 the work",
            ));
        };
        let run = page::Run::of(history, order, checker.unknown(), checker.reports.all());
        // To look up names takes a while; the threads of the program go on.
        drop(checker);
        whole_file::write(path, page::page(&run).as_bytes()).map_err(|reason| {
            Error::new(Status::Io, format!("path {} cannot be written: {reason}", path.display()))
        })
    }

    /// Writes the page that the environment asks for, where nobody hears of a failure but from standard error.
    fn save_page_at_end(&self) {
        let Some(path) = &self.config.page else { return };
        let path = page::path_of_process(path);
        match self.save_page(Path::new(&path)) {
            Ok(()) => log::info(format_args!("sanitizer: the run is drawn in {path}")),
            // The program has told the library to forget the run.
            Err(why) if why.status() == Status::InvalidState => {}
            Err(why) => {
                let _ = writeln!(
                    std::io::stderr(),
                    "sconce error: SCONCE_SANITIZER_PAGE: {}",
                    why.message()
                );
            }
        }
    }

    /// Whether calls are checked.
    pub fn is_enabled(&self) -> bool {
        self.is_enabled.load(Ordering::Relaxed)
    }

    /// Switches the checks on or off. What was done while they were off is not known: it counts as done when they are
    /// switched on.
    pub fn set_enabled(&self, enabled: bool) {
        // Under the lock: the checker must hear of every block in memory that it hears of after this.
        let mut checker = self.checker.lock();
        match (self.is_enabled(), enabled) {
            (false, true) => checker.begin_again(),
            (true, false) => checker.pauses(),
            _ => {}
        }
        self.is_enabled.store(enabled, Ordering::Relaxed);
    }

    /// What is called with each report, after it was written: at the end of the call, or of the next one of any thread.
    pub fn set_callback(&self, callback: Option<Callback>) {
        *self.callback.lock() = callback;
    }

    /// The report of a number from 0 on.
    pub fn report(&self, index: usize) -> Option<Report> {
        self.checker.lock().reports.all().get(index).cloned()
    }

    /// How many reports there are.
    pub fn count(&self) -> usize {
        self.checker.lock().reports.all().len()
    }

    /// How many operations were checked, and of how many nothing was known.
    pub fn operations(&self) -> (u64, u64) {
        let checker = self.checker.lock();
        (checker.operations(), checker.unknown())
    }

    /// Forgets the reports; their places are reported again.
    pub fn clear(&self) {
        self.checker.lock().forget_reports();
    }

    /// Memory that work of the program on a stream uses, as an operation of its own.
    pub fn access(&self, stream: StreamRef, name: &str, ranges: &[DeclaredRange]) {
        let uses = self.uses(ranges);
        // Nothing is called that could be refused.
        self.tell(|checker| _ = checker.queued(stream, name, Some(uses)));
    }

    /// Memory that the next launch of a kernel by the calling thread uses; none takes the last declaration back.
    pub fn declare_launch(&self, ranges: &[DeclaredRange]) {
        let uses = (self.is_enabled() && !ranges.is_empty()).then(|| self.uses(ranges));
        scope::declare_launch(uses);
    }

    /// Memory that the host uses by now.
    pub fn host_access(&self, name: &str, range: DeclaredRange) {
        if self.is_enabled() && self.is_pinned(range.address as usize) {
            let uses = self.uses(&[range]);
            self.tell(|checker| uses.iter().for_each(|it| checker.host_uses(name, it)));
        }
    }

    /// Other processes have waited for what they did to memory that is open here.
    pub fn heard_from_processes(&self) {
        self.tell(Checker::processes_done);
    }

    /// The library's own work of the processor uses elements of a tensor.
    fn host_uses(&self, elements: &HostElements<'_>, writes: bool) {
        if self.is_pinned(elements.address) {
            let it = Use::new(writes, pattern_of(elements));
            self.tell(|checker| checker.host_uses("work of the processor", &it));
        }
    }

    /// An operation of the calling thread begins that uses tensors, and may consist of many calls. One that begins
    /// within another one is a part of it.
    pub fn begin_operation(&self, name: &str, tensors: &[DeclaredTensor<'_>]) {
        let memory = || tensors.iter().map(|it| scope::extent(&it.used().pattern)).collect();
        if scope::begin(name, memory) {
            self.operation(name, tensors);
        }
    }

    /// The newest operation of the calling thread ends, and has written tensors. Those that lie in memory of the
    /// beginning are left out.
    pub fn end_operation(&self, tensors: &[DeclaredTensor<'_>]) {
        let Some((name, memory)) = scope::end() else { return };
        self.tell(Checker::may_write_elsewhere);
        let is_new = |it: &&DeclaredTensor<'_>| {
            let (start, end) = scope::extent(&it.used().pattern);
            !memory.iter().any(|(first, last)| start < *last && *first < end)
        };
        let new: Vec<DeclaredTensor<'_>> = tensors.iter().filter(is_new).copied().collect();
        self.operation(&name, &new);
    }

    fn operation(&self, name: &str, tensors: &[DeclaredTensor<'_>]) {
        let mut streams: Vec<StreamRef> = Vec::new();
        for stream in tensors.iter().filter_map(|it| it.stream) {
            if !streams.contains(&stream) {
                streams.push(stream);
            }
        }
        for stream in &streams {
            let own = tensors.iter().filter(|it| it.stream == Some(*stream));
            let uses = own.map(DeclaredTensor::used).collect();
            self.tell(|checker| {
                checker.queued(*stream, name, Some(uses));
            });
        }
        // Beside tensors of devices, nobody knows whether the host or a stream uses one of the CPU.
        if streams.is_empty() {
            let pinned = tensors.iter().filter(|it| self.is_pinned(it.elements.address));
            for it in pinned {
                self.tell(|checker| checker.host_uses(name, &it.used()));
            }
        }
    }

    fn uses(&self, ranges: &[DeclaredRange]) -> Vec<Use> {
        let to_the_end = |address: u64| {
            let block = self.checker.lock().block_at(address);
            block.map_or(1, |(start, bytes)| (start + bytes).saturating_sub(address))
        };
        let of = |range: &DeclaredRange| {
            let bytes = range.bytes.unwrap_or_else(|| to_the_end(range.address));
            if range.writes {
                Use::writes(range.address, bytes)
            } else {
                Use::reads(range.address, bytes)
            }
        };
        // A null pointer is an operand that is absent.
        ranges.iter().filter(|range| range.address != 0).map(of).collect()
    }

    /// Whether an address is in memory of a simulated device that was given back.
    fn is_released(&self, address: usize) -> bool {
        self.knows_writers && self.is_enabled() && self.checker.lock().is_released(address as u64)
    }

    /// A call has been passed an address that is no memory of a device any more. On a GPU such an address may have
    /// become the program's own memory; the simulator keeps its addresses.
    fn passed_address(&self, address: usize) -> Result<()> {
        if !self.knows_writers {
            return Ok(());
        }
        let mut is_released = false;
        self.tell(|checker| is_released = checker.host_passes(address as u64));
        if is_released { Err(gone(address as u64)) } else { Ok(()) }
    }

    fn is_pinned(&self, address: usize) -> bool {
        let pinned = self.pinned.lock();
        pinned.range(..=address).next_back().is_some_and(|(start, bytes)| address - start < *bytes)
    }

    fn is_pinned_or_device(&self, driver: &dyn Driver, address: usize) -> bool {
        let is_shared = |kind: PointerKind| kind != PointerKind::Unregistered;
        self.is_pinned(address)
            || driver.pointer_info(address).is_ok_and(|info| is_shared(info.kind))
    }

    /// A send or a receive: what precedes the send precedes what follows its receive.
    fn transfer(&self, name: &[u8], way: Way, sends: bool, stream: StreamRef) -> Transferred {
        let mut meetings = self.meetings.lock();
        // What is captured runs with each launch, whenever that is.
        let Some(part) = self.note(|checker| checker.part(stream)) else {
            return Transferred::Captured;
        };
        let met = meetings.transfer(name, way, sends, part);
        if let Some(Met { to, clock }) = met.as_ref().filter(|_| self.is_enabled()) {
            self.note(|checker| checker.follows_call(*to, clock));
        }
        Transferred::Queued(met)
    }

    /// A collective call of one rank: what precedes the calls of the other ranks precedes what follows it.
    fn meet(&self, communicator: &[u8], call: u64, stream: StreamRef) {
        self.meetings.lock().meet(communicator, call, |before| {
            // It makes no report, which could not be passed on here: a lock is held.
            if self.is_enabled() {
                self.note(|checker| checker.joined(stream, before))
            } else {
                None
            }
        });
    }
}
