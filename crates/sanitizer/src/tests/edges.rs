//! What orders two operations.

use super::*;
use crate::checker::LastCall;
use crate::meetings::Part;
use crate::pending::Awaited;
use crate::report::MOST_REPORTS;

const EVENT: usize = 0x10;
const BACK: usize = 0x20;
const GRAPH: usize = 0x100;
const EXECUTABLE: usize = 0x200;

/// A program that is right with the edge. Without it there is one report.
struct Case {
    name: &'static str,
    without: FindingKind,
    program: fn(&mut Checker, bool),
}

const fn race(name: &'static str, program: fn(&mut Checker, bool)) -> Case {
    Case { name, without: FindingKind::Race, program }
}

/// `a` writes and records an event.
fn write_and_record(checker: &mut Checker) {
    write(checker, a());
    checker.recorded(EVENT, a());
}

fn capture_write(checker: &mut Checker, graph: usize, executable: usize) {
    checker.capture_began(c(), None);
    write(checker, c());
    checker.capture_ended(c(), Some(graph));
    checker.instantiated(executable, graph);
}

fn rank_calls(checker: &mut Checker, rank: &mut LastCall, stream: StreamRef) {
    checker.follows_rank(stream, rank);
    checker.queued(stream, "all_reduce", Some(Vec::new()));
    checker.rank_called(stream, rank);
}

/// A call of a rank that reads and writes the memory.
fn call(checker: &mut Checker, rank: &mut LastCall, stream: StreamRef) {
    checker.follows_rank(stream, rank);
    let uses = vec![Use::reads(X, BYTES), Use::writes(X, BYTES)];
    checker.queued(stream, "all_reduce", Some(uses));
    checker.rank_called(stream, rank);
}

