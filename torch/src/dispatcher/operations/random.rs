//! Random numbers. Without a generator they are those of the default one of the tensor's device.

use crate::abi::tensors::{device_of_tensor, dtype_of_tensor, sizes_of};
use crate::dispatcher::arguments::{Arguments, NEW};
use crate::dispatcher::results::{Function, Results, changed, one, two};
use crate::error::{Error, Result};
use crate::operations::layout::broadcast;
use crate::operations::random::{self, Distribution, rejection};
use crate::operations::tensors::{empty, is_floating, name_of};
use crate::sconce::api;
use crate::sconce::generator::Generator;
use crate::sconce::operations::{self, Operand, binary, empty_like};
use crate::sconce::tensor::TensorHandle;

/// Operations with two schemas: with a generator behind the arguments that have places, and without one. `$numbers`
/// reads from the arguments what is drawn.
macro_rules! with_and_without {
    ($run:ident: $($name:literal, $with:literal, $first:literal, $count:literal, $rest:literal, $numbers:expr;)*) => {
        &[$(
            (concat!($name, "(", $first, ", *, ", $rest, ") -> Tensor"), |arguments| {
                let numbers: fn(&Arguments) -> Result<Distribution> = $numbers;
                $run(arguments, numbers(arguments)?, Generator::DEFAULT, [$count - 1, $count])
            }),
            (concat!($with, "(", $first, ", *, Generator? generator, ", $rest, ") -> Tensor"), |arguments| {
                let numbers: fn(&Arguments) -> Result<Distribution> = $numbers;
                let generator = arguments.generator($count)?;
                $run(arguments, numbers(arguments)?, generator, [$count - 1, $count + 1])
            }),
        )*]
    };
}

fn whole(low: i64, high: i64) -> Result<Distribution> {
    let numbers = Distribution::Whole(low, high);
    numbers.check().map(|()| numbers)
}

/// New tensors.
pub const NEW_TENSORS: &[(&str, Function)] = with_and_without! {
    drawn:
    "rand", "rand.generator", "SymInt[] size", 1, "OPTIONS", |_| Ok(Distribution::FROM_0_TO_1);
    "randn", "randn.generator", "SymInt[] size", 1, "OPTIONS", |_| Ok(Distribution::NORMAL);
    "randint", "randint.generator", "SymInt high, SymInt[] size", 2, "INTEGER_OPTIONS",
        |arguments| whole(0, arguments.int(0)?);
    "randint.low", "randint.low_generator", "SymInt low, SymInt high, SymInt[] size", 3, "INTEGER_OPTIONS",
        |arguments| whole(arguments.int(0)?, arguments.int(1)?);
    "randperm", "randperm.generator", "SymInt n", 1, "INTEGER_OPTIONS",
        |arguments| Ok(Distribution::Whole(0, arguments.int(0)?));
};

/// Tensors with the sizes of another one.
pub const LIKE_OTHERS: &[(&str, Function)] = with_and_without! {
    drawn_like:
    "rand_like", "rand_like.generator", "Tensor self", 1, "OPTIONS, MemoryFormat? memory_format=None",
        |_| Ok(Distribution::FROM_0_TO_1);
    "randn_like", "randn_like.generator", "Tensor self", 1, "OPTIONS, MemoryFormat? memory_format=None",
        |_| Ok(Distribution::NORMAL);
    "randint_like", "randint_like.generator", "Tensor self, SymInt high", 2,
        "OPTIONS, MemoryFormat? memory_format=None", |arguments| whole(0, arguments.int(1)?);
    "randint_like.Tensor", "randint_like.Tensor_generator", "Tensor self, Tensor high", 2,
        "OPTIONS, MemoryFormat? memory_format=None", |arguments| whole(0, high_of(arguments.tensor(1)?)?);
    "randint_like.low_dtype", "randint_like.low_generator_dtype", "Tensor self, SymInt low, SymInt high", 3,
        "OPTIONS, MemoryFormat? memory_format=None",
        |arguments| whole(arguments.int(1)?, arguments.int(2)?);
};

