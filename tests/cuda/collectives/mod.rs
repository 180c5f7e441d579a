//! What the CUDA backend hands to NCCL.

#![allow(unsafe_code, reason = "reaches into the fake libraries")]
#![allow(clippy::unwrap_used, reason = "a test may fail loudly anywhere")]

mod exit;
mod failures;
mod fake;

use sconce_base::element::Dtype;
use sconce_driver::prelude::*;
use sconce_driver::{CommCall, CommOp, CommOptions, CommParts};

use self::fake::{Nccl, RECV, SEND, on_second, open, settle};

const NOT_SET: i64 = i32::MIN as i64;

/// The functions that a call of rank 1 makes, with the words that count.
#[track_caller]
fn made(nccl: &Nccl, call: &CommCall) -> Vec<(String, Vec<i64>)> {
    let mut end = nccl.rank_one();
    end.queue(call, on_second()).unwrap();
    let calls = nccl.library.calls();
    assert!(calls.iter().all(|call| call.device == 1), "the device's context is current");
    let words = |name: &str| match name {
        "ncclAllReduce" | "ncclReduceScatter" | "ncclBroadcast" => 6,
        "ncclReduce" => 7,
        "ncclAllGather" | "ncclSend" | "ncclRecv" => 5,
        "ncclRedOpCreatePreMulSum" => 4,
        "ncclRedOpDestroy" => 1,
        _ => 0,
    };
    calls
        .into_iter()
        .filter(|call| !["ncclCommCount", "ncclGetVersion"].contains(&call.name.as_str()))
        .map(|call| {
            let count = words(&call.name);
            (call.name, call.words[..count].to_vec())
        })
        .collect()
}

fn one(name: &str, words: &[i64]) -> Vec<(String, Vec<i64>)> {
    vec![(name.to_owned(), words.to_vec())]
}

const FROM: i64 = 0x1000;
const TO: i64 = 0x9000;
const STREAM: i64 = 0x77;

#[test]
fn a_communicator_is_made_with_the_configuration_that_2_18_knows() {
    let nccl = open(&[]);
    nccl.cuda.driver.comm_version().unwrap();
    let chosen = CommOptions {
        min_ctas: Some(2),
        max_ctas: Some(16),
        cga_cluster_size: Some(4),
        split_share: true,
    };
    for (options, numbers) in
        [(CommOptions::default(), [NOT_SET, NOT_SET, NOT_SET, 0, 0]), (chosen, [4, 2, 16, 0, 1])]
    {
        nccl.library.calls();
        let mut ends = nccl.begin(&options).unwrap();
        for (rank, end) in ends.iter_mut().enumerate() {
            settle(&mut **end).unwrap();
            assert_eq!(end.place().unwrap(), (rank, 2));
            assert_ne!(end.native(), 0);
        }
        let calls = nccl.library.calls();
        let inits: Vec<_> =
            calls.iter().filter(|call| call.name == "ncclCommInitRankConfig").collect();
        assert_eq!(inits.len(), 2);
        for (rank, init) in inits.iter().enumerate() {
            assert_eq!(init.device, rank as i64, "the context of the rank's device");
            assert_eq!(init.words[0], 2, "ranks");
            assert_eq!(init.words[1], init.words[2], "the whole id");
            assert_eq!(init.words[3], rank as i64);
            // Size, magic, version and blocking.
            assert_eq!(init.words[4..8], [48, 0xcafe_beef, 21_800, 1]);
            assert_eq!(init.words[8..13], numbers);
        }
        let bracket: Vec<_> = calls.iter().map(|call| call.name.as_str()).collect();
        assert_eq!(
            bracket[1..5],
            ["ncclGroupStart", "ncclCommInitRankConfig", "ncclCommInitRankConfig", "ncclGroupEnd"]
        );
        drop(ends);
        nccl.assert_nothing_is_left();
    }
}