const CASES: &[Case] = &[
    race("a stream waits for an event", |checker, edge| {
        write_and_record(checker);
        if edge {
            checker.waits(b(), EVENT);
        }
        read(checker, b());
    }),
    race("the event is recorded behind the work, not before it", |checker, edge| {
        if !edge {
            checker.recorded(EVENT, a());
        }
        write(checker, a());
        if edge {
            checker.recorded(EVENT, a());
        }
        checker.waits(b(), EVENT);
        read(checker, b());
    }),
    race("a stream waits for the newest record", |checker, edge| {
        checker.recorded(EVENT, a());
        write(checker, a());
        if edge {
            checker.recorded(EVENT, a());
        } else {
            checker.recorded(BACK, a());
        }
        checker.waits(b(), EVENT);
        read(checker, b());
    }),
    race("an event that was destroyed says nothing", |checker, edge| {
        write_and_record(checker);
        if !edge {
            checker.event_destroyed(EVENT);
        }
        checker.waits(b(), EVENT);
        read(checker, b());
    }),
    race("a wait precedes only what is queued behind it", |checker, edge| {
        write_and_record(checker);
        if !edge {
            read(checker, b());
        }
        checker.waits(b(), EVENT);
        if edge {
            read(checker, b());
        }
    }),
    race("two waits in a row", |checker, edge| {
        write_and_record(checker);
        checker.waits(b(), EVENT);
        checker.recorded(BACK, b());
        if edge {
            checker.waits(c(), BACK);
        }
        write(checker, c());
    }),
    race("a write waits for a read", |checker, edge| {
        read(checker, a());
        checker.recorded(EVENT, a());
        if edge {
            checker.waits(b(), EVENT);
        }
        write(checker, b());
    }),
    race("the host waits for an event, or finds it done", |checker, edge| {
        write_and_record(checker);
        if edge {
            checker.event_done(EVENT);
        }
        read(checker, b());
    }),
    race("the host waits for a stream, or finds it done", |checker, edge| {
        write(checker, a());
        if edge {
            checker.stream_done(a());
        } else {
            checker.stream_done(c());
        }
        read(checker, b());
    }),
    race("the host waits for the stream's device", |checker, edge| {
        checker.stream_created(stream(1, 0x1000), true);
        write(checker, a());
        checker.devices_done(Some(device_index(i32::from(!edge))));
        read(checker, b());
    }),
    race("the host waits for all devices", |checker, edge| {
        write(checker, a());
        if edge {
            checker.devices_done(None);
        }
        read(checker, b());
    }),
    race("the default stream waits for streams that block", |checker, edge| {
        write(checker, if edge { blocking() } else { a() });
        read(checker, legacy());
    }),
    race("streams that block wait for the default stream", |checker, edge| {
        write(checker, legacy());
        read(checker, if edge { blocking() } else { a() });
    }),
    race("the default stream of the same device", |checker, edge| {
        let other = stream(1, 0x4000);
        checker.stream_created(other, false);
        write(checker, legacy());
        read(checker, if edge { blocking() } else { other });
    }),
    race("both names of the default stream", |checker, edge| {
        write(checker, if edge { stream(0, 1) } else { a() });
        read(checker, legacy());
    }),
    race("the host waits for the default stream, and so for those that block", |checker, edge| {
        write(checker, if edge { blocking() } else { a() });
        checker.stream_done(legacy());
        checker.host_uses("the host", &Use::reads(X, BYTES));
    }),
    race("the host reads behind a wait", |checker, edge| {
        write(checker, a());
        if edge {
            checker.stream_done(a());
        }
        checker.host_uses("the host", &Use::reads(X, BYTES));
    }),
    race("work is queued behind what the host wrote", |checker, edge| {
        if edge {
            checker.host_uses("the host", &Use::writes(X, BYTES));
        }
        read(checker, a());
        if !edge {
            checker.host_uses("the host", &Use::writes(X, BYTES));
        }
    }),
    race("a stream that takes the handle of another one is another one", |checker, edge| {
        write(checker, a());
        if !edge {
            checker.stream_destroyed(a());
            checker.stream_created(a(), true);
        }
        read(checker, a());
    }),
    race("ranks of a collective call wait for each other", |checker, edge| {
        write(checker, a());
        let parts: Vec<Part> = checker.joined(a(), &[]).into_iter().collect();
        checker.joined(b(), if edge { &parts } else { &[] });
        read(checker, b());
    }),
    race("the host knows what was queued when its wait began", |checker, edge| {
        let early = checker.target(Awaited::Stream(a())).expect("a clock");
        write(checker, a());
        let late = checker.target(Awaited::Stream(a())).expect("a clock");
        checker.waited(Awaited::Stream(a()), if edge { &late } else { &early });
        read(checker, b());
    }),
    race("the host has waited for the record that was the newest then", |checker, edge| {
        checker.recorded(EVENT, a());
        let early = checker.target(Awaited::Event(EVENT)).expect("a record");
        write_and_record(checker);
        let late = checker.target(Awaited::Event(EVENT)).expect("a record");
        checker.waited(Awaited::Event(EVENT), if edge { &late } else { &early });
        read(checker, b());
    }),
    race("a record that the driver refuses leaves the one before", |checker, edge| {
        write_and_record(checker);
        let before = checker.recorded(EVENT, c());
        if edge {
            checker.not_recorded(EVENT, before);
        }
        checker.waits(b(), EVENT);
        read(checker, b());
    }),
    race("the rank that calls first waits for the others, too", |checker, edge| {
        let parts: Vec<Part> = checker.joined(b(), &[]).into_iter().collect();
        write(checker, a());
        checker.joined(a(), if edge { &parts } else { &[] });
        read(checker, b());
    }),
    race("calls of one rank follow each other on any stream", |checker, edge| {
        let mut ranks = [LastCall::default(), LastCall::default()];
        call(checker, &mut ranks[0], a());
        call(checker, &mut ranks[usize::from(!edge)], b());
    }),
    race("a stream with a call of a rank knows what came before the last one", |checker, edge| {
        let mut rank = LastCall::default();
        write(checker, a());
        if edge {
            rank_calls(checker, &mut rank, a());
        }
        rank_calls(checker, &mut rank, b());
        read(checker, b());
    }),
    race("captured calls of one rank follow each other", |checker, edge| {
        let mut ranks = [LastCall::default(), LastCall::default()];
        checker.capture_began(a(), None);
        checker.recorded(EVENT, a());
        checker.waits(b(), EVENT);
        call(checker, &mut ranks[0], a());
        call(checker, &mut ranks[usize::from(!edge)], b());
        checker.capture_ended(a(), Some(GRAPH));
    }),
    race(
        "streams of another capture, or of none, do not follow a captured call",
        |checker, edge| {
            let mut rank = LastCall::default();
            checker.capture_began(a(), None);
            call(checker, &mut rank, a());
            checker.capture_ended(a(), Some(GRAPH));
            write(checker, b());
            if edge {
                checker.stream_done(b());
            }
            call(checker, &mut rank, c());
        },
    ),
    race("work runs, unless other code captures its stream", |checker, edge| {
        write(checker, a());
        checker.found_capture(b(), edge.then_some(7));
        write(checker, b());
    }),
    race("a capture of other code has ended when the stream is in none", |checker, edge| {
        write(checker, a());
        checker.found_capture(b(), Some(7));
        checker.found_capture(b(), edge.then_some(8));
        write(checker, b());
    }),
    race("branches of a capture of other code", |checker, edge| {
        checker.found_capture(a(), Some(7));
        write_and_record(checker);
        if edge {
            checker.waits(b(), EVENT);
        }
        checker.found_capture(b(), Some(7));
        read(checker, b());
    }),
    race("streams join a capture of this library by a wait of other code", |checker, edge| {
        checker.capture_began(a(), Some(7));
        checker.found_capture(b(), edge.then_some(7));
        write(checker, b());
        checker.capture_ended(a(), Some(GRAPH));
        checker.found_capture(b(), None);
        write(checker, c());
    }),
    race("launches of one graph follow each other", |checker, edge| {
        capture_write(checker, GRAPH, EXECUTABLE);
        capture_write(checker, GRAPH + 1, EXECUTABLE + 1);
        checker.launched(EXECUTABLE, a());
        checker.launched(EXECUTABLE + usize::from(!edge), b());
    }),
    race("a graph is launched behind what it reads", |checker, edge| {
        capture_write(checker, GRAPH, EXECUTABLE);
        write_and_record(checker);
        if edge {
            checker.waits(b(), EVENT);
        }
        checker.launched(EXECUTABLE, b());
    }),
    race("work waits for a graph", |checker, edge| {
        capture_write(checker, GRAPH, EXECUTABLE);
        checker.launched(EXECUTABLE, a());
        checker.recorded(EVENT, a());
        if edge {
            checker.waits(b(), EVENT);
        }
        read(checker, b());
    }),
    race("a branch of a capture waits for the stream that it forks from", |checker, edge| {
        checker.capture_began(a(), None);
        if !edge {
            checker.recorded(EVENT, a());
        }
        write(checker, a());
        if edge {
            checker.recorded(EVENT, a());
        }
        checker.waits(b(), EVENT);
        read(checker, b());
        checker.capture_ended(a(), Some(GRAPH));
    }),
    race("a capture waits for a branch", |checker, edge| {
        checker.capture_began(a(), None);
        checker.recorded(EVENT, a());
        checker.waits(b(), EVENT);
        write(checker, b());
        checker.recorded(BACK, b());
        if edge {
            checker.waits(a(), BACK);
        }
        read(checker, a());
        checker.capture_ended(a(), Some(GRAPH));
    }),
    race("new memory is used behind its allocation", |checker, edge| {
        checker.handed_out(a(), X, BYTES);
        checker.recorded(EVENT, a());
        if edge {
            checker.waits(b(), EVENT);
        }
        write(checker, b());
    }),
    Case {
        name: "memory is handed out again behind its last use",
        without: FindingKind::EarlyReuse,
        program: |checker, edge| {
            checker.handed_out(a(), X, BYTES);
            write_and_record(checker);
            checker.taken_back(X);
            if edge {
                checker.waits(b(), EVENT);
            }
            checker.handed_out(b(), X, BYTES);
            write(checker, b());
        },
    },
    Case {
        name: "a stream is recorded as a user of a block",
        without: FindingKind::MissingRecordStream,
        program: |checker, edge| {
            checker.handed_out(a(), X, BYTES);
            write_and_record(checker);
            checker.waits(b(), EVENT);
            read(checker, b());
            if edge {
                checker.block_used(b(), X);
            }
            checker.taken_back(X);
        },
    },
    Case {
        name: "a block's stream waits for another user",
        without: FindingKind::MissingRecordStream,
        program: |checker, edge| {
            checker.handed_out(a(), X, BYTES);
            write_and_record(checker);
            checker.waits(b(), EVENT);
            read(checker, b());
            checker.recorded(BACK, b());
            if edge {
                checker.waits(a(), BACK);
            }
            checker.taken_back(X);
        },
    },
    Case {
        name: "memory is used before it is freed",
        without: FindingKind::UseAfterFree,
        program: |checker, edge| {
            checker.handed_out(a(), X, BYTES);
            if edge {
                write(checker, a());
            }
            checker.taken_back(X);
            if !edge {
                write(checker, a());
            }
        },
    },
    race("a stream waits for the event of another process", |checker, edge| {
        checker.import_opened(X, BYTES);
        checker.event_opened(EVENT);
        if edge {
            checker.waits(b(), EVENT);
        }
        read(checker, b());
    }),
    race("the host hears from another process behind the opening", |checker, edge| {
        if !edge {
            checker.processes_done();
        }
        checker.import_opened(X, BYTES);
        if edge {
            checker.processes_done();
        }
        read(checker, b());
    }),
    race("the host waits for the event of another process", |checker, edge| {
        checker.import_opened(X, BYTES);
        checker.event_opened(EVENT);
        if edge {
            checker.event_done(EVENT);
        }
        read(checker, b());
    }),
];