/// A new tensor of the sizes, or all numbers of a range in a random order.
fn drawn(
    arguments: &Arguments,
    numbers: Distribution,
    generator: Generator,
    [sizes_at, options_at]: [usize; 2],
) -> Results {
    let options = arguments.options(options_at, NEW)?;
    if let (Distribution::Whole(_, n), 0) = (numbers, sizes_at) {
        let generator = generator.handle_on(options.device)?;
        return one(operations::randperm(n, generator, &options));
    }
    let tensor = operations::empty(&arguments.ints(sizes_at)?, &options)?;
    numbers.fill(tensor.handle(), generator)?;
    one(Ok(tensor))
}

/// A tensor like the first argument.
fn drawn_like(
    arguments: &Arguments,
    numbers: Distribution,
    generator: Generator,
    [_, options_at]: [usize; 2],
) -> Results {
    let tensor = arguments.tensor(0)?;
    let mut options = arguments.options(options_at, device_of_tensor(tensor)?)?;
    if options.dtype == api::SCONCE_DTYPE_DEFAULT {
        options.dtype = dtype_of_tensor(tensor)?;
    }
    let preserved = api::SCONCE_MEMORY_FORMAT_PRESERVE;
    options.memory_format = arguments.memory_format(options_at + 4, preserved)?;
    let drawn = operations::empty_like_with(tensor, &options)?;
    numbers.fill(drawn.handle(), generator)?;
    one(Ok(drawn))
}

/// The number of a tensor without dimensions on the CPU.
fn high_of(tensor: TensorHandle) -> Result<i64> {
    if !sizes_of(tensor)?.is_empty() || device_of_tensor(tensor)? != NEW {
        return Err(Error::invalid_argument("high must be a scalar tensor and on CPU"));
    }
    let whole = operations::to_dtype(tensor, api::SCONCE_DTYPE_I64)?;
    Ok(operations::item(whole.handle())?.integer)
}

/// Fills of a tensor that is there (`…_`), and of one like it.
macro_rules! fills {
    ($($in_place:literal, $functional:literal, $arguments:literal, $count:literal, $numbers:expr;)*) => {
        &[$(
            (
                concat!($in_place, "(Tensor(a!) self, ", $arguments, "*, Generator? generator=None) -> Tensor(a!)"),
                |arguments| {
                    let numbers: fn(&Arguments) -> Result<Distribution> = $numbers;
                    numbers(arguments)?.fill(arguments.tensor(0)?, arguments.generator($count + 1)?)?;
                    changed(arguments)
                },
            ),
            (
                concat!($functional, "(Tensor self, ", $arguments, "*, Generator? generator=None) -> Tensor"),
                |arguments| {
                    let numbers: fn(&Arguments) -> Result<Distribution> = $numbers;
                    let filled = empty_like(arguments.tensor(0)?, api::SCONCE_DTYPE_DEFAULT)?;
                    numbers(arguments)?.fill(filled.handle(), arguments.generator($count + 1)?)?;
                    one(Ok(filled))
                },
            ),
        )*]
    };
}

/// The fills.
pub const FILLS: &[(&str, Function)] = fills! {
    "uniform_", "uniform", "float from=0, float to=1, ", 2,
        |arguments| Ok(Distribution::Uniform(arguments.real_number(1)?, arguments.real_number(2)?));
    "normal_", "normal_functional", "float mean=0, float std=1, ", 2,
        |arguments| Ok(Distribution::Normal(arguments.real_number(1)?, arguments.real_number(2)?));
    "log_normal_", "log_normal", "float mean=1, float std=2, ", 2,
        |arguments| Ok(Distribution::LogNormal(arguments.real_number(1)?, arguments.real_number(2)?));
    "cauchy_", "cauchy", "float median=0, float sigma=1, ", 2,
        |arguments| Ok(Distribution::Cauchy(arguments.real_number(1)?, arguments.real_number(2)?));
    "exponential_", "exponential", "float lambd=1, ", 1,
        |arguments| Ok(Distribution::Exponential(arguments.real_number(1)?));
    "geometric_", "geometric", "float p, ", 1,
        |arguments| Ok(Distribution::Geometric(arguments.real_number(1)?));
    "random_", "random", "", 0, |_| Ok(Distribution::FullRange);
    "random_.to", "random.to", "int to, ", 1, |arguments| whole(0, arguments.int(1)?);
    "random_.from", "random.from", "int from, int? to, ", 2, from_to;
};

