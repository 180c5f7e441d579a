//! Rust source files: where they are, and what their code names, calls and says.

use std::path::Path;

use proc_macro2::{Delimiter, TokenStream, TokenTree};

/// One source file.
pub(crate) struct Source {
    /// The folder that holds the crate's sources, from the root of the repository.
    pub(crate) root: String,
    /// From the root of the repository.
    pub(crate) path: String,
    pub(crate) text: String,
}

/// What the code of a file holds. Comments are left out, and so is what only tests compile, except for `is_unsafe`.
#[derive(Default)]
pub(crate) struct Code {
    /// The paths. Those into the crate begin with `crate`, however they are written.
    pub(crate) paths: Vec<Vec<String>>,
    /// The methods that are called, except those of `self`: `name()`, or `name(…)` with arguments.
    pub(crate) calls: Vec<String>,
    /// The texts, as written without the quotes, each on one line.
    pub(crate) texts: Vec<String>,
    pub(crate) is_unsafe: bool,
}

impl Source {
    pub(crate) fn new(root: &str, path: &str, text: &str) -> Source {
        Source { root: root.to_owned(), path: path.to_owned(), text: text.to_owned() }
    }

    /// The module that the file is, from the crate's root.
    pub(crate) fn module(&self) -> Vec<String> {
        let path = self.path[self.root.len()..].trim_end_matches(".rs");
        let mut module: Vec<String> = path.split('/').skip(1).map(str::to_owned).collect();
        if module.last().is_some_and(|name| is_root(name)) {
            module.pop();
        }
        module
    }

    /// Whether the file is compiled for tests alone.
    pub(crate) fn is_test(&self) -> bool {
        let name = |part: &String| {
            matches!(part.as_str(), "tests" | "testing" | "loom_models") || part.ends_with("_tests")
        };
        self.module().iter().any(name)
    }

    pub(crate) fn code(&self) -> Code {
        let mut code = Code::default();
        let stream: TokenStream = match self.text.parse() {
            Ok(stream) => stream,
            Err(error) => panic!("{}: {error}", self.path),
        };
        code.read(stream, &self.module(), self.is_test());
        code
    }
}

/// Whether the file of this name stands for its folder.
pub(crate) fn is_root(name: &str) -> bool {
    matches!(name.trim_end_matches(".rs"), "mod" | "lib" | "main")
}

/// How the attributes begin of what only tests and models compile.
const OF_TESTS: &[&str] = &["cfg(test", "cfg(all(test", "cfg(loom"];

impl Code {
    fn read(&mut self, stream: TokenStream, module: &[String], in_tests: bool) {
        let tokens: Vec<TokenTree> = stream.into_iter().collect();
        let (mut i, mut of_tests) = (0, in_tests);
        while i < tokens.len() {
            match &tokens[i] {
                TokenTree::Group(group) => {
                    let is_attribute = matches!(&*word(&tokens, i.wrapping_sub(1)), "#" | "!")
                        && group.delimiter() == Delimiter::Bracket;
                    let text = match is_attribute {
                        true => group.stream().to_string().replace(' ', ""),
                        false => String::new(),
                    };
                    if text.starts_with("doc=") {
                        i += 1;
                        continue;
                    }
                    of_tests |= OF_TESTS.iter().any(|start| text.starts_with(start));
                    let name = word(&tokens, i.wrapping_sub(1));
                    let is_module = word(&tokens, i.wrapping_sub(2)) == "mod";
                    let inner =
                        if is_module { [module, &[name]].concat() } else { module.to_vec() };
                    self.read(group.stream(), &inner, of_tests);
                    // The item that began with an attribute ends here.
                    if group.delimiter() == Delimiter::Brace {
                        of_tests = in_tests;
                    }
                }
                TokenTree::Punct(mark) if matches!(mark.as_char(), ';' | ',') => {
                    of_tests = in_tests
                }
                TokenTree::Ident(name) if *name == "unsafe" => {
                    self.is_unsafe |= !is_pointer(&tokens[i + 1..])
                }
                TokenTree::Ident(_) if is_separator(&tokens, i + 1) => {
                    let mut paths = Vec::new();
                    i = follow(&tokens, i, Vec::new(), &mut paths);
                    let paths = paths.into_iter().map(|path| from_root(path, module));
                    self.paths.extend(paths.filter(|_| !of_tests));
                    continue;
                }
                TokenTree::Ident(name) if word(&tokens, i.wrapping_sub(1)) == "." && !of_tests => {
                    let is_own = word(&tokens, i.wrapping_sub(2)) == "self";
                    if let (false, Some(TokenTree::Group(group))) = (is_own, tokens.get(i + 1)) {
                        let arguments = if group.stream().is_empty() { "" } else { "…" };
                        self.calls.push(format!("{name}({arguments})"));
                    }
                }
                TokenTree::Literal(literal) if !of_tests => {
                    let text = literal.to_string();
                    if text.starts_with('"') {
                        let mut lines = text.trim_matches('"').split("\\\n");
                        let first = lines.next().unwrap_or_default().to_owned();
                        self.texts.push(lines.fold(first, |text, line| text + line.trim_start()));
                    }
                }
                _ => {}
            }
            i += 1;
        }
    }
}

fn word(tokens: &[TokenTree], i: usize) -> String {
    tokens.get(i).map(TokenTree::to_string).unwrap_or_default()
}

