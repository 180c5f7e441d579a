//! Sizes and strides as the compiler prints them in C++: whole numbers and symbols, such as `2L*s77` and
//! `c10::div_floor_integer(static_cast<int64_t>(s77), static_cast<int64_t>(4L))`.

/// Expressions within expressions: more are none of a model.
const MOST_DEPTH: usize = 64;

/// A whole number that depends on symbols, which have numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Expression {
    /// This number.
    Number(i64),
    /// The value of a symbol.
    Symbol(usize),
    /// A sum.
    Sum(Vec<Expression>),
    /// A product.
    Product(Vec<Expression>),
    /// A quotient, rounded down.
    Quotient(Box<[Expression; 2]>),
    /// What a division leaves.
    Remainder(Box<[Expression; 2]>),
    /// The greatest of several.
    Greatest(Vec<Expression>),
    /// The least of several.
    Least(Vec<Expression>),
}

impl Expression {
    /// Reads an expression; `symbol` knows the numbers of symbols. `None` if it is not understood.
    pub fn parse(text: &str, symbol: &dyn Fn(&str) -> Option<usize>) -> Option<Expression> {
        let mut reader = ExpressionReader { rest: text, symbol, depth: 0 };
        let read = reader.sum()?;
        reader.space();
        reader.rest.is_empty().then_some(read)
    }

    /// Its value. `None` if a symbol has none, for a division by 0, and if a number does not fit.
    pub fn value(&self, symbol: &impl Fn(usize) -> Option<i64>) -> Option<i64> {
        let each = |parts: &[Expression], first: i64, join: &dyn Fn(i64, i64) -> Option<i64>| {
            parts.iter().try_fold(first, |value, part| join(value, part.value(symbol)?))
        };
        match self {
            Expression::Number(number) => Some(*number),
            Expression::Symbol(index) => symbol(*index),
            Expression::Sum(parts) => each(parts, 0, &i64::checked_add),
            Expression::Product(parts) => each(parts, 1, &i64::checked_mul),
            Expression::Greatest(parts) => each(parts, i64::MIN, &|a, b| Some(a.max(b))),
            Expression::Least(parts) => each(parts, i64::MAX, &|a, b| Some(a.min(b))),
            Expression::Quotient(parts) => {
                let (value, by) = (parts[0].value(symbol)?, parts[1].value(symbol)?);
                let quotient = value.checked_div(by)?;
                let rounds_up = value % by != 0 && (value < 0) != (by < 0);
                Some(quotient - i64::from(rounds_up))
            }
            Expression::Remainder(parts) => {
                parts[0].value(symbol)?.checked_rem_euclid(parts[1].value(symbol)?)
            }
        }
    }

    /// The least and the greatest value; `i64::MAX` stands for no bound. `symbol` knows those of symbols.
    pub fn range(&self, symbol: &dyn Fn(usize) -> (i64, i64)) -> (i64, i64) {
        let ranges = |parts: &[Expression]| -> Vec<(i64, i64)> {
            parts.iter().map(|part| part.range(symbol)).collect()
        };
        match self {
            Expression::Number(number) => (*number, *number),
            Expression::Symbol(index) => symbol(*index),
            Expression::Sum(parts) => ranges(parts).into_iter().fold((0, 0), |sum, part| {
                let most = if sum.1 == i64::MAX || part.1 == i64::MAX {
                    i64::MAX
                } else {
                    sum.1.saturating_add(part.1)
                };
                (sum.0.saturating_add(part.0), most)
            }),
            Expression::Product(parts) => ranges(parts).into_iter().fold((1, 1), |all, part| {
                let [a, b] = [all.0, all.1]
                    .map(|one| [part.0, part.1].map(|other| one.saturating_mul(other)));
                let ends = [a[0], a[1], b[0], b[1]];
                let least = ends.into_iter().fold(i64::MAX, i64::min);
                (least, ends.into_iter().fold(i64::MIN, i64::max))
            }),
            Expression::Greatest(parts) => ranges(parts)
                .into_iter()
                .fold((i64::MIN, i64::MIN), |all, part| (all.0.max(part.0), all.1.max(part.1))),
            Expression::Least(parts) => ranges(parts)
                .into_iter()
                .fold((i64::MAX, i64::MAX), |all, part| (all.0.min(part.0), all.1.min(part.1))),
            Expression::Quotient(parts) => match (parts[0].range(symbol), &parts[1]) {
                ((least, most), Expression::Number(by)) if *by > 0 => {
                    let most = if most == i64::MAX { most } else { most.div_euclid(*by) };
                    (least.div_euclid(*by), most)
                }
                _ => (0, i64::MAX),
            },
            Expression::Remainder(_) => (0, i64::MAX),
        }
    }

