//! Every driver call that an operation makes, failed in turn: a status with words or the right values, no tensor and no
//! memory lost, and the operation works afterwards.

use sconce::sconce_status::*;
use sconce::*;
use testkit::fork::forked_result;
use testkit::simulated::driver_calls;

use super::operations::{ALL, Operation, Tensors, is_unpredictable};
use crate::api::{Handle, outcome};
use crate::storage::figures::Figures;

/// A failure of the driver that means no more than itself, and having no memory.
const CODES: [i32; 2] = [999, 2];

/// Later calls of a kind in one operation are like earlier ones.
const MOST_TURNS: u64 = 6;

/// The calls that an operation makes on a device where nothing was done before, or where all was done once.
fn counts(operation: &Operation, warm: bool) -> Vec<(String, u64)> {
    let text = forked_result(|| {
        let names = driver_calls();
        let tensors = Tensors::new(0, 0);
        if warm {
            drop((operation.call)(&tensors).unwrap());
        }
        sconce::sim_controls::reset_call_counts().unwrap();
        drop((operation.call)(&tensors).map_err(|failure| format!("{failure:?}"))?);
        let count =
            |call: &String| format!("{call} {}", sconce::sim_controls::call_count(call).unwrap());
        Err(names.iter().map(count).collect::<Vec<_>>().join("\n"))
    })
    .unwrap_err();
    let pairs = text.lines().filter_map(|line| line.split_once(' '));
    let counted: Vec<(String, u64)> = pairs
        .map(|(call, count)| (call.to_owned(), count.parse().unwrap_or_else(|_| panic!("{text}"))))
        .collect();
    counted.into_iter().filter(|(_, count)| *count > 0).collect()
}

/// All that an operation may have written.
fn values(results: &[Handle], tensors: &Tensors) -> Vec<Vec<u8>> {
    let operands = [&tensors.matrix, &tensors.second, &tensors.ordinary];
    results.iter().chain(operands).map(|tensor| tensor.bytes().unwrap()).collect()
}

/// One operation with one fault, in a process of its own; says what went wrong.
fn scenario(
    operation: &Operation,
    warm: bool,
    call: &str,
    nth: u64,
    code: i32,
) -> Result<(), String> {
    forked_result(|| {
        let start = Figures::now();
        let tensors = Tensors::new(0, 0);
        if warm {
            drop((operation.call)(&tensors).unwrap());
        }
        let before = Figures::now();
        sconce::sim_controls::fail_call(call, nth, code).unwrap();
        let result = (operation.call)(&tensors);
        sconce::sim_controls::clear_faults().unwrap();
        if let Err(failure) = &result {
            let expected = [SCONCE_ERROR_OUT_OF_MEMORY, SCONCE_ERROR_DRIVER];
            if !expected.contains(&failure.status) || failure.message.len() < 12 {
                return Err(format!("{failure:?}"));
            }
            if warm {
                before.assert_unchanged();
            }
        }
        let others = Tensors::new(0, 0);
        let again =
            (operation.call)(&others).map_err(|failure| format!("afterwards: {failure:?}"))?;
        if let Ok(result) = &result
            && !is_unpredictable(operation)
            && values(result, &tensors) != values(&again, &others)
        {
            return Err("it succeeded with other values".to_owned());
        }
        drop((result, tensors, again, others));
        outcome(sconce_blas_clear_workspaces()).unwrap();
        start.assert_unchanged();
        Ok(())
    })
}

fn every_fault(warm: bool) {
    let (mut scenarios, mut wrong) = (0, Vec::new());
    for (number, operation) in ALL.iter().enumerate() {
        for (call, count) in counts(operation, warm) {
            for nth in 1..=count.min(MOST_TURNS) {
                let code = CODES[(nth % 2) as usize];
                scenarios += 1;
                if let Err(text) = scenario(operation, warm, &call, nth, code) {
                    let name = operation.name;
                    wrong.push(format!("{name} ({number}), {call} {nth}, code {code}: {text}"));
                }
            }
        }
    }
    println!("{scenarios} faults");
    assert!(wrong.is_empty(), "{} of {scenarios}:\n{}", wrong.len(), wrong.join("\n"));
    assert!(scenarios > 100, "only {scenarios} faults");
}

const ENVIRONMENT: [(&str, &str); 3] =
    [("SCONCE_BACKEND", "sim"), ("SCONCE_LOG", "off"), ("RUST_BACKTRACE", "0")];

#[test]
fn a_failing_call_of_an_operation_loses_nothing() {
    let test = "a_failing_call_of_an_operation_loses_nothing";
    testkit::in_child(test, &ENVIRONMENT, || every_fault(true));
}

#[test]
fn a_failing_call_of_an_operations_first_use_loses_nothing() {
    let test = "a_failing_call_of_an_operations_first_use_loses_nothing";
    testkit::in_child(test, &ENVIRONMENT, || every_fault(false));
}
