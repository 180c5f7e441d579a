use std::arch::is_x86_feature_detected;

use super::*;

type One = unsafe fn(__m256d) -> __m256d;

fn c_erf(x: f64) -> f64 {
    unsafe extern "C" {
        safe fn erf(value: f64) -> f64;
    }
    erf(x)
}

fn can_calculate() -> bool {
    is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma")
}

const SPECIALS: [f64; 44] = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    0.5,
    2.0,
    -2.0,
    10.0,
    1000.0,
    -1000.0,
    f64::INFINITY,
    f64::NEG_INFINITY,
    f64::NAN,
    f64::MIN_POSITIVE,
    5e-324,
    -5e-324,
    f64::MAX,
    f64::MIN,
    709.78,
    709.79,
    710.4,
    710.48,
    -708.4,
    -744.4,
    -745.1,
    -745.2,
    1024.0,
    1023.99,
    -1022.5,
    -1074.0,
    -1075.0,
    22.0,
    22.1,
    19.1,
    -37.5,
    5.99,
    6.0,
    0.25,
    -1e-17,
    -0.999_999_999,
    1e9,
    1.1e9,
    1e300,
    std::f64::consts::PI,
];

/// How many F64 lie between two, with a few more where they have different signs; 0 for the same special value.
fn steps(found: f64, expected: f64) -> u64 {
    if found.is_nan() && expected.is_nan() {
        return 0;
    }
    if found.is_nan()
        || expected.is_nan()
        || found.is_sign_negative() != expected.is_sign_negative()
    {
        return u64::MAX;
    }
    found.to_bits().abs_diff(expected.to_bits())
}

/// Numbers that look random and are the same in each run.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn between(&mut self, least: f64, most: f64) -> f64 {
        least + (self.next() >> 11) as f64 / (1_u64 << 53) as f64 * (most - least)
    }
}

/// Most functions of the C library err by little more than half a unit in the last place, as these functions do: so both
/// find the same number nearly always, and neighbours otherwise. Some of the C library's err by a unit more.
fn check(
    name: &str,
    function: One,
    (expected, most_steps): (fn(f64) -> f64, u64),
    [least, most]: [f64; 2],
) {
    let mut numbers = Numbers(0x9e37_79b9_7f4a_7c15);
    let count = if cfg!(debug_assertions) { 20_000 } else { 1_000_000 };
    let random = (0..count).map(|at| match at % 4 {
        0 => f64::from_bits(numbers.next()),
        1 => numbers.between(-1.0, 1.0) * 10.0_f64.powf(numbers.between(-20.0, 0.0)),
        _ => numbers.between(least, most),
    });
    let all: Vec<f64> = SPECIALS.into_iter().chain(random).collect();
    let mut others = 0;
    for x in all.as_chunks::<4>().0 {
        // SAFETY: the processor has the registers, as the caller has looked.
        let found = elements(unsafe { function(register(*x)) });
        for (x, found) in x.iter().zip(found) {
            let steps = steps(found, expected(*x));
            assert!(steps <= most_steps, "{name}({x:e}) is {found:e} and not {:e}", expected(*x));
            others += steps;
        }
    }
    assert!(
        others <= most_steps * all.len() as u64 / 8,
        "{name} has {others} neighbours of {}",
        all.len()
    );
}

#[test]
fn functions_of_one_number_are_those_of_the_c_library_or_neighbours() {
    if !can_calculate() {
        return;
    }
    check("exp", exp, (f64::exp, 1), [-745.0, 709.0]);
    check("exp2", exp2, (f64::exp2, 1), [-1074.0, 1023.0]);
    check("expm1", expm1, (f64::exp_m1, 1), [-40.0, 40.0]);
    check("log", ln, (f64::ln, 1), [0.0, 3.0]);
    check("log2", log2, (f64::log2, 1), [0.0, 3.0]);
    check("log10", log10, (f64::log10, 2), [0.0, 3.0]);
    check("log1p", log1p, (f64::ln_1p, 1), [-1.0, 3.0]);
    check("sin", sin, (f64::sin, 1), [-1000.0, 1000.0]);
    check("cos", cos, (f64::cos, 1), [-1000.0, 1000.0]);
    check("erf", super::erf, (c_erf, 2), [-6.0, 6.0]);
}

/// The C library's own functions err by up to two units here: e^x and e^-x are exact to half a unit, and so are what
/// is made of them.
#[test]
fn hyperbolic_functions_and_tangents_satisfy_their_definitions() {
    if !can_calculate() {
        return;
    }
    let near = |found: f64, expected: f64, x: f64, name: &str| {
        let is_near = steps(found, expected) <= 3;
        assert!(is_near, "{name}({x:e}) is {found:e} and not {expected:e}");
    };
    let mut numbers = Numbers(77);
    for round in 0..20_000 {
        let x: [f64; 4] = match SPECIALS.as_chunks::<4>().0.get(round) {
            Some(specials) => *specials,
            None if round % 2 == 0 => std::array::from_fn(|_| numbers.between(-25.0, 25.0)),
            None => std::array::from_fn(|_| {
                numbers.between(-1.0, 1.0) * 10.0_f64.powf(numbers.between(-20.0, 0.0))
            }),
        };
        // SAFETY: the processor has the registers.
        let found =
            unsafe { [sinh, cosh, tanh, tan].map(|function: One| elements(function(register(x)))) };
        for at in 0..4 {
            near(found[0][at], x[at].sinh(), x[at], "sinh");
            near(found[1][at], x[at].cosh(), x[at], "cosh");
            near(found[2][at], x[at].tanh(), x[at], "tanh");
            near(found[3][at], x[at].tan(), x[at], "tan");
        }
    }
}

#[test]
fn powers_are_those_of_the_c_library_or_neighbours() {
    if !can_calculate() {
        return;
    }
    let mut others = 0;
    let mut checked = |x: [f64; 4], y: [f64; 4]| {
        // SAFETY: the processor has the registers.
        let found = elements(unsafe { pow(register(x), register(y)) });
        for at in 0..4 {
            let (x, y, expected) = (x[at], y[at], x[at].powf(y[at]));
            let steps = steps(found[at], expected);
            assert!(steps <= 1, "pow({x:e}, {y:e}) is {:e} and not {expected:e}", found[at]);
            others += steps;
        }
    };
    for x in SPECIALS {
        for y in SPECIALS.as_chunks::<4>().0 {
            checked([x; 4], *y);
        }
    }
    let mut numbers = Numbers(5);
    for _ in 0..20_000 {
        let x: [f64; 4] = std::array::from_fn(|_| f64::from_bits(numbers.next() >> 1));
        // Exponents whose powers are neither 0 nor infinite, for the most part.
        let y = x.map(|x| {
            let most = (1080.0 / x.log2().abs().max(1e-3)).min(1e6);
            numbers.between(-most, most)
        });
        checked(x, y);
    }
    assert!(others < 8_000, "{others} are neighbours");
}
