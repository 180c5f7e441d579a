//! Profiling marks against a small tool, built here by the C compiler.
//!
//! A process attaches to a tool once, so each case runs this test binary again as a child: the
//! child makes the calls and prints what it got, the tool writes what it saw into a file.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

mod memory;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

use sconce_base::nvtx;

/// The calls a child makes, by the name of the case.
const CASE: &str = "SCONCE_TEST_NVTX_CASE";

fn tool() -> &'static Path {
    static TOOL: OnceLock<PathBuf> = OnceLock::new();
    TOOL.get_or_init(|| {
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("testkit/fake_nvtx/tool.c");
        // Tests may run as a process each: the name keeps them apart.
        let library = scratch(&format!("libfake_nvtx-{}.so", std::process::id()));
        let compiler = std::env::var("CC").unwrap_or_else(|_| "cc".to_owned());
        let status = Command::new(compiler)
            .args(["-std=gnu11", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", "-o"])
            .args([&library, &source])
            .status()
            .expect("a C compiler is needed");
        assert!(status.success(), "{} does not compile", source.display());
        library
    })
}

fn scratch(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(name)
}

struct Child {
    command: Command,
    log: PathBuf,
}

struct Seen {
    /// The lines the child printed.
    got: Vec<String>,
    /// The lines the tool wrote.
    tool: Vec<String>,
    stderr: String,
}

impl Child {
    fn new(case: &str, name: &str) -> Child {
        let log = scratch(&format!("nvtx-{name}-{}.log", std::process::id()));
        let _ = fs::remove_file(&log);
        let mut command = Command::new(std::env::current_exe().unwrap());
        command
            .args(["--exact", "nvtx::child", "--ignored", "--nocapture", "--test-threads=1"])
            .env(CASE, case)
            .env("FAKE_NVTX_LOG", &log)
            .env("NVTX_INJECTION64_PATH", tool())
            .env_remove("FAKE_NVTX_MODE")
            .env_remove("SCONCE_LOG");
        Child { command, log }
    }

    fn env(mut self, name: &str, value: &str) -> Child {
        self.command.env(name, value);
        self
    }

    fn run(mut self) -> Seen {
        let Output { status, stdout, stderr } = self.command.output().unwrap();
        let stdout = String::from_utf8_lossy(&stdout);
        let stderr = String::from_utf8_lossy(&stderr).into_owned();
        assert!(status.success(), "{status}\n{stdout}\n{stderr}");
        let got = stdout.lines().filter_map(|line| line.strip_prefix("got ")).map(str::to_owned);
        let tool = fs::read_to_string(&self.log).unwrap_or_default();
        let _ = fs::remove_file(&self.log);
        Seen { got: got.collect(), tool: tool.lines().map(str::to_owned).collect(), stderr }
    }
}

impl Seen {
    /// What the tool saw after it was attached.
    fn events(&self) -> Vec<&str> {
        self.tool.iter().map(String::as_str).filter(|line| !line.starts_with("attach ")).collect()
    }

    fn warnings(&self) -> usize {
        self.stderr.matches("sconce warning").count()
    }
}

/// Not a test: what the others run in a process of its own.
#[test]
#[ignore = "run by the other tests, in a child process"]
fn child() {
    // The harness writes `test child ... ` without a line end first.
    println!();
    std::thread::spawn(|| {
        std::thread::sleep(std::time::Duration::from_secs(20));
        eprintln!("the calls hang");
        std::process::abort();
    });
    match std::env::var(CASE).as_deref() {
        Ok("calls") => calls(),
        Ok("threads") => threads(),
        Ok("reentrant") => reentrant(),
        Ok("memory") => memory::blocks(),
        Ok("captured blocks") => memory::captured_blocks(),
        Ok("segments") => memory::segments(),
        Ok("sleeping pool") => memory::sleeping_pool(),
        Ok("refused release") => memory::refused_release(),
        Ok("many blocks") => memory::many_blocks(),
        other => panic!("{CASE} names no case: {other:?}"),
    }
}

fn calls() {
    nvtx::mark(c"begin");
    println!("got push {}", nvtx::range_push(c"outer"));
    println!("got push {}", nvtx::range_push(c"inner"));
    println!("got pop {}", nvtx::range_pop());
    let first = nvtx::range_start(c"first");
    let second = nvtx::range_start(c"second");
    println!("got start {first}");
    println!("got start {second}");
    nvtx::range_end(first);
    nvtx::range_end(second);
    println!("got pop {}", nvtx::range_pop());
    println!("got pop {}", nvtx::range_pop());
    nvtx::mark(c"end");
}

fn threads() {
    let barrier = std::sync::Barrier::new(8);
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                barrier.wait();
                assert_eq!(nvtx::range_push(c"thread"), 100);
                nvtx::mark(c"thread");
                assert_eq!(nvtx::range_pop(), 100);
            });
        }
    });
}

