//! The operations that are offered beside PyTorch's: `schemas.txt` has the schemas of PyTorch 2.11, and `left_out.txt`
//! what is not offered, with reasons.

use std::collections::BTreeSet;

use crate::dispatcher::table::{all, operation, with_namespace};
use crate::registry::parser::parse;
use crate::registry::schema::{Argument, Schema};
use crate::registry::value::Value;

const SCHEMAS: &str = include_str!("../../../tests/operations/schemas.txt");
const LEFT_OUT: &str = include_str!("../../../tests/operations/left_out.txt");
/// Operations that are written in Python: that of transformers 5.24, and those of `torch.nn.attention.varlen` of PyTorch
/// 2.15.
const IN_PYTHON: &str = "\
transformers::grouped_mm_fallback(Tensor input, Tensor weight, Tensor offs) -> Tensor
torch_attn::_varlen_attn(Tensor query, Tensor key, Tensor value, Tensor cu_seq_q, Tensor? cu_seq_k, SymInt max_q, SymInt max_k, bool is_causal=False, float? scale=None, SymInt[]? window_size=None, bool enable_gqa=False, Tensor? seqused_k=None, Tensor? block_table=None, SymInt? num_splits=None, SymInt backend=1) -> (Tensor, Tensor, Tensor)
torch_attn::_varlen_attn_out(Tensor(a0!) out, Tensor query, Tensor key, Tensor value, Tensor cu_seq_q, Tensor? cu_seq_k, SymInt max_q, SymInt max_k, bool is_causal=False, float? scale=None, SymInt[]? window_size=None, bool enable_gqa=False, Tensor? seqused_k=None, Tensor? block_table=None, SymInt? num_splits=None, SymInt backend=1) -> Tensor
";
/// What is behind it are operations that models do not call by name.
const OTHERS: &str = "# Others, which kernel libraries call.";

fn lines(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter(|line| !line.is_empty() && !line.starts_with('#'))
}

/// What an argument is, apart from how its default is written.
fn described(argument: &Argument) -> String {
    let default = argument.default.as_ref().map(|default| {
        match Value::from_default(default, &argument.kind) {
            // PyTorch writes types and formats as numbers, and whole real numbers with a point.
            Ok(Value::Code(number)) => format!("{number}"),
            Ok(Value::Int(number)) => format!("{number}"),
            Ok(Value::Float(number)) => format!("{number}"),
            Ok(value) => format!("{value:?}"),
            Err(why) => why.message,
        }
    });
    format!("{} {} {:?} {default:?}", argument.kind, argument.name, argument.keyword_only)
}

fn arguments(schema: &Schema) -> Vec<String> {
    schema.arguments.iter().map(described).collect()
}

/// Whether a name matches a pattern, whose `*` stands for any text.
fn matches(pattern: &str, name: &str) -> bool {
    let parts: Vec<&str> = pattern.split('*').collect();
    let [first, middle @ .., last] = parts.as_slice() else { return pattern == name };
    let Some(mut rest) = name.strip_prefix(first) else { return false };
    for part in middle {
        let Some((_, behind)) = rest.split_once(part) else { return false };
        rest = behind;
    }
    rest.ends_with(last)
}

#[test]
fn schemas_are_those_of_pytorch() {
    let (mut compared, mut differences) = (0, Vec::new());
    for line in lines(SCHEMAS).chain(lines(IN_PYTHON)) {
        let name = line.split('(').next().unwrap();
        let (base, overload) = name.split_once('.').unwrap_or((name, ""));
        // Others may have types that are not read.
        let Some(offered) = operation(&with_namespace(base), overload) else { continue };
        let wanted = parse(&with_namespace(line)).unwrap().2.unwrap();
        let kinds =
            |schema: &Schema| schema.results.iter().map(|one| one.kind.clone()).collect::<Vec<_>>();
        if arguments(&offered.schema) != arguments(&wanted)
            || kinds(&offered.schema) != kinds(&wanted)
        {
            differences.push(format!("{} instead of {line}", offered.schema));
        }
        compared += 1;
    }
    assert!(differences.is_empty(), "{differences:#?}");
    assert_eq!(
        compared,
        all().count(),
        "schemas.txt lacks some: see scripts/list-torch-operations"
    );
}

#[test]
fn what_models_call_by_name_is_offered_or_left_out_for_a_reason() {
    let called = SCHEMAS.split_once(OTHERS).unwrap().0;
    let is_offered = |name: &str| {
        let (base, overload) = name.split_once('.').unwrap_or((name, ""));
        operation(&with_namespace(base), overload).is_some()
    };
    let names: Vec<&str> = lines(called).map(|line| line.split('(').next().unwrap()).collect();
    assert!(names.len() > 600, "{}", names.len());
    let missing: Vec<&str> = names.into_iter().filter(|name| !is_offered(name)).collect();
    let (mut reason, mut patterns) = ("", BTreeSet::new());
    for line in lines(LEFT_OUT) {
        match line.strip_prefix("  ") {
            Some(pattern) => {
                assert!(!reason.is_empty(), "{pattern} has no reason");
                assert!(patterns.insert(pattern), "{pattern} is there twice");
            }
            None => reason = line,
        }
    }
    let left: Vec<_> =
        missing.iter().filter(|name| !patterns.iter().any(|one| matches(one, name))).collect();
    assert!(left.is_empty(), "neither offered nor in left_out.txt: {left:?}");
    let unused: Vec<_> =
        patterns.iter().filter(|one| !missing.iter().any(|name| matches(one, name))).collect();
    assert!(unused.is_empty(), "offered or unknown, so take them out of left_out.txt: {unused:?}");
}

#[test]
fn patterns_match_texts_in_order() {
    for (pattern, name, expected) in [
        ("a", "a", true),
        ("a", "ab", false),
        ("a*", "ab", true),
        ("*b", "ab", true),
        ("*b*", "abc", true),
        ("a*c*e", "abcde", true),
        ("a*e*c", "abcde", false),
        ("ab*ba", "aba", false),
    ] {
        assert_eq!(matches(pattern, name), expected, "{pattern} {name}");
    }
}
