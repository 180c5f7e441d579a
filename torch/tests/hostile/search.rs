//! Calls with random arguments until some succeed, and then with one hostile argument each, or two.

use super::bases::bases as written;
use super::kinds::Callable;
use super::made::{live, use_the_device};
use super::values::{Case, Cases, Family, hostile};
use super::watch;

/// What came of the calls of one function or operation.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    pub(crate) calls: usize,
    pub(crate) succeeded: usize,
    pub(crate) faults: Vec<String>,
}

/// How much is tried.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Effort {
    /// Random calls that look for one which succeeds.
    pub(crate) tries: usize,
    /// Calls that succeed and are varied.
    pub(crate) bases: usize,
    /// Calls with a hostile argument, of each base.
    pub(crate) single: usize,
    /// Calls with two.
    pub(crate) double: usize,
    pub(crate) seed: u64,
}

impl Effort {
    /// `SCONCE_TEST_HOSTILE` is a factor, for longer searches, and `SCONCE_TEST_SEED` another seed.
    pub(crate) fn new() -> Effort {
        let number = |name| std::env::var(name).ok().and_then(|text| text.parse::<usize>().ok());
        let factor = number("SCONCE_TEST_HOSTILE").unwrap_or(1);
        Effort {
            tries: 40 * factor,
            bases: 2 * factor,
            single: 30 * factor,
            double: 10 * factor,
            seed: number("SCONCE_TEST_SEED").unwrap_or(0) as u64,
        }
    }
}

/// Makes a call: an error is its text.
pub(crate) type Invoke<'a> = dyn Fn(&Callable, &[Case]) -> Result<(), String> + 'a;

/// Seconds that a call may take.
const LIMIT: u32 = 60;

fn tried(tally: &mut Tally, invoke: &Invoke<'_>, what: &Callable, cases: &[Case]) -> bool {
    let described = format!("{}.{}{cases:?}", what.name, what.overload);
    watch::note(&described, if watch::is_sanitized() { 10 * LIMIT } else { LIMIT });
    let before = live();
    let result = invoke(what, cases);
    let left = live() as i64 - before as i64;
    tally.calls += 1;
    let fault = match &result {
        _ if left != 0 => format!("{left} more tensors are alive ({result:?})"),
        Err(text) if text.contains("a defect of ") => text.clone(),
        Err(text) if text.is_empty() => "it fails without a text".to_owned(),
        _ => String::new(),
    };
    if !fault.is_empty() && tally.faults.len() < 3 {
        tally.faults.push(format!("{described}: {fault}"));
    }
    tally.succeeded += usize::from(result.is_ok());
    result.is_ok()
}

/// Tries calls of one function or operation.
pub(crate) fn search(what: &Callable, invoke: &Invoke<'_>, effort: Effort) -> Tally {
    let mut tally = Tally::default();
    let seed = what.name.bytes().chain(what.overload.bytes());
    let seed = seed.fold(effort.seed, |seed, byte| seed.wrapping_mul(31) ^ u64::from(byte));
    let mut cases = Cases::new(seed);
    let mut bases: Vec<Vec<Case>> = Vec::new();
    let mut last = Vec::new();
    // Calls that are written out must succeed.
    for base in written(what) {
        if tried(&mut tally, invoke, what, &base) {
            bases.push(base);
        } else {
            tally.faults.push(format!(
                "{} refuses a call of bases.txt: {}",
                what.name,
                super::message()
            ));
        }
    }
    for _ in 0..effort.tries {
        if bases.len() >= effort.bases {
            break;
        }
        let family = Family::new(&mut cases);
        last = what.arguments.iter().map(|kind| family.case(kind, &mut cases)).collect();
        if tried(&mut tally, invoke, what, &last) && !bases.contains(&last) {
            bases.push(last.clone());
        }
    }
    if bases.is_empty() {
        bases.push(last);
    }
    for base in &bases {
        let mut all: Vec<(usize, Case)> = Vec::new();
        for (at, kind) in what.arguments.iter().enumerate() {
            all.extend(hostile(kind, &base[at], &mut cases).into_iter().map(|case| (at, case)));
        }
        if all.is_empty() {
            continue;
        }
        let one = |cases: &mut Cases, arguments: &mut Vec<Case>| {
            let (at, case) = cases.one(&all);
            arguments[at] = case;
        };
        for _ in 0..effort.single.min(all.len()) {
            let mut arguments = base.clone();
            one(&mut cases, &mut arguments);
            tried(&mut tally, invoke, what, &arguments);
        }
        for _ in 0..effort.double {
            let mut arguments = base.clone();
            one(&mut cases, &mut arguments);
            one(&mut cases, &mut arguments);
            tried(&mut tally, invoke, what, &arguments);
        }
    }
    watch::note("", 0);
    tally
}

/// Tries all, prints what came of it, and fails if a call did what none may do.
pub(crate) fn search_all(all: &[Callable], invoke: &Invoke<'_>, least_that_succeed: usize) {
    // What the library keeps is there before memory is limited.
    use_the_device();
    watch::begin();
    let effort = Effort::new();
    let only = std::env::var("SCONCE_TEST_ONLY").ok();
    let (mut calls, mut refused, mut faults) = (0, Vec::new(), Vec::new());
    for what in all {
        let name = format!("{}.{}", what.name, what.overload);
        if only.as_ref().is_some_and(|only| !name.contains(only.as_str())) {
            continue;
        }
        let tally = search(what, invoke, effort);
        calls += tally.calls;
        if tally.succeeded == 0 {
            refused.push(name);
        }
        faults.extend(tally.faults);
    }
    println!("{calls} calls of {}; no call succeeded of {}: {refused:?}", all.len(), refused.len());
    assert!(faults.is_empty(), "{} faults:\n{}", faults.len(), faults.join("\n"));
    if only.is_none() {
        let succeeding = all.len() - refused.len();
        assert!(succeeding >= least_that_succeed, "only {succeeding} of {} succeed", all.len());
    }
}
