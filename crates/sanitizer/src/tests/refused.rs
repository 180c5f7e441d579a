//! Operations that the driver refuses: they never were.
#![forbid(unsafe_code)]

use super::{BYTES, X, a, b, checker, kinds};
use crate::checker::Use;
use crate::report::FindingKind;

fn writes() -> Option<Vec<Use>> {
    Some(vec![Use::writes(X, BYTES)])
}

#[test]
fn what_comes_later_does_not_conflict_with_an_operation_that_was_refused() {
    for is_refused in [true, false] {
        let mut checker = checker();
        let number = checker.queued(a(), "the write", writes());
        if is_refused {
            checker.refused(number.number);
        }
        checker.queued(b(), "another write", writes());
        let expected: &[FindingKind] = if is_refused { &[] } else { &[FindingKind::Race] };
        assert_eq!(kinds(&checker), expected, "refused: {is_refused}");
    }
}

#[test]
fn a_free_does_not_miss_the_stream_of_an_operation_that_was_refused() {
    for is_refused in [true, false] {
        let mut checker = checker();
        checker.handed_out(a(), X, BYTES);
        checker.devices_done(None);
        let number = checker.queued(b(), "the write", writes());
        if is_refused {
            checker.refused(number.number);
        }
        checker.taken_back(X);
        let missing = &[FindingKind::MissingRecordStream][..];
        assert_eq!(kinds(&checker), if is_refused { &[] } else { missing }, "{is_refused}");
    }
}

#[test]
fn a_graph_does_not_have_a_node_that_was_refused() {
    for is_refused in [true, false] {
        let mut checker = checker();
        checker.capture_began(a(), None);
        let number = checker.queued(a(), "the write", writes());
        if is_refused {
            checker.refused(number.number);
        }
        checker.capture_ended(a(), Some(1));
        checker.instantiated(2, 1);
        checker.queued(b(), "another write", writes());
        checker.launched(2, a());
        let expected: &[FindingKind] = if is_refused { &[] } else { &[FindingKind::Race] };
        assert_eq!(kinds(&checker), expected, "refused: {is_refused}");
    }
}

#[test]
fn a_launch_of_a_graph_that_was_refused_uses_nothing() {
    for is_refused in [true, false] {
        let mut checker = checker();
        checker.capture_began(a(), None);
        checker.queued(a(), "the write", writes());
        checker.capture_ended(a(), Some(1));
        checker.instantiated(2, 1);
        let number = checker.launched(2, a()).number;
        if is_refused {
            checker.refused(number);
        }
        checker.queued(b(), "another write", writes());
        let expected: &[FindingKind] = if is_refused { &[] } else { &[FindingKind::Race] };
        assert_eq!(kinds(&checker), expected, "refused: {is_refused}");
    }
}

#[test]
fn memory_that_the_driver_does_not_take_back_is_as_before() {
    for is_refused in [true, false] {
        let mut checker = checker();
        checker.allocated(X, 2 << 20);
        checker.handed_out(a(), X, BYTES);
        checker.queued(a(), "the write", writes());
        let was = checker.released(X, 2 << 20);
        if is_refused {
            checker.not_released(was);
        }
        // The block is known, and so is its last use; memory that is gone has neither.
        assert_eq!(checker.block_at(X), is_refused.then_some((X, BYTES)));
        let told = checker.queued(b(), "another write", writes());
        let (kind, gone) = match is_refused {
            true => (FindingKind::Race, None),
            false => (FindingKind::UseAfterFree, Some(X)),
        };
        assert_eq!((kinds(&checker), told.released), (vec![kind], gone), "refused: {is_refused}");
    }
}

#[test]
fn pinned_memory_that_the_driver_does_not_take_back_is_as_before() {
    for is_refused in [true, false] {
        let mut checker = checker();
        checker.queued(a(), "the write", writes());
        let was = checker.forget(X, BYTES);
        if is_refused {
            checker.not_released(was);
        }
        checker.queued(b(), "another write", writes());
        let expected: &[FindingKind] = if is_refused { &[FindingKind::Race] } else { &[] };
        assert_eq!(kinds(&checker), expected, "refused: {is_refused}");
    }
}

#[test]
fn mappings_that_the_driver_does_not_undo_stay() {
    const Y: u64 = X + (4 << 20);
    for is_refused in [true, false] {
        let mut checker = checker();
        checker.physical_created(7, 2 << 20);
        checker.mapped(X, 2 << 20, 7, 0);
        checker.mapped(Y, 2 << 20, 7, 0);
        checker.queued(a(), "the write", writes());
        let was = checker.unmapped(X, 2 << 20);
        if is_refused {
            checker.not_unmapped(was);
        }
        // The other mapping is the same memory, as long as the first one is one of it.
        checker.queued(b(), "another write", Some(vec![Use::writes(Y, BYTES)]));
        checker.queued(b(), "a third write", writes());
        let expected = if is_refused { 2 } else { 1 };
        assert_eq!(kinds(&checker), vec![FindingKind::Race; expected], "refused: {is_refused}");
    }
}