#[test]
fn types_and_operations_have_the_numbers_of_nccl() {
    let nccl = open(&[]);
    let types = [
        (Dtype::I8, 0),
        (Dtype::U8, 1),
        (Dtype::I32, 2),
        (Dtype::U32, 3),
        (Dtype::I64, 4),
        (Dtype::U64, 5),
        (Dtype::F16, 6),
        (Dtype::F32, 7),
        (Dtype::F64, 8),
        (Dtype::Bf16, 9),
        (Dtype::F8E4M3Fn, 10),
        (Dtype::F8E5M2, 11),
    ];
    let ops =
        [(CommOp::Sum, 0), (CommOp::Prod, 1), (CommOp::Max, 2), (CommOp::Min, 3), (CommOp::Avg, 4)];
    for (dtype, kind) in types {
        let call = CommCall::AllReduce { send: SEND, recv: RECV, count: 3, dtype, op: CommOp::Sum };
        assert_eq!(made(&nccl, &call), one("ncclAllReduce", &[FROM, TO, 3, kind, 0, STREAM]));
    }
    for (op, number) in ops {
        let dtype = Dtype::F16;
        let (send, recv, count) = (SEND, RECV, 5);
        let call = CommCall::Reduce { send, recv, count, dtype, op, root: 1 };
        assert_eq!(made(&nccl, &call), one("ncclReduce", &[FROM, TO, 5, 6, number, 1, STREAM]));
        let call = CommCall::ReduceScatter { send, recv, count, dtype, op };
        assert_eq!(made(&nccl, &call), one("ncclReduceScatter", &[FROM, TO, 5, 6, number, STREAM]));
    }
    nccl.assert_nothing_is_left();
}

#[test]
fn a_factor_is_an_operation_of_its_own_in_the_bits_of_the_type() {
    let nccl = open(&[]);
    let bits = [
        (Dtype::F64, 8, 0.5_f64.to_bits() as i64),
        (Dtype::F32, 7, i64::from(0.5_f32.to_bits())),
        (Dtype::F16, 6, 0x3800),
        (Dtype::Bf16, 9, 0x3f00),
        (Dtype::F8E4M3Fn, 10, 0x30),
        (Dtype::F8E5M2, 11, 0x38),
    ];
    for (dtype, kind, bits) in bits {
        let op = CommOp::PremulSum(0.5);
        let call = CommCall::AllReduce { send: SEND, recv: RECV, count: 3, dtype, op };
        let calls = made(&nccl, &call);
        let [create, reduce, destroy] = &calls[..] else { panic!("{calls:?}") };
        let number = create.1[0];
        // 1: the factor lies in host memory.
        assert_eq!(*create, ("ncclRedOpCreatePreMulSum".to_owned(), vec![number, bits, kind, 1]));
        assert_eq!(reduce.1, [FROM, TO, 3, kind, number, STREAM]);
        assert_eq!(*destroy, ("ncclRedOpDestroy".to_owned(), vec![number]));
    }
    let op = CommOp::PremulSum(-3.0);
    let call = CommCall::AllReduce { send: SEND, recv: RECV, count: 3, dtype: Dtype::I32, op };
    assert_eq!(made(&nccl, &call)[0].1[1], i64::from(-3_i32 as u32));
    nccl.assert_nothing_is_left();
}

fn named(calls: &[(String, Vec<i64>)]) -> Vec<(&str, &[i64])> {
    calls.iter().map(|(name, words)| (name.as_str(), &words[..])).collect()
}