/// The others.
pub const OTHERS: &[(&str, Function)] = &[
    (
        "bernoulli_.float(Tensor(a!) self, float p=0.5, *, Generator? generator=None) -> Tensor(a!)",
        |arguments| {
            let numbers = Distribution::Bernoulli(arguments.real_number(1)?);
            numbers.fill(arguments.tensor(0)?, arguments.generator(2)?)?;
            changed(arguments)
        },
    ),
    ("bernoulli.p(Tensor self, float p, *, Generator? generator=None) -> Tensor", |arguments| {
        let drawn = empty_like(arguments.tensor(0)?, api::SCONCE_DTYPE_DEFAULT)?;
        let numbers = Distribution::Bernoulli(arguments.real_number(1)?);
        numbers.fill(drawn.handle(), arguments.generator(2)?)?;
        one(Ok(drawn))
    }),
    ("bernoulli(Tensor self, *, Generator? generator=None) -> Tensor", |arguments| {
        let chances = arguments.tensor(0)?;
        let drawn = empty_like(chances, api::SCONCE_DTYPE_DEFAULT)?;
        random::bernoulli(drawn.handle(), chances, arguments.generator(1)?)?;
        one(Ok(drawn))
    }),
    (
        "bernoulli.Tensor(Tensor self, Tensor p, *, Generator? generator=None) -> Tensor",
        |arguments| {
            let drawn = empty_like(arguments.tensor(0)?, api::SCONCE_DTYPE_DEFAULT)?;
            random::bernoulli(drawn.handle(), arguments.tensor(1)?, arguments.generator(2)?)?;
            one(Ok(drawn))
        },
    ),
    (
        "bernoulli_.Tensor(Tensor(a!) self, Tensor p, *, Generator? generator=None) -> Tensor(a!)",
        |arguments| {
            let (tensor, chances) = (arguments.tensor(0)?, arguments.tensor(1)?);
            random::bernoulli(tensor, chances, arguments.generator(2)?)?;
            changed(arguments)
        },
    ),
    (
        "multinomial(Tensor self, SymInt num_samples, bool replacement=False, *, Generator? generator=None) -> Tensor",
        |arguments| {
            let (tensor, count) = (arguments.tensor(0)?, arguments.int(1)?);
            let generator = arguments.generator(3)?;
            one(random::multinomial(tensor, count, arguments.flag(2)?, generator))
        },
    ),
    (
        "normal.Tensor_float(Tensor mean, float std=1, *, Generator? generator=None) -> Tensor",
        |arguments| {
            let deviation = Operand::Number(arguments.real_number(1)?);
            let sizes = sizes_of(arguments.tensor(0)?)?;
            normal(arguments, arguments.tensor(0)?, &sizes, deviation, mean_of(arguments)?)
        },
    ),
    (
        "normal.float_Tensor(float mean, Tensor std, *, Generator? generator=None) -> Tensor",
        |arguments| {
            let (mean, deviation) = (arguments.real_number(0)?, arguments.tensor(1)?);
            let sizes = sizes_of(deviation)?;
            let mean = Operand::Number(mean);
            normal(arguments, deviation, &sizes, Operand::Handle(deviation), mean)
        },
    ),
    (
        "normal.Tensor_Tensor(Tensor mean, Tensor std, *, Generator? generator=None) -> Tensor",
        |arguments| {
            let deviation = arguments.tensor(1)?;
            let sizes = [sizes_of(arguments.tensor(0)?)?, sizes_of(deviation)?];
            let sizes = broadcast(&[&sizes[0], &sizes[1]])?;
            let (like, mean) = (arguments.tensor(0)?, mean_of(arguments)?);
            normal(arguments, like, &sizes, Operand::Handle(deviation), mean)
        },
    ),
    (
        "normal.float_float(float mean, float std, SymInt[] size, *, Generator? generator=None, OPTIONS) -> Tensor",
        |arguments| {
            let numbers =
                Distribution::Normal(arguments.real_number(0)?, arguments.real_number(1)?);
            let drawn = operations::empty(&arguments.ints(2)?, &arguments.options(4, NEW)?)?;
            numbers.fill(drawn.handle(), arguments.generator(3)?)?;
            one(Ok(drawn))
        },
    ),
    // What `torch.normal(mean, std, size)` is exported as.
    (
        "prims::normal(SymInt[] shape, *, Scalar mean, Scalar std, ScalarType dtype, Device device, \
         bool requires_grad, Generator? generator=None) -> Tensor",
        |arguments| {
            let numbers =
                Distribution::Normal(arguments.real_number(1)?, arguments.real_number(2)?);
            if arguments.flag(5)? {
                return Err(Error::not_supported(
                    "requires_grad is true; there are no gradients here, so pass false",
                ));
            }
            let (dtype, device) = (arguments.dtype(3)?, arguments.device(4, NEW)?);
            let drawn = empty(&arguments.ints(0)?, dtype, device)?;
            numbers.fill(drawn.handle(), arguments.generator(6)?)?;
            one(Ok(drawn))
        },
    ),
    ("poisson(Tensor self, Generator? generator=None) -> Tensor", |arguments| {
        one(rejection::poisson(arguments.tensor(0)?, arguments.generator(1)?))
    }),
    ("binomial(Tensor count, Tensor prob, Generator? generator=None) -> Tensor", |arguments| {
        let (count, chance) = (arguments.tensor(0)?, arguments.tensor(1)?);
        one(rejection::binomial(count, chance, arguments.generator(2)?))
    }),
    ("_standard_gamma(Tensor self, Generator? generator=None) -> Tensor", |arguments| {
        one(rejection::standard_gamma(arguments.tensor(0)?, arguments.generator(1)?))
    }),
    ("_sample_dirichlet(Tensor self, Generator? generator=None) -> Tensor", |arguments| {
        one(rejection::dirichlet(arguments.tensor(0)?, arguments.generator(1)?))
    }),
    ("native_dropout(Tensor input, float p, bool? train) -> (Tensor, Tensor)", |arguments| {
        let train = arguments.is_none(2)? || arguments.flag(2)?;
        let (kept, mask) = random::dropout(arguments.tensor(0)?, arguments.real_number(1)?, train)?;
        two(kept, mask)
    }),
];