#[test]
fn each_kind_of_edge_orders() {
    for Case { name, program, .. } in CASES {
        let mut checker = checker();
        program(&mut checker, true);
        assert_eq!(kinds(&checker), [], "{name}: {:?}", checker.reports.all());
    }
}

#[test]
fn without_the_edge_there_is_one_report() {
    for Case { name, without, program } in CASES {
        let mut checker = checker();
        program(&mut checker, false);
        assert_eq!(kinds(&checker), [*without], "{name}: {:?}", checker.reports.all());
    }
}

#[test]
fn reads_do_not_conflict() {
    let mut checker = checker();
    read(&mut checker, a());
    read(&mut checker, b());
    checker.host_uses("the host", &Use::reads(X, BYTES));
    assert_eq!(kinds(&checker), []);
}

#[test]
fn an_operation_does_not_conflict_with_itself() {
    let mut checker = checker();
    let uses = vec![Use::reads(X, BYTES), Use::writes(X, BYTES), Use::writes(X + 8, 8)];
    checker.queued(a(), "in place", Some(uses));
    assert_eq!(kinds(&checker), []);
}

#[test]
fn a_block_of_a_pool_of_graphs_waits_for_their_launches() {
    for is_of_graphs in [true, false] {
        let mut checker = checker();
        let hands_out = |checker: &mut Checker| {
            checker.handed_out(a(), X, BYTES);
            checker.devices_done(None);
        };
        if !is_of_graphs {
            hands_out(&mut checker);
        }
        checker.capture_began(a(), None);
        if is_of_graphs {
            hands_out(&mut checker);
        }
        write(&mut checker, a());
        checker.capture_ended(a(), Some(1));
        checker.instantiated(2, 1);
        checker.launched(2, b());
        checker.taken_back(X);
        let missing = &[FindingKind::MissingRecordStream][..];
        assert_eq!(kinds(&checker), if is_of_graphs { &[] } else { missing }, "{is_of_graphs}");
        if is_of_graphs {
            checker.handed_out(c(), X, BYTES);
            assert_eq!(kinds(&checker), [FindingKind::EarlyReuse], "the launch may still run");
        }
    }
}

