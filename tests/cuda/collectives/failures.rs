//! NCCL missing, old, of another version on other ranks, or failing at each of its calls.

use std::time::{Duration, Instant};

use sconce_base::element::Dtype;
use sconce_base::error::{Error, Result, Status};
use sconce_driver::prelude::*;
use sconce_driver::{CommCall, CommEndpoint, CommOp, CommOptions, CommParts};
use testkit::fake_cuda::open_beside;

use super::fake::{Nccl, RECV, SEND, on_second, open, settle};

/// The library's numbers, and what they mean to a caller.
const CODES: [(i32, &str, Status); 9] = [
    (1, "ncclUnhandledCudaError", Status::Driver),
    (2, "ncclSystemError", Status::Driver),
    (3, "ncclInternalError", Status::Driver),
    (4, "ncclInvalidArgument", Status::InvalidArgument),
    (5, "ncclInvalidUsage", Status::InvalidArgument),
    (6, "ncclRemoteError", Status::Remote),
    (7, "ncclInProgress", Status::NotReady),
    (8, "ncclTimeout", Status::Timeout),
    (4711, "unrecognised", Status::Driver),
];

#[track_caller]
fn assert_names(error: &Error, call: &str, (code, name, status): (i32, &str, Status)) {
    assert_eq!((error.status(), error.backend_code()), (status, code), "{error}");
    for part in [call, name, &format!("({code})")] {
        assert!(error.message().contains(part), "{part}: {error}");
    }
}

fn sum() -> CommCall {
    let (send, recv, count, dtype) = (SEND, RECV, 3, Dtype::F32);
    CommCall::AllReduce { send, recv, count, dtype, op: CommOp::Sum }
}

/// Every function that NCCL has, and a call that uses it.
fn calls_by_function() -> Vec<(&'static str, CommCall)> {
    let (send, recv, count, dtype, op) = (SEND, RECV, 3, Dtype::F32, CommOp::Sum);
    let scaled = CommOp::PremulSum(2.0);
    let parts = |base| CommParts { base, parts: vec![(0, 1), (1, 1)] };
    let all_to_all = || CommCall::AllToAll { send: parts(SEND), recv: parts(RECV), dtype };
    let gather = || CommCall::Gather { send, recv, count, dtype, root: 1 };
    let scatter = || CommCall::Scatter { send, recv, count, dtype, root: 1 };
    vec![
        ("ncclAllReduce", sum()),
        ("ncclReduce", CommCall::Reduce { send, recv, count, dtype, op, root: 0 }),
        ("ncclReduceScatter", CommCall::ReduceScatter { send, recv, count, dtype, op }),
        ("ncclBroadcast", CommCall::Broadcast { send, recv, count, dtype, root: 0 }),
        ("ncclAllGather", CommCall::AllGather { send, recv, count, dtype }),
        ("ncclSend", CommCall::Send { send, count, dtype, peer: 0 }),
        ("ncclRecv", CommCall::Recv { recv, count, dtype, peer: 0 }),
        ("ncclGroupStart", all_to_all()),
        ("ncclSend", all_to_all()),
        ("ncclRecv", all_to_all()),
        ("ncclGroupEnd", all_to_all()),
        ("ncclCommCount", gather()),
        ("ncclSend", gather()),
        ("ncclRecv", gather()),
        ("ncclGroupEnd", gather()),
        ("ncclCommCount", scatter()),
        ("ncclSend", scatter()),
        ("ncclRecv", scatter()),
        ("ncclRedOpCreatePreMulSum", CommCall::AllReduce { send, recv, count, dtype, op: scaled }),
        ("ncclAllReduce", CommCall::AllReduce { send, recv, count, dtype, op: scaled }),
        ("ncclRedOpDestroy", CommCall::AllReduce { send, recv, count, dtype, op: scaled }),
    ]
}

#[test]
fn a_call_that_fails_is_named_with_the_words_of_nccl_and_leaves_no_group_open() {
    let nccl = open(&[]);
    let mut end = nccl.rank_one();
    nccl.say("the cable is \n");
    for (function, call) in calls_by_function() {
        for code in CODES {
            nccl.library.fail(function, code.0);
            let error = end.queue(&call, on_second()).unwrap_err();
            assert_names(&error, function, code);
            assert!(error.message().contains("the cable is"), "{error}");
            assert_eq!(nccl.get("open_groups"), 0, "{function}");
            let names = nccl.library.names();
            let count = |name: &str| names.iter().filter(|other| *other == name).count();
            let (made, destroyed) = (count("ncclRedOpCreatePreMulSum"), count("ncclRedOpDestroy"));
            assert_eq!(made * usize::from(function != "ncclRedOpCreatePreMulSum"), destroyed);
        }
        nccl.library.fail("", 0);
        end.queue(&call, on_second()).unwrap();
        nccl.library.names();
    }
    drop(end);
    nccl.assert_nothing_is_left();
}

