//! Uses of memory that is no live block's, or that nobody has written.

use sconce_sim::{Intent, MemoryAccess};

use super::*;
use crate::checker::Reading;
use crate::order::MOST_GONE;
use crate::pattern::Pattern;
use crate::pending::Awaited;

/// Two blocks with a gap between them, in memory of the driver: X..X+512 and X+1024..X+1536 of 2 MiB.
fn two_blocks() -> Checker {
    let mut checker = checker();
    checker.allocated(X, 2 << 20);
    checker.handed_out(a(), X, BYTES);
    checker.handed_out(a(), X + 1024, BYTES);
    checker
}

fn kinds_of(mut checker: Checker, uses: Vec<Use>) -> Vec<FindingKind> {
    checker.queued(a(), "work", Some(uses));
    kinds(&checker)
}

#[test]
fn an_access_stays_in_its_block() {
    for (start, bytes, is_outside) in [
        (X, BYTES, false),
        (X + 511, 1, false),
        (X + 1024, BYTES, false),
        (X + 511, 2, true),
        (X, BYTES + 1, true),
        (X, 1025, true),
        (X + 512, 1, true),
        (X + 1023, 2, true),
        (X + 1536, 4, true),
        (X + (2 << 20) - 1, 1, true),
        // Not the allocator's.
        (X + (2 << 20), 1, false),
    ] {
        for write in [false, true] {
            let it = if write { Use::writes(start, bytes) } else { Use::reads(start, bytes) };
            let wanted = if is_outside { vec![FindingKind::OutOfBounds] } else { Vec::new() };
            assert_eq!(kinds_of(two_blocks(), vec![it]), wanted, "{start:#x} {bytes} {write}");
        }
    }
}

#[test]
fn an_access_beyond_the_drivers_memory_is_outside_of_its_block() {
    let mut checker = checker();
    checker.allocated(X, BYTES);
    checker.handed_out(a(), X, BYTES);
    assert_eq!(kinds_of(checker, vec![Use::reads(X, BYTES + 1)]), [FindingKind::OutOfBounds]);
}

#[test]
fn strides_reach_outside_only_with_their_own_bytes() {
    // Rows of 4 bytes, 1024 bytes apart: in the first block, and in the second one.
    let rows =
        |start, count| Pattern::of(&MemoryAccess::strided(Intent::Read, start, 4, [(count, 1024)]));
    assert_eq!(kinds_of(two_blocks(), vec![Use::new(false, rows(X, 1))]), []);
    assert_eq!(
        kinds_of(two_blocks(), vec![Use::new(false, rows(X, 2))]),
        [FindingKind::OutOfBounds]
    );
    // Both rows are in one block of two pieces, whatever lies between them.
    let mut checker = checker();
    checker.allocated(X, 2 << 20);
    checker.handed_out(a(), X, 2048);
    assert_eq!(kinds_of(checker, vec![Use::new(false, rows(X, 2))]), []);
}

#[test]
fn a_report_names_the_block_before_the_byte() {
    let mut checker = two_blocks();
    checker.queued(a(), "work", Some(vec![Use::writes(X + 600, 4)]));
    let report = &checker.reports.all()[0];
    assert_eq!(report.block.as_ref().map(|block| (block.0, block.1)), Some((X, BYTES)));
    assert_eq!((report.address, report.bytes), (X + 600, 4));
    assert!(report.text().contains("outside of a block"), "{}", report.text());
}

#[test]
fn memory_without_blocks_may_be_used_as_a_whole() {
    let mut checker = checker();
    checker.allocated(X, 2 << 20);
    assert_eq!(kinds_of(checker, vec![Use::writes(X, 2 << 20)]), []);
}

/// What is done to memory, and how each kind of work that uses it then ends.
#[test]
fn work_on_memory_of_the_driver_is_refused_after_its_release() {
    for reused in [false, true] {
        let mut checker = two_blocks();
        checker.taken_back(X);
        checker.taken_back(X + 1024);
        checker.released(X, 2 << 20);
        assert!(checker.host_passes(X + 100));
        checker.reports.clear();
        if reused {
            checker.allocated(X, BYTES);
        }
        let refused = checker.queued(a(), "work", Some(vec![Use::reads(X, 4)])).released;
        let (address, wanted) = match reused {
            true => (None, vec![]),
            false => (Some(X), vec![FindingKind::UseAfterFree]),
        };
        assert_eq!((refused, kinds(&checker)), (address, wanted));
        // Part of the old memory was not made again.
        assert_eq!(
            checker
                .queued(b(), "other work", Some(vec![Use::reads(X + 1024, 4)]))
                .released
                .is_some(),
            !reused
        );
    }
}

