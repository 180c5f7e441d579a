//! A second process that carries out commands: this binary, run again.
//!
//! The two talk in lines over the other one's standard input and output. The test harness writes there
//! too, so what is meant for the first process begins with a mark.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{ChildStdin, ChildStdout, Command, Stdio};

use sconce::sim_controls as sim;
use sconce_base::error::Result;
use sconce_base::types::DevicePtr;
use sconce_driver::IpcHandle;
use sconce_runtime::{event, ipc, memory};

use crate::device;

const ROLE: &str = "SCONCE_TEST_REMOTE";
const MARK: &str = "> ";

/// What a call gave in the other process: words, or the status and the message.
pub(crate) type Answer = std::result::Result<String, (String, String)>;

/// The other process.
pub(crate) struct Remote {
    pub(crate) process: std::process::Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Remote {
    pub(crate) fn start() -> Remote {
        Remote::start_with(&[])
    }

    /// One whose memory is made of pages.
    pub(crate) fn start_with_pages() -> Remote {
        Remote::start_with(&[("SCONCE_ALLOC_CONF", "policy:pages")])
    }

    pub(crate) fn start_with(environment: &[(&str, &str)]) -> Remote {
        let mut process = Command::new(std::env::current_exe().unwrap())
            .args(["remote::obey", "--exact", "--nocapture"])
            .env(ROLE, "1")
            .env_remove("SCONCE_TEST_SCENARIO")
            .env_remove("PYTORCH_NO_CUDA_MEMORY_CACHING")
            .envs(environment.iter().copied())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let input = process.stdin.take().unwrap();
        let output = BufReader::new(process.stdout.take().unwrap());
        Remote { process, input, output }
    }

    /// Says what to do, and does not wait for it.
    pub(crate) fn tell(&mut self, what: &str) {
        writeln!(self.input, "{what}").unwrap();
        self.input.flush().unwrap();
    }

    /// What came of the oldest thing told.
    #[track_caller]
    pub(crate) fn hear(&mut self) -> Answer {
        let mut line = String::new();
        loop {
            line.clear();
            assert!(self.output.read_line(&mut line).unwrap() > 0, "the other process has ended");
            let Some(words) = line.strip_prefix(MARK) else { continue };
            let (kind, words) = words.trim_end_matches('\n').split_once(' ').unwrap();
            if kind == "ok" {
                return Ok(words.to_owned());
            }
            let (status, message) = words.split_once(' ').unwrap();
            return Err((status.to_owned(), message.to_owned()));
        }
    }

    #[track_caller]
    pub(crate) fn ask(&mut self, what: &str) -> Answer {
        self.tell(what);
        self.hear()
    }

    #[track_caller]
    pub(crate) fn number(&mut self, what: &str) -> usize {
        self.ask(what).unwrap().parse().unwrap()
    }

    pub(crate) fn tell_open(&mut self, (handle, offset): &(IpcHandle, usize)) {
        self.tell(&format!("open 0 {} {offset}", to_hex(&handle.0)));
    }

    /// Opens memory there; the address there.
    #[track_caller]
    pub(crate) fn open(&mut self, export: &(IpcHandle, usize)) -> usize {
        self.try_open(export).unwrap().parse().unwrap()
    }

    #[track_caller]
    pub(crate) fn try_open(&mut self, export: &(IpcHandle, usize)) -> Answer {
        self.tell_open(export);
        self.hear()
    }

    #[track_caller]
    pub(crate) fn close(&mut self, address: usize) {
        self.ask(&format!("close {address}")).unwrap();
    }

    #[track_caller]
    pub(crate) fn read(&mut self, address: usize, bytes: usize) -> Vec<u8> {
        from_hex(&self.ask(&format!("read {address} {bytes}")).unwrap())
    }

    /// Whether all of so many bytes are of this value.
    #[track_caller]
    pub(crate) fn holds(&mut self, address: usize, byte: u8, bytes: usize) -> bool {
        self.ask(&format!("holds {address} {byte} {bytes}")).unwrap() == "true"
    }

    #[track_caller]
    pub(crate) fn fill(&mut self, address: usize, byte: u8, bytes: usize) {
        self.ask(&format!("fill {address} {byte} {bytes}")).unwrap();
    }

    /// What it exports.
    #[track_caller]
    pub(crate) fn export(&mut self, address: usize) -> (IpcHandle, usize) {
        let words = self.ask(&format!("export {address}")).unwrap();
        let (handle, offset) = words.split_once(' ').unwrap();
        (IpcHandle(from_hex(handle).try_into().unwrap()), offset.parse().unwrap())
    }

    /// The driver's handle of the allocation that holds an address.
    #[track_caller]
    pub(crate) fn export_without_door(&mut self, address: usize) -> IpcHandle {
        IpcHandle(from_hex(&self.ask(&format!("raw {address}")).unwrap()).try_into().unwrap())
    }

    /// Ends it as no program would.
    pub(crate) fn kill(&mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }
}

impl Drop for Remote {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

pub(crate) fn to_hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn from_hex(text: &str) -> Vec<u8> {
    let digits: Vec<u32> = text.chars().map(|digit| digit.to_digit(16).unwrap()).collect();
    digits.chunks(2).map(|pair| (pair[0] << 4 | pair[1]) as u8).collect()
}

/// The other process's part; in a run of the tests nothing.
#[test]
fn obey() {
    if std::env::var_os(ROLE).is_none() {
        return;
    }
    device::runtime();
    for line in std::io::stdin().lines() {
        let line = line.unwrap();
        let words: Vec<&str> = line.split(' ').collect();
        let answer = match act(&words) {
            Ok(words) => format!("ok {words}"),
            Err(error) => format!("error {}", error).replace(": ", " "),
        };
        // The harness may be amid a line.
        println!("\n{MARK}{answer}");
        std::io::stdout().flush().unwrap();
    }
}

fn act(words: &[&str]) -> Result<String> {
    let number = |at: usize| words[at].parse::<usize>().unwrap();
    let nothing = |()| String::new();
    match words[0] {
        "open" => {
            let handle = IpcHandle(from_hex(words[2]).try_into().unwrap());
            Ok(ipc::open(number(1) as i32, &handle, number(3))?.to_string())
        }
        "close" => ipc::close(number(1)).map(nothing),
        "read" => Ok(to_hex(&device::read(number(1), number(2)))),
        "holds" => {
            let (data, value) = (device::read(number(1), number(3)), number(2) as u8);
            Ok(data.iter().all(|byte| *byte == value).to_string())
        }
        "fill" => {
            device::fill(number(1), number(2) as u8, number(3));
            Ok(String::new())
        }
        "alloc" => Ok(memory::alloc(number(1))?.to_string()),
        "free" => memory::free(number(1)).map(nothing),
        "export" => {
            let (handle, offset) = ipc::export(number(1))?;
            Ok(format!("{} {offset}", to_hex(&handle.0)))
        }
        "raw" => {
            let base = memory::base_of(number(1))?.0 as u64;
            let handle = device::runtime().driver().ipc_memory_export(DevicePtr(base))?;
            Ok(to_hex(&handle.0))
        }
        "collect" => ipc::collect().map(nothing),
        "empty" => memory::empty_cache().map(nothing),
        "fault" => sim::fail_call(words[1], number(2) as u64, 999).map(nothing),
        "clear" => {
            sconce::sim_controls::clear_faults().unwrap();
            Ok(String::new())
        }
        "count" => Ok(sim::call_count(words[1])?.to_string()),
        "fork" => Ok(device::fork_a_sleeper().to_string()),
        "await" => {
            let handle = IpcHandle(from_hex(words[1]).try_into().unwrap());
            let opened = event::from_ipc_handle(0, &handle)?;
            event::synchronize(opened)?;
            event::destroy(opened).map(nothing)
        }
        "virtual" => Ok(device::map_virtual(number(1) == 1).ptr.0.to_string()),
        // How many descriptors it may have open, beyond those that it has.
        "limit" => {
            let open = std::fs::read_dir("/proc/self/fd").unwrap().count() as u64;
            let current = Some(open + number(1) as u64);
            let limit = rustix::process::getrlimit(rustix::process::Resource::Nofile);
            let limit = rustix::process::Rlimit { current, ..limit };
            rustix::process::setrlimit(rustix::process::Resource::Nofile, limit).unwrap();
            Ok(String::new())
        }
        "sharing" => Ok(device::shared_descriptors().to_string()),
        // Opens and closes as fast as it can, and says how often it was let in.
        "storm" => {
            let handle = IpcHandle(from_hex(words[1]).try_into().unwrap());
            let mut opened = 0;
            for round in 0..number(3) {
                if let Ok(address) = ipc::open(0, &handle, number(2)) {
                    opened += 1;
                    let first = device::read(address, 1)[0];
                    device::fill(address, first, 1);
                    if round % 3 == 0 {
                        std::thread::yield_now();
                    }
                    ipc::close(address)?;
                }
            }
            Ok(opened.to_string())
        }
        other => panic!("unknown: {other}"),
    }
}
