//! The list of operations has every function of the header.

use std::collections::BTreeSet;

use super::operations::ALL;

/// Functions that ask what a tensor is or count its owners; DLPack's have tests of their own.
const NO_OPERATIONS: [&str; 22] = [
    "retain",
    "release",
    "assign",
    "undefined",
    "live_count",
    "is_defined",
    "get_dtype",
    "get_device",
    "get_rank",
    "get_sizes",
    "get_strides",
    "borrow_sizes",
    "borrow_strides",
    "get_storage_offset",
    "get_numel",
    "get_data",
    "get_storage",
    "is_contiguous",
    "is_pinned",
    "is_read_only",
    "shares_storage",
    "record_stream",
];

#[test]
fn no_operation_is_left_out() {
    let header = testkit::header::text();
    let functions: BTreeSet<String> = testkit::header::prototypes(&header)
        .iter()
        .filter_map(|prototype| prototype.name.strip_prefix("sconce_tensor_").map(str::to_owned))
        .filter(|name| !name.contains("dlpack") && !NO_OPERATIONS.contains(&name.as_str()))
        // The same with a stream; `on` calls each of them.
        .filter(|name| !name.ends_with("_on"))
        .collect();
    let listed: BTreeSet<String> = ALL.iter().map(|operation| operation.name.to_owned()).collect();
    let missing: Vec<&String> = functions.difference(&listed).collect();
    assert!(missing.is_empty(), "add these to the list in every/operations.rs: {missing:?}");
    let unknown: Vec<&String> = listed.difference(&functions).collect();
    assert!(unknown.is_empty(), "the header has no such functions: {unknown:?}");
}