#[test]
fn work_of_a_capture_is_checked_when_it_is_captured() {
    for (it, wanted) in [
        (Use::writes(X, BYTES + 1), FindingKind::OutOfBounds),
        (Use::writes(X + 1024, 4), FindingKind::UseAfterFree),
    ] {
        let mut checker = two_blocks();
        checker.taken_back(X + 1024);
        checker.capture_began(c(), None);
        checker.queued(c(), "work", Some(vec![it]));
        assert_eq!(kinds(&checker), [wanted]);
    }
}

#[test]
fn blocks_of_a_pool_that_wakes_are_still_blocks() {
    let mut checker = checker();
    const PAGE: u64 = 2 << 20;
    checker.physical_created(1, PAGE);
    checker.mapped(X, PAGE, 1, 0);
    checker.handed_out(a(), X, BYTES);
    checker.unmapped(X, PAGE);
    checker.sleeps(X, PAGE);
    checker.physical_created(2, PAGE);
    checker.mapped(X, PAGE, 2, 0);
    assert_eq!(checker.block_at(X + 4), Some((X, BYTES)));
    checker.queued(a(), "work", Some(vec![Use::writes(X, BYTES)]));
    assert_eq!(kinds(&checker), []);
    checker.queued(a(), "work", Some(vec![Use::writes(X, BYTES + 1)]));
    assert_eq!(kinds(&checker), [FindingKind::OutOfBounds]);
}

/// What becomes of memory between a capture that reads it and a launch, and what the launch is reported as.
#[test]
fn a_launch_does_not_use_blocks_that_were_freed_since_the_capture() {
    type Between = fn(&mut Checker);
    let cases: &[(&str, bool, Between, Option<FindingKind>, bool)] = &[
        ("nothing", false, |_| {}, None, false),
        ("a free", false, |it| it.taken_back(X), Some(FindingKind::UseAfterFree), false),
        ("a free in a pool of graphs", true, |it| it.taken_back(X), None, false),
        (
            "a block there instead",
            false,
            |it| {
                it.taken_back(X);
                it.handed_out(a(), X, BYTES);
            },
            None,
            false,
        ),
        (
            "a release",
            false,
            |it| {
                it.taken_back(X);
                it.released(X, BYTES);
            },
            Some(FindingKind::UseAfterFree),
            true,
        ),
    ];
    for (name, is_of_graphs, between, wanted, is_refused) in cases {
        let mut checker = checker();
        checker.allocated(X, BYTES);
        if !is_of_graphs {
            checker.handed_out(a(), X, BYTES);
        }
        checker.capture_began(a(), None);
        if *is_of_graphs {
            checker.handed_out(a(), X, BYTES);
        }
        read(&mut checker, a());
        checker.capture_ended(a(), Some(1));
        checker.instantiated(2, 1);
        between(&mut checker);
        let told = checker.launched(2, a());
        assert_eq!(kinds(&checker).first().copied(), *wanted, "{name}");
        assert_eq!(told.released, is_refused.then_some(X), "{name}");
    }
}

#[test]
fn what_moves_whole_pages_may_lie_between_blocks_and_be_unwritten() {
    for (reading, found) in
        [(Reading::Anything, None), (Reading::Uses, Some(FindingKind::OutOfBounds))]
    {
        let mut checker = two_blocks();
        let all = Use { reading, ..Use::reads(X, 2048) };
        checker.queued(a(), "copy", Some(vec![all]));
        assert_eq!(kinds(&checker).first().copied(), found);
    }
}

