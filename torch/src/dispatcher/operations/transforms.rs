//! Fourier transforms, their frequencies, and windows.

use crate::dispatcher::arguments::{Arguments, NEW};
use crate::dispatcher::results::{Function, Results, one};
use crate::error::{Error, Result};
use crate::operations::signals::transforms;
use crate::operations::signals::windows::{Window, window};
use crate::sconce::operations::{self, Operand, binary};
use crate::sconce::{api, values::options};

/// Schemas of a window without and with `periodic`, whose options follow.
macro_rules! windows {
    ($($name:literal, $periodic:literal, $window:expr;)*) => {
        &[$(
            (concat!($name, "(int window_length, *, OPTIONS) -> Tensor"), |arguments| {
                made($name, arguments, $window, 1)
            }),
            (concat!($periodic, "(int window_length, bool periodic, *, OPTIONS) -> Tensor"), |arguments| {
                made($name, arguments, $window, 2)
            }),
        )*]
    };
}

const HAMMING: [f64; 2] = [0.54, 0.46];

/// Windows.
pub const WINDOWS: &[(&str, Function)] = windows! {
    "bartlett_window", "bartlett_window.periodic", Window::Bartlett;
    "blackman_window", "blackman_window.periodic", Window::Blackman;
    "hann_window", "hann_window.periodic", Window::Cosine(0.5, 0.5);
    "hamming_window", "hamming_window.periodic", Window::Cosine(HAMMING[0], HAMMING[1]);
    "kaiser_window", "kaiser_window.periodic", Window::Kaiser(12.0);
};

/// The others.
pub const OTHERS: &[(&str, Function)] = &[
    (
        "hamming_window.periodic_alpha(int window_length, bool periodic, float alpha, *, OPTIONS) -> Tensor",
        |arguments| {
            let window = Window::Cosine(arguments.real_number(2)?, HAMMING[1]);
            made("hamming_window", arguments, window, 3)
        },
    ),
    (
        "hamming_window.periodic_alpha_beta(int window_length, bool periodic, float alpha, float beta, *, OPTIONS) -> \
         Tensor",
        |arguments| {
            let window = Window::Cosine(arguments.real_number(2)?, arguments.real_number(3)?);
            made("hamming_window", arguments, window, 4)
        },
    ),
    (
        "kaiser_window.beta(int window_length, bool periodic, float beta, *, OPTIONS) -> Tensor",
        |arguments| {
            let window = Window::Kaiser(arguments.real_number(2)?);
            made("kaiser_window", arguments, window, 3)
        },
    ),
    (
        "_fft_c2c(Tensor self, SymInt[] dim, int normalization, bool forward) -> Tensor",
        |arguments| {
            let (tensor, dims) = (arguments.tensor(0)?, arguments.ints(1)?);
            one(transforms::complex(tensor, &dims, arguments.int(2)?, arguments.flag(3)?))
        },
    ),
    ("_fft_r2c(Tensor self, int[] dim, int normalization, bool onesided) -> Tensor", |arguments| {
        let (tensor, dims) = (arguments.tensor(0)?, arguments.ints(1)?);
        one(transforms::real(tensor, &dims, arguments.int(2)?, arguments.flag(3)?))
    }),
    (
        "_fft_c2r(Tensor self, int[] dim, int normalization, SymInt last_dim_size) -> Tensor",
        |arguments| {
            let (tensor, dims) = (arguments.tensor(0)?, arguments.ints(1)?);
            one(transforms::to_real(tensor, &dims, arguments.int(2)?, arguments.int(3)?))
        },
    ),
    ("fft_fftfreq(int n, float d=1.0, *, OPTIONS) -> Tensor", |arguments| {
        frequencies(arguments, true)
    }),
    ("fft_rfftfreq(int n, float d=1.0, *, OPTIONS) -> Tensor", |arguments| {
        frequencies(arguments, false)
    }),
];

/// A window whose options begin at a place; before them is whether it is periodic, if there are more arguments.
fn made(name: &str, arguments: &Arguments, of: Window, options_at: usize) -> Results {
    let is_periodic = options_at == 1 || arguments.flag(1)?;
    let options = arguments.options(options_at, NEW)?;
    one(window(name, of, arguments.int(0)?, is_periodic, &options))
}

/// The frequencies of a transform of `n` numbers, `d` apart: all, or those of the half.
fn frequencies(arguments: &Arguments, has_negative: bool) -> Results {
    let (n, step) = (arguments.int(0)?, arguments.real_number(1)?);
    let mut wanted = arguments.options(2, NEW)?;
    if wanted.dtype == api::SCONCE_DTYPE_DEFAULT {
        wanted.dtype = api::SCONCE_DTYPE_F32;
    }
    if n < 0 {
        return Err(Error::invalid_argument(format!("n is {n}, but must not be below 0")));
    }
    let whole = options(wanted.dtype, wanted.device);
    let numbers = |begin, end| operations::arange(begin, end, 1, &whole);
    let made = match has_negative {
        true => {
            let (upper, lower) = (numbers(0, n / 2 + n % 2)?, numbers(-(n / 2), 0)?);
            operations::cat(&[upper.handle(), lower.handle()], 0)?
        }
        false => numbers(0, n / 2 + 1)?,
    };
    let scale: Result<_> =
        binary(api::SCONCE_BINARY_MUL, &made, Operand::Number(1.0 / (n as f64 * step)));
    one(scale)
}
