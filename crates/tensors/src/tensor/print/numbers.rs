//! The text of each element. All texts of a tensor, or of its real or imaginary parts, have one style.

use sconce_base::element::{Dtype, DtypeKind};
use sconce_math::arithmetic::AnyNumber;

/// Digits after the point.
const PRECISION: usize = 4;

/// The texts of elements in row-major order.
pub(super) struct Texts {
    pub(super) elements: Vec<String>,
    /// Characters that are reserved for an element on its line, with what separates it from the next.
    pub(super) width: usize,
}

impl Texts {
    pub(super) fn of(dtype: Dtype, numbers: &[AnyNumber]) -> Texts {
        match dtype.kind() {
            DtypeKind::Float => Texts::of_reals(numbers.iter().map(|number| number.to_double())),
            DtypeKind::Complex => Texts::of_pairs(numbers),
            DtypeKind::Bool => Texts::plain(numbers.iter().map(|number| truth(*number).to_owned())),
            DtypeKind::SignedInteger | DtypeKind::UnsignedInteger => {
                Texts::plain(numbers.iter().map(|number| whole(*number)))
            }
        }
    }

    /// Texts of any style, moved to the right.
    fn plain(texts: impl Iterator<Item = String>) -> Texts {
        let texts: Vec<String> = texts.collect();
        let width = texts.iter().map(String::len).max().unwrap_or(0).max(1);
        let elements = texts.iter().map(|text| format!("{text:>width$}")).collect();
        Texts { elements, width: width + 2 }
    }

    fn of_reals(values: impl Iterator<Item = f64> + Clone) -> Texts {
        let style = RealStyle::of(values.clone());
        let elements = values.map(|value| style.text(value)).collect();
        Texts { elements, width: style.width + 2 }
    }

    fn of_pairs(numbers: &[AnyNumber]) -> Texts {
        let part = |index: usize| numbers.iter().map(move |pair| pair.to_complex_double()[index]);
        let (real, imaginary) = (RealStyle::of(part(0)), RealStyle::of(part(1)));
        let pair = |(first, second)| {
            let second = imaginary.text(second);
            let second = second.trim_start();
            let plus = if second.starts_with('-') { "" } else { "+" };
            format!("{}{plus}{second}j", real.text(first))
        };
        let elements = part(0).zip(part(1)).map(pair).collect();
        Texts { elements, width: real.width + 2 + imaginary.width + 1 }
    }
}

fn truth(number: AnyNumber) -> &'static str {
    match number {
        AnyNumber::Unsigned(0) | AnyNumber::Signed(0) => "False",
        _ => "True",
    }
}

fn whole(number: AnyNumber) -> String {
    match number {
        AnyNumber::Signed(value) => value.to_string(),
        AnyNumber::Unsigned(value) => value.to_string(),
        other => other.to_double().to_string(),
    }
}

/// How real numbers are written.
struct RealStyle {
    notation: Notation,
    /// The least width; that of the widest number that is finite and not 0.
    width: usize,
}

#[derive(Clone, Copy)]
enum Notation {
    /// `12.`: all are integers.
    Whole,
    /// `12.5000`
    Fixed,
    /// `1.2500e+01`: they are far apart, very large or very small.
    Scientific,
}

impl RealStyle {
    fn of(values: impl Iterator<Item = f64> + Clone) -> RealStyle {
        let counted = values.filter(|value| value.is_finite() && *value != 0.0);
        let magnitudes = counted.clone().map(f64::abs);
        let least = magnitudes.clone().fold(f64::INFINITY, f64::min);
        let most = magnitudes.fold(0.0, f64::max);
        if most == 0.0 {
            return RealStyle { notation: Notation::Whole, width: 1 };
        }
        let is_whole = counted.clone().all(|value| value == value.ceil());
        let notation = if most / least > 1000.0 || most > 1.0e8 || least < 1.0e-4 {
            Notation::Scientific
        } else if is_whole {
            Notation::Whole
        } else {
            Notation::Fixed
        };
        let width = counted.map(|value| notation.text(value).len()).max().unwrap_or(1);
        RealStyle { notation, width }
    }

    fn text(&self, value: f64) -> String {
        format!("{:>width$}", self.notation.text(value), width = self.width)
    }
}

impl Notation {
    fn text(self, value: f64) -> String {
        if value.is_nan() {
            return "nan".to_owned();
        }
        if value.is_infinite() {
            return if value > 0.0 { "inf" } else { "-inf" }.to_owned();
        }
        match self {
            Notation::Whole => format!("{value:.0}."),
            Notation::Fixed => format!("{value:.PRECISION$}"),
            Notation::Scientific => scientific(value),
        }
    }
}

/// With a sign and at least two digits in the exponent, as C writes it.
fn scientific(value: f64) -> String {
    let text = format!("{value:.PRECISION$e}");
    match text.split_once('e') {
        Some((digits, exponent)) => {
            let (sign, exponent) =
                exponent.strip_prefix('-').map_or(('+', exponent), |rest| ('-', rest));
            format!("{digits}e{sign}{exponent:0>2}")
        }
        None => text,
    }
}