#[test]
fn memory_that_is_exported_may_be_written_by_others() {
    const PAGE: u64 = 2 << 20;
    for is_exported in [false, true] {
        let mut checker = checker();
        checker.follow_unwritten();
        checker.physical_created(1, PAGE);
        checker.physical_created(2, PAGE);
        checker.mapped(X, PAGE, 1, 0);
        checker.handed_out(a(), X, BYTES);
        checker.physical_shared(if is_exported { 1 } else { 2 });
        read(&mut checker, a());
        assert_eq!(kinds(&checker).is_empty(), is_exported);
    }
}

/// A block of a capture waits for the launches that use it, and for no others.
#[test]
fn a_block_of_a_capture_does_not_wait_for_launches_that_do_not_use_it() {
    for is_launched in [false, true] {
        let mut checker = checker();
        checker.capture_began(c(), None);
        checker.queued(c(), "work", Some(vec![Use::writes(X + 4096, 4)]));
        checker.capture_ended(c(), Some(1));
        checker.instantiated(2, 1);
        checker.capture_began(a(), None);
        checker.handed_out(a(), X, BYTES);
        write(&mut checker, a());
        checker.capture_ended(a(), Some(3));
        checker.instantiated(4, 3);
        checker.launched(if is_launched { 4 } else { 2 }, b());
        checker.taken_back(X);
        assert_eq!(kinds(&checker), []);
        checker.handed_out(a(), X, BYTES);
        assert_eq!(kinds(&checker).contains(&FindingKind::EarlyReuse), is_launched);
    }
}

#[test]
fn memory_of_a_pool_that_sleeps_may_become_that_of_another() {
    const PAGE: u64 = 2 << 20;
    const Y: u64 = X + (64 << 20);
    for sleeps in [true, false] {
        let mut checker = checker();
        checker.physical_created(1, PAGE);
        checker.mapped(X, PAGE, 1, 0);
        checker.handed_out(a(), X, BYTES);
        checker.unmapped(X, PAGE);
        if sleeps {
            checker.sleeps(X, PAGE);
        }
        checker.mapped(Y, PAGE, 1, 0);
        checker.handed_out(b(), Y, PAGE);
        assert_eq!(kinds(&checker).contains(&FindingKind::EarlyReuse), !sleeps);
        // The block that sleeps is still there, in other memory.
        checker.physical_created(2, PAGE);
        checker.mapped(X, PAGE, 2, 0);
        assert_eq!(checker.block_at(X).is_some(), sleeps);
    }
}

#[test]
fn blocks_that_are_asleep_are_forgotten_while_the_checks_are_off() {
    for is_off in [true, false] {
        let mut checker = checker();
        const PAGE: u64 = 2 << 20;
        checker.physical_created(1, PAGE);
        checker.mapped(X, PAGE, 1, 0);
        checker.handed_out(a(), X, BYTES);
        checker.unmapped(X, PAGE);
        checker.sleeps(X, PAGE);
        if is_off {
            checker.begin_again();
        }
        checker.physical_created(2, PAGE);
        checker.mapped(X, PAGE, 2, 0);
        // While the checks were off the block may have been freed.
        checker.handed_out(a(), X, BYTES);
        assert_eq!(kinds(&checker).is_empty(), is_off);
    }
}

#[test]
fn a_block_that_is_freed_while_it_is_asleep_wakes_as_a_freed_one() {
    const PAGE: u64 = 2 << 20;
    for is_freed in [true, false] {
        let mut checker = checker();
        checker.physical_created(1, PAGE);
        checker.mapped(X, PAGE, 1, 0);
        checker.handed_out(a(), X, BYTES);
        let was = checker.unmapped(X, PAGE);
        checker.were_unmapped(was);
        checker.sleeps(X, PAGE);
        if is_freed {
            checker.taken_back(X);
        }
        checker.physical_created(2, PAGE);
        checker.mapped(X, PAGE, 2, 0);
        checker.queued(a(), "work", Some(vec![Use::writes(X, BYTES)]));
        assert_eq!(kinds(&checker).contains(&FindingKind::UseAfterFree), is_freed);
        checker.handed_out(a(), X, BYTES);
        assert_eq!(kinds(&checker).contains(&FindingKind::EarlyReuse), !is_freed);
    }
}

