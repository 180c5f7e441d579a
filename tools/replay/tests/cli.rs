//! The program from outside, on the simulator: what it prints, and how it ends.

#![allow(clippy::unwrap_used, reason = "a failure of a test is a panic")]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

/// Two streams and a block that is never freed.
const TINY: &str = "# {\"workload\": \"tiny\", \"torch\": \"2.11.0\", \"peak_requested\": 3001000, \
                    \"peak_allocated\": 3001344, \"peak_reserved\": 23068672}\n\
                    a,0,1000,0\na,1,3000000,0\nf,0,1000,0\na,2,500,1\nf,1,3000000,0\n";

/// A file of this test in the folder that cargo gives to tests.
fn file(name: &str, text: impl AsRef<[u8]>) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::write(&path, text).unwrap();
    path
}

fn replay(arguments: &[&str], trace: &Path) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_sconce-replay"));
    for (name, _) in std::env::vars_os() {
        let text = name.to_string_lossy();
        if text.starts_with("SCONCE_") || text.starts_with("PYTORCH_") {
            command.env_remove(name);
        }
    }
    command.args(["--backend", "sim"]).args(arguments).arg(trace).output().unwrap()
}

#[track_caller]
fn printed(output: &Output) -> String {
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{}: {errors}", output.status);
    String::from_utf8(output.stdout.clone()).unwrap()
}

#[track_caller]
fn refused(output: &Output, words: &[&str]) {
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{errors}");
    for words in words {
        assert!(errors.contains(words), "{words:?} is not in {errors}");
    }
    assert!(!errors.contains("panicked"), "{errors}");
}

fn line<'a>(text: &'a str, name: &str) -> &'a str {
    text.lines().find(|line| line.starts_with(name)).unwrap_or_else(|| panic!("{name}: {text}"))
}

#[test]
fn the_table_stands_beside_what_was_recorded() {
    let text = printed(&replay(&[], &file("table.csv", TINY)));
    assert!(text.starts_with("tiny: 5 events, 3 allocations, 2 streams; recorded with PyTorch"));
    // 1,000 and 3,000,000 bytes live; 1,024 and 3,000,320; 2 MiB and 20 MiB and then 2 MiB more.
    assert!(line(&text, "peak requested").ends_with("equal"), "{text}");
    assert!(line(&text, "peak allocated").ends_with("equal"), "{text}");
    assert!(
        line(&text, "peak reserved").ends_with("differs by +2097152 bytes (+9.09 %)"),
        "{text}"
    );
    assert!(line(&text, "driver calls").ends_with("3"), "{text}");
    assert!(line(&text, "later passes").ends_with("ns/event"), "{text}");
}

#[test]
fn json_holds_the_figures_and_threads_have_streams_of_their_own() {
    let text = printed(&replay(&["--json", "--threads=3", "--repeat=2"], &file("json.csv", TINY)));
    let report: Value = serde_json::from_str(&text).unwrap();
    let ours = &report["measurements"][0];
    assert_eq!(ours["threads"], 3);
    // Every thread has segments of its own: 24 MiB each.
    assert_eq!(ours["peak_reserved"], 3 * (24 << 20));
    assert_eq!(ours["driver_calls"], 9);
    assert_eq!(report["recorded"]["peak_requested"], 3_001_000);
}

#[test]
fn configurations_stand_side_by_side_and_do_not_meet() {
    let settings = "large_segment_size_mb:32";
    let arguments = ["--compare", settings, "--compare", "uncached", "--compare", ""];
    let text = printed(&replay(&arguments, &file("compare.csv", TINY)));
    let head = text.lines().find(|line| line.contains("uncached")).unwrap();
    let columns: Vec<&str> = head.split_whitespace().collect();
    assert_eq!(columns, ["recorded", "default", settings, "uncached", "default"]);
    let reserved: Vec<&str> = line(&text, "peak reserved").split_whitespace().collect();
    assert_eq!(reserved[2..], ["22.0", "MiB", "24.0", "MiB", "36.0", "MiB", "-", "24.0", "MiB"]);
    let calls: Vec<&str> = line(&text, "driver calls").split_whitespace().collect();
    assert_eq!(calls[2..], ["-", "3", "3", "5", "3"]);
}