    /// The same with an expression in the place of each symbol. `None` if one is missing.
    pub fn with(&self, symbol: &dyn Fn(usize) -> Option<Expression>) -> Option<Expression> {
        let each = |parts: &[Expression]| -> Option<Vec<Expression>> {
            parts.iter().map(|part| part.with(symbol)).collect()
        };
        let two = |parts: &[Expression; 2]| {
            Some(Box::new([parts[0].with(symbol)?, parts[1].with(symbol)?]))
        };
        Some(match self {
            Expression::Number(number) => Expression::Number(*number),
            Expression::Symbol(index) => symbol(*index)?,
            Expression::Sum(parts) => Expression::Sum(each(parts)?),
            Expression::Product(parts) => Expression::Product(each(parts)?),
            Expression::Greatest(parts) => Expression::Greatest(each(parts)?),
            Expression::Least(parts) => Expression::Least(each(parts)?),
            Expression::Quotient(parts) => Expression::Quotient(two(parts)?),
            Expression::Remainder(parts) => Expression::Remainder(two(parts)?),
        })
    }

    /// Calls `see` with each symbol.
    pub fn each_symbol(&self, see: &mut dyn FnMut(usize)) {
        match self {
            Expression::Number(_) => {}
            Expression::Symbol(index) => see(*index),
            Expression::Sum(parts)
            | Expression::Product(parts)
            | Expression::Greatest(parts)
            | Expression::Least(parts) => parts.iter().for_each(|part| part.each_symbol(see)),
            Expression::Quotient(parts) | Expression::Remainder(parts) => {
                parts.iter().for_each(|part| part.each_symbol(see));
            }
        }
    }

    /// The expression in words, with the names of symbols.
    pub fn words(&self, name: &dyn Fn(usize) -> String) -> String {
        let each = |parts: &[Expression], between: &str| {
            parts.iter().map(|part| part.words(name)).collect::<Vec<_>>().join(between)
        };
        match self {
            Expression::Number(number) => number.to_string(),
            Expression::Symbol(index) => name(*index),
            Expression::Sum(parts) => format!("({})", each(parts, " + ")),
            Expression::Product(parts) => each(parts, "*"),
            Expression::Quotient(parts) => format!("floor({})", each(&parts[..], " / ")),
            Expression::Remainder(parts) => format!("({})", each(&parts[..], " % ")),
            Expression::Greatest(parts) => format!("max({})", each(parts, ", ")),
            Expression::Least(parts) => format!("min({})", each(parts, ", ")),
        }
    }
}

struct ExpressionReader<'a> {
    rest: &'a str,
    symbol: &'a dyn Fn(&str) -> Option<usize>,
    depth: usize,
}

impl<'a> ExpressionReader<'a> {
    fn space(&mut self) {
        self.rest = self.rest.trim_start();
    }

