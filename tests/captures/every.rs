//! Every exported function, called while another thread captures.

use std::collections::BTreeSet;

use sconce::sconce_status::*;
use testkit::fork::forked_result;

use crate::beside::{Setting, alone, beside, settings};
use crate::calls::{Call, TABLES, all};
use crate::contract::{ANYWAY, REFUSED};

/// What is wrong with a call while nothing is captured.
fn wrong_alone(call: &'static Call) -> Result<(), String> {
    let expected = ANYWAY.iter().find(|(name, _)| *name == call.name).map_or(SCONCE_OK, |it| it.1);
    let (status, message) = alone(call);
    if status == expected {
        return Ok(());
    }
    Err(format!("alone: {status:?} instead of {expected:?}: {message}"))
}

/// What is wrong with a call beside a capture.
fn wrong_beside(setting: Setting, call: &'static Call) -> Result<(), String> {
    let anyway = ANYWAY.iter().find(|(name, _)| *name == call.name).map(|it| it.1);
    let refused = REFUSED.iter().find(|refused| refused.name == call.name);
    let refused = refused.filter(|refused| (refused.beside)(setting));
    let expected = refused.map(|it| it.status).or(anyway).unwrap_or(SCONCE_OK);
    let seen = beside(setting, call);
    let mut wrong = Vec::new();
    if seen.status != expected {
        wrong.push(format!("{:?} instead of {expected:?}: {}", seen.status, seen.message));
    }
    match (seen.capture, refused.is_some_and(|it| it.is_fatal)) {
        (Ok(()), false) | (Err(_), true) => {}
        (Ok(()), true) => wrong.push("the capture survives".to_owned()),
        (Err(message), false) => wrong.push(format!("the capture is lost: {message}")),
    }
    if wrong.is_empty() { Ok(()) } else { Err(format!("{setting:?}: {}", wrong.join("; "))) }
}

/// Each call of a table in a process of its own, which begins afresh.
fn check(table: &str, test: &str) {
    let only = std::env::var("SCONCE_TEST_CALL").unwrap_or_default();
    testkit::in_child(test, &[("SCONCE_LOG", "off")], || {
        let (_, calls) = TABLES.into_iter().find(|(name, _)| *name == table).unwrap();
        let mut problems = Vec::new();
        // What these return depends on whether the library was opened with the sanitizer.
        let is_sanitized = std::env::var_os("SCONCE_SANITIZER").is_some();
        let depends = |call: &Call| is_sanitized && call.name.starts_with("sconce_sanitizer_");
        for call in calls.iter().filter(|call| call.name.contains(&only) && !depends(call)) {
            let beside = settings().map(|setting| forked_result(|| wrong_beside(setting, call)));
            let seen = std::iter::once(forked_result(|| wrong_alone(call))).chain(beside);
            problems
                .extend(seen.filter_map(Result::err).map(|text| format!("{}: {text}", call.name)));
        }
        assert!(problems.is_empty(), "{} problems:\n{}", problems.len(), problems.join("\n"));
    });
}

#[test]
fn the_runtime_leaves_captures_of_other_threads_alone() {
    check("runtime", "the_runtime_leaves_captures_of_other_threads_alone");
}

#[test]
fn memory_leaves_captures_of_other_threads_alone() {
    check("memory", "memory_leaves_captures_of_other_threads_alone");
}

#[test]
fn work_leaves_captures_of_other_threads_alone() {
    check("work", "work_leaves_captures_of_other_threads_alone");
}

#[test]
fn graphs_leave_captures_of_other_threads_alone() {
    check("graphs", "graphs_leave_captures_of_other_threads_alone");
}

#[test]
fn jobs_leave_captures_of_other_threads_alone() {
    check("jobs", "jobs_leave_captures_of_other_threads_alone");
}

#[test]
fn the_simulator_leaves_captures_of_other_threads_alone() {
    check("simulator", "the_simulator_leaves_captures_of_other_threads_alone");
}

#[test]
fn every_function_is_called() {
    let header = testkit::header::text();
    let exported: BTreeSet<String> = testkit::header::prototypes(&header)
        .into_iter()
        .map(|prototype| prototype.name)
        // tests/tensor/every calls these.
        .filter(|name| !name.starts_with("sconce_tensor_"))
        .collect();
    let called: BTreeSet<String> = all().map(|call| call.name.to_owned()).collect();
    assert_eq!(all().count(), called.len(), "a function is called twice");
    let missing: Vec<_> = exported.difference(&called).collect();
    assert!(missing.is_empty(), "add these to calls/: {missing:?}");
    let unknown: Vec<_> = called.difference(&exported).collect();
    assert!(unknown.is_empty(), "the header has no such functions: {unknown:?}");
    for name in REFUSED.iter().map(|it| it.name).chain(ANYWAY.iter().map(|it| it.0)) {
        assert!(called.contains(name), "{name} is not called");
    }
}
