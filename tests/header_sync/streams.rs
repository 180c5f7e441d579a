//! Functions with and without a stream: calls that compute on addresses have a form that takes one, or a reason to have
//! none; what works on handles uses the current stream, and has no second form.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

use std::collections::{BTreeMap, BTreeSet};

use testkit::header::{Prototype, boundary_sources, prototypes, text as header};

use crate::comments::{Commented, functions, parts};

/// What uses current streams alone: a program has them made current by `sconce_stream_run`, or by a guard.
const OF_THE_CURRENT_STREAM: [&str; 4] =
    ["sconce_tensor_", "sconce_backward_", "sconce_dlpack_", "sconce_comm_tensors_"];

/// Other functions that use the current stream and have no form that takes one.
const WITHOUT_FORM: [(&str, &[&str]); 6] = [
    ("it sets or reports the current stream", &["sconce_stream_get_current"]),
    ("it has a form without a current stream of another name", &["sconce_graph_replay_on_current"]),
    (
        "another library prescribes its signature",
        &["sconce_cupy_malloc", "sconce_ort_alloc", "sconce_torch_malloc"],
    ),
    ("it lends a stream for its work", &["sconce_graph_warm_up"]),
    ("its tensors may be on several devices", &["sconce_sanitizer_begin_operation"]),
    ("its handle belongs to the thread", &["sconce_blas_get_handle", "sconce_dnn_get_handle"]),
];

/// What a function's comment says about the order of its work, and the functions that it refers to for that.
fn ordering(function: &Commented) -> (String, Vec<String>) {
    let (mut paragraphs, items) = parts(&function.comment);
    paragraphs.extend(items.into_iter().filter(|item| item.starts_with("- Ordering: ")));
    let text = paragraphs.join(" ").replace("- Ordering: as", "Otherwise as");
    let name = |rest: &str| format!("sconce_{}", rest.split('`').next().unwrap());
    let referred = text.split("Otherwise as `sconce_").skip(1).map(name).collect();
    (text, referred)
}

type Comments = BTreeMap<String, (String, Vec<String>)>;

/// Whether a function's comment, or one that it refers to, says that the current stream is used.
fn uses_current(name: &str, comments: &Comments, seen: &mut BTreeSet<String>) -> bool {
    if !seen.insert(name.to_owned()) {
        return false;
    }
    let Some((text, referred)) = comments.get(name) else { return false };
    ["current stream", "stream that is current"].iter().any(|words| text.contains(words))
        || referred.iter().any(|other| uses_current(other, comments, seen))
}

fn takes_stream(prototype: &Prototype) -> bool {
    prototype.parameters.iter().any(|(kind, _)| kind.contains("sconce_stream"))
}

/// What is wrong with the functions of a header.
fn faults(prototypes: &[Prototype], comments: &Comments) -> Vec<String> {
    let known: BTreeMap<&str, &Prototype> =
        prototypes.iter().map(|prototype| (prototype.name.as_str(), prototype)).collect();
    let mut wrong = Vec::new();
    let mut reasoned: BTreeSet<String> = BTreeSet::new();
    for (_, names) in WITHOUT_FORM {
        reasoned.extend(names.iter().map(|name| (*name).to_owned()));
    }
    for prototype in prototypes.iter().filter(|prototype| !takes_stream(prototype)) {
        let name = &prototype.name;
        let is_current_only = OF_THE_CURRENT_STREAM.iter().any(|noun| name.starts_with(noun));
        let needs = !is_current_only && uses_current(name, comments, &mut BTreeSet::new());
        let has = known.contains_key(format!("{name}_on").as_str());
        match (needs, has, reasoned.contains(name)) {
            (true, false, false) => wrong.push(format!(
                "{name} uses the current stream; add {name}_on, or a reason to header_sync/streams.rs"
            )),
            (_, true, _) if is_current_only => {
                wrong.push(format!("{name} uses the current stream; {name}_on says it twice"));
            }
            (_, true, true) => wrong.push(format!("{name}_on exists; remove {name} from the list")),
            (false, false, true) => wrong.push(format!("{name} needs no reason")),
            _ => {}
        }
    }
    for form in prototypes {
        let Some(plain) = form.name.strip_suffix("_on").and_then(|name| known.get(name)) else {
            continue;
        };
        let is_stream =
            |(kind, name): &(String, String)| kind == "struct sconce_stream" && name == "stream";
        let at = form.parameters.iter().position(is_stream);
        let mut others = form.parameters.clone();
        others.retain(|parameter| !is_stream(parameter));
        if at.is_none() || others != plain.parameters || form.returns != plain.returns {
            wrong.push(format!("{} differs from {} by more than `stream`", form.name, plain.name));
        }
    }
    wrong
}

fn comments_of(functions: &[Commented]) -> Comments {
    functions.iter().map(|function| (function.name.clone(), ordering(function))).collect()
}

fn all() -> (Vec<Prototype>, Comments) {
    let found: Vec<Commented> =
        boundary_sources().iter().flat_map(|source| functions(source)).collect();
    (prototypes(&header()), comments_of(&found))
}

#[test]
fn what_uses_the_current_stream_has_a_form_that_takes_one() {
    let (prototypes, comments) = all();
    let wrong = faults(&prototypes, &comments);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn planted_faults_are_seen() {
    let (known, comments) = all();
    let planted = |added: &str, comment: &str| {
        let source = format!("{comment}pub extern \"C\" fn sconce_other(\n    x: i32,\n) {{}}");
        let mut comments = comments.clone();
        comments.extend(comments_of(&functions(&source)));
        let mut all = known.clone();
        all.extend(prototypes(added));
        faults(&all, &comments).join("; ")
    };
    let mut other = "sconce_status sconce_other(int32_t x);\n".to_owned();
    for (comment, needs) in [
        ("Does it.", false),
        ("- Ordering: queued on the current stream.", true),
        ("- Ordering: as `sconce_copy`.", true),
        ("Does it. Otherwise as `sconce_matmul`.", true),
        ("- Errors: as `sconce_matmul`.", false),
    ] {
        let seen = planted(&other, &format!("/// {comment}\n"));
        assert_eq!(
            seen.contains("sconce_other uses the current stream"),
            needs,
            "{comment}: {seen}"
        );
    }
    for (parameters, right) in [
        ("int32_t x, struct sconce_stream stream", true),
        ("struct sconce_stream stream, int32_t x", true),
        ("struct sconce_stream stream, int64_t x", false),
        ("struct sconce_stream stream", false),
        ("int32_t x", false),
    ] {
        other = format!(
            "sconce_status sconce_other(int32_t x);\nsconce_status sconce_other_on({parameters});\n"
        );
        let seen = planted(&other, "");
        assert_eq!(!seen.contains("differs from sconce_other"), right, "{parameters}: {seen}");
    }
    let twin = "sconce_status sconce_tensor_fill_on(struct sconce_stream stream);";
    assert!(planted(twin, "").contains("says it twice"));
}