/// What comes before a read of the first four bytes of a fresh block, and whether the read is reported.
#[test]
fn bytes_that_nobody_has_written_are_not_read() {
    type Before = fn(&mut Checker);
    let cases: &[(&str, bool, Before)] = &[
        ("nothing", true, |_| {}),
        ("a write of all", false, |it| write(it, a())),
        ("a write of other bytes", true, |it| {
            it.queued(a(), "write", Some(vec![Use::writes(X + 4, BYTES - 4)]));
        }),
        ("a write of a part of them", true, |it| {
            it.queued(a(), "write", Some(vec![Use::writes(X, 3)]));
        }),
        ("a kernel of which nothing is known", false, |it| {
            it.queued(a(), "kernel", None);
        }),
        ("a captured kernel of which nothing is known", true, |it| {
            it.capture_began(c(), None);
            it.queued(c(), "kernel", None);
            it.capture_ended(c(), Some(1));
        }),
        ("its launch", false, |it| {
            it.capture_began(c(), None);
            it.queued(c(), "kernel", None);
            it.capture_ended(c(), Some(1));
            it.instantiated(2, 1);
            it.launched(2, a());
        }),
        ("a launch that writes them", false, |it| {
            it.capture_began(c(), None);
            write(it, c());
            it.capture_ended(c(), Some(1));
            it.instantiated(2, 1);
            it.launched(2, a());
        }),
        ("other processes may write", false, |it| it.shared(X, 2 << 20)),
        ("freed and handed out again", true, |it| {
            write(it, a());
            it.taken_back(X);
            it.handed_out(a(), X, BYTES);
        }),
        ("written through another address", false, |it| {
            it.physical_created(1, 2 << 20);
            it.mapped(X, 2 << 20, 1, 0);
            it.mapped(4 * X, 2 << 20, 1, 0);
            it.handed_out(a(), X, BYTES);
            it.queued(a(), "write", Some(vec![Use::writes(4 * X, BYTES)]));
        }),
    ];
    for (name, is_reported, before) in cases {
        for (reading, reported) in [(Reading::Uses, *is_reported), (Reading::Moves, false)] {
            let mut checker = checker();
            checker.follow_unwritten();
            checker.handed_out(a(), X, BYTES);
            before(&mut checker);
            let it = Use { reading, ..Use::reads(X, 4) };
            checker.queued(a(), "read", Some(vec![it]));
            let wanted = if reported { vec![FindingKind::UninitializedRead] } else { vec![] };
            assert_eq!(kinds(&checker), wanted, "{name}, {reading:?}");
        }
    }
}

#[test]
fn an_operation_does_not_read_what_it_writes_itself() {
    let mut checker = checker();
    checker.follow_unwritten();
    checker.handed_out(a(), X, BYTES);
    checker.queued(a(), "in place", Some(vec![Use::writes(X, 4), Use::reads(X, 4)]));
    assert_eq!(kinds(&checker), [FindingKind::UninitializedRead]);
}

#[test]
fn blocks_of_which_nobody_told_are_no_error() {
    let cases = [
        // Handed out before or during the pause.
        (X, BYTES, false),
        (X + 512, 1, false),
        (X + 8192, 1, false),
        // Of the block that is known.
        (X + 4096, BYTES, false),
        (X + 4096, BYTES + 1, true),
        // Of memory that the driver has made since.
        (X + (4 << 20), BYTES, false),
        (X + (4 << 20) + 1024, 1, true),
    ];
    for (start, bytes, is_outside) in cases {
        let mut checker = two_blocks();
        checker.pauses();
        checker.begin_again();
        checker.handed_out(a(), X + 4096, BYTES);
        checker.allocated(X + (4 << 20), 2 << 20);
        checker.handed_out(a(), X + (4 << 20), BYTES);
        let wanted = if is_outside { vec![FindingKind::OutOfBounds] } else { Vec::new() };
        assert_eq!(kinds_of(checker, vec![Use::reads(start, bytes)]), wanted, "{start:#x} {bytes}");
    }
}