#[test]
fn operations_of_which_nothing_is_known_are_counted_and_not_reported() {
    let mut checker = checker();
    checker.queued(a(), "kernel", None);
    write(&mut checker, b());
    assert_eq!((checker.operations(), checker.unknown()), (2, 1));
    assert_eq!(kinds(&checker), []);
}

#[test]
fn a_report_names_both_operations_their_streams_and_the_wait() {
    let mut checker = checker();
    write(&mut checker, a());
    read(&mut checker, b());
    let report = checker.reports.all()[0].clone();
    let first = report.first.clone().expect("an earlier access");
    assert_eq!((first.number, first.name.as_str(), first.writes), (1, "the write", true));
    assert_eq!((report.second.number, report.second.name.as_str()), (2, "the read"));
    assert!(!report.second.writes);
    assert_eq!((report.address, report.bytes), (X, BYTES));
    assert!(first.stream.contains("0x1000") && report.second.stream.contains("0x2000"));
    let wait = "call wait_stream(stream 1) on stream 2, or";
    assert!(report.repair.contains(wait), "{}", report.repair);
    assert!(report.text().contains("race between streams"), "{}", report.text());
}

#[test]
fn the_line_of_a_report_is_the_wait_that_is_missing() {
    let line_of = |program: &dyn Fn(&mut Checker)| {
        let mut checker = checker();
        program(&mut checker);
        let report = checker.reports.all()[0].clone();
        let line = report.line.clone().unwrap_or_default();
        assert_eq!(report.text().contains("\n  line: "), !line.is_empty(), "{}", report.text());
        let json = if line.is_empty() { "null}".to_owned() } else { format!("\"{line}\"}}") };
        assert!(report.json().contains(&format!("\"line\":{json}")), "{}", report.json());
        line
    };
    let between = |first: StreamRef, second: StreamRef| {
        line_of(&|checker| {
            write(checker, first);
            read(checker, second);
        })
    };
    assert_eq!(between(a(), b()), "stream2.wait_stream(stream1);");
    assert_eq!(between(b(), a()), "stream1.wait_stream(stream2);");
    assert_eq!(between(legacy(), a()), "stream1.wait_stream(default_stream);");
    assert_eq!(between(a(), legacy()), "default_stream.wait_stream(stream1);");
    let host = line_of(&|checker| {
        write(checker, a());
        checker.host_uses("the host", &Use::reads(X, BYTES));
    });
    assert_eq!(host, "stream1.synchronize();");
    let freed = line_of(&|checker| {
        checker.handed_out(a(), X, BYTES);
        checker.devices_done(None);
        read(checker, b());
        checker.taken_back(X);
    });
    assert_eq!(freed, "block.record_stream(stream2);");
    let after = line_of(&|checker| {
        checker.handed_out(a(), X, BYTES);
        checker.taken_back(X);
        read(checker, a());
    });
    assert_eq!(after, "");
    let branches = line_of(&|checker| {
        checker.capture_began(a(), None);
        checker.recorded(1, a());
        checker.waits(b(), 1);
        write(checker, a());
        read(checker, b());
    });
    assert_eq!(branches, "stream2.wait_stream(stream1);");
}