#[test]
fn memory_that_runs_out_names_the_event() {
    let trace = file("out.csv", "a,0,4000000,0\na,1,90000000,0\n");
    let output = replay(&["--sim-memory=64M"], &trace);
    refused(&output, &["event 2 of 2, allocating 90000000 bytes on stream 0", "OUT_OF_MEMORY"]);
    // Another thread's failure ends all of them.
    refused(&replay(&["--sim-memory=64M", "--threads=4"], &trace), &["OUT_OF_MEMORY"]);
}

#[test]
fn every_pass_finds_the_memory_that_the_last_one_left() {
    let trace = file("passes.csv", "a,0,40000000,0\n");
    printed(&replay(&["--sim-memory=64M", "--repeat=3"], &trace));
}

#[test]
fn what_cannot_be_read_names_file_and_line() {
    refused(&replay(&[], &file("bad.csv", "a,0,1,0\na,1,x,0\n")), &["bad.csv: line 2: BYTES"]);
    refused(&replay(&[], Path::new("/nowhere.csv")), &["/nowhere.csv: No such file"]);
    refused(&replay(&[], &file("junk.pickle", b"\x80\x04junk")), &["junk.pickle: it is no memory"]);
}

#[test]
fn settings_that_make_no_sense_are_refused() {
    let trace = file("settings.csv", TINY);
    refused(&replay(&["--conf=max_split_size_mb:1"], &trace), &["max_split_size_mb"]);
    let compared = replay(&["--compare=nonsense:1"], &trace);
    refused(&compared, &["nonsense", "--compare \"nonsense:1\""]);
}

#[test]
fn a_wrong_command_line_is_a_usage_error() {
    let trace = file("usage.csv", TINY);
    for arguments in [&["--threads=0"][..], &["--sim-memory=much"], &["--compare=", "--summary"]] {
        assert_eq!(replay(arguments, &trace).status.code(), Some(2), "{arguments:?}");
    }
}

#[test]
fn a_snapshot_with_history_is_replayed() {
    let entry = |action: &str, address: u64, bytes: u64| {
        format!(
            r#"{{"action": "{action}", "addr": {address}, "size": {bytes}, "stream": 0, "frames": []}}"#
        )
    };
    let history = [
        entry("segment_alloc", 4096, 2 << 20),
        entry("alloc", 4096, 700),
        entry("free_requested", 4096, 700),
        entry("free_completed", 4096, 700),
    ];
    let text = format!(
        r#"{{"segments": [{{"device": 0, "address": 4096, "total_size": 2097152, "stream": 0,
            "blocks": [{{"size": 2097152, "requested_size": 0, "state": "inactive"}}]}}],
            "device_traces": [[{}]]}}"#,
        history.join(", ")
    );
    let text = printed(&replay(&[], &file("snapshot.json", text)));
    assert!(text.starts_with("snapshot.json: 2 events, 1 allocation"), "{text}");
    assert!(line(&text, "peak reserved").ends_with("equal"), "{text}");
}

#[test]
fn the_summary_and_the_snapshot_are_of_the_end_of_the_first_pass() {
    for name in ["written.json", "written.pickle"] {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        let snapshot = format!("--snapshot={}", path.display());
        let trace = file(&format!("{name}.csv"), TINY);
        let text = printed(&replay(&["--summary", &snapshot], &trace));
        assert!(text.contains("Sconce memory summary, device ID 0"), "{text}");
        // The block that is never freed.
        assert!(line(&text, "| Allocated memory ").contains("|    512 B"), "{text}");

        // What was written is a trace itself: the same calls, and the peak that they had here.
        let text = printed(&replay(&[], &path));
        assert!(text.starts_with(&format!("{name}: 5 events, 3 allocations, 2 streams\n")));
        assert!(line(&text, "peak reserved").contains("24.0 MiB"), "{text}");
        assert!(line(&text, "peak reserved").ends_with("equal"), "{text}");
    }
    // A page for a browser.
    let page = Path::new(env!("CARGO_TARGET_TMPDIR")).join("written.html");
    let snapshot = format!("--snapshot={}", page.display());
    printed(&replay(&[&snapshot], &file("page.csv", TINY)));
    assert!(std::fs::read_to_string(page).unwrap().to_lowercase().starts_with("<!doctype html>"));
    let trace = file("ending.csv", TINY);
    let help = printed(&replay(&["--help"], &trace));
    assert!(help.contains(".html for a browser"), "{help}");
    refused(&replay(&["--snapshot=/tmp/x.txt"], &trace), &["/tmp/x.txt", ".pickle"]);
}