#[test]
fn a_size_that_is_wrong_takes_no_memory_and_reaches_no_other_mapping() {
    for start in [X, X + 256, X + 512, 1, 1 << 40, u64::MAX - 1, u64::MAX] {
        for bytes in [1 << 36, 1 << 60, 1 << 63, u64::MAX] {
            let mut checker = two_blocks();
            let mapped = 1 << 50;
            checker.physical_created(1, 2 << 20);
            checker.mapped(mapped, 2 << 20, 1, 0);
            checker.queued(b(), "write", Some(vec![Use::writes(mapped, 4)]));
            checker.queued(c(), "read", Some(vec![Use::reads(start, bytes)]));
            let races = kinds(&checker).iter().filter(|kind| **kind == FindingKind::Race).count();
            let ends = start.saturating_add(bytes);
            let on_block = start < X + 1536 && X < ends;
            let on_mapped = start < mapped + 4 && mapped < ends;
            // The hand-outs on `a`, of one place, and the write on `b`.
            let most = usize::from(on_block) + usize::from(on_mapped);
            assert!(races <= most, "{start:#x} {bytes:#x}: {races}");
            assert_eq!(races > 0, on_block || on_mapped, "{start:#x} {bytes:#x}");
        }
    }
}

/// A stream is made, writes, and goes. Its handle is its own.
fn passing_stream(checker: &mut Checker, number: usize, waits: bool) {
    let passing = stream(0, 0x10_0000 + number);
    checker.stream_created(passing, true);
    write(checker, passing);
    checker.stream_destroyed(passing);
    if waits {
        checker.devices_done(None);
    }
}

#[test]
fn streams_that_come_and_go_share_their_places() {
    let mut checker = checker();
    let before = checker.order.lanes();
    (0..1000).for_each(|number| passing_stream(&mut checker, number, true));
    assert_eq!(kinds(&checker), []);
    assert_eq!(checker.order.lanes(), before + MOST_GONE);
    // A new stream in an old one's place knows nothing of others.
    write(&mut checker, a());
    passing_stream(&mut checker, 1000, true);
    assert_eq!(kinds(&checker), [FindingKind::Race]);
}

#[test]
fn the_place_of_a_stream_stays_while_its_work_or_a_block_needs_it() {
    let mut checker = checker();
    let before = checker.order.lanes();
    // Nobody waits: each writes after the one before, which may be at work.
    (0..200).for_each(|number| passing_stream(&mut checker, number, false));
    assert_eq!(checker.order.lanes(), before + 200);
    checker.devices_done(None);
    // Each stream has a block that lives.
    let mut checker = self::checker();
    for number in 0..200 {
        let passing = stream(0, 0x10_0000 + number);
        checker.stream_created(passing, true);
        checker.handed_out(passing, X + number as u64 * BYTES, BYTES);
        checker.stream_destroyed(passing);
        checker.devices_done(None);
    }
    assert_eq!(checker.order.lanes(), before + 200);
    assert_eq!(kinds(&checker), []);
}

#[test]
fn pinned_blocks_wait_for_recorded_streams_and_are_handed_out_when_these_are_done() {
    for (is_recorded, is_done) in [(true, true), (true, false), (false, true)] {
        let mut checker = checker();
        checker.pinned_handed_out(X, BYTES);
        read(&mut checker, a());
        checker.recorded(1, a());
        if is_recorded {
            checker.block_used(a(), X);
        }
        checker.taken_back(X);
        if is_done {
            let target = checker.target(Awaited::Event(1)).expect("a record");
            checker.library_learns(&target);
        }
        checker.pinned_handed_out(X, BYTES);
        checker.host_uses("the next owner", &Use::writes(X, BYTES));
        let expected: &[FindingKind] = match (is_recorded, is_done) {
            (true, true) => &[],
            (true, false) => &[FindingKind::EarlyReuse],
            (false, _) => &[FindingKind::MissingRecordStream],
        };
        assert_eq!(kinds(&checker), expected, "{is_recorded} {is_done}");
    }
}

#[test]
fn launches_use_pinned_blocks_that_were_freed_since_the_capture() {
    let mut checker = checker();
    checker.pinned_handed_out(X, BYTES);
    checker.capture_began(c(), None);
    read(&mut checker, c());
    checker.capture_ended(c(), Some(1));
    checker.instantiated(2, 1);
    checker.launched(2, a());
    checker.taken_back(X);
    checker.launched(2, a());
    assert_eq!(kinds(&checker), []);
    // Whoever has no graph may not.
    checker.host_uses("a late use", &Use::reads(X, BYTES));
    assert_eq!(kinds(&checker), [FindingKind::UseAfterFree]);
}