extern "C" fn mark_while_attaching() {
    nvtx::mark(c"too early");
}

fn reentrant() {
    let path = std::env::var("FAKE_NVTX_CALL").unwrap();
    fs::write(path, format!("{}", mark_while_attaching as *const () as usize)).unwrap();
    nvtx::mark(c"in time");
}

#[test]
fn a_tool_sees_every_call_and_its_own_numbers_come_back() {
    let seen = Child::new("calls", "full").run();
    assert_eq!(
        seen.events(),
        [
            "mark begin 0",
            "push outer 100",
            "push inner 101",
            "pop - 101",
            "start first 1000",
            "start second 1001",
            "end - 1000",
            "end - 1001",
            "pop - 100",
            "pop - -7",
            "mark end 0",
        ]
    );
    assert_eq!(
        seen.got,
        ["push 100", "push 101", "pop 101", "start 1000", "start 1001", "pop 100", "pop -7"]
    );
    assert_eq!(seen.warnings(), 0, "{}", seen.stderr);
}

#[test]
fn the_handshake_has_the_layouts_and_tables_of_version_3() {
    let seen = Child::new("calls", "handshake").run();
    let attach: Vec<&str> =
        seen.tool.iter().filter_map(|line| line.strip_prefix("attach ")).collect();
    assert_eq!(
        attach,
        [
            "version 3",
            "callbacks 16",
            "versions 24",
            "unknown-export 0",
            "module-1 -1",
            "module0 -1",
            "module1 16",
            "module2 9",
            "module3 15",
            "module4 7",
            "module5 16",
            "module6 7",
            "module7 -1",
            "module8 -1",
        ]
    );
}

#[test]
fn slots_the_tool_leaves_empty_are_no_ops_with_depths_kept_here() {
    let seen = Child::new("calls", "marks").env("FAKE_NVTX_MODE", "marks-only").run();
    assert_eq!(seen.events(), ["mark begin 0", "mark end 0"]);
    assert_eq!(seen.got, ["push 0", "push 1", "pop 1", "start 0", "start 0", "pop 0", "pop -1"]);
}

#[test]
fn a_tool_that_refuses_is_said_once_and_never_called() {
    let seen = Child::new("calls", "refuse").env("FAKE_NVTX_MODE", "refuse").run();
    assert_eq!(seen.events(), [""; 0]);
    assert_eq!(seen.got, ["push 0", "push 1", "pop 1", "start 0", "start 0", "pop 0", "pop -1"]);
    assert_eq!(seen.warnings(), 1, "{}", seen.stderr);
    assert!(seen.stderr.contains("returned 0"), "{}", seen.stderr);
}

#[test]
fn a_library_that_is_missing_or_no_tool_is_said_once() {
    for (path, why) in [
        ("/nonexistent/tool.so", "could not be opened"),
        ("libc.so.6", "has no InitializeInjectionNvtx2"),
    ] {
        let seen = Child::new("calls", "missing").env("NVTX_INJECTION64_PATH", path).run();
        assert_eq!(seen.got[0], "push 0");
        assert_eq!(seen.warnings(), 1, "{}", seen.stderr);
        for part in ["NVTX_INJECTION64_PATH", path, why] {
            assert!(seen.stderr.contains(part), "{part} is not in: {}", seen.stderr);
        }
    }
}

#[test]
fn without_the_variable_nothing_is_opened_or_said() {
    let seen = Child::new("calls", "none").env("NVTX_INJECTION64_PATH", "").run();
    assert_eq!(seen.got, ["push 0", "push 1", "pop 1", "start 0", "start 0", "pop 0", "pop -1"]);
    assert_eq!(seen.tool, [""; 0]);
    assert_eq!(seen.warnings(), 0, "{}", seen.stderr);
}

#[test]
fn threads_that_mark_first_at_once_attach_once_and_lose_nothing() {
    let seen = Child::new("threads", "threads").run();
    assert_eq!(seen.tool.iter().filter(|line| *line == "attach version 3").count(), 1);
    for event in ["mark thread 0", "push thread 100", "pop - 100"] {
        assert_eq!(seen.events().iter().filter(|line| **line == event).count(), 8, "{event}");
    }
}

#[test]
fn a_tool_that_marks_while_it_is_attached_does_not_hang() {
    let call = scratch(&format!("nvtx-call-{}", std::process::id()));
    let seen =
        Child::new("reentrant", "reentrant").env("FAKE_NVTX_CALL", call.to_str().unwrap()).run();
    assert_eq!(seen.events(), ["mark in time 0"]);
    let _ = fs::remove_file(call);
}
