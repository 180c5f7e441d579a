//! Rust source text as the layering test reads it: words and marks, and the paths they make.

use std::path::Path;

/// One source file: its path below `src`, and its text.
pub(crate) struct Source {
    pub(crate) path: String,
    pub(crate) text: String,
}

impl Source {
    pub(crate) fn new(path: &str, text: &str) -> Source {
        Source { path: path.to_owned(), text: text.to_owned() }
    }

    /// The module that the file is, from the crate's root.
    pub(crate) fn module(&self) -> Vec<String> {
        let path = self.path.trim_end_matches(".rs");
        let path = path.strip_suffix("/mod").unwrap_or(path);
        path.split('/').map(str::to_owned).collect()
    }

    pub(crate) fn room(&self) -> String {
        self.module().swap_remove(0)
    }
}

/// The words and marks of the code, each with its line; comments and the insides of strings are
/// left out. `::` is one mark.
pub(crate) fn tokens(text: &str) -> Vec<(String, usize)> {
    let without_insides = |(word, line): (String, usize)| match word.starts_with('"') {
        true => ("\"\"".to_owned(), line),
        false => (word, line),
    };
    words(text).into_iter().map(without_insides).collect()
}

/// The strings of the code, as they are written but for the quotes, and on one line. Code from the first test on is left
/// out.
pub(crate) fn strings(text: &str) -> Vec<(String, usize)> {
    let code = text.split("#[cfg(test)]").next().unwrap_or_default();
    let strings = words(code).into_iter().filter(|(word, _)| word.starts_with('"'));
    let plain = |text: String| {
        let lines: Vec<&str> = text.trim_matches('"').split("\\\n").collect();
        lines
            .iter()
            .enumerate()
            .map(|(at, line)| if at == 0 { line } else { line.trim_start() })
            .collect()
    };
    strings.map(|(text, line)| (plain(text), line)).collect()
}

/// As [`tokens`], with the insides of strings.
fn words(text: &str) -> Vec<(String, usize)> {
    let chars: Vec<char> = text.chars().collect();
    let at = |i: usize| chars.get(i).copied().unwrap_or('\0');
    let (mut found, mut i, mut line) = (Vec::new(), 0, 1);
    while i < chars.len() {
        let start = i;
        match at(i) {
            '/' if at(i + 1) == '/' => i += chars[i..].iter().take_while(|c| **c != '\n').count(),
            '/' if at(i + 1) == '*' => {
                let mut depth = 0;
                loop {
                    match (at(i), at(i + 1)) {
                        ('/', '*') => (depth, i) = (depth + 1, i + 2),
                        ('*', '/') => (depth, i) = (depth - 1, i + 2),
                        _ => i += 1,
                    }
                    if depth == 0 || i >= chars.len() {
                        break;
                    }
                }
            }
            'r' if raw_string(&chars[i..]).is_some() => i += raw_string(&chars[i..]).unwrap(),
            '"' => {
                i += 1;
                while i < chars.len() && at(i) != '"' {
                    i += if at(i) == '\\' { 2 } else { 1 };
                }
                i += 1;
                found.push((chars[start..i.min(chars.len())].iter().collect(), line));
            }
            // A character, not a lifetime.
            '\'' if at(i + 1) == '\\' || at(i + 2) == '\'' => {
                i += if at(i + 1) == '\\' { 3 } else { 2 };
                while i < chars.len() && at(i) != '\'' {
                    i += 1;
                }
                i += 1;
            }
            c if c.is_alphanumeric() || c == '_' => {
                while at(i).is_alphanumeric() || at(i) == '_' {
                    i += 1;
                }
                found.push((chars[start..i].iter().collect(), line));
            }
            ':' if at(i + 1) == ':' => {
                i += 2;
                found.push(("::".to_owned(), line));
            }
            c => {
                i += 1;
                if !c.is_whitespace() {
                    found.push((c.to_string(), line));
                }
            }
        }
        line += chars[start..i.min(chars.len())].iter().filter(|c| **c == '\n').count();
    }
    found
}

