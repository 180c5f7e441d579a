//! Calls of operators by name and values: operations of `aten`, and operators that kernel libraries registered.

use super::arguments::Arguments;
use super::table::operation;
use crate::error::Result;
use crate::registry::call;
use crate::registry::resolved::Resolved;
use crate::registry::schema::Schema;
use crate::registry::table::{self, Place};
use crate::registry::value::Value;

/// Calls `read` with the schema of an operator.
pub fn with_schema<R>(
    name: &str,
    overload: &str,
    read: impl FnOnce(&Schema) -> Result<R>,
) -> Result<R> {
    match operation(name, overload) {
        Some(operation) => read(&operation.schema),
        None => read(&*table::read()?.schema(name, overload)?),
    }
}

/// Fails if there is no operator of this name, or none for tensors of a place.
pub fn check(name: &str, overload: &str, place: Place) -> Result<()> {
    if operation(name, overload).is_some() {
        return Ok(());
    }
    table::read()?.kernel(name, overload, place).map(drop)
}

/// Calls an operator.
pub fn call(name: &str, overload: &str, values: Vec<Value>) -> Result<Vec<Value>> {
    let Some(operation) = operation(name, overload) else {
        let operator = Resolved::new(name, overload);
        return call::call(&operator, &*operator.kept()?, values);
    };
    let arguments = Arguments(call::complete(&operation.schema, values)?);
    operation.run(arguments).map_err(|error| error.within(name))
}
