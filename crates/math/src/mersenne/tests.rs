//! Fills beside those that PyTorch 2.11 recorded.

use std::convert::Infallible;

use sconce_base::element::Dtype;
use sconce_base::sha256;

use super::{Sequence, fill, permutation};
use crate::arithmetic::{AnyNumber, encode};
use crate::philox::{Distribution, Fill};

const RECORDED: &str = include_str!("../../../../tests/golden/cpu_random.txt");

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn once(sequence: &mut Sequence, words: &[&str]) -> Vec<u8> {
    let (dtype, n, in_order) = (
        Dtype::from_torch_name(words[2]).unwrap(),
        words[5].parse::<usize>().unwrap(),
        words[6] == "1",
    );
    let number = |index: usize| words[index].parse::<f64>().unwrap();
    let (real, parts) = dtype.real();
    let of = |distribution, a, b| Fill::real(distribution, real, a, b);
    let fill_of = match words[1] {
        "uniform" => of(Distribution::Uniform, number(3), number(4)),
        "normal" => {
            let shared = if parts == 2 { std::f64::consts::SQRT_2 } else { 1.0 };
            of(Distribution::Normal, number(3), number(4) / shared)
        }
        "log_normal" => of(Distribution::LogNormal, number(3), number(4)),
        "exponential" => of(Distribution::Exponential, number(3), 0.0),
        "cauchy" => of(Distribution::Cauchy, number(3), number(4)),
        "geometric" => of(Distribution::Geometric, number(3), 0.0),
        "bernoulli" => of(Distribution::Bernoulli, number(3), 0.0),
        "random" => Fill::full_range(real),
        "randint" => {
            let [low, high] = [3, 4].map(|index| words[index].parse::<i64>().unwrap());
            Fill::integers(real, high.wrapping_sub(low) as u64, low)
        }
        _ => {
            let mut numbers: Vec<u64> = (0..n as u64).collect();
            permutation(sequence, n as u64, |a, b| numbers.swap(a as usize, b as usize));
            let mut bytes = vec![0; n * dtype.bytes()];
            for (number, bytes) in numbers.iter().zip(bytes.chunks_exact_mut(dtype.bytes())) {
                encode(AnyNumber::Unsigned(*number), dtype, bytes);
            }
            return bytes;
        }
    };
    let n = n * parts as usize;
    let mut bytes = vec![0; n * real.bytes()];
    let Ok(()) = fill::<Infallible>(sequence, &fill_of, n, in_order, |at, piece| {
        bytes[at..at + piece.len()].copy_from_slice(piece);
        Ok(())
    });
    bytes
}

#[test]
fn fills_are_those_that_torch_recorded() {
    let mut wrong = Vec::new();
    for line in RECORDED.lines() {
        let words: Vec<&str> = line.split(' ').collect();
        let mut sequence = Sequence::new(words[0].parse().unwrap());
        let mut bytes = once(&mut sequence, &words);
        bytes.extend(once(&mut sequence, &words));
        let state = &sha256::hex(&sequence.to_bytes())[..16];
        let found = match words[8].starts_with('#') {
            true => format!("#{}", sha256::hex(&bytes)),
            false => hex(&bytes),
        };
        if found != words[8] || state != words[7] {
            let values = if found == words[8] { "" } else { "values" };
            let first = found.bytes().zip(words[8].bytes()).position(|(a, b)| a != b);
            let state = if state == words[7] { "" } else { "state" };
            wrong.push(format!("{} {values} {first:?} {state}", words[..7].join(" ")));
        }
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}