#[test]
fn copies_are_calls_of_nccl_or_groups_of_sends_and_receives() {
    let nccl = open(&[]);
    let (send, recv, count, dtype) = (SEND, RECV, 6, Dtype::F32);
    let call = CommCall::Broadcast { send, recv, count, dtype, root: 0 };
    assert_eq!(made(&nccl, &call), one("ncclBroadcast", &[FROM, TO, 6, 7, 0, STREAM]));
    let call = CommCall::AllGather { send, recv, count, dtype };
    assert_eq!(made(&nccl, &call), one("ncclAllGather", &[FROM, TO, 6, 7, STREAM]));
    let call = CommCall::Send { send, count, dtype, peer: 0 };
    assert_eq!(made(&nccl, &call), one("ncclSend", &[FROM, 6, 7, 0, STREAM]));
    let call = CommCall::Recv { recv, count, dtype, peer: 0 };
    assert_eq!(made(&nccl, &call), one("ncclRecv", &[TO, 6, 7, 0, STREAM]));

    let (start, end) = (("ncclGroupStart", &[][..]), ("ncclGroupEnd", &[][..]));
    // Rank 1 is the root of the first, not of the second.
    let calls = made(&nccl, &CommCall::Gather { send, recv, count, dtype, root: 1 });
    assert_eq!(
        named(&calls),
        [
            start,
            ("ncclSend", &[FROM, 6, 7, 1, STREAM]),
            ("ncclRecv", &[TO, 6, 7, 0, STREAM]),
            ("ncclRecv", &[TO + 24, 6, 7, 1, STREAM]),
            end
        ]
    );
    let calls = made(&nccl, &CommCall::Gather { send, recv, count, dtype, root: 0 });
    assert_eq!(named(&calls), [start, ("ncclSend", &[FROM, 6, 7, 0, STREAM]), end]);
    let calls = made(&nccl, &CommCall::Scatter { send, recv, count, dtype, root: 1 });
    assert_eq!(
        named(&calls),
        [
            start,
            ("ncclRecv", &[TO, 6, 7, 1, STREAM]),
            ("ncclSend", &[FROM, 6, 7, 0, STREAM]),
            ("ncclSend", &[FROM + 24, 6, 7, 1, STREAM]),
            end
        ]
    );
    // Parts without elements are no calls: both sides know.
    let calls = made(
        &nccl,
        &CommCall::AllToAll {
            send: CommParts { base: SEND, parts: vec![(10, 2), (0, 0)] },
            recv: CommParts { base: RECV, parts: vec![(0, 0), (3, 4)] },
            dtype: Dtype::I64,
        },
    );
    assert_eq!(
        named(&calls),
        [
            start,
            ("ncclSend", &[FROM + 80, 2, 4, 0, STREAM]),
            ("ncclRecv", &[TO + 24, 4, 4, 1, STREAM]),
            end
        ]
    );
    nccl.assert_nothing_is_left();
}

#[test]
fn what_is_split_off_is_an_end_of_its_own() {
    let nccl = open(&[]);
    let mut end = nccl.rank_one();
    let mut child = end.split(Some(3), -2, &CommOptions::default()).unwrap().unwrap();
    settle(&mut *child).unwrap();
    settle(&mut *end).unwrap();
    assert_eq!(child.place().unwrap(), (0, 1));
    assert_ne!(child.native(), end.native());
    assert!(end.split(None, 0, &CommOptions::default()).unwrap().is_none());
    settle(&mut *end).unwrap();
    let splits = nccl.library.calls();
    let splits: Vec<_> = splits.iter().filter(|call| call.name == "ncclCommSplit").collect();
    assert_eq!((splits[0].words[1], splits[0].words[2]), (3, -2));
    assert_eq!((splits[1].words[1], splits[1].words[2]), (-1, 0), "no colour");
    assert!(splits.iter().all(|call| call.device == 1));
    drop(end);
    assert_eq!(nccl.get("live"), 1, "the child goes on");
    drop(child);
    nccl.assert_nothing_is_left();
}

#[test]
fn only_what_was_finalized_is_destroyed() {
    let nccl = open(&[]);
    let end = nccl.rank_one();
    drop(end);
    assert_eq!(nccl.library.names(), ["ncclCommAbort"]);
    let mut end = nccl.rank_one();
    end.finalize().unwrap();
    settle(&mut *end).unwrap();
    drop(end);
    let names = nccl.library.names();
    assert_eq!(names, ["ncclCommFinalize", "ncclCommGetAsyncError", "ncclCommDestroy"]);
    nccl.assert_nothing_is_left();
}