    /// Takes a text if it comes next.
    fn takes(&mut self, text: &str) -> bool {
        self.space();
        match self.rest.strip_prefix(text) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn sum(&mut self) -> Option<Expression> {
        let mut parts = vec![self.product()?];
        loop {
            if self.takes("+") {
                parts.push(self.product()?);
            } else if self.takes("-") {
                parts.push(negative(self.product()?)?);
            } else {
                break;
            }
        }
        Some(if parts.len() == 1 { parts.remove(0) } else { Expression::Sum(parts) })
    }

    fn product(&mut self) -> Option<Expression> {
        let mut product = self.factor()?;
        loop {
            if self.takes("*") {
                let factor = self.factor()?;
                product = match product {
                    Expression::Product(mut parts) => {
                        parts.push(factor);
                        Expression::Product(parts)
                    }
                    first => Expression::Product(vec![first, factor]),
                };
            } else if self.takes("%") {
                product = Expression::Remainder(Box::new([product, self.factor()?]));
            } else {
                return Some(product);
            }
        }
    }

    fn factor(&mut self) -> Option<Expression> {
        self.depth += 1;
        let factor = if self.depth > MOST_DEPTH { None } else { self.one_factor() };
        self.depth -= 1;
        factor
    }

    fn one_factor(&mut self) -> Option<Expression> {
        if self.takes("-") {
            return negative(self.factor()?);
        }
        // PyTorch 2.11 writes a half so; what it is of is even.
        if self.takes("(1.0/") {
            let (by, rest) = self.rest.split_once(".0)*")?;
            self.rest = rest;
            let by = Expression::Number(by.parse().ok()?);
            return Some(Expression::Quotient(Box::new([self.factor()?, by])));
        }
        if self.takes("(") {
            let inner = self.sum()?;
            return self.takes(")").then_some(inner);
        }
        self.space();
        if self.rest.starts_with(|first: char| first.is_ascii_digit()) {
            return self.number();
        }
        let end = self.rest.find(|at: char| !at.is_ascii_alphanumeric() && at != '_' && at != ':');
        let (name, rest) = self.rest.split_at(end.unwrap_or(self.rest.len()));
        if name.is_empty() {
            return None;
        }
        self.rest = rest;
        // The type of a cast, or of a list.
        let is_of_type = self.takes("<int64_t>");
        if !self.takes("(") {
            let symbol = (self.symbol)(name).map(Expression::Symbol);
            return symbol.filter(|_| !is_of_type);
        }
        let is_list = self.takes("{");
        let mut arguments = vec![self.sum()?];
        while self.takes(",") {
            arguments.push(self.sum()?);
        }
        if (is_list && !self.takes("}")) || !self.takes(")") {
            return None;
        }
        let two = |arguments: Vec<Expression>| <[Expression; 2]>::try_from(arguments).ok();
        match name {
            "static_cast" if arguments.len() == 1 => arguments.pop(),
            "std::max" => Some(Expression::Greatest(arguments)),
            "std::min" => Some(Expression::Least(arguments)),
            "c10::div_floor_integer" => Some(Expression::Quotient(Box::new(two(arguments)?))),
            "c10::div_mod" => Some(Expression::Remainder(Box::new(two(arguments)?))),
            _ => None,
        }
    }

    fn number(&mut self) -> Option<Expression> {
        let end = self.rest.find(|at: char| !at.is_ascii_digit()).unwrap_or(self.rest.len());
        let (digits, rest) = self.rest.split_at(end);
        self.rest = rest.trim_start_matches('L');
        // A fraction, or a name that begins with a digit.
        if self.rest.starts_with(|next: char| next.is_ascii_alphanumeric() || next == '.') {
            return None;
        }
        digits.parse().ok().map(Expression::Number)
    }
}

fn negative(of: Expression) -> Option<Expression> {
    Some(match of {
        Expression::Number(number) => Expression::Number(number.checked_neg()?),
        other => Expression::Product(vec![Expression::Number(-1), other]),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Option<Expression> {
        Expression::parse(text, &|name| match name {
            "s0" => Some(0),
            "s77" => Some(1),
            _ => None,
        })
    }

    #[test]
    fn expressions_have_their_values_ranges_and_words() {
        let of = |text: &str| read(text).unwrap_or_else(|| panic!("{text} is not understood"));
        for (text, value, range, words) in [
            ("12L", 12, (12, 12), "12"),
            ("12", 12, (12, 12), "12"),
            ("s0", 7, (2, 64), "s0"),
            ("2L*s77", 18, (4, i64::MAX), "2*s77"),
            ("s0*s77", 63, (4, i64::MAX), "s0*s77"),
            ("(-4L) + s0", 3, (-2, 60), "(-4 + s0)"),
            ("s0 - 1L", 6, (1, 63), "(s0 + -1)"),
            ("-s0", -7, (-64, -2), "-1*s0"),
            ("4L*(s0 + s77)", 64, (16, i64::MAX), "4*(s0 + s77)"),
            (
                "std::max(static_cast<int64_t>(1L), static_cast<int64_t>((-4L) + s0))",
                3,
                (1, 60),
                "max(1, (-4 + s0))",
            ),
            ("std::min<int64_t>({s0, s77, 8L})", 7, (2, 8), "min(s0, s77, 8)"),
            (
                "c10::div_floor_integer(static_cast<int64_t>(s77), static_cast<int64_t>(2L))",
                4,
                (1, i64::MAX),
                "floor(s77 / 2)",
            ),
            (
                "c10::div_floor_integer(static_cast<int64_t>((-8L) + s0), static_cast<int64_t>(2L))",
                -1,
                (-3, 28),
                "floor((-8 + s0) / 2)",
            ),
            (
                "(static_cast<int64_t>(s77) % static_cast<int64_t>(4L))",
                1,
                (0, i64::MAX),
                "(s77 % 4)",
            ),
        ] {
            let read = of(text);
            assert_eq!(read.value(&|at| [Some(7), Some(9)][at]), Some(value), "{text}");
            let ranges = [(2, 64), (2, i64::MAX)];
            assert_eq!(read.range(&|at| ranges[at]), range, "{text}");
            assert_eq!(read.words(&|at| ["s0", "s77"][at].to_owned()), words, "{text}");
        }
        let mut seen = Vec::new();
        of("s77 + 2L*s0").each_symbol(&mut |symbol| seen.push(symbol));
        assert_eq!(seen, [1, 0]);
    }

    #[test]
    fn what_is_not_understood_and_what_has_no_value_is_none() {
        for text in [
            "",
            "u0",
            "s0 +",
            "(s0",
            "s0)",
            "1.5",
            "3.0/4.0",
            "s0/2L",
            "std::floor(s0)",
            "f(s0)",
            "s0 << 1",
            "99999999999999999999L",
            "static_cast<double>(s0)",
            "std::max(s0, {s77})",
            "2s0",
            "s0 s77",
        ] {
            assert_eq!(read(text), None, "{text}");
        }
        for deep in ["(", "-", "std::max("] {
            assert_eq!(read(&deep.repeat(100_000)), None);
        }
        let symbols = |at: usize| [Some(i64::MAX), None][at];
        for text in
            ["s77", "2L*s0", "s0 + 1L", "c10::div_floor_integer(s0, 0L)", "c10::div_mod(s0, 0L)"]
        {
            assert_eq!(read(text).and_then(|read| read.value(&symbols)), None, "{text}");
        }
    }
}