/// Whether `::` stands at `i`.
fn is_separator(tokens: &[TokenTree], i: usize) -> bool {
    let is_colon =
        |i: usize| matches!(tokens.get(i), Some(TokenTree::Punct(mark)) if mark.as_char() == ':');
    is_colon(i) && is_colon(i + 1)
}

/// Whether what follows `unsafe` makes it the type of a function pointer, which is no unsafe code.
fn is_pointer(after: &[TokenTree]) -> bool {
    let at = after
        .iter()
        .take(3)
        .position(|token| matches!(token, TokenTree::Ident(word) if word == "fn"));
    at.is_some_and(|at| matches!(after.get(at + 1), Some(TokenTree::Group(_))))
}

/// Notes the paths that begin at `i` behind `path`, a group being several; returns the index behind them.
fn follow(
    tokens: &[TokenTree],
    mut i: usize,
    mut path: Vec<String>,
    found: &mut Vec<Vec<String>>,
) -> usize {
    loop {
        match tokens.get(i) {
            Some(TokenTree::Ident(name)) => path.push(name.to_string()),
            Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Brace => {
                let inner: Vec<TokenTree> = group.stream().into_iter().collect();
                for part in
                    inner.split(|token| token.to_string() == ",").filter(|part| !part.is_empty())
                {
                    follow(part, 0, path.clone(), found);
                }
                return i + 1;
            }
            _ => break,
        }
        i += 1;
        if !is_separator(tokens, i) {
            break;
        }
        i += 2;
    }
    found.push(path);
    i
}

/// A path of a module as it is from the crate's root, if it leads into the crate by `super` or `self`.
fn from_root(path: Vec<String>, module: &[String]) -> Vec<String> {
    let above = path.iter().take_while(|part| *part == "super").count();
    let own = path.iter().take_while(|part| *part == "self").count();
    if above + own == 0 {
        return path;
    }
    let base = &module[..module.len().saturating_sub(above)];
    [&["crate".to_owned()], base, &path[above + own..]].concat()
}

/// The roots of libsconce: its crates and its C API.
pub(crate) fn libsconce() -> Vec<String> {
    let crates = std::fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("crates")).unwrap();
    let names = crates.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut roots: Vec<String> = names.map(|name| format!("crates/{name}/src")).collect();
    roots.push("src".to_owned());
    roots.sort();
    roots
}

/// The roots of what the workspace's libraries are made of.
pub(crate) fn libraries() -> Vec<String> {
    [libsconce(), vec!["torch/src".to_owned(), "testkit/src".to_owned()]].concat()
}

/// The roots of all code that these rules are for.
pub(crate) fn all() -> Vec<String> {
    [libraries(), vec!["tests".to_owned(), "torch/tests".to_owned()]].concat()
}

/// All Rust files below some roots.
pub(crate) fn sources(roots: &[String]) -> Vec<Source> {
    let mut sources = Vec::new();
    for root in roots {
        let before = sources.len();
        for path in files(root, "rs") {
            sources.push(Source::new(root, &path, &text(&path)));
        }
        assert!(sources.len() > before, "no sources in {root}");
    }
    sources
}

/// The text of a file of the repository.
pub(crate) fn text(path: &str) -> String {
    std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).unwrap()
}

/// The files below a folder whose names end in `.extension`.
pub(crate) fn files(folder: &str, extension: &str) -> Vec<String> {
    let entries = std::fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join(folder)).unwrap();
    let mut found = Vec::new();
    for entry in entries.flatten() {
        let path = format!("{folder}/{}", entry.file_name().into_string().unwrap());
        if entry.file_type().unwrap().is_dir() {
            found.extend(files(&path, extension));
        } else if path.ends_with(&format!(".{extension}")) {
            found.push(path);
        }
    }
    found.sort();
    found
}

#[test]
fn the_reader_finds_paths_calls_and_texts_outside_tests() {
    let text = "
        //! crate::comment \"a comment\"
        use crate::{a::{b, c as d}, e::*};
        mod inner { fn f() { super::super::g::<u8>(self::h::i, ::std::j()); } }
        fn f() { x.join(); self.recv(); y.recv(1); \"a\\\n            \\\"text\\\"\"; 'k'; }
        #[cfg(test)] fn g() { crate::no(); \"no\"; x.no(); }
        #[cfg(all(test, not(loom)))] #[allow(x)] mod tests { use crate::no; }
        #[cfg(loom)] use crate::no::no;
        #[cfg(not(loom))] fn h<'a>(x: &'a crate::k::L) {}";
    let code = Source::new("src", "src/m/n.rs", text).code();
    let paths: Vec<String> = code.paths.iter().map(|path| path.join("::")).collect();
    let expected = [
        "crate::a::b",
        "crate::a::c",
        "crate::e",
        "crate::m::g",
        "crate::m::n::inner::h::i",
        "std::j",
        "crate::k::L",
    ];
    assert_eq!(paths, expected);
    assert_eq!(code.calls, ["join()", "recv(…)"]);
    assert_eq!(code.texts, ["a\\\"text\\"]);
    let code = Source::new("src", "src/m/tests.rs", text).code();
    assert!(code.paths.is_empty() && code.calls.is_empty() && code.texts.is_empty());
}
