//! What follows from the tables of operations in `crates/math`: enums of the C header, of which cbindgen sees none, and
//! the kernels' enums.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use sconce_math::arithmetic::ElementOperation;
use sconce_math::folding::{LineOp, ReduceOp};

/// A row of an enum: its comment, its name and its number.
type EnumRow = (&'static [&'static str], (&'static str, i32));

/// The enum of a table in Rust, as cbindgen reads it.
fn c_enum(about: &str, name: &str, rows: impl IntoIterator<Item = EnumRow>) -> String {
    let mut text = format!("/// {about}\n#[repr(i32)]\npub enum {name} {{\n");
    for (comment, (name, number)) in rows {
        for line in comment {
            writeln!(text, "    ///{line}").unwrap();
        }
        writeln!(text, "    {name} = {number},").unwrap();
    }
    text + "}\n"
}

/// A source with the enums of operations, beside the sources that declare their functions.
pub(crate) fn source() -> PathBuf {
    let elements = |all: &[ElementOperation]| -> Vec<EnumRow> {
        all.iter().map(|operation| (operation.doc(), operation.in_c().unwrap())).collect()
    };
    let text = [
        c_enum(
            "An elementwise operation of one operand, with torch's name.",
            "sconce_unary_operation",
            elements(&ElementOperation::UNARY),
        ),
        c_enum(
            "An elementwise operation of two operands, with torch's name.",
            "sconce_binary_operation",
            elements(&ElementOperation::BINARY),
        ),
        c_enum(
            "A reduction, with torch's name.",
            "sconce_reduction",
            ReduceOp::IN_C.map(|operation| (operation.doc(), operation.in_c().unwrap())),
        ),
        c_enum(
            "A calculation along a dimension, with torch's name.",
            "sconce_line_operation",
            LineOp::IN_C.map(|operation| (operation.doc(), operation.in_c().unwrap())),
        ),
    ];
    // Tests run at the same time, each in a process of its own.
    let name = format!("operations_{}.rs", std::process::id());
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::write(&path, text.concat()).unwrap();
    path
}

fn kernels() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("kernels")
}

fn in_capitals(name: &str) -> String {
    let mut text = String::new();
    for (at, letter) in name.char_indices() {
        if at > 0 && letter.is_ascii_uppercase() {
            text.push('_');
        }
        text.push(letter.to_ascii_uppercase());
    }
    text
}

/// `SCONCE_BLESS=1` writes the enum of element-wise operations anew.
#[test]
fn kernels_know_operations_by_the_numbers_of_the_table() {
    let mut table: Vec<(&str, u8)> = ElementOperation::ALL
        .into_iter()
        .filter_map(|operation| Some((operation.kernel_name()?, operation.kernel_number())))
        .collect();
    table.sort_by_key(|(_, number)| *number);
    let rows: Vec<String> =
        table.iter().map(|(name, number)| format!("  {name} = {number}")).collect();
    let path = kernels().join("pointwise/operations.cuh");
    let text = std::fs::read_to_string(&path).unwrap();
    let (before, rest) = text.split_once("enum Operation {\n").unwrap();
    let (_, after) = rest.split_once("\n};").unwrap();
    let from_table = format!("{before}enum Operation {{\n{}\n}};{after}", rows.join(",\n"));
    if std::env::var_os("SCONCE_BLESS").is_some() {
        std::fs::write(&path, &from_table).unwrap();
    }
    assert!(text == from_table, "{} differs from the table of operations", path.display());
    for (source, names) in [
        ("reduce/launch.cuh", ReduceOp::ALL.map(|op| format!("{op:?}")).to_vec()),
        ("lines/launch.cuh", LineOp::ALL.map(|op| format!("{op:?}")).to_vec()),
    ] {
        let text = std::fs::read_to_string(kernels().join(source)).unwrap();
        let names: Vec<String> = names.iter().map(|name| in_capitals(name)).collect();
        let row = format!("enum : u32 {{ {} }};", names.join(", "));
        assert!(text.contains(&row), "{source} has not: {row}");
    }
}

/// What kernels compute as 0 or 1 is written without the numbers' names in their sources.
#[test]
fn kernels_agree_on_what_is_a_predicate() {
    let text = std::fs::read_to_string(kernels().join("pointwise/operations.cuh")).unwrap();
    let rule = "return operation == IS_NAN || operation == IS_FINITE || (operation >= EQ && operation <= LE);";
    assert!(text.contains(rule), "the rule has changed: change this test, too");
    let number = |operation: ElementOperation| operation.kernel_number();
    use ElementOperation::{Eq, IsFinite, IsNan, Le};
    for operation in ElementOperation::ALL {
        let of_kernels = operation.kernel_name().is_some()
            && (matches!(operation, IsNan | IsFinite)
                || (number(Eq)..=number(Le)).contains(&number(operation)));
        assert_eq!(operation.is_predicate(), of_kernels, "{operation:?}");
    }
}