/// The first argument as an operand.
fn mean_of(arguments: &Arguments) -> Result<Operand<'static>> {
    arguments.tensor(0).map(Operand::Handle)
}

/// Normally distributed numbers with a mean and a deviation for each element; `like` has the type.
fn normal(
    arguments: &Arguments,
    like: TensorHandle,
    sizes: &[i64],
    deviation: Operand<'_>,
    mean: Operand<'_>,
) -> Results {
    let dtype = dtype_of_tensor(like)?;
    if !is_floating(dtype) {
        return Err(Error::invalid_argument(format!(
            "normal expects mean and std of floating-point types, but got {}",
            name_of(dtype)
        )));
    }
    let drawn = empty(sizes, dtype, device_of_tensor(like)?)?;
    Distribution::NORMAL.fill(drawn.handle(), arguments.generator(2)?)?;
    let scaled = binary(api::SCONCE_BINARY_MUL, &drawn, deviation)?;
    let moved = binary(api::SCONCE_BINARY_ADD, &scaled, mean)?;
    one(operations::to_dtype(moved.handle(), dtype))
}

/// `random_.from(self, from, to)`: without `to` up to the largest whole number that the type has one after another.
fn from_to(arguments: &Arguments) -> Result<Distribution> {
    let from = arguments.int(1)?;
    if let Some(to) = arguments.optional_int(2)? {
        return whole(from, to);
    }
    let dtype = dtype_of_tensor(arguments.tensor(0)?)?;
    let most = match dtype {
        api::SCONCE_DTYPE_BOOL => 1,
        api::SCONCE_DTYPE_U8 => i64::from(u8::MAX),
        api::SCONCE_DTYPE_I8 => i64::from(i8::MAX),
        api::SCONCE_DTYPE_I16 => i64::from(i16::MAX),
        api::SCONCE_DTYPE_I32 => i64::from(i32::MAX),
        api::SCONCE_DTYPE_F16 => 1 << 11,
        api::SCONCE_DTYPE_BF16 => 1 << 8,
        api::SCONCE_DTYPE_F32 => 1 << 24,
        api::SCONCE_DTYPE_F64 => 1 << 53,
        other => {
            return Err(Error::not_supported(format!(
                "random_ of {} from a number without an end is not offered; pass `to`",
                name_of(other)
            )));
        }
    };
    whole(from, most + 1)
}
