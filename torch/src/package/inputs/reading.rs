//! Reads a source: functions that check, symbols, assertions, arrays of sizes.

use std::collections::{HashMap, HashSet};

use super::super::constants::layouts_of_constants;
use super::super::expressions::Expression;
use super::super::lines::{between, parts_of_list, statements_of_run};
use super::bounds::Following;
use super::choices::{Choices, SUM, asserted};
use super::reductions::{self, KernelSums};
use super::{Dimension, Extent, Inputs, Relation, Symbol, SymbolValue, Wanted};

/// Inputs, dimensions and symbols beyond these are not read.
const MOST_INPUTS: usize = 1 << 16;
const MOST_DIMENSIONS: usize = 64;
const MOST_SYMBOLS: usize = 512;
/// Different sizes of a source that are compared with bounds.
const MOST_SIZES: usize = 256;

/// What a source says of inputs. `kernels` is the source of the kernels that it calls.
pub(super) fn read(source: &str, kernels: &str) -> Inputs {
    let mut reader =
        InputReader { kernels: reductions::kernels(kernels), ..InputReader::default() };
    reader.checks(source);
    for statement in statements_of_run(source) {
        let _ = reader
            .argument(statement)
            .or_else(|| reader.symbol(statement))
            .or_else(|| reader.assertion(statement))
            .or_else(|| reader.array(statement))
            .or_else(|| reader.call(statement))
            .or_else(|| reader.made(statement));
    }
    let fixed = layouts_of_constants(source).into_values().filter_map(|layout| layout.sizes);
    reader.fixed.extend(fixed.flatten());
    reader.finish()
}

/// What `check_input_N` says of a size.
#[derive(Clone, Copy)]
enum Checked {
    Number(i64),
    Range(i64, i64),
}

/// What has been read of an input.
#[derive(Default)]
struct Read {
    dtype: Option<String>,
    device_type: Option<i32>,
    sizes: Vec<Option<Checked>>,
    strides: Vec<Option<i64>>,
    /// Sizes and strides of an assertion.
    asserted: Option<[Vec<Option<Expression>>; 2]>,
}

#[derive(Default)]
struct InputReader<'a> {
    inputs: Vec<Read>,
    /// Which input a variable is.
    arguments: HashMap<&'a str, usize>,
    numbers: HashMap<&'a str, usize>,
    symbols: Vec<Symbol>,
    /// Sizes and strides that occur anywhere, what was chosen by sizes, and sizes of constants.
    sizes: Vec<Expression>,
    choices: Choices<'a>,
    fixed: HashSet<i64>,
    kernels: HashMap<String, KernelSums>,
}

/// An entry of a list, which is made long enough.
fn entry<T: Clone>(list: &mut Vec<Option<T>>, at: usize) -> Option<&mut Option<T>> {
    if at >= MOST_DIMENSIONS {
        return None;
    }
    if list.len() <= at {
        list.resize(at + 1, None);
    }
    list.get_mut(at)
}

/// `256L`
fn number(text: &str) -> Option<i64> {
    text.trim().trim_end_matches('L').parse().ok()
}

/// The input variable and the dimension of `arg0_1_size[1]` and of `arg0_1.sizes()[1]`; `what` is `size` or `stride`.
fn place<'t>(text: &'t str, what: &str) -> Option<(&'t str, usize)> {
    let (before, at) = text.trim().strip_suffix(']')?.rsplit_once('[')?;
    let name = before
        .strip_suffix(what)
        .and_then(|before| before.strip_suffix('_'))
        .or_else(|| before.strip_suffix("s()")?.strip_suffix(what)?.strip_suffix('.'))?;
    Some((name, at.parse().ok().filter(|at| *at < MOST_DIMENSIONS)?))
}

