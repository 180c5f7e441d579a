//! Variables that look like the library's and are not: a misspelled name would have no effect in silence.

use std::cmp::Reverse;

/// The library's variables. `docs/guide/environment.md` describes each.
const KNOWN: [&str; 26] = [
    "SCONCE_ALLOC_CONF",
    "SCONCE_BACKEND",
    "SCONCE_BLAS_WORKSPACE_MAX",
    "SCONCE_CHECK_DEVICE",
    "SCONCE_LIBCUBLAS",
    "SCONCE_LIBCUDA",
    "SCONCE_LIBCUDART",
    "SCONCE_LIBCUDNN",
    "SCONCE_LIBCUFFT",
    "SCONCE_LIBNCCL",
    "SCONCE_LIBNVML",
    "SCONCE_LIBNVRTC",
    "SCONCE_LOG",
    "SCONCE_NVTX_MEMORY",
    "SCONCE_SANITIZER",
    "SCONCE_SANITIZER_FILE",
    "SCONCE_SANITIZER_GUARD_BYTES",
    "SCONCE_SANITIZER_HANG_S",
    "SCONCE_SANITIZER_PAGE",
    "SCONCE_SANITIZER_QUARANTINE_MB",
    "SCONCE_SIM_DEVICES",
    "SCONCE_SIM_LATENCY_NS",
    "SCONCE_SIM_MEMORY",
    "SCONCE_SIM_REUSE_ADDRESSES",
    "SCONCE_SIM_SMS",
    "SCONCE_SIM_THREADS_PER_SM",
];

/// Variables that programs, scripts and builds around the library read.
const OTHERS: [&str; 7] = [
    "SCONCE_BLESS",
    "SCONCE_CARGO_TARGET_DIR",
    "SCONCE_CUDA_INCLUDE",
    "SCONCE_LIBRARY",
    "SCONCE_PREBUILT_DIR",
    "SCONCE_SANITIZE",
    "SCONCE_STRICT_TESTS",
];

/// How the names of variables of tests and builds begin.
const OTHER_PREFIXES: [&str; 4] =
    ["SCONCE_BUILD_", "SCONCE_EXAMPLES_", "SCONCE_SIM_TEST_", "SCONCE_TEST_"];

/// A warning for a name that begins like the library's and is none of them.
pub(super) fn complaint(name: &str) -> Option<String> {
    let is_others = OTHERS.contains(&name) || OTHER_PREFIXES.iter().any(|it| name.starts_with(it));
    if !name.starts_with("SCONCE_") || KNOWN.contains(&name) || is_others {
        return None;
    }
    let upper = name.to_ascii_uppercase();
    let same = |known: &str| upper.bytes().zip(known.bytes()).take_while(|(a, b)| a == b).count();
    let nearest =
        KNOWN.iter().min_by_key(|known| (distance(&upper, known), Reverse(same(known))))?;
    Some(format!("{name} is not a variable of Sconce and has no effect; did you mean {nearest}?"))
}

/// How many letters must be inserted, removed or replaced to get from one name to the other.
fn distance(one: &str, other: &str) -> usize {
    // The distances from the first letters of `one` to each beginning of `other`.
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (place, letter) in one.bytes().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], place + 1);
        for (column, expected) in other.bytes().enumerate() {
            let replaced = diagonal + usize::from(letter != expected);
            diagonal = row[column + 1];
            row[column + 1] = replaced.min(diagonal + 1).min(row[column] + 1);
        }
    }
    row[other.len()]
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn a_misspelled_name_is_told_the_right_one() {
        for (name, right) in [
            ("SCONCE_SIM_DEVICE", "SCONCE_SIM_DEVICES"),
            ("SCONCE_ALLOCATOR_CONF", "SCONCE_ALLOC_CONF"),
            ("SCONCE_SIM_MEM", "SCONCE_SIM_MEMORY"),
            ("SCONCE_LOGLEVEL", "SCONCE_LOG"),
            ("SCONCE_BACKENDS", "SCONCE_BACKEND"),
            ("SCONCE_libcuda", "SCONCE_LIBCUDA"),
        ] {
            let complaint = complaint(name).unwrap();
            assert!(complaint.starts_with(&format!("{name} is not a variable")), "{complaint}");
            assert!(complaint.ends_with(&format!("{right}?")), "{complaint}");
        }
    }

    #[test]
    fn names_that_mean_something_are_not_complained_of() {
        for name in KNOWN.iter().chain(&OTHERS) {
            assert_eq!(complaint(name), None);
        }
        for name in ["SCONCE_TEST_MODELS", "SCONCE_BUILD_TESTS", "PATH", "Sconce_log", "SCONCE"] {
            assert_eq!(complaint(name), None, "{name}");
        }
    }

    #[test]
    fn the_guide_describes_the_same_variables() {
        let guide = include_str!("../../../../docs/guide/environment.md");
        let words = guide.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_');
        let described: BTreeSet<&str> =
            words.filter(|word| word.len() > 7 && word.starts_with("SCONCE_")).collect();
        assert_eq!(described, KNOWN.into_iter().collect());
    }

    #[test]
    fn distances_count_letters() {
        for (one, other, expected) in [
            ("", "", 0),
            ("abc", "abc", 0),
            ("abc", "", 3),
            ("kitten", "sitting", 3),
            ("ab", "ba", 2),
        ] {
            assert_eq!(distance(one, other), expected, "{one} {other}");
            assert_eq!(distance(other, one), expected, "{other} {one}");
        }
    }
}
