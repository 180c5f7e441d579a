//! A library with the names of libsconce.so and of its functions, and no code: what the linker needs to know. At run
//! time the real one is found by its soname.

use std::fmt::Write;
use std::path::Path;

use crate::header::Function;

pub(crate) fn build(out: &Path, functions: &[Function]) {
    let folder = out.join("lib");
    std::fs::create_dir_all(&folder).unwrap();
    let mut source = String::new();
    for function in functions {
        writeln!(source, "void {0}(void);\nvoid {0}(void) {{}}", function.name).unwrap();
    }
    crate::aliases::shared_library(
        out,
        "libsconce.so.0",
        &source,
        &folder.join("libsconce.so"),
        &[],
    );
}
