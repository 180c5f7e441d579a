//! Where a call was made: the first caller in the program, found with every operation, and its name, looked up when a
//! report is written.
#![forbid(unsafe_code)]

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use backtrace::{resolve, trace};

/// The most frames that are looked at. Debug builds of this library have over fifty of their own.
const MOST_FRAMES: usize = 256;

/// The first caller of an operation in the program; where there is none, all callers from the innermost.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Site(Arc<[usize]>);

/// A caller in words.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) function: String,
    pub(crate) file: Option<String>,
    pub(crate) line: u32,
    pub(crate) address: usize,
}

/// Code that is loaded.
struct Code {
    range: Range<usize>,
    /// Of a file that holds this library and nothing else, or of the language's own libraries.
    is_library: bool,
}

/// What is known of callers: to walk further than the first one in the program costs more than the rest of a check.
#[derive(Default)]
pub(crate) struct Callers {
    /// Whether the code that returns to an address is the program's.
    of_the_program: HashMap<usize, bool>,
    code: Vec<Code>,
}

impl Callers {
    /// The callers of the running call.
    pub(crate) fn site(&mut self) -> Site {
        let mut frames = Vec::new();
        trace(|frame| {
            let address = frame.ip() as usize;
            // The stacks of threads may end with a frame that returns nowhere.
            if address == 0 {
                return false;
            }
            let is_found = match self.of_the_program.get(&address) {
                Some(known) => *known,
                None => self.learn(address),
            };
            if is_found {
                frames.clear();
            }
            frames.push(address);
            !is_found && frames.len() < MOST_FRAMES
        });
        Site(frames.into())
    }

    fn learn(&mut self, address: usize) -> bool {
        let is_of_the_program = !self.is_in_library(address) && place_of(address).1;
        self.of_the_program.insert(address, is_of_the_program);
        is_of_the_program
    }

    fn is_in_library(&mut self, address: usize) -> bool {
        let find = |code: &[Code]| {
            code.iter().find(|code| code.range.contains(&address)).map(|code| code.is_library)
        };
        if let Some(known) = find(&self.code) {
            return known;
        }
        // Loaded since.
        self.code = loaded_code();
        find(&self.code).unwrap_or(false)
    }
}

impl Site {
    /// The caller in the program. Where there is none, the outermost one with a name.
    pub(crate) fn place(&self) -> Place {
        let mut last = Place::default();
        for (at, address) in self.0.iter().enumerate() {
            let (place, _) = place_of(*address);
            let is_named = !place.function.is_empty() || place.file.is_some();
            // The last one is the program's, or nothing better is known.
            if is_named || at + 1 == self.0.len() {
                last = place;
            }
        }
        last
    }
}

/// The caller that returns to an address, and whether it is the program's. Of functions that the compiler put into
/// each other it is the innermost one of the program, for instance what called an inline function of a header.
fn place_of(address: usize) -> (Place, bool) {
    let mut innermost = None;
    let mut found = None;
    // The address is that of the return, which may belong to the next line.
    resolve(address.saturating_sub(1) as *mut _, |symbol| {
        let place = Place {
            function: symbol.name().map(|name| name.to_string()).unwrap_or_default(),
            file: symbol.filename().map(|file| file.display().to_string()),
            line: symbol.lineno().unwrap_or(0),
            address,
        };
        if found.is_none() && is_of_the_program(&place) && !is_own_source(&place) {
            found = Some(place.clone());
        }
        innermost.get_or_insert(place);
    });
    match (found, innermost) {
        (Some(place), _) => (place, true),
        (None, Some(place)) => (place, false),
        // A program without symbols.
        (None, None) => (Place { address, ..Place::default() }, true),
    }
}

/// Whether a place is in a source of this library. Without types in the debug information, names of functions do not
/// have the names of their crates.
fn is_own_source(place: &Place) -> bool {
    let Some(file) = &place.file else { return false };
    own_root().is_some_and(|root| {
        let within = file.strip_prefix(root.as_str()).unwrap_or_default();
        ["crates/", "src/", "torch/src/"].iter().any(|folder| within.starts_with(folder))
    })
}

/// Where the sources of this library are, as the debug information has it.
fn own_root() -> Option<String> {
    let mut root = None;
    resolve((own_root as fn() -> Option<String> as usize + 1) as *mut _, |symbol| {
        let file = symbol.filename().map(|file| file.display().to_string());
        let found = file
            .and_then(|file| Some(file.strip_suffix("crates/sanitizer/src/site.rs")?.to_owned()));
        root = root.take().or(found);
    });
    root
}

/// The code that is loaded in this process.
fn loaded_code() -> Vec<Code> {
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap_or_default();
    let of_line = |line: &str| {
        let mut words = line.split_whitespace();
        let (from, to) = words.next()?.split_once('-')?;
        words.next().filter(|rights| rights.contains('x'))?;
        let file = words.nth(3)?.rsplit('/').next()?;
        let number = |text| usize::from_str_radix(text, 16).ok();
        let is_library =
            ["libsconce", "libstdc++.", "libc++.", "libc.", "libgcc_s.", "libpthread.", "ld-linux"]
                .iter()
                .any(|name| file.starts_with(name));
        Some(Code { range: number(from)?..number(to)?, is_library })
    };
    maps.lines().filter_map(of_line).collect()
}