fn made(nccl: &Nccl) -> Result<Vec<Box<dyn CommEndpoint>>> {
    let mut ends = nccl.begin(&CommOptions::default())?;
    // Both ends learn of the failure, each at its own question.
    let asked: Vec<Result<()>> = ends.iter_mut().map(|end| settle(&mut **end)).collect();
    let failures = asked.iter().filter(|asked| asked.is_err()).count();
    assert!(failures == 0 || failures == 2, "{asked:?}");
    asked.into_iter().collect::<Result<()>>()?;
    Ok(ends)
}

#[test]
fn a_communicator_that_cannot_be_made_is_reported_and_leaves_nothing() {
    let nccl = open(&[]);
    for function in ["ncclGetUniqueId", "ncclGroupStart", "ncclCommInitRankConfig", "ncclGroupEnd"]
    {
        for code in CODES {
            nccl.library.fail(function, code.0);
            let error = made(&nccl).err().unwrap();
            assert_names(&error, function, code);
            nccl.library.names();
            nccl.assert_nothing_is_left();
        }
    }
    nccl.library.fail("", 0);
    assert_eq!(made(&nccl).unwrap().len(), 2);
    nccl.assert_nothing_is_left();
}

#[test]
fn ranks_with_other_versions_learn_both() {
    let nccl = open(&[]);
    nccl.library.fail("ncclCommInitRankConfig", 5);
    nccl.say("Mismatched NCCL version detected : rank 0 22809 rank 1 22703");
    let error = made(&nccl).err().unwrap();
    assert_eq!(error.status(), Status::InvalidArgument);
    for version in ["22809", "22703"] {
        assert!(error.message().contains(version), "{error}");
    }
    nccl.assert_nothing_is_left();
}

#[test]
fn an_asynchronous_error_is_the_result_of_a_poll() {
    let nccl = open(&[]);
    let mut end = nccl.rank_one();
    assert!(end.poll().unwrap());
    for code in CODES {
        nccl.set("async_error", code.0.into());
        assert_names(&end.poll().unwrap_err(), "a collective call", code);
    }
    nccl.set("async_error", 0);
    nccl.library.fail("ncclCommGetAsyncError", 4);
    assert_names(&end.poll().unwrap_err(), "ncclCommGetAsyncError", CODES[3]);
    drop(end);
    nccl.assert_nothing_is_left();
}

#[test]
fn what_fails_on_a_thread_of_its_own_is_the_result_of_a_poll() {
    let nccl = open(&[]);
    for code in CODES {
        let mut end = nccl.rank_one();
        nccl.library.fail("ncclCommSplit", code.0);
        let mut child = end.split(Some(0), 0, &CommOptions::default()).unwrap().unwrap();
        assert_names(&settle(&mut *child).unwrap_err(), "ncclCommSplit", code);
        assert_names(&settle(&mut *end).unwrap_err(), "ncclCommSplit", code);
        // The parent lives on.
        nccl.library.fail("", 0);
        end.queue(&sum(), on_second()).unwrap();
        nccl.library.fail("ncclCommFinalize", code.0);
        end.finalize().unwrap();
        assert_names(&settle(&mut *end).unwrap_err(), "ncclCommFinalize", code);
        nccl.library.fail("", 0);
        drop((child, end));
        nccl.library.names();
        nccl.assert_nothing_is_left();
    }
}

#[test]
fn a_place_that_is_not_known_is_an_error() {
    let nccl = open(&[]);
    let mut end = nccl.rank_one();
    for function in ["ncclCommUserRank", "ncclCommCount"] {
        nccl.library.fail(function, 4);
        assert_names(&end.place().unwrap_err(), function, CODES[3]);
    }
    nccl.library.fail("", 0);
    assert_eq!(end.place().unwrap(), (1, 2));
}

#[test]
fn a_pending_end_that_is_given_up_is_aborted_by_the_thread_that_makes_it() {
    let nccl = open(&[]);
    nccl.set("hold", 1);
    let mut ends = nccl.begin(&CommOptions::default()).unwrap();
    assert!(!ends[0].poll().unwrap(), "the other ranks have not come");
    let start = Instant::now();
    ends[0].aborter().abort().unwrap();
    drop(ends);
    assert!(start.elapsed() < Duration::from_secs(5));
    assert_eq!(nccl.get("live"), 0);
    nccl.set("hold", 0);
    let deadline = Instant::now() + Duration::from_secs(20);
    let mut names = Vec::new();
    while names.iter().filter(|name| *name == "ncclCommAbort").count() < 2 {
        assert!(Instant::now() < deadline, "{names:?}");
        std::thread::sleep(Duration::from_millis(5));
        names.extend(nccl.library.names());
    }
    nccl.assert_nothing_is_left();
}

