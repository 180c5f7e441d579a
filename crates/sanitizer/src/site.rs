//! Where a call was made: the addresses of the callers, taken cheaply with every operation, and their names, looked up
//! when a report is written.
#![forbid(unsafe_code)]

use std::ops::Range;
use std::sync::Arc;

use backtrace::{resolve, trace};

/// The most frames of the program that are kept, and the most of this library.
const MOST_FRAMES: usize = 48;
/// The most frames that are looked at. Debug builds of this library have over fifty of their own.
const MOST_LOOKS: usize = 256;

/// The callers of an operation, from the innermost.
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

impl Site {
    /// The callers of the running call, without those whose code is `ours` where there are others.
    pub(crate) fn here(ours: &[Range<usize>]) -> Site {
        let mut frames = Vec::with_capacity(MOST_FRAMES);
        let mut own = Vec::new();
        let mut looks = 0;
        trace(|frame| {
            let address = frame.ip() as usize;
            looks += 1;
            if !ours.iter().any(|code| code.contains(&address)) {
                frames.push(address);
            } else if frames.is_empty() && own.len() < MOST_FRAMES {
                own.push(address);
            }
            // Without code of its own the library is part of the program, with all its frames.
            let most = if ours.is_empty() { MOST_LOOKS } else { MOST_FRAMES };
            frames.len() < most && looks < MOST_LOOKS
        });
        Site(if frames.is_empty() { own } else { frames }.into())
    }

    /// The caller in the program: the first one that is not the library's.
    pub(crate) fn place(&self) -> Place {
        let ours = code_of_libraries_of_ours();
        let mut last = Place::default();
        for address in self.0.iter() {
            let mut place = Place { address: *address, ..Place::default() };
            // The address is that of the return, which may belong to the next line.
            resolve((address - 1) as *mut _, |symbol| {
                if place.function.is_empty() {
                    place.function = symbol.name().map(|name| name.to_string()).unwrap_or_default();
                }
                if place.file.is_none()
                    && let Some(file) = symbol.filename()
                {
                    place.file = Some(file.display().to_string());
                    place.line = symbol.lineno().unwrap_or(0);
                }
            });
            if !ours.iter().any(|code| code.contains(address)) && is_of_the_program(&place) {
                return place;
            }
            if !place.function.is_empty() || place.file.is_some() {
                last = place;
            }
        }
        last
    }
}

/// Where the code of libsconce.so and libsconce_torch.so lies in this process.
pub(crate) fn code_of_libraries_of_ours() -> Vec<Range<usize>> {
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap_or_default();
    let range = |line: &str| {
        let path = line.split_whitespace().nth(5)?;
        let (from, to) = line.split_whitespace().next()?.split_once('-')?;
        let number = |text| usize::from_str_radix(text, 16).ok();
        let is_ours = path.rsplit('/').next()?.starts_with("libsconce");
        if is_ours { Some(number(from)?..number(to)?) } else { None }
    };
    maps.lines().filter_map(range).collect()
}

/// Whether a caller is neither this library, where it is part of the program, nor one of its headers.
fn is_of_the_program(place: &Place) -> bool {
    let is_ours = |name: &str| {
        name.starts_with("sconce_")
            || name.contains("sconce::")
            || name.contains("backtrace::")
            || name.starts_with("core::")
            || name.starts_with("std::")
            || name.starts_with("<core::")
            || name.starts_with("<alloc::")
            || name.contains("rust_begin")
            || name.starts_with("__rust")
    };
    let in_headers = |file: &str| {
        file.contains("/include/sconce/")
            || file.contains("/include/c++/")
            || file.contains("/rustc/")
            || file.contains("/.cargo/")
    };
    match &place.file {
        Some(file) => !in_headers(file) && !is_ours(&place.function),
        None => !place.function.is_empty() && !is_ours(&place.function),
    }
}
