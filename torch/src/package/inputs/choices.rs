//! What PyTorch decides by the sizes of the example, and records as a bound of them. Either way the code runs any sizes.
//!
//! | what is decided | by |
//! |---|---|
//! | a kernel of the CPU sums numbers of F32 in one go, or in parts, which rounds less | 4096 numbers (`reductions`) |
//! | which library calculates a convolution on the CPU | a batch of 15; 20480 elements |
//! | how a sort numbers the elements | 32766 of them |

use std::collections::HashMap;

use super::super::expressions::Expression;
use super::super::lines::{between, braced, parts_of_list};

/// The most numbers that are summed in one go.
pub(super) const SUM: i64 = 4096;
/// The largest batch, and the most elements, of convolutions that are calculated in one way.
const CONVOLVED_BATCH: i64 = 15;
const CONVOLVED_ELEMENTS: i64 = 20_480;
/// The most elements that are sorted in one way.
const SORTED: i64 = 32_766;
/// Different choices of a source that are read.
const MOST_CHOICES: usize = 256;

/// A size, and its greatest value for which one way was chosen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Choice {
    pub(super) size: Expression,
    pub(super) greatest: i64,
}

/// The choices of a source, and the sizes of tensors on the way to them.
#[derive(Default)]
pub(super) struct Choices<'a> {
    found: Vec<Choice>,
    arrays: HashMap<&'a str, Vec<Option<Expression>>>,
    tensors: HashMap<&'a str, Vec<Option<Expression>>>,
}

impl<'a> Choices<'a> {
    pub(super) fn found(&self) -> &[Choice] {
        &self.found
    }

    /// Notes a choice.
    pub(super) fn add(&mut self, size: Expression, greatest: i64) {
        let choice = Choice { size, greatest };
        if self.found.len() < MOST_CHOICES && !self.found.contains(&choice) {
            self.found.push(choice);
        }
    }

    /// `const int64_t int_array_0[] = {2L*s77, 3L}`
    pub(super) fn array(&mut self, statement: &'a str, values: Vec<Option<Expression>>) {
        if let Some(name) = statement.split("[]").next().and_then(|name| name.rsplit(' ').next()) {
            self.arrays.insert(name, values);
        }
    }

    /// Notes the sizes of a tensor.
    pub(super) fn tensor(&mut self, name: &'a str, sizes: Vec<Option<Expression>>) {
        self.tensors.insert(name, sizes);
    }

    /// Tensors that are made or take over others, convolutions and sorts. `input` knows the sizes of an input.
    pub(super) fn statement(
        &mut self,
        statement: &'a str,
        input: &dyn Fn(&str) -> Option<Vec<Option<Expression>>>,
    ) -> Option<()> {
        if let Some((name, value)) =
            statement.strip_prefix("auto ").and_then(|it| it.split_once(" = "))
        {
            let sizes = match between(value, "std::move(", ")") {
                Some(other) => self.tensors.remove(other)?,
                None => self.sizes_of(value, input)?,
            };
            self.tensors.insert(name, sizes);
            return Some(());
        }
        let (_, call) = statement.split_once("aoti_torch_")?;
        let (function, arguments) = call.split_once('(')?;
        if function == "empty_strided" {
            let name = between(arguments, "&", "_handle)")?;
            let sizes = self.arrays.get(parts_of_list(arguments).nth(1)?)?.clone();
            self.tensors.insert(name, sizes);
        } else if function.starts_with("cpu_") && function.contains("convolution") {
            let sizes = self.sizes_of(parts_of_list(arguments).next()?, input)?;
            self.add(sizes.first()?.clone()?, CONVOLVED_BATCH);
            let all: Option<Vec<Expression>> = sizes.into_iter().collect();
            self.add(Expression::Product(all?), CONVOLVED_ELEMENTS);
        } else if function.starts_with("cpu_sort") {
            let sizes = self.sizes_of(parts_of_list(arguments).next()?, input)?;
            sizes.into_iter().flatten().for_each(|size| self.add(size, SORTED));
        }
        Some(())
    }

    /// The sizes of `buf0`, of an input, and of a view of either.
    fn sizes_of(
        &self,
        tensor: &str,
        input: &dyn Fn(&str) -> Option<Vec<Option<Expression>>>,
    ) -> Option<Vec<Option<Expression>>> {
        match between(tensor, "reinterpret_tensor_wrapper(", ")") {
            Some(arguments) => self.arrays.get(parts_of_list(arguments).nth(2)?).cloned(),
            None => self.tensors.get(tensor).cloned().or_else(|| input(tensor)),
        }
    }
}

/// The sizes and the strides of `assert_size_stride(buf0, {s77, 3L}, {3L, 1L}, "…")`, the tensor, and what follows.
pub(super) fn asserted(statement: &str) -> Option<(&str, [&str; 2], &str)> {
    let arguments = statement.split_once("assert_size_stride(")?.1;
    let (name, lists) = arguments.split_once(", ")?;
    let (sizes, rest) = braced(lists)?;
    let (strides, rest) = braced(rest.strip_prefix(", ")?)?;
    Some((name, [sizes, strides], rest))
}
