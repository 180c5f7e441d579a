//! The operations that kernel libraries may call, and their schemas, which are facts of PyTorch's interface.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::arguments::Arguments;
use super::operations::algebra::{attention, linear, products};
use super::operations::{
    complex, copies, core, elementwise, files, indexing, lines, making, random, reductions,
    resampling, scalars, special, transforms, views,
};
use super::results::Function;
use crate::error::Result;
use crate::registry::parser::parse;
use crate::registry::schema::Schema;
use crate::registry::uses::DeclaredCall;
use crate::registry::value::Value;

/// An operation.
pub struct Operation {
    /// What it takes and returns.
    pub schema: Schema,
    /// What it does.
    pub function: Function,
}

impl Operation {
    /// Does it, declared to the sanitizer.
    pub fn run(&self, mut arguments: Arguments) -> Result<Vec<Value>> {
        let call = DeclaredCall::with_values(&self.schema, &arguments.0);
        let results = (self.function)(&mut arguments)?;
        call.end_with_values(&results);
        Ok(results)
    }
}

/// The options that most functions which make a tensor end with.
const OPTIONS: &str =
    "ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None";

/// The same of tensors that have int64 unless another type is named.
const INTEGER_OPTIONS: &str =
    "ScalarType? dtype=long, Layout? layout=None, Device? device=None, bool? pin_memory=None";

/// The operations, a list a family.
const FAMILIES: &[&[(&str, Function)]] = &[
    making::OPERATIONS,
    files::OPERATIONS,
    views::OPERATIONS,
    copies::OPERATIONS,
    products::OPERATIONS,
    linear::OPERATIONS,
    complex::OPERATIONS,
    core::OPERATIONS,
    lines::OPERATIONS,
    resampling::IMAGES,
    resampling::OTHERS,
    transforms::WINDOWS,
    transforms::OTHERS,
    random::NEW_TENSORS,
    random::LIKE_OTHERS,
    random::FILLS,
    random::OTHERS,
    reductions::OPERATIONS,
    indexing::OPERATIONS,
    elementwise::BINARIES,
    elementwise::UNARIES,
    elementwise::TRANSCENDENTAL,
    elementwise::IN_PLACE,
    elementwise::OTHERS,
    scalars::WITH_NUMBERS,
    scalars::OTHERS,
    special::OF_ONE,
    special::OF_TWO,
    attention::OPERATIONS,
    special::OTHERS,
];

/// A schema or a name with its namespace, which is `aten` if it has none.
pub(super) fn with_namespace(text: &str) -> String {
    let name = text.split('(').next().unwrap_or_default();
    if name.contains("::") { text.to_owned() } else { format!("aten::{text}") }
}

static TABLE: LazyLock<HashMap<(String, String), Operation>> = LazyLock::new(|| {
    let read = |(text, function): &(&str, Function)| {
        let text = text.replace("INTEGER_OPTIONS", INTEGER_OPTIONS).replace("OPTIONS", OPTIONS);
        let parsed = parse(&with_namespace(&text));
        // That each is read is tested.
        let (name, overload, schema) = parsed.ok()?;
        Some(((name, overload), Operation { schema: schema?, function: *function }))
    };
    FAMILIES.iter().flat_map(|family| family.iter()).filter_map(read).collect()
});

/// An operation with its name and overload.
pub fn operation(name: &str, overload: &str) -> Option<&'static Operation> {
    TABLE.get(&(name.to_owned(), overload.to_owned()))
}

/// All operations.
#[cfg(test)]
pub fn all() -> impl Iterator<Item = &'static Operation> {
    TABLE.values()
}

/// The overloads of a name.
pub fn overloads(name: &str) -> Vec<&'static str> {
    let mut found: Vec<_> =
        TABLE.keys().filter(|(other, _)| other == name).map(|(_, overload)| &**overload).collect();
    found.sort_unstable();
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_schema_is_read_once() {
        assert_eq!(TABLE.len(), FAMILIES.iter().map(|family| family.len()).sum::<usize>());
        assert!(TABLE.len() > 330, "{}: the design page and the changelog say so", TABLE.len());
        assert_eq!(overloads("aten::squeeze"), ["", "dim", "dims"]);
    }
}
