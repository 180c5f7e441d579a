//! The page of small programs.

use testkit_json::Json;

use super::*;
use crate::page::{PAGE, RUN_PLACE, Run, SCRIPT, STYLE, WaitKind, page, path_of_process};

const EVENT: usize = 0x10;

fn recorded(most: usize) -> Checker {
    let mut checker = checker();
    checker.keep_history(Some(most));
    checker
}

fn run(checker: &Checker) -> Run {
    let (history, order) = checker.kept().expect("it is kept");
    Run::of(history, order, checker.unknown(), checker.reports.all())
}

fn json(checker: &Checker) -> Json {
    Json::read(&run(checker).json())
}

/// What lies between the tags of the element with the run.
fn data(page: &str) -> &str {
    let (_, rest) = page.split_once("id=\"data\">").expect("the element");
    rest.split_once("</script>").expect("its end").0
}

/// The kinds of the waits, each with the lanes and the step where it stands.
fn waits(json: &Json) -> Vec<(String, u32, u32, (u64, u32))> {
    let of = |wait: &Json| {
        let at = (wait["at"][0].number(), wait["at"][1].number());
        (wait["kind"].text().to_owned(), wait["from"].number(), wait["to"].number(), at)
    };
    json["waits"].items().iter().map(of).collect()
}

fn numbers(json: &Json) -> Vec<u64> {
    json["operations"].items().iter().map(|it| it["number"].number()).collect()
}

/// A wait in words: its kind, its lanes, and the step behind which operation it stands.
fn wait(kind: &str, from: u32, to: u32, at: (u64, u32)) -> (String, u32, u32, (u64, u32)) {
    (kind.to_owned(), from, to, at)
}

#[test]
fn a_run_has_its_operations_waits_and_reports() {
    let mut checker = recorded(100);
    checker.handed_out(a(), X, BYTES);
    write(&mut checker, a());
    checker.recorded(EVENT, a());
    checker.waits(b(), EVENT);
    read(&mut checker, b());
    write(&mut checker, a());
    checker.stream_done(a());
    let run = json(&checker);
    assert_eq!(numbers(&run), [1, 2, 3, 4]);
    let [allocation, first, second, last] = run["operations"].items() else { panic!("four") };
    assert_eq!(allocation["allocator"], Json::Boolean(true));
    assert_eq!(allocation["uses"][0][2].number::<u64>(), BYTES);
    assert_eq!((first["name"].text(), first["lane"].number::<u32>()), ("the write", 1));
    assert_eq!(first["allocator"], Json::Boolean(false));
    assert_eq!(first["uses"].items().len(), 1);
    assert_eq!(first["uses"][0][0], Json::Boolean(true));
    assert_eq!(first["uses"][0][1].text(), format!("{X:#x}"));
    assert_eq!(second["uses"][0][0], Json::Boolean(false));
    assert_eq!((second["name"].text(), second["lane"].number::<u32>()), ("the read", 2));
    // The record is the first step behind operation 2, and the wait the second.
    assert_eq!(waits(&run), [wait("event", 1, 2, (2, 2)), wait("host", 1, 0, (4, 1))]);
    assert_eq!(run["waits"][0]["since"][1].number::<u32>(), 1);
    assert_eq!(run["waits"][1]["since"], Json::Null);
    // The second write overtakes the read.
    let [found] = run["reports"].items() else { panic!("one report") };
    let report = &found["report"];
    assert_eq!(report["first"]["operation"].number::<u64>(), second["number"].number::<u64>());
    assert_eq!(report["second"]["operation"].number::<u64>(), last["number"].number::<u64>());
    assert_eq!(report["line"].text(), "stream1.wait_stream(stream2);");
    assert_eq!(
        (found["title"].text(), found["count"].number::<u64>()),
        ("race between streams", 1)
    );
    let lanes: Vec<&str> = run["lanes"].items().iter().map(|lane| lane["short"].text()).collect();
    assert_eq!(lanes, ["the host", "stream 1", "stream 2"]);
}