impl<'a> InputReader<'a> {
    /// Reads `check_input_0` and so on.
    fn checks(&mut self, source: &str) {
        let mut rest = source;
        while let Some(at) = rest.find("static void check_input_") {
            let body = &rest[at..];
            // The next function begins with its own `static`.
            let end = body[1..].find("static ").map_or(body.len(), |end| end + 1);
            let (body, after) = body.split_at(end);
            rest = after;
            let digits = body["static void check_input_".len()..].chars();
            let digits: String = digits.take_while(char::is_ascii_digit).collect();
            let Ok(index) = digits.parse::<usize>() else { continue };
            if index > MOST_INPUTS {
                continue;
            }
            if self.inputs.len() <= index {
                self.inputs.resize_with(index + 1, Read::default);
            }
            for line in body.lines() {
                let _ = self.inputs[index].line(line.trim());
            }
        }
    }

    fn expression(&self, text: &str) -> Option<Expression> {
        Expression::parse(text, &|name| self.numbers.get(name).copied())
    }

    /// `auto arg0_1 = std::move(inputs[0])`
    fn argument(&mut self, statement: &'a str) -> Option<()> {
        let (name, value) = statement.strip_prefix("auto ")?.split_once(" = ")?;
        let index = between(value, "std::move(inputs[", "])")?.parse().ok()?;
        self.arguments.insert(name, index);
        Some(())
    }

    /// `int64_t s77 = arg0_1_size[0]`, `int64_t s5 = arg0_1_stride[1]`, and values of other symbols.
    fn symbol(&mut self, statement: &'a str) -> Option<()> {
        let (name, value) = statement.strip_prefix("int64_t ")?.split_once(" = ")?;
        let argument = |(name, dim): (&str, usize)| Some((*self.arguments.get(name)?, dim));
        let is = if let Some((input, dim)) = place(value, "size").and_then(argument) {
            SymbolValue::Size(input, dim)
        } else if let Some((input, dim)) = place(value, "stride").and_then(argument) {
            SymbolValue::Stride(input, dim)
        } else {
            SymbolValue::Of(self.expression(value)?)
        };
        // The first definition counts: a block may have a variable of the same name.
        if self.symbols.len() < MOST_SYMBOLS && !self.numbers.contains_key(name) {
            self.numbers.insert(name, self.symbols.len());
            self.symbols.push(Symbol { name: name.to_owned(), is });
        }
        Some(())
    }

    /// `assert_size_stride(arg0_1, {s77, 3L}, {3L, 1L}, "input")`, also of tensors that are no inputs.
    fn assertion(&mut self, statement: &'a str) -> Option<()> {
        let (name, lists, rest) = asserted(statement)?;
        let lists = lists.map(|list| -> Vec<Option<Expression>> {
            parts_of_list(list).map(|part| self.expression(part)).collect()
        });
        self.note(lists.iter().flatten().flatten().cloned());
        if !rest.starts_with(", \"input\"") {
            let [sizes, _] = lists;
            self.choices.tensor(name, sizes);
            return Some(());
        }
        let index = *self.arguments.get(name)?;
        if lists[0].len() == lists[1].len() && lists[0].len() <= MOST_DIMENSIONS {
            self.inputs.get_mut(index)?.asserted = Some(lists);
        }
        Some(())
    }

    /// `const int64_t int_array_0[] = {2L*s77, 3L}`
    fn array(&mut self, statement: &'a str) -> Option<()> {
        let (_, values) = statement.split_once("[] = {")?;
        let values = parts_of_list(values.strip_suffix('}')?);
        let read: Vec<Option<Expression>> = values.map(|value| self.expression(value)).collect();
        self.note(read.iter().flatten().cloned());
        self.choices.array(statement, read);
        Some(())
    }

    /// `cpp_fused_sum_0((const float*)(arg0_1.data_ptr()), (float*)(buf0.data_ptr()), s10, 8L*s21)`
    fn call(&mut self, statement: &'a str) -> Option<()> {
        let (name, arguments) = statement.strip_suffix(')')?.split_once('(')?;
        let kernel = self.kernels.get(name)?;
        let arguments: Vec<Option<Expression>> =
            parts_of_list(arguments).map(|argument| self.expression(argument)).collect();
        let sums: Vec<Expression> = kernel.called(&arguments).collect();
        sums.into_iter().for_each(|sum| self.choices.add(sum, SUM));
        Some(())
    }

