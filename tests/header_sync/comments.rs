//! The comments of the C functions: the header states once what holds for every function, and the comment
//! of a function adds only what deviates.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

use testkit::header::{boundary_sources, prototypes, text as header};

/// What an item of a comment may be about, in this order, after the parameters.
const LABELS: [&str; 6] = ["Errors", "Ownership", "Ordering", "Threads", "Safety", "torch"];

/// Parameters that the header describes for all functions, and switches that a function's first sentence
/// describes.
const DESCRIBED_ONCE: [&str; 19] = [
    "comm",
    "work",
    "device",
    "dim",
    "stream",
    "event",
    "start",
    "end",
    "pool",
    "store",
    "tensor",
    "generator",
    "module",
    "kernel",
    "snapshot",
    "allow",
    "allowed",
    "benchmark",
    "deterministic",
];

/// What the header states once, as a function's comment might repeat it.
const DEFAULTS: [&str; 14] = [
    "- Errors: none",
    "- Ownership: none",
    "- Ordering: does not block.$",
    "- Threads: any.$",
    "- Safety: none",
    "- Safety: no requirements",
    "- torch: none",
    "index, -1 for the current device.$",
    "NULL or valid for",
    "as `sconce_init`.",
    "FORKED",
    "is NULL, destroyed",
    "the backend is not the simulator",
    "stream that this library returned",
];

/// Defaults that a comment has to repeat.
const REPEATED: [(&str, &str); 5] = [
    ("sconce_device_can_access_peer", "index, -1"),
    ("sconce_init", "NO_DEVICE"),
    ("sconce_init_with", "as `sconce_init`."),
    ("sconce_ipc_open_memory", "index, -1"),
    ("sconce_sim_set_peer_access", "index, -1"),
];

/// A function of the C API: its name, its parameters, and its comment's lines.
pub(crate) struct Commented {
    pub(crate) name: String,
    parameters: Vec<String>,
    pub(crate) comment: Vec<String>,
}

/// The functions of a source.
pub(crate) fn functions(source: &str) -> Vec<Commented> {
    let (mut found, mut comment) = (Vec::new(), Vec::new());
    let mut lines = source.lines();
    while let Some(line) = lines.next() {
        if let Some(text) = line.strip_prefix("///") {
            comment.push(text.strip_prefix(' ').unwrap_or(text).to_owned());
        } else if let Some((_, rest)) = line.split_once("extern \"C\" fn sconce_") {
            let mut text = rest.to_owned();
            while !text.contains(')') {
                text += lines.next().expect("the parameters end");
            }
            let (name, rest) = text.split_once('(').unwrap();
            let parameters = rest.split(')').next().unwrap().split(',');
            found.push(Commented {
                name: format!("sconce_{name}"),
                parameters: parameters
                    .filter_map(|parameter| parameter.split_once(':'))
                    .map(|(name, _)| name.trim().to_owned())
                    .collect(),
                comment: std::mem::take(&mut comment),
            });
        } else if !line.starts_with("#[") {
            comment.clear();
        }
    }
    found
}

/// The paragraphs before the items, and the items, each as one line.
pub(crate) fn parts(comment: &[String]) -> (Vec<String>, Vec<String>) {
    let (mut paragraphs, mut items) = (vec![String::new()], Vec::<String>::new());
    for line in comment {
        if line.starts_with("- ") {
            items.push(line.clone());
        } else if let Some(item) = items.last_mut() {
            *item += " ";
            *item += line.trim();
        } else if line.is_empty() {
            paragraphs.push(String::new());
        } else {
            let last = paragraphs.last_mut().unwrap();
            *last += if last.is_empty() { "" } else { " " };
            *last += line;
        }
    }
    paragraphs.retain(|paragraph| !paragraph.is_empty());
    (paragraphs, items)
}

/// Whether a text contains a sentence; `$` at the sentence's end stands for the end of the text.
fn states(text: &str, sentence: &str) -> bool {
    match sentence.strip_suffix('$') {
        Some(sentence) => text.ends_with(sentence),
        None => text.contains(sentence),
    }
}