#[test]
fn only_what_adds_to_the_order_is_a_wait() {
    let mut checker = recorded(100);
    // An event that nobody has recorded, and one of work that the host knows.
    checker.waits(b(), EVENT);
    write(&mut checker, a());
    checker.recorded(EVENT, a());
    checker.event_done(EVENT);
    checker.event_done(EVENT);
    checker.waits(b(), EVENT);
    checker.stream_done(a());
    assert_eq!(waits(&json(&checker)), [wait("host", 1, 0, (1, 2))]);
    // The legacy default stream's rule stands with the operation that it orders.
    checker.queued(blocking(), "first", None);
    checker.queued(legacy(), "second", None);
    let all = waits(&json(&checker));
    assert_eq!(all.len(), 2);
    assert_eq!((all[1].0.as_str(), all[1].1, all[1].3), ("legacy", 4, (3, 0)));
}

#[test]
fn captures_launches_frees_and_collective_calls_are_part_of_the_run() {
    let mut checker = recorded(100);
    checker.capture_began(a(), None);
    checker.queued(a(), "inside", None);
    checker.capture_ended(a(), Some(7));
    checker.instantiated(8, 7);
    checker.launched(8, a());
    checker.launched(8, b());
    let part = checker.joined(a(), &[]).expect("not captured");
    checker.joined(c(), &[part]);
    checker.handed_out(a(), X, BYTES);
    checker.block_used(b(), X);
    checker.taken_back(X);
    let run = json(&checker);
    let captured: Vec<bool> =
        run["operations"].items().iter().map(|it| it["captured"] == Json::Boolean(true)).collect();
    assert_eq!(captured, [true, false, false, false, false]);
    let kinds: Vec<String> = waits(&run).into_iter().map(|wait| wait.0).collect();
    assert_eq!(kinds, ["launch", "collective", "recorded"]);
}

#[test]
fn the_newest_operations_stay_and_those_of_reports() {
    let mut checker = recorded(50);
    write(&mut checker, a());
    for other in 0..20_000_u64 {
        if other == 1000 {
            read(&mut checker, b());
            write(&mut checker, b());
        }
        let uses = vec![Use::writes(X + 0x10_0000 + other, 1)];
        checker.queued(a(), "other", Some(uses));
        checker.recorded(EVENT, a());
        checker.waits(c(), EVENT);
    }
    let run = json(&checker);
    let all = numbers(&run);
    // The first write had gone when the report was made: it stays alone. The reads have their neighbours.
    assert!(all.starts_with(&[1, 994, 995]), "{:?}", &all[..5]);
    assert!(all.ends_with(&[20_002, 20_003]));
    assert!(all.is_sorted());
    assert!(all.contains(&1002) && all.contains(&1003) && !all.contains(&1100));
    assert!((50..120).contains(&all.len()), "{}", all.len());
    assert_eq!(run["seen"].number::<u64>(), 20_003);
    assert_eq!(run["kept"].number::<usize>(), all.len());
    assert!(run["waits"].items().len() < 120, "{}", run["waits"].items().len());
}

#[test]
fn many_reports_and_waits_without_operations_are_bounded() {
    let mut checker = recorded(10);
    for round in 0..1500 {
        for stream in [a(), b()] {
            checker.queued(stream, &format!("write {round}"), Some(vec![Use::writes(X, BYTES)]));
        }
        checker.devices_done(None);
    }
    for event in 0..1000 {
        checker.queued(a(), "other", None);
        checker.recorded(event, a());
    }
    assert_eq!(checker.reports.all().len(), 1500);
    checker.forget_reports();
    let run = json(&checker);
    assert!(run["operations"].items().len() < 1500, "{}", run["operations"].items().len());
    assert_eq!(run["reports"].items().len(), 500);
    assert!(run["waits"].items().len() < 4000);
}

