//! The operations that kernel libraries may call, and their schemas, which are facts of PyTorch's interface.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::arguments::Arguments;
use super::{computing, making, views};
use crate::error::Result;
use crate::registry::parser::parse;
use crate::registry::schema::Schema;
use crate::registry::value::Value;

/// Carries an operation out.
pub type Function = fn(&mut Arguments) -> Result<Vec<Value>>;

/// An operation.
pub struct Operation {
    /// What it takes and returns.
    pub schema: Schema,
    /// What it does.
    pub function: Function,
}

/// The options that most functions which make a tensor end with.
const OPTIONS: &str =
    "ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None";

const OPERATIONS: &[(&str, Function)] = &[
    ("new_empty(Tensor self, SymInt[] size, *, OPTIONS) -> Tensor", making::new_empty),
    ("new_zeros(Tensor self, SymInt[] size, *, OPTIONS) -> Tensor", making::new_zeros),
    (
        "empty.memory_format(SymInt[] size, *, OPTIONS, MemoryFormat? memory_format=None) -> Tensor",
        making::empty,
    ),
    ("zeros(SymInt[] size, *, OPTIONS) -> Tensor", making::zeros),
    ("empty_strided(SymInt[] size, SymInt[] stride, *, OPTIONS) -> Tensor", making::empty_strided),
    (
        "empty_like(Tensor self, *, OPTIONS, MemoryFormat? memory_format=None) -> Tensor",
        making::empty_like,
    ),
    (
        "zeros_like(Tensor self, *, OPTIONS, MemoryFormat? memory_format=None) -> Tensor",
        making::zeros_like,
    ),
    (
        "ones_like(Tensor self, *, OPTIONS, MemoryFormat? memory_format=None) -> Tensor",
        making::ones_like,
    ),
    ("view(Tensor(a) self, SymInt[] size) -> Tensor(a)", views::view),
    ("reshape(Tensor(a) self, SymInt[] shape) -> Tensor(a)", views::reshape),
    ("permute(Tensor(a) self, int[] dims) -> Tensor(a)", views::permute),
    ("expand(Tensor(a) self, SymInt[] size, *, bool implicit=False) -> Tensor(a)", views::expand),
    ("transpose.int(Tensor(a) self, int dim0, int dim1) -> Tensor(a)", views::transpose),
    ("select.int(Tensor(a) self, int dim, SymInt index) -> Tensor(a)", views::select),
    (
        "flatten.using_ints(Tensor(a) self, int start_dim=0, int end_dim=-1) -> Tensor(a)",
        views::flatten,
    ),
    ("squeeze(Tensor(a) self) -> Tensor(a)", views::squeeze),
    ("squeeze.dim(Tensor(a) self, int dim) -> Tensor(a)", views::squeeze_dim),
    ("squeeze.dims(Tensor(a) self, int[] dim) -> Tensor(a)", views::squeeze_dims),
    ("unsqueeze(Tensor(a) self, int dim) -> Tensor(a)", views::unsqueeze),
    (
        "slice.Tensor(Tensor(a) self, int dim=0, SymInt? start=None, SymInt? end=None, SymInt step=1) -> Tensor(a)",
        views::slice,
    ),
    ("narrow(Tensor(a) self, int dim, SymInt start, SymInt length) -> Tensor(a)", views::narrow),
    ("copy_(Tensor(a!) self, Tensor src, bool non_blocking=False) -> Tensor(a!)", computing::copy_),
    ("zero_(Tensor(a!) self) -> Tensor(a!)", computing::zero_),
    (
        "contiguous(Tensor(a) self, *, MemoryFormat memory_format=contiguous_format) -> Tensor(a)",
        computing::contiguous,
    ),
    ("clone(Tensor self, *, MemoryFormat? memory_format=None) -> Tensor", computing::clone),
    (
        "to.dtype(Tensor(a) self, ScalarType dtype, bool non_blocking=False, bool copy=False, MemoryFormat? \
         memory_format=None) -> Tensor(a)",
        computing::to_dtype,
    ),
    (
        "to.device(Tensor(a) self, Device device, ScalarType dtype, bool non_blocking=False, bool copy=False, \
         MemoryFormat? memory_format=None) -> Tensor(a)",
        computing::to_device,
    ),
    (
        "to.dtype_layout(Tensor(a) self, *, OPTIONS, bool non_blocking=False, bool copy=False, MemoryFormat? \
         memory_format=None) -> Tensor(a)",
        computing::to_dtype_layout,
    ),
    ("is_pinned(Tensor self, Device? device=None) -> bool", computing::is_pinned),
    ("matmul(Tensor self, Tensor other) -> Tensor", computing::matmul),
    ("mm(Tensor self, Tensor mat2) -> Tensor", computing::mm),
    ("mm.out(Tensor self, Tensor mat2, *, Tensor(a!) out) -> Tensor(a!)", computing::mm_out),
    ("sum(Tensor self, *, ScalarType? dtype=None) -> Tensor", computing::sum),
    (
        "sum.dim_IntList(Tensor self, int[1]? dim, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor",
        computing::sum_dims,
    ),
    ("amax(Tensor self, int[1] dim=[], bool keepdim=False) -> Tensor", computing::amax),
    ("all(Tensor self) -> Tensor", computing::all),
    (
        "sort(Tensor self, int dim=-1, bool descending=False) -> (Tensor values, Tensor indices)",
        computing::sort,
    ),
    (
        "sort.stable(Tensor self, *, bool? stable, int dim=-1, bool descending=False) -> (Tensor values, Tensor indices)",
        computing::sort_stable,
    ),
    ("index_select(Tensor self, int dim, Tensor index) -> Tensor", computing::index_select),
    ("masked_select(Tensor self, Tensor mask) -> Tensor", computing::masked_select),
    ("equal(Tensor self, Tensor other) -> bool", computing::equal),
    ("mul.Tensor(Tensor self, Tensor other) -> Tensor", computing::mul),
    ("div.Tensor(Tensor self, Tensor other) -> Tensor", computing::div),
    ("floor_divide(Tensor self, Tensor other) -> Tensor", computing::floor_divide),
    ("remainder.Tensor(Tensor self, Tensor other) -> Tensor", computing::remainder),
    ("eq.Tensor(Tensor self, Tensor other) -> Tensor", computing::eq),
    ("ge.Tensor(Tensor self, Tensor other) -> Tensor", computing::ge),
    ("gt.Tensor(Tensor self, Tensor other) -> Tensor", computing::gt),
    ("bitwise_and.Tensor(Tensor self, Tensor other) -> Tensor", computing::bitwise_and),
    ("bitwise_or.Tensor(Tensor self, Tensor other) -> Tensor", computing::bitwise_or),
];

static TABLE: LazyLock<HashMap<(String, String), Operation>> = LazyLock::new(|| {
    let read = |(text, function): &(&str, Function)| {
        let parsed = parse(&format!("aten::{}", text.replace("OPTIONS", OPTIONS)));
        // That each is read is tested.
        let (name, overload, schema) = parsed.ok()?;
        Some(((name, overload), Operation { schema: schema?, function: *function }))
    };
    OPERATIONS.iter().filter_map(read).collect()
});

/// An operation with its name and overload.
pub fn operation(name: &str, overload: &str) -> Option<&'static Operation> {
    TABLE.get(&(name.to_owned(), overload.to_owned()))
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
        assert_eq!(TABLE.len(), OPERATIONS.len());
        assert_eq!(overloads("aten::squeeze"), ["", "dim", "dims"]);
    }
}