/// What is wrong with the comment of a function.
fn faults(function: &Commented) -> Vec<String> {
    let name = &function.name;
    let (paragraphs, items) = parts(&function.comment);
    let mut wrong = Vec::new();
    let mut fault = |what: String| wrong.push(format!("{name}: {what}"));
    match paragraphs.first() {
        None => fault("has no description".to_owned()),
        Some(first) if !first.starts_with(|c: char| c.is_ascii_uppercase()) => {
            fault(format!("the description begins with a small letter: {first}"));
        }
        _ => {}
    }
    let texts = || paragraphs.iter().chain(&items);
    for text in texts().filter(|text| !text.ends_with('.')) {
        fault(format!("a paragraph or item does not end with a full stop: {text}"));
    }
    for text in texts().filter(|text| text.starts_with('#')) {
        fault(format!("headings are of no use here: {text}"));
    }
    let mut described = Vec::new();
    let mut last_label = None;
    for item in &items {
        let subject = item[2..].split_once(':').map_or("", |(subject, _)| subject);
        if let Some(label) = LABELS.iter().position(|label| *label == subject) {
            if last_label >= Some(label) {
                fault(format!("`{subject}` is repeated or out of order"));
            }
            last_label = Some(label);
        } else {
            let named: Vec<&str> = subject.split(", ").map(|name| name.trim_matches('`')).collect();
            for unknown in
                named.iter().filter(|name| !function.parameters.contains(&name.to_string()))
            {
                fault(format!("`{unknown}` is neither a parameter nor a label"));
            }
            if last_label.is_some() {
                fault(format!("`{subject}` stands after a label"));
            }
            described.extend(named.iter().map(|name| name.to_string()));
        }
    }
    for parameter in &function.parameters {
        if !described.contains(parameter) && !DESCRIBED_ONCE.contains(&parameter.as_str()) {
            // "Otherwise as" another function, whose comment describes it.
            if !paragraphs.iter().any(|text| text.contains("Otherwise as `sconce_")) {
                fault(format!("the parameter `{parameter}` is not described"));
            }
        }
    }
    for default in DEFAULTS {
        let wanted =
            REPEATED.iter().any(|(function, text)| function == name && default.contains(text));
        if !wanted && let Some(text) = texts().find(|text| states(text, default)) {
            fault(format!("repeats what the header states once: {text}"));
        }
    }
    wrong
}

#[test]
fn comments_state_what_deviates_and_nothing_twice() {
    let functions: Vec<Commented> =
        boundary_sources().iter().flat_map(|source| functions(source)).collect();
    assert_eq!(functions.len(), prototypes(&header()).len());
    let wrong: Vec<String> = functions.iter().flat_map(faults).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_header_states_the_defaults_once() {
    let header = header();
    let subjects =
        ["Results", "Parameters", "Errors", "Ownership", "Ordering", "Threads", "Safety"];
    for subject in subjects.into_iter().chain(["torch"]) {
        assert_eq!(header.matches(&format!(" * **{subject}.** ")).count(), 1, "{subject}");
    }
}

#[test]
fn planted_faults_are_seen() {
    let check = |comment: &str| {
        let comment = comment.lines().map(|line| format!("/// {line}\n")).collect::<String>();
        let source = format!(
            "{comment}pub extern \"C\" fn sconce_x(\n    device: i32,\n    n: usize,\n) {{}}"
        );
        functions(&source).iter().flat_map(faults).collect::<Vec<_>>().join("; ")
    };
    let good = "Does it.\n\n- `n`: how many.\n- Errors: IO: no file.\n- torch: `x`.";
    assert_eq!(check(good), "");
    for (comment, fault) in [
        ("- `n`: how many.", "has no description"),
        ("does it.\n\n- `n`: how many.", "begins with a small letter"),
        ("Does it\n\n- `n`: how many.", "does not end with a full stop"),
        ("Does it.", "`n` is not described"),
        ("Does it.\n\n- `m`: how many.", "`m` is neither a parameter nor a label"),
        ("Does it.\n\n- torch: `x`.\n- `n`: how many.", "stands after a label"),
        ("Does it.\n\n- `n`: how many.\n- torch: `x`.\n- Errors: IO.", "out of order"),
        ("Does it.\n\n- `n`: how many.\n- Threads: any.", "repeats what the header states once"),
        ("Does it.\n\n- `n`: how many.\n- Safety: `n` is NULL or valid for one.", "repeats"),
        ("Does it.\n\n- `device`: index, -1 for the current device.\n- `n`: how many.", "repeats"),
    ] {
        let found = check(comment);
        assert!(found.contains(fault), "{comment}: {found}");
    }
    // An item may say more than the default.
    assert_eq!(
        check(&good.replace("no file.", "no file.\n- Ordering: does not block. Queues it.")),
        ""
    );
}
