//! Waits that do not end: what they wait for, and what would end them.

use sconce_driver::{HeadState, StreamHead};

use super::*;
use crate::collective::RankCall;
use crate::pending::Awaited;

const EVENT: usize = 0x10;

/// The report of a wait for which the driver says what each stream is at.
fn report_of(
    checker: &mut Checker,
    awaited: Awaited,
    heads: &[(StreamRef, StreamHead)],
) -> crate::Report {
    let wait = checker.wait_begins(awaited).expect("something to wait for");
    let mut suspects = checker.suspects(&wait);
    for suspect in &mut suspects {
        let head = heads.iter().find(|(stream, _)| *stream == suspect.stream);
        suspect.head = head.map(|(_, head)| *head);
    }
    checker.hangs(&wait, &suspects, "5");
    checker.reports.all().last().expect("a report").clone()
}

fn head(announced: u64, needs: HeadState) -> StreamHead {
    StreamHead { announced, needs }
}

fn work(checker: &mut Checker, stream: StreamRef, name: &str) {
    checker.queued(stream, name, Some(Vec::new()));
}

#[test]
fn what_is_done_is_not_waited_for() {
    let mut checker = checker();
    assert!(checker.wait_begins(Awaited::Stream(a())).is_none());
    assert!(checker.wait_begins(Awaited::Event(EVENT)).is_none());
    work(&mut checker, a(), "one");
    checker.recorded(EVENT, a());
    let waits = [
        Awaited::Stream(a()),
        Awaited::Event(EVENT),
        Awaited::Device(device_index(0)),
        Awaited::AllDevices,
    ];
    for awaited in waits {
        assert!(checker.wait_begins(awaited).is_some(), "{awaited:?}");
    }
    assert!(checker.wait_begins(Awaited::Device(device_index(1))).is_none());
    assert!(checker.wait_begins(Awaited::Stream(b())).is_none());
    checker.stream_done(a());
    for awaited in waits {
        assert!(checker.wait_begins(awaited).is_none(), "{awaited:?}");
    }
}

#[test]
fn the_driver_tells_which_operation_of_a_stream_it_is() {
    let mut checker = checker();
    for name in ["one", "two", "three"] {
        work(&mut checker, a(), name);
    }
    let at_two = [(a(), head(2, HeadState::Step))];
    let report = report_of(&mut checker, Awaited::Stream(a()), &at_two);
    let first = report.first.clone().expect("an operation");
    assert_eq!((report.kind, first.number, &*first.name), (FindingKind::Hang, 2, "two"));
    assert!(report.repair.contains("sconce_sim_run_until_idle"), "{}", report.repair);
    assert!(report.text().starts_with("wait that does not end"), "{}", report.text());
    assert!(report.json().contains("\"kind\":\"hang\""), "{}", report.json());
    assert!(report.json().contains("\"access\":\"wait\""), "{}", report.json());
}

#[test]
fn before_the_first_operation_the_first_is_named() {
    let mut checker = checker();
    // The stream is at the fill of a zone, which the allocation has announced.
    checker.handed_out(a(), X, BYTES);
    work(&mut checker, a(), "one");
    let at_the_zone = [(a(), head(1, HeadState::Step))];
    let report = report_of(&mut checker, Awaited::Stream(a()), &at_the_zone);
    assert_eq!(report.first.expect("an operation").name, "one");
    assert!(report.repair.contains("nobody completes one #2"), "{}", report.repair);
}

#[test]
fn each_need_has_a_remedy() {
    let cases = [
        (HeadState::Step, "manual mode"),
        (HeadState::EndOfFault, "sconce_sim_clear_faults"),
        (HeadState::OtherProcess, "another process's"),
        (HeadState::OtherWork, "does not follow"),
        (HeadState::Time, "SCONCE_SANITIZER_HANG_S"),
    ];
    for (needs, words) in cases {
        let mut checker = checker();
        work(&mut checker, a(), "one");
        let report = report_of(&mut checker, Awaited::Stream(a()), &[(a(), head(1, needs))]);
        assert!(report.repair.contains(words), "{needs:?}: {}", report.repair);
    }
    let mut checker = checker();
    checker.queued(a(), crate::pending::HOST_FUNCTION, None);
    let report = report_of(&mut checker, Awaited::Stream(a()), &[(a(), head(1, HeadState::Time))]);
    assert!(report.repair.contains("host function #1 has not returned"), "{}", report.repair);
}

#[test]
fn a_stream_that_waits_for_another_is_not_to_blame() {
    let mut checker = checker();
    work(&mut checker, b(), "before");
    work(&mut checker, a(), "slow");
    checker.recorded(EVENT, a());
    checker.waits(b(), EVENT);
    work(&mut checker, b(), "after");
    let heads = [(b(), head(1, HeadState::OtherWork)), (a(), head(2, HeadState::Time))];
    let report = report_of(&mut checker, Awaited::Stream(b()), &heads);
    assert_eq!(report.first.expect("an operation").name, "slow");
}