    /// Tensors that are made, convolutions and sorts.
    fn made(&mut self, statement: &'a str) -> Option<()> {
        let InputReader { inputs, arguments, symbols, choices, .. } = self;
        choices.statement(statement, &|name| {
            let index = *arguments.get(name)?;
            let read = inputs.get(index)?;
            let size = |dim: usize| {
                let own = SymbolValue::Size(index, dim);
                let asserted =
                    read.asserted.as_ref().and_then(|[sizes, _]| sizes.get(dim)?.clone());
                let symbol = symbols.iter().position(|symbol| symbol.is == own);
                match read.sizes.get(dim).copied().flatten() {
                    Some(Checked::Number(size)) => Some(Expression::Number(size)),
                    _ => asserted.or_else(|| symbol.map(Expression::Symbol)),
                }
            };
            Some((0..read.rank()).map(size).collect())
        })
    }

    /// Notes sizes and strides that occur.
    fn note(&mut self, sizes: impl Iterator<Item = Expression>) {
        for size in sizes {
            let is_plain = matches!(size, Expression::Number(_) | Expression::Symbol(_));
            if !is_plain && self.sizes.len() < MOST_SIZES && !self.sizes.contains(&size) {
                self.sizes.push(size);
            }
        }
    }

    fn finish(self) -> Inputs {
        let defined = |is: SymbolValue| self.symbols.iter().position(|symbol| symbol.is == is);
        let mut wanted = Vec::with_capacity(self.inputs.len());
        for (input, read) in self.inputs.iter().enumerate() {
            let of_symbols = self.symbols.iter().filter_map(|symbol| match symbol.is {
                SymbolValue::Size(of, dim) | SymbolValue::Stride(of, dim) if of == input => {
                    Some(dim)
                }
                _ => None,
            });
            let rank = read.rank().max(of_symbols.max().map_or(0, |dim| dim + 1));
            let mut dimensions = Vec::with_capacity(rank);
            for dim in 0..rank {
                let asserted = |which: usize| {
                    let lists = read.asserted.as_ref()?;
                    lists.get(which)?.get(dim)?.clone()
                };
                let extent = match (read.sizes.get(dim).copied().flatten(), asserted(0)) {
                    (Some(Checked::Number(size)), _) => Extent::Fixed(size),
                    (Some(Checked::Range(least, most)), _) => Extent::Range(least, most),
                    (None, Some(Expression::Number(size))) => Extent::Fixed(size),
                    (None, _) => Extent::ANY,
                };
                let own = defined(SymbolValue::Size(input, dim)).map(Expression::Symbol);
                let size = asserted(0).filter(|size| !matches!(size, Expression::Number(_)));
                let relation = match (extent, size.filter(|size| Some(size) != own.as_ref())) {
                    (Extent::Fixed(_), _) => None,
                    (_, Some(size)) => Some(Relation::Is(size)),
                    (_, None) if own.is_some() => None,
                    _ => Some(self.unsaid(extent)),
                };
                let stride = read.strides.get(dim).copied().flatten().map(Expression::Number);
                let stride = stride.or_else(|| asserted(1));
                // A symbol of its own is any stride.
                let is_own = defined(SymbolValue::Stride(input, dim)).map(Expression::Symbol);
                let stride = stride.filter(|stride| Some(stride) != is_own.as_ref());
                let most = extent.range().1;
                dimensions.push(Dimension { extent, least: 0, most, relation, stride });
            }
            let is_known = read.dtype.is_some() || read.asserted.is_some();
            wanted.push(Wanted {
                dtype: read.dtype.clone(),
                device_type: read.device_type,
                dimensions: is_known.then_some(dimensions),
            });
        }
        let mut inputs = Inputs { wanted, symbols: self.symbols, ranges: Vec::new() };
        inputs.relax(&Following {
            sizes: &self.sizes,
            choices: self.choices.found(),
            fixed: &self.fixed,
        });
        for (input, read) in self.inputs.iter().enumerate() {
            if read.asserted.is_none() {
                inputs.make_dense(input);
            }
        }
        inputs
    }