/// Whether a function of C++ is of the headers of this library or of the language's. Without debug information nothing
/// says where it stands, but its name, which is as the compiler writes it, begins with its namespace.
fn is_of_headers(name: &str) -> bool {
    let Some(nested) = name.strip_prefix("_Z") else { return false };
    let first = nested.trim_start_matches(['Z', 'N', 'K', 'V', 'R', 'O']);
    ["6sconce", "St", "9__gnu_cxx"].iter().any(|namespace| first.starts_with(namespace))
}

/// Whether a caller is neither this library, where it is part of the program, nor one of its headers.
fn is_of_the_program(place: &Place) -> bool {
    // A method of a trait begins with the type: `<sconce_base::X as Y>::z`.
    let name = place.function.trim_start_matches(['<', '&', '*', '[', '(']);
    let name =
        ["mut ", "const ", "dyn "].iter().fold(name, |name, word| name.trim_start_matches(word));
    let is_ours = name.starts_with("sconce_")
        || is_of_headers(name)
        || name.contains("sconce::")
        || name.contains("backtrace::")
        || ["core::", "std::", "alloc::", "__rust"].iter().any(|start| name.starts_with(start))
        || name.contains("rust_begin");
    let in_headers = |file: &str| {
        file.contains("/include/sconce/")
            || file.contains("/include/c++/")
            || file.contains("/rustc/")
            || file.contains("/.cargo/")
    };
    match &place.file {
        Some(file) => !in_headers(file) && !is_ours,
        None => !name.is_empty() && !is_ours,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(function: &str, file: Option<&str>) -> Place {
        Place { function: function.to_owned(), file: file.map(str::to_owned), line: 1, address: 1 }
    }

    #[test]
    fn methods_of_the_librarys_traits_and_headers_are_not_the_programs() {
        let of_the_program = |function: &str, file| is_of_the_program(&place(function, file));
        assert!(!of_the_program("<sconce_tensors::Storage as core::ops::drop::Drop>::drop", None));
        assert!(!of_the_program("<&mut sconce_base::X as std::io::Write>::write", None));
        assert!(!of_the_program("sconce_event_record", None));
        assert!(!of_the_program("sconce::Tensor::add", Some("/usr/include/sconce/tensor.hpp")));
        assert!(!of_the_program("add", Some("/usr/include/sconce/tensor.hpp")));
        assert!(!of_the_program("", None));
        // sconce::v0::cuda::copy_(…), Tensor::add(…) const, a lambda within copy_(…), std::function::operator()() const
        assert!(!of_the_program("_ZN6sconce2v04cuda5copy_EPvPKvm", None));
        assert!(!of_the_program("_ZNK6sconce2v06Tensor3addERKS1_", None));
        assert!(!of_the_program("_ZZN6sconce2v04cuda5copy_EPvPKvmENKUlvE_clEv", None));
        assert!(!of_the_program("_ZNKSt8functionIFvvEEclEv", None));
        // step(sconce::v0::Tensor const&), Sconce::run(), a lambda within main
        assert!(of_the_program("_Z4stepRKN6sconce2v06TensorE", None));
        assert!(of_the_program("_ZN6Sconce3runEv", None));
        assert!(of_the_program("_ZZ4mainENKUlvE_clEv", None));
        assert!(of_the_program("main", None));
        assert!(of_the_program("main", Some("main.cpp")));
        assert!(of_the_program("<model::Layer as model::Module>::forward", Some("model.rs")));
    }

    #[test]
    fn a_thread_where_nothing_is_the_programs_ends_the_walk_at_its_start() {
        // As in a thread of the library: no caller counts as the program's.
        let walk = || {
            let mut callers = Callers::default();
            callers.site();
            callers.of_the_program.values_mut().for_each(|it| *it = false);
            loop {
                let known = callers.of_the_program.len();
                let site = callers.site();
                callers.of_the_program.values_mut().for_each(|it| *it = false);
                if callers.of_the_program.len() == known {
                    return site;
                }
            }
        };
        let site = std::thread::spawn(walk).join().expect("no panic");
        assert!(!site.0.is_empty() && !site.0.contains(&0));
        assert_eq!(place_of(0).0.address, 0);
    }

    #[inline(never)]
    fn deep(callers: &mut Callers, levels: u32) -> Site {
        let site = if levels == 0 { callers.site() } else { deep(callers, levels - 1) };
        std::hint::black_box(site)
    }

    #[test]
    fn a_walk_ends_at_the_first_caller_in_the_program() {
        let mut callers = Callers::default();
        deep(&mut callers, 4);
        // This function is part of the library: the walk went on.
        let is_deep = |at: &usize| place_of(*at).0.function.contains("deep");
        let known = callers.of_the_program.iter().filter(|(_, is_found)| !**is_found);
        let passed: Vec<usize> = known.map(|(at, _)| *at).filter(is_deep).collect();
        assert!(!passed.is_empty());
        for at in &passed {
            callers.of_the_program.insert(*at, true);
        }
        let site = deep(&mut callers, 4);
        assert_eq!(site.0.len(), 1);
        assert!(passed.contains(&site.0[0]));
    }
}