#[test]
fn forgotten_reports_stay_part_of_the_run() {
    let mut checker = recorded(100);
    for _ in 0..2 {
        write(&mut checker, a());
        read(&mut checker, b());
        checker.devices_done(None);
        checker.forget_reports();
    }
    assert_eq!(json(&checker)["reports"].items().len(), 2);
    assert_eq!(checker.reports.all().len(), 0);
}

#[test]
fn without_a_page_nothing_is_kept() {
    let mut checker = checker();
    write(&mut checker, a());
    assert!(checker.kept().is_none());
    checker.keep_history(Some(10));
    write(&mut checker, a());
    assert_eq!(numbers(&json(&checker)), [2]);
    checker.keep_history(None);
    assert!(checker.kept().is_none());
}

#[test]
fn names_do_not_end_the_script() {
    let mut checker = recorded(100);
    let hostile = "</script><script>alert(1)</script><!-- \"\\\n\u{2028} RUN< /*SCRIPT*/ $& é";
    checker.queued(a(), hostile, Some(vec![Use::writes(X, BYTES)]));
    checker.queued(b(), &"n".repeat(5000), Some(vec![Use::writes(X, BYTES)]));
    let run = run(&checker);
    let page = page(&run);
    let read = Json::read(data(&page));
    assert_eq!(read["operations"][0]["name"].text(), hostile);
    assert_eq!(read["reports"][0]["report"]["first"]["name"].text(), hostile);
    assert_eq!(read["operations"][1]["name"].text().chars().count(), 401);
    assert_eq!(page.matches("<script").count(), PAGE.matches("<script").count());
    assert!(!data(&page).contains('<'));
    assert!(page.ends_with("</html>\n") && !page.contains(RUN_PLACE));
    assert!(page.contains(SCRIPT) && page.contains(STYLE));
}

#[test]
fn the_page_loads_nothing() {
    assert!(PAGE.contains("default-src 'none'"));
    for way in ["http:", "https:", "//cdn", "src=", "href", "@import", "url(", "fetch(", "import("]
    {
        for part in [PAGE, STYLE, SCRIPT] {
            assert!(!part.contains(way), "{way}");
        }
    }
    // Texts of the program are never read as markup.
    for way in ["innerHTML", "outerHTML", "insertAdjacent", "document.write", "eval("] {
        assert!(!SCRIPT.contains(way), "{way}");
    }
}

/// Every key that the script reads is one that runs have, and the other way round.
#[test]
fn the_script_reads_keys_of_runs() {
    let mut checker = recorded(100);
    checker.handed_out(a(), X, BYTES);
    write(&mut checker, a());
    checker.recorded(EVENT, a());
    checker.waits(c(), EVENT);
    read(&mut checker, b());
    let run = json(&checker);
    let keys = |json: &Json| {
        let Json::Map(entries) = json else { panic!("no map") };
        entries.iter().map(|(key, _)| key.clone()).collect::<Vec<String>>()
    };
    let report = &run["reports"][0];
    let parts = [
        &run,
        &run["lanes"][0],
        &run["operations"][0],
        &run["waits"][0],
        report,
        &report["report"]["first"],
        &report["report"]["block"],
    ];
    for key in parts.into_iter().flat_map(keys) {
        assert!(SCRIPT.contains(&format!(".{key}")), "the page does not read {key}");
    }
    let keys_of_report = keys(&report["report"]);
    for key in ["kind", "address", "bytes", "block", "first", "second", "repair", "line"] {
        assert!(keys_of_report.iter().any(|known| known == key), "reports have no {key}");
        assert!(SCRIPT.contains(&format!("report.{key}")), "the page does not read {key}");
    }
    for kind in [WaitKind::Event, WaitKind::Host, WaitKind::Legacy, WaitKind::Collective] {
        assert!(SCRIPT.contains(&format!(" {}: ", kind.name())), "{}", kind.name());
    }
}

#[test]
fn the_path_of_a_process_has_its_number() {
    let number = std::process::id().to_string();
    assert_eq!(path_of_process("run-%p.html"), format!("run-{number}.html"));
    assert_eq!(path_of_process("run.html"), "run.html");
}