    /// A size that is neither a number nor a symbol's definition, and that no assertion has. It depends on symbols: it
    /// is taken for one with the same range, or else for a multiple of one whose range is as many times as large.
    fn unsaid(&self, extent: Extent) -> Relation {
        let Extent::Range(least, most) = extent else { return Relation::Unsaid };
        if extent == Extent::ANY {
            return Relation::Unsaid;
        }
        let ranges = self.symbols.iter().enumerate().filter_map(|(index, symbol)| {
            let SymbolValue::Size(input, dim) = symbol.is else { return None };
            match self.inputs.get(input).and_then(|read| *read.sizes.get(dim)?) {
                Some(Checked::Range(from, to)) => Some((index, from, to)),
                _ => None,
            }
        });
        let fitting: Vec<usize> = ranges
            .clone()
            .filter(|(_, from, to)| (*from, *to) == (least, most))
            .map(|(index, ..)| index)
            .collect();
        let multiples: Vec<Expression> = ranges
            .filter(|(_, from, to)| most != i64::MAX && *to != i64::MAX && from < to)
            .filter_map(|(index, from, to)| multiple(index, (from, to), (least, most)))
            .collect();
        match (&fitting[..], &multiples[..]) {
            ([], [of]) => Relation::Is(of.clone()),
            ([], _) => Relation::Unsaid,
            ([symbol], _) => Relation::Is(Expression::Symbol(*symbol)),
            _ => Relation::OneOf(fitting),
        }
    }
}

/// The multiple of a symbol, and what is added to it, that has a range.
fn multiple(
    symbol: usize,
    (from, to): (i64, i64),
    (least, most): (i64, i64),
) -> Option<Expression> {
    let factor = (most - least).checked_div(to - from).filter(|factor| *factor > 0)?;
    let added = least.checked_sub(factor.checked_mul(from)?)?;
    if factor.checked_mul(to)?.checked_add(added)? != most {
        return None;
    }
    let symbol = Expression::Symbol(symbol);
    let product = match factor {
        1 => symbol,
        _ => Expression::Product(vec![Expression::Number(factor), symbol]),
    };
    Some(match added {
        0 => product,
        _ => Expression::Sum(vec![product, Expression::Number(added)]),
    })
}

impl Read {
    /// A line of `check_input_N`.
    fn line(&mut self, line: &str) -> Option<()> {
        if let Some((_, dtype)) = line.split_once("_expected_dtype = aoti_torch_dtype_") {
            self.dtype = Some(dtype.trim_end_matches("();").to_owned());
            return Some(());
        }
        if let Some((_, kind)) = line.split_once("_expected_device_type = ") {
            self.device_type = kind.trim_end_matches(';').parse().ok();
            return Some(());
        }
        let condition = line.strip_prefix("if (")?.strip_suffix(") {")?;
        if let Some((value, place_)) = condition.split_once(" != ") {
            if let Some((_, dim)) = place(place_, "size") {
                *entry(&mut self.sizes, dim)? = number(value).map(Checked::Number);
            } else if let Some((_, dim)) = place(place_, "stride") {
                *entry(&mut self.strides, dim)? = number(value);
            }
        } else if let Some((place_, bound)) = condition.split_once(" < ") {
            self.bound(place_, |_, most| Some((number(bound)?, most)));
        } else if let Some((place_, bound)) = condition.split_once(" > ") {
            self.bound(place_, |least, _| Some((least, number(bound)?)));
        }
        Some(())
    }

    /// Changes the range of a size.
    fn bound(&mut self, at: &str, change: impl Fn(i64, i64) -> Option<(i64, i64)>) -> Option<()> {
        let (_, dim) = place(at, "size")?;
        let checked = entry(&mut self.sizes, dim)?;
        let (least, most) = match *checked {
            Some(Checked::Number(_)) => return None,
            Some(Checked::Range(least, most)) => (least, most),
            None => (0, i64::MAX),
        };
        let (least, most) = change(least, most)?;
        *checked = Some(Checked::Range(least, most));
        Some(())
    }

    /// The number of dimensions: of the assertion, else as far as sizes and strides are compared. Every dimension has
    /// one that is, so an input without is a single element.
    fn rank(&self) -> usize {
        let asserted = self.asserted.as_ref().map(|[sizes, _]| sizes.len());
        asserted.unwrap_or_else(|| self.sizes.len().max(self.strides.len()))
    }
}
