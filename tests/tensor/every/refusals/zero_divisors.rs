//! Divisions of integers by 0: the CPU refuses them, as torch does, and writes nothing.

use sconce::*;
use testkit::places::alone;

use super::{assert_none, says};
use crate::api::{CPU, Handle, Outcome, integer, options, real, truth};
use crate::create::{from_bytes, full};
use crate::operations::{self, Operand};
use crate::storage::figures::Figures;

const DIVISIONS: [i32; 3] =
    [SCONCE_BINARY_FLOOR_DIVIDE, SCONCE_BINARY_TRUNC_DIVIDE, SCONCE_BINARY_REMAINDER];
const INTEGERS: [i32; 5] =
    [SCONCE_DTYPE_U8, SCONCE_DTYPE_I8, SCONCE_DTYPE_I16, SCONCE_DTYPE_I32, SCONCE_DTYPE_I64];

/// Sixes, and a divisor with a 0 in the middle.
fn operands(dtype: i32, divisor_type: i32, device: i32) -> [Handle; 2] {
    let sixes = full(&[2, 3], integer(6), &options(dtype, device)).unwrap();
    let divisor = from_bytes(&[2, 0, 1], &[3], SCONCE_DTYPE_U8, device).unwrap();
    [sixes, divisor.to(&options(divisor_type, device), false).unwrap()]
}

fn divide(operation: i32, [first, second]: [Operand<'_>; 2]) -> Outcome<Handle> {
    operations::binary(operation, first, second)
}

#[test]
fn integers_of_the_cpu_divided_by_zero_are_refused() {
    let _one = alone();
    let start = Figures::now();
    let mut problems = Vec::new();
    let text = "ZeroDivisionError";
    for (operation, dtype) in DIVISIONS.into_iter().flat_map(|op| INTEGERS.map(|dtype| (op, dtype)))
    {
        for divisor_type in [dtype, SCONCE_DTYPE_BOOL, SCONCE_DTYPE_I64] {
            let [sixes, divisor] = operands(dtype, divisor_type, CPU);
            let (sixes, divisor) = (Operand::Tensor(&sixes), Operand::Tensor(&divisor));
            let name = format!("{operation} of {dtype} by {divisor_type}");
            says(&name, divide(operation, [sixes, divisor]), text, &mut problems);
            for number in [integer(0), truth(false)] {
                let by_number = divide(operation, [sixes, Operand::Number(number)]);
                says(&format!("{name}, a number"), by_number, text, &mut problems);
            }
            if divisor_type != SCONCE_DTYPE_BOOL {
                let of_number = divide(operation, [Operand::Number(integer(6)), divisor]);
                says(&format!("{name}, of a number"), of_number, text, &mut problems);
            }
        }
        // In place: nothing is written.
        let [sixes, divisor] = operands(dtype, dtype, CPU);
        let before = sixes.bytes().unwrap();
        let written = operations::binary_into(operation, &sixes, Operand::Tensor(&divisor), &sixes);
        says("in place", written, text, &mut problems);
        assert_eq!(sixes.bytes().unwrap(), before);
        // Nothing is divided where there is no element, and a part without a 0 works.
        let none = sixes.narrow(0, 0, 0).unwrap();
        let zero = Operand::Number(integer(0));
        assert_eq!(divide(operation, [Operand::Tensor(&none), zero]).unwrap().numel(), 0);
        let works = divisor.narrow(0, 2, 1).unwrap();
        divide(operation, [Operand::Tensor(&sixes), Operand::Tensor(&works)]).unwrap();
        // Numbers with a fraction divide by 0, and so does a device.
        divide(operation, [Operand::Tensor(&sixes), Operand::Number(real(0.0))]).unwrap();
        let [sixes, divisor] = operands(dtype, dtype, 0);
        divide(operation, [Operand::Tensor(&sixes), Operand::Tensor(&divisor)]).unwrap();
    }
    let [sixes, divisor] = operands(SCONCE_DTYPE_I32, SCONCE_DTYPE_I32, CPU);
    divide(SCONCE_BINARY_DIV, [Operand::Tensor(&sixes), Operand::Tensor(&divisor)]).unwrap();
    drop((sixes, divisor));
    assert_none(&problems);
    start.assert_unchanged();
}
