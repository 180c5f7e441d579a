//! Functions with and without a stream: whatever uses the current stream has a form that takes one, or a reason to have
//! none. An async runtime's task cannot rely on the current stream of its thread.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

use std::collections::{BTreeMap, BTreeSet};

use testkit::header::{Prototype, boundary_sources, prototypes, text as header};

use crate::comments::{Commented, functions, parts};

/// Functions of tensors that neither queue work nor allocate memory in the order of a stream.
const WITHOUT_WORK: [(&str, &[&str]); 5] = [
    ("it concerns the handle alone", &["assign", "live_count", "release", "retain", "undefined"]),
    (
        "it reports what a tensor is",
        &[
            "borrow_sizes",
            "borrow_strides",
            "get_data",
            "get_device",
            "get_dims",
            "get_dtype",
            "get_numel",
            "get_rank",
            "get_sizes",
            "get_storage",
            "get_storage_offset",
            "get_strides",
            "is_contiguous",
            "is_defined",
            "is_pinned",
            "is_read_only",
            "shares_storage",
        ],
    ),
    (
        "it makes a view",
        &[
            "as_strided",
            "chunk",
            "diagonal",
            "expand",
            "narrow",
            "permute",
            "select",
            "slice",
            "split",
            "split_with_sizes",
            "squeeze",
            "transpose",
            "unbind",
            "unflatten",
            "unsqueeze",
            "view",
        ],
    ),
    ("the memory exists already", &["from_blob", "from_memory"]),
    ("it copies within the host", &["pin_memory"]),
];

/// Other functions that use the current stream.
const WITHOUT_FORM: [(&str, &[&str]); 6] = [
    (
        "it sets or reports the current stream",
        &["sconce_dlpack_current_stream", "sconce_stream_get_current"],
    ),
    (
        "it has a form without a current stream of another name",
        &["sconce_graph_replay_on_current", "sconce_tensor_copy_"],
    ),
    (
        "it uses the current streams of several devices",
        &[
            "sconce_comm_tensors_broadcast",
            "sconce_comm_tensors_broadcast_coalesced",
            "sconce_comm_tensors_broadcast_out",
            "sconce_comm_tensors_gather",
            "sconce_comm_tensors_gather_out",
            "sconce_comm_tensors_reduce_add",
            "sconce_comm_tensors_reduce_add_coalesced",
            "sconce_comm_tensors_scatter_out",
        ],
    ),
    (
        "another library prescribes its signature",
        &[
            "sconce_cupy_malloc",
            "sconce_dlpack_allocator",
            "sconce_ort_alloc",
            "sconce_torch_malloc",
        ],
    ),
    ("it lends a stream for its work", &["sconce_graph_warm_up"]),
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
    for (_, names) in WITHOUT_WORK {
        reasoned.extend(names.iter().map(|name| format!("sconce_tensor_{name}")));
    }
    for (_, names) in WITHOUT_FORM {
        reasoned.extend(names.iter().map(|name| (*name).to_owned()));
    }
    for prototype in prototypes.iter().filter(|prototype| !takes_stream(prototype)) {
        let name = &prototype.name;
        let needs = name.starts_with("sconce_tensor_")
            || uses_current(name, comments, &mut BTreeSet::new());
        let has = known.contains_key(format!("{name}_on").as_str());
        match (needs, has, reasoned.contains(name)) {
            (true, false, false) => wrong.push(format!(
                "{name} uses the current stream; add {name}_on, or a reason to header_sync/streams.rs"
            )),
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
        // Functions on addresses take it behind what they work on.
        let of_handles = ["sconce_tensor_", "sconce_backward_"];
        let is_first = of_handles.iter().any(|room| form.name.starts_with(room));
        let right = if is_first { at == Some(0) } else { at.is_some() };
        if !right || others != plain.parameters || form.returns != plain.returns {
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
        ("- Ordering: as `sconce_tensor_fill`.", true),
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
    let seen = planted("sconce_status sconce_tensor_new(struct sconce_tensor *tensor);", "");
    assert!(seen.contains("add sconce_tensor_new_on"), "{seen}");
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
    let late = "sconce_status sconce_tensor_live_count_on(struct sconce_stream stream);";
    assert!(planted(late, "").contains("remove sconce_tensor_live_count"));
}