#[test]
fn an_abort_that_fails_is_reported_and_not_repeated() {
    let nccl = open(&[]);
    let mut end = nccl.rank_one();
    nccl.library.fail("ncclCommAbort", 3);
    assert_names(&end.aborter().abort().unwrap_err(), "ncclCommAbort", CODES[2]);
    assert_eq!(end.aborter().abort(), Ok(()));
    assert_eq!(end.queue(&sum(), on_second()).unwrap_err().status(), Status::Aborted);
    assert_eq!(end.finalize().unwrap_err().status(), Status::Aborted);
    let split = end.split(Some(0), 0, &CommOptions::default());
    assert_eq!(split.err().unwrap().status(), Status::Aborted);
    drop(end);
    let names = nccl.library.names();
    assert_eq!(names.iter().filter(|name| *name == "ncclCommAbort").count(), 1);
    nccl.assert_nothing_is_left();
}

#[test]
fn releases_before_2_24_reduce_no_narrow_floats() {
    for (version, works) in [(22_304, false), (22_403, true)] {
        let nccl = open(&[&format!("VERSION={version}")]);
        let mut end = nccl.rank_one();
        for dtype in [Dtype::F8E4M3Fn, Dtype::F8E5M2] {
            let (send, recv, count, op) = (SEND, RECV, 3, CommOp::Sum);
            for call in [
                CommCall::AllReduce { send, recv, count, dtype, op },
                CommCall::Reduce { send, recv, count, dtype, op, root: 0 },
                CommCall::ReduceScatter { send, recv, count, dtype, op },
            ] {
                let queued = end.queue(&call, on_second());
                let Err(error) = queued else {
                    assert!(works, "{version}: {call:?}");
                    continue;
                };
                assert_eq!((error.status(), works), (Status::NotSupported, false));
                for part in ["22304", "22400", dtype.name()] {
                    assert!(error.message().contains(part), "{part}: {error}");
                }
            }
        }
    }
}

#[test]
fn releases_before_2_18_are_refused() {
    for old in [21_000, 21_701] {
        let nccl = open(&[&format!("VERSION={old}")]);
        let error = nccl.cuda.driver.comm_version().unwrap_err();
        assert_eq!(error.status(), Status::LibraryNotFound);
        for part in [&old.to_string(), "21800"] {
            assert!(error.message().contains(part), "{error}");
        }
        assert_eq!(nccl.begin(&CommOptions::default()).err().unwrap(), error);
    }
    for good in [21_800, 22_809, 23_007] {
        let nccl = open(&[&format!("VERSION={good}")]);
        assert_eq!(nccl.cuda.driver.comm_version(), Ok(good));
        assert_eq!(made(&nccl).unwrap().len(), 2);
    }
}

#[test]
fn a_function_that_is_needed_is_named() {
    for function in [
        "ncclGetVersion",
        "ncclGetUniqueId",
        "ncclCommInitRankConfig",
        "ncclCommFinalize",
        "ncclCommDestroy",
        "ncclCommAbort",
        "ncclCommGetAsyncError",
        "ncclCommUserRank",
        "ncclCommCount",
        "ncclGroupStart",
        "ncclGroupEnd",
        "ncclAllReduce",
        "ncclReduce",
        "ncclReduceScatter",
        "ncclBroadcast",
        "ncclAllGather",
        "ncclSend",
        "ncclRecv",
        "ncclRedOpCreatePreMulSum",
        "ncclRedOpDestroy",
    ] {
        let nccl = open(&[&format!("{function}=gone")]);
        let error = nccl.cuda.driver.comm_unique_id().unwrap_err();
        assert_eq!(error.status(), Status::LibraryNotFound, "{error}");
        assert!(error.message().contains(&format!("lacks the symbol {function};")), "{error}");
    }
}

#[test]
fn a_library_without_splits_and_words_does_the_rest() {
    let nccl = open(&["ncclCommSplit=gone", "ncclGetLastError=gone_too"]);
    let mut end = nccl.rank_one();
    let error = end.split(Some(0), 0, &CommOptions::default()).err().unwrap();
    assert!(error.message().contains("ncclCommSplit"), "{error}");
    nccl.library.fail("ncclAllReduce", 2);
    let error = end.queue(&sum(), on_second()).unwrap_err();
    assert_eq!(error.message(), "ncclAllReduce failed: ncclSystemError (2)", "no words, no more");
}

#[test]
fn what_is_missing_can_be_installed_by_the_names_in_the_message() {
    let fake = open_beside(&[], |config| config.libnccl = Some("/nowhere/libnccl.so.2".to_owned()));
    let error = fake.ok().unwrap().driver.comm_version().unwrap_err();
    assert_eq!(error.status(), Status::LibraryNotFound);
    for part in ["/nowhere/libnccl.so.2", "SCONCE_LIBNCCL", "2.18", "libnccl2", "nvidia-nccl-cu12"]
    {
        assert!(error.message().contains(part), "{part}: {error}");
    }
}