#[test]
fn a_race_within_a_capture_names_the_block() {
    let mut checker = checker();
    checker.handed_out(a(), X, BYTES);
    checker.capture_began(a(), None);
    checker.recorded(1, a());
    checker.waits(b(), 1);
    write(&mut checker, a());
    read(&mut checker, b());
    let report = &checker.reports.all()[0];
    assert_eq!(report.block.as_ref().map(|block| (block.0, block.1)), Some((X, BYTES)));
}

#[test]
fn the_repair_of_a_race_with_another_process_is_an_event() {
    for reads in [
        |checker: &mut Checker| read(checker, a()),
        |checker: &mut Checker| {
            checker.host_uses("the host", &Use::reads(X, BYTES));
        },
    ] {
        let mut checker = checker();
        checker.import_opened(X, BYTES);
        reads(&mut checker);
        let report = &checker.reports.all()[0];
        assert!(report.repair.contains("never waited for the process"), "{}", report.repair);
        assert_eq!(report.line, None);
    }
}

#[test]
fn memory_of_a_live_block_that_is_handed_out_is_a_defect_of_the_library() {
    let mut checker = checker();
    checker.handed_out(a(), X, 2 * BYTES);
    checker.handed_out(a(), X + BYTES, BYTES);
    let report = &checker.reports.all()[0];
    assert_eq!(report.kind, FindingKind::EarlyReuse);
    assert!(report.repair.contains("defect of the library"), "{}", report.repair);
}

#[test]
fn bodies_of_a_graph_go_with_it() {
    let mut checker = checker();
    checker.capture_began(a(), None);
    checker.bodies_added(a(), &[11, 12]);
    for body in [11, 12] {
        checker.capture_began(b(), None);
        write(&mut checker, b());
        checker.capture_ended(b(), Some(body));
    }
    checker.capture_ended(a(), Some(10));
    assert_eq!(checker.graphs(), 3);
    checker.instantiated(1, 10);
    checker.graph_destroyed(10);
    assert_eq!(checker.graphs(), 0);
    checker.launched(1, a());
    read(&mut checker, b());
    assert_eq!(kinds(&checker), [FindingKind::Race]);
}