#[test]
fn work_that_is_not_waited_for_is_not_to_blame() {
    let mut checker = checker();
    work(&mut checker, b(), "other");
    work(&mut checker, a(), "awaited");
    checker.recorded(EVENT, a());
    work(&mut checker, a(), "behind");
    let heads = [(b(), head(1, HeadState::Time)), (a(), head(2, HeadState::Time))];
    let report = report_of(&mut checker, Awaited::Event(EVENT), &heads);
    assert_eq!(report.first.expect("an operation").name, "awaited");
}

#[test]
fn without_an_answer_of_the_driver_it_is_the_first_that_may_not_be_done() {
    let mut checker = checker();
    work(&mut checker, a(), "done");
    checker.stream_done(a());
    work(&mut checker, a(), "first");
    work(&mut checker, a(), "second");
    let report = report_of(&mut checker, Awaited::Stream(a()), &[]);
    assert_eq!(report.first.expect("an operation").name, "first");
    assert!(report.repair.contains("or a later one"), "{}", report.repair);
}

#[test]
fn an_event_of_another_process_names_that_process() {
    let mut checker = checker();
    checker.event_opened(EVENT);
    let report = report_of(&mut checker, Awaited::Event(EVENT), &[]);
    assert!(report.first.is_none());
    assert!(report.repair.contains("another process's"), "{}", report.repair);
}

const RANKS: usize = 2;

/// A collective call of a rank. Each rank has a stream.
fn call(checker: &mut Checker, communicator: u8, number: u64, rank: usize, group: Option<u64>) {
    let stream = [a(), b(), c()][rank];
    checker.queued(stream, "all_reduce", Some(Vec::new()));
    let meeting = (vec![communicator], number);
    checker.called(RankCall { meeting, rank, ranks: RANKS, group }, stream);
}

#[test]
fn calls_in_different_orders_are_reported_when_the_last_is_queued() {
    let mut checker = checker();
    call(&mut checker, b'x', 1, 0, None);
    call(&mut checker, b'y', 1, 0, None);
    call(&mut checker, b'y', 1, 1, None);
    assert_eq!(kinds(&checker), []);
    call(&mut checker, b'x', 1, 1, None);
    assert_eq!(kinds(&checker), [FindingKind::Hang]);
    let report = checker.reports.all()[0].clone();
    assert!(report.text().starts_with("waits in a cycle"), "{}", report.text());
    assert!(report.repair.contains("communicator 2 of 2 ranks before"), "{}", report.repair);
}

#[test]
fn three_ranks_in_a_circle_are_a_cycle() {
    let mut checker = checker();
    for (first, second, rank) in [(b'x', b'y', 0), (b'y', b'z', 1), (b'z', b'x', 2)] {
        assert_eq!(kinds(&checker), []);
        call(&mut checker, first, 1, rank, None);
        call(&mut checker, second, 1, rank, None);
    }
    assert_eq!(kinds(&checker), [FindingKind::Hang]);
}

#[test]
fn calls_in_one_order_or_in_groups_are_no_cycle() {
    let mut checker = checker();
    for rank in 0..RANKS {
        for number in 1..4 {
            call(&mut checker, b'x', number, rank, None);
            call(&mut checker, b'y', number, rank, None);
        }
    }
    assert_eq!(kinds(&checker), []);
    checker.devices_done(None);
    // What is done is no obstacle.
    call(&mut checker, b'y', 4, 0, None);
    call(&mut checker, b'x', 4, 0, Some(1));
    call(&mut checker, b'z', 1, 0, Some(1));
    call(&mut checker, b'y', 4, 1, None);
    call(&mut checker, b'z', 1, 1, Some(2));
    call(&mut checker, b'x', 4, 1, Some(2));
    assert_eq!(kinds(&checker), []);
}

#[test]
fn what_the_driver_refuses_waits_for_nothing() {
    let mut checker = checker();
    call(&mut checker, b'x', 1, 0, None);
    call(&mut checker, b'y', 1, 0, None);
    call(&mut checker, b'y', 1, 1, None);
    checker.refused(3);
    call(&mut checker, b'x', 1, 1, None);
    assert_eq!(kinds(&checker), []);
    let report = report_of(&mut checker, Awaited::Stream(b()), &[]);
    assert_eq!(report.first.map(|first| first.number), Some(4), "not the refused one");
}

#[test]
fn a_call_names_the_ranks_that_have_not_come() {
    let mut checker = checker();
    call(&mut checker, b'x', 1, 0, None);
    let heads = [(a(), head(1, HeadState::Time))];
    let report = report_of(&mut checker, Awaited::Stream(a()), &heads);
    assert!(report.repair.contains("rank 1 of other processes"), "{}", report.repair);
    checker.reports.clear();
    checker.calls.own_rank(b"x", 1);
    let report = report_of(&mut checker, Awaited::Stream(a()), &heads);
    assert!(report.repair.contains("rank 1 never came"), "{}", report.repair);
    checker.reports.clear();
    call(&mut checker, b'x', 1, 1, None);
    let report = report_of(&mut checker, Awaited::Stream(a()), &heads);
    assert!(report.repair.contains("has not ended after 5 s"), "{}", report.repair);
}