/// How long the raw string at the start of `chars` is, if there is one.
fn raw_string(chars: &[char]) -> Option<usize> {
    let hashes = chars[1..].iter().take_while(|c| **c == '#').count();
    if chars.get(1 + hashes) != Some(&'"') {
        return None;
    }
    let body = 2 + hashes;
    let closes = |i: usize| {
        chars[i] == '"'
            && chars[i + 1..].iter().take(hashes).filter(|c| **c == '#').count() == hashes
    };
    let end = (body..chars.len()).find(|i| closes(*i)).unwrap_or(chars.len() - 1);
    Some(end + 1 + hashes)
}

/// A path into the crate that a file names.
pub(crate) struct Named {
    /// From the crate's root.
    pub(crate) path: Vec<String>,
    pub(crate) line: usize,
    /// Whether tests name it.
    pub(crate) by_tests: bool,
}

/// Names of inline modules that only tests compile.
const TESTS: &[&str] = &["tests", "loom_models"];

/// Whether a file is compiled for tests alone.
pub(crate) fn is_test(path: &str) -> bool {
    let mut parts = path.trim_end_matches(".rs").split('/');
    parts.any(|part| part == "tests" || part.ends_with("_tests"))
}

/// Every path into the crate that a file names.
pub(crate) fn paths(source: &Source) -> Vec<Named> {
    let tokens = tokens(&source.text);
    let word = |i: usize| tokens.get(i).map_or("", |token| token.0.as_str());
    let mut module = source.module();
    let own = module.len();
    let mut blocks: Vec<bool> = Vec::new(); // For each open brace, whether it is an inline module.
    let (mut named, mut found, mut i) = (Vec::new(), Vec::new(), 0);
    while i < tokens.len() {
        match word(i) {
            "mod" if word(i + 2) == "{" => {
                module.push(word(i + 1).to_owned());
                blocks.push(true);
                i += 2;
            }
            "{" => blocks.push(false),
            "}" if blocks.pop() == Some(true) => {
                module.pop();
            }
            "crate" if word(i + 1) == "::" => i = follow(&tokens, i + 2, Vec::new(), &mut found),
            "super" if word(i + 1) == "::" && word(i.wrapping_sub(1)) != "::" => {
                let mut base = module.clone();
                while word(i) == "super" && word(i + 1) == "::" {
                    base.pop();
                    i += 2;
                }
                i = follow(&tokens, i, base, &mut found);
            }
            _ => {}
        }
        let by_tests = is_test(&source.path) || module[own..].iter().any(|m| TESTS.contains(&&**m));
        named.extend(found.drain(..).map(|(path, line)| Named { path, line, by_tests }));
        i += 1;
    }
    named
}

/// Reads on after `base::` and notes each path; returns the index of the last token it read.
fn follow(
    tokens: &[(String, usize)],
    mut i: usize,
    mut base: Vec<String>,
    found: &mut Vec<(Vec<String>, usize)>,
) -> usize {
    let word = |i: usize| tokens.get(i).map_or("", |token| token.0.as_str());
    let line = tokens.get(i).map_or(0, |token| token.1);
    if word(i) == "{" {
        i += 1;
        while i < tokens.len() && word(i) != "}" {
            i = follow(tokens, i, base.clone(), found) + 1;
            if word(i) == "as" {
                i += 2;
            }
            if word(i) == "," {
                i += 1;
            }
        }
        return i;
    }
    base.push(word(i).to_owned());
    if word(i + 1) == "::" && word(i + 2) != "<" {
        return follow(tokens, i + 2, base, found);
    }
    found.push((base, line));
    i
}

fn read_folder(root: &Path, folder: &str, sources: &mut Vec<Source>) {
    let mut entries: Vec<_> = std::fs::read_dir(root.join(folder)).unwrap().flatten().collect();
    entries.sort_by_key(std::fs::DirEntry::file_name);
    for entry in entries {
        let name = entry.file_name().into_string().unwrap();
        let path = if folder.is_empty() { name.clone() } else { format!("{folder}/{name}") };
        if entry.file_type().unwrap().is_dir() {
            read_folder(root, &path, sources);
        } else if name.ends_with(".rs") {
            let text = std::fs::read_to_string(entry.path()).unwrap();
            sources.push(Source { path, text });
        }
    }
}

/// All Rust files below a folder of the project.
pub(crate) fn crate_sources(folder: &str) -> Vec<Source> {
    let mut sources = Vec::new();
    read_folder(&Path::new(env!("CARGO_MANIFEST_DIR")).join(folder), "", &mut sources);
    assert!(sources.len() > 10, "the sources were not found");
    sources
}
