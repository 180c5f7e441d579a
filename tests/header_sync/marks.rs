//! Marks of comments that were left within a comment where lines were joined.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::Path;

/// What begins a line of a comment. A comment may have a star, which multiplies, and a program of a comment has comments
/// of its own (`//`).
const MARKS: [&str; 5] = ["///", "//!", "/**", "/*", "**"];

/// The text of a line of a comment without its mark; `None` for code. Text in backticks is left out.
fn comment(line: &str) -> Option<String> {
    let line = line.trim_start();
    let marks = ["///", "//!", "//", "/**", "/*", "* ", "*/"];
    let mark = marks.into_iter().find(|mark| line.starts_with(mark))?;
    Some(line[mark.len()..].split('`').step_by(2).collect())
}

/// Words of a comment that are marks; where a line begins with a second mark, that one, too.
fn left_over(line: &str) -> Vec<String> {
    let text = comment(line).unwrap_or_default();
    let words = text.split_whitespace().filter(|word| MARKS.contains(word));
    let second = text.split_whitespace().next().filter(|word| ["//", "*"].contains(word));
    words.chain(second).map(str::to_owned).collect()
}

#[test]
fn comments_of_headers_have_no_marks_within() {
    let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("include")];
    let (mut wrong, mut files) = (Vec::new(), 0);
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            files += 1;
            for (number, line) in std::fs::read_to_string(&path).unwrap().lines().enumerate() {
                if !left_over(line).is_empty() {
                    wrong.push(format!("{}:{}: {}", path.display(), number + 1, line.trim()));
                }
            }
        }
    }
    assert!(files > 80, "{files} headers");
    assert!(wrong.is_empty(), "marks within comments:\n{}", wrong.join("\n"));
}

#[test]
fn marks_are_seen_where_they_are_wrong_only() {
    for line in [
        " * CPU. As in torch, a generator /// of the CPU",
        " *   /// memory.",
        " * * twice",
        "/// // twice",
        "  // a /* b",
    ] {
        assert!(!left_over(line).is_empty(), "{line}");
    }
    for line in [
        " * a path `///x`, https://example.org",
        "/** Text. */",
        " */",
        "int x = 4; // 2",
        " * 2 * (m - 1) is",
        "/// auto a = b;  // a program",
        "///",
    ] {
        assert!(left_over(line).is_empty(), "{line}");
    }
}