#[test]
fn names_that_differ_without_end_make_no_reports_without_end() {
    let mut checker = checker();
    let race = |checker: &mut Checker, size: usize| {
        write(checker, a());
        checker.queued(b(), &format!("kernel_{size}"), Some(vec![Use::reads(X, BYTES)]));
        checker.devices_done(None);
    };
    (0..MOST_REPORTS + 5).for_each(|size| race(&mut checker, size));
    assert_eq!(checker.reports.all().len(), MOST_REPORTS);
    // Those that are there are counted, and there is room again after they are forgotten.
    race(&mut checker, 0);
    assert_eq!(checker.reports.all()[0].count, 2);
    checker.forget_reports();
    race(&mut checker, MOST_REPORTS + 1);
    assert_eq!(checker.reports.all().len(), 1);
}

#[test]
fn sizes_in_names_make_no_further_reports() {
    for (names, reports) in [
        (["product of 2 x 3 x 4", "product of 5 x 3 x 4"], 1),
        (["kernel_2", "kernel_3"], 2),
        (["gradient of a filter", "gradient of an input"], 2),
    ] {
        let mut checker = checker();
        for name in names {
            write(&mut checker, a());
            checker.queued(b(), name, Some(vec![Use::reads(X, BYTES)]));
            checker.devices_done(None);
        }
        assert_eq!(checker.reports.all().len(), reports, "{names:?}");
    }
}

#[test]
fn a_pair_of_places_is_one_report_with_a_count() {
    let mut checker = checker();
    for _ in 0..5 {
        write(&mut checker, a());
        read(&mut checker, b());
        checker.devices_done(None);
    }
    let reports = checker.reports.all();
    assert_eq!((reports.len(), reports[0].count), (1, 5));
    checker.reports.clear();
    assert_eq!(kinds(&checker), []);
}

/// The library has asked for an event for its own sake, and it is done.
fn library_asks(checker: &mut Checker, event: usize) {
    let target = checker.target(Awaited::Event(event)).expect("a record");
    checker.library_learns(&target);
}

#[test]
fn what_the_library_asks_for_itself_is_no_wait_of_the_program() {
    let mut checker = checker();
    write_and_record(&mut checker);
    library_asks(&mut checker, EVENT);
    read(&mut checker, b());
    assert_eq!(kinds(&checker), [FindingKind::Race]);
}

#[test]
fn a_free_does_not_wait_for_what_the_library_has_asked() {
    let mut checker = checker();
    checker.handed_out(a(), X, BYTES);
    checker.devices_done(None);
    write(&mut checker, b());
    checker.recorded(EVENT, b());
    library_asks(&mut checker, EVENT);
    checker.taken_back(X);
    assert_eq!(kinds(&checker), [FindingKind::MissingRecordStream]);
}

#[test]
fn what_the_library_has_asked_precedes_what_it_hands_out() {
    for asks in [true, false] {
        let mut checker = checker();
        checker.handed_out(a(), X, 2 * BYTES);
        checker.devices_done(None);
        checker.queued(b(), "the write", Some(vec![Use::writes(X, 2 * BYTES)]));
        checker.recorded(EVENT, b());
        checker.block_used(b(), X);
        checker.taken_back(X);
        if asks {
            library_asks(&mut checker, EVENT);
        }
        // Halves of the old block; the stream of one of them has nothing to do with the old one.
        checker.handed_out(a(), X, BYTES);
        checker.handed_out(c(), X + BYTES, BYTES);
        write(&mut checker, a());
        checker.queued(c(), "the write", Some(vec![Use::writes(X + BYTES, BYTES)]));
        let late: &[FindingKind] = &[FindingKind::EarlyReuse];
        assert_eq!(kinds(&checker), if asks { &[] } else { late }, "{asks}");
    }
}

#[test]
fn uses_beyond_a_block_that_is_handed_out_do_not_count_in_it() {
    let mut checker = checker();
    // A launch of a graph has used memory of its pool, without blocks; the graph is gone.
    checker.queued(b(), "the launch", Some(vec![Use::writes(X, 4 * BYTES)]));
    checker.recorded(EVENT, b());
    library_asks(&mut checker, EVENT);
    checker.handed_out(a(), X + BYTES, BYTES);
    checker.queued(a(), "the write", Some(vec![Use::writes(X + BYTES, BYTES)]));
    assert_eq!(kinds(&checker), []);
    checker.queued(a(), "another write", Some(vec![Use::writes(X + 3 * BYTES, BYTES)]));
    assert!(!kinds(&checker).is_empty());
}
