//! What operations refuse, one by one, with torch's texts: dimensions, shapes, types, and outputs that share memory.

mod outputs;
mod shapes;
mod types;
mod zero_divisors;

use crate::api::{CPU, Failure, Handle, Outcome, integer, options};
use crate::create::full;
use crate::operations::Operand;

const PLACES: [i32; 2] = [CPU, 0];

fn zeros(sizes: &[i64], dtype: i32, device: i32) -> Handle {
    full(sizes, integer(0), &options(dtype, device)).unwrap()
}

fn tensor(handle: &Handle) -> Operand<'_> {
    Operand::Tensor(handle)
}

/// Each refusal must have the text; `problems` collects those that do not.
fn says<T>(name: &str, outcome: Outcome<T>, text: &str, problems: &mut Vec<String>) {
    match outcome {
        Ok(_) => problems.push(format!("{name} works, but should say {text:?}")),
        Err(Failure { message, .. }) if message.contains(text) => {}
        Err(failure) => problems.push(format!("{name} says {failure:?}, not {text:?}")),
    }
}

#[track_caller]
fn assert_none(problems: &[String]) {
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}
