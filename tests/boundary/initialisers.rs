//! The macros of the C API that initialise structs.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

use testkit::structs::{self, Struct};

/// The macro that initialises a struct: `SCONCE_MATMUL_DESC_INIT` for `sconce_matmul_desc`.
pub(crate) fn initialiser(of: &Struct) -> String {
    format!("{}_INIT", of.name.to_uppercase())
}

#[test]
fn every_struct_that_tells_its_size_has_an_initialiser() {
    let header = testkit::header::text();
    let structs = structs::structs(&header);
    let sized: Vec<_> = structs.values().filter(|found| found.tells_its_size()).collect();
    assert_eq!(sized.len(), 17, "{sized:?}");
    for found in sized {
        let define = format!("#define {} \\\n  {{", initialiser(found));
        assert_eq!(header.matches(&define).count(), 2, "{define} for C++ and C");
        let set = format!("  {{sizeof({}), ", found.name);
        let all = header.split_once(&set).expect(&set).1.split_once("\n#else").unwrap().0;
        // Commas outside of inner braces: C++ is given every field, so that no warning is due.
        let mut depth = 0;
        let commas = all.chars().filter(|c| {
            depth += i32::from(*c == '{') - i32::from(*c == '}');
            *c == ',' && depth == 0
        });
        assert_eq!(commas.count() + 2, found.fields.len(), "{} for C++", initialiser(found));
    }
}
