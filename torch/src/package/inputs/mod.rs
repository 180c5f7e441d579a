//! What a model's generated source says of its inputs: the ABI of models has no function for shapes.
//!
//! | place of the source | what it says |
//! |---|---|
//! | `check_input_N` | type and device, sizes and strides that are numbers, and ranges of the others |
//! | `int64_t s77 = arg0_1_size[0];` | which size or stride a symbol is |
//! | `assert_size_stride(arg1_1, {2L*s77, 3L}, {3L, 1L}, "input")` (PyTorch 2.15) | sizes and strides as expressions of symbols |
//!
//! The model's own checks are off unless an environment variable is set before the first run, and refuse sizes that
//! PyTorch's loader runs; so the source is read here. What is not understood is not checked.
//!
//! The range of a size is what the compiler could assume. It assumes that every size has two elements or more, also one
//! that follows from others: an input of 6 elements or more has as many because a convolution makes 2 of them. Such a
//! bound is no property of the program, and smaller sizes run (`bounds`). Nor is a bound by which PyTorch chose how to
//! calculate something (`choices`). Other bounds are kept: a program that takes the first ten elements reads ten.

mod bounds;
mod choices;
mod dense;
mod reading;
mod reductions;
#[cfg(test)]
mod tests;

use super::expressions::Expression;

/// A size that a tensor must have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// This one.
    Fixed(i64),
    /// One from here to there, both included, as the compiler assumes.
    Range(i64, i64),
}

impl Extent {
    /// Any size.
    pub const ANY: Extent = Extent::Range(0, i64::MAX);

    fn of((least, most): (i64, i64)) -> Extent {
        if least == most { Extent::Fixed(least) } else { Extent::Range(least.max(0), most) }
    }

    /// Both ends.
    pub fn range(self) -> (i64, i64) {
        match self {
            Extent::Fixed(size) => (size, size),
            Extent::Range(least, most) => (least, most),
        }
    }
}

impl std::fmt::Display for Extent {
    fn fmt(&self, text: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match *self {
            Extent::Fixed(number) => write!(text, "{number}"),
            Extent::Range(0 | 1, i64::MAX) => write!(text, "any"),
            Extent::Range(least, i64::MAX) => write!(text, "{least}.."),
            Extent::Range(least, most) => write!(text, "{least}..{most}"),
        }
    }
}

/// How a size depends on others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Relation {
    /// It has this value.
    Is(Expression),
    /// It is one of these symbols; the source does not say which.
    OneOf(Vec<usize>),
    /// It depends on others, and the source does not say how.
    Unsaid,
}

/// A dimension of an input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dimension {
    /// The size, as the compiler assumes it.
    pub extent: Extent,
    /// The least size that runs.
    pub least: i64,
    /// The greatest size that runs.
    pub most: i64,
    /// How the size depends on others.
    pub relation: Option<Relation>,
    /// The stride.
    pub stride: Option<Expression>,
}

impl Dimension {
    /// A dimension of which the size alone is known.
    pub fn of(extent: Extent) -> Dimension {
        Dimension { extent, least: 0, most: i64::MAX, relation: None, stride: None }
    }
}

/// What an input must be or an output is, as far as it is known.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Wanted {
    /// PyTorch's name of the type.
    pub dtype: Option<String>,
    /// c10's kind of device.
    pub device_type: Option<i32>,
    /// The dimensions.
    pub dimensions: Option<Vec<Dimension>>,
}

/// What a symbol is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SymbolValue {
    /// A size of an input: the input and the dimension.
    Size(usize, usize),
    /// A stride of an input.
    Stride(usize, usize),
    /// What follows from symbols before it.
    Of(Expression),
}

/// A symbol.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Symbol {
    /// Its name in the source.
    pub name: String,
    /// What it is.
    pub is: SymbolValue,
}

/// What the source says of all inputs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Inputs {
    /// The inputs, in order.
    pub wanted: Vec<Wanted>,
    /// Symbols, each after those that it depends on.
    pub symbols: Vec<Symbol>,
    /// The least and the greatest value of each.
    ranges: Vec<(i64, i64)>,
}

impl Inputs {
    /// Reads a source. `kernels` is the source of the kernels that it calls, or empty.
    pub fn read(source: &str, kernels: &str) -> Inputs {
        reading::read(source, kernels)
    }

    /// The sizes that an expression may have.
    pub fn extent_of(&self, size: &Expression) -> Extent {
        let any = (0, i64::MAX);
        Extent::of(size.range(&|symbol| self.ranges.get(symbol).copied().unwrap_or(any)))
    }

    /// Finds out which values symbols may have.
    fn find_ranges(&mut self) {
        self.ranges.clear();
        for symbol in &self.symbols {
            let any = (0, i64::MAX);
            let range = match &symbol.is {
                SymbolValue::Size(input, dim) => {
                    let wanted = self.wanted.get(*input).and_then(|it| it.dimensions.as_ref());
                    let found = wanted.and_then(|dimensions| dimensions.get(*dim));
                    found.map_or(any, |dimension| dimension.extent.range())
                }
                SymbolValue::Stride(..) => any,
                SymbolValue::Of(value) => {
                    value.range(&|before| self.ranges.get(before).copied().unwrap_or(any))
                }
            };
            self.ranges.push(range);
        }
    }
}
