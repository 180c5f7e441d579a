//! Every driver call that a script of tensor operations makes, failed at every point in turn: a status tells,
//! nothing is lost, and the same script works afterwards.

use std::ptr::null_mut;

use sconce::sconce_status::*;
use sconce::*;
use testkit::fork::forked_result;
use testkit::places::pooled;
use testkit::simulated::driver_calls;

use crate::api::{CPU, Failure, Handle, Outcome, integer, options, outcome, real};
use crate::create::{arange, empty, from_bytes, full};
use crate::operations::{self, Operand};
use crate::storage::figures::Figures;

/// A failure of the driver that means no more than itself, and having no memory.
const CODES: [i32; 2] = [999, 2];

/// Of a call that is made more often, as queries of an event that is waited for, later turns are like earlier
/// ones.
const MOST_TURNS: u64 = 40;

/// The script's tensors, and what failed.
struct Script {
    other: sconce_stream,
    held: Vec<Handle>,
    failures: Vec<Failure>,
}

impl Script {
    fn new() -> Script {
        Script { other: pooled(0), held: Vec::new(), failures: Vec::new() }
    }

    fn note<T>(&mut self, outcome: Outcome<T>) -> Option<T> {
        outcome.map_err(|failure| self.failures.push(failure)).ok()
    }

    fn keep(&mut self, outcome: Outcome<Handle>) {
        let tensor = self.note(outcome);
        self.held.extend(tensor);
    }

    /// What one tensor of a device is good for.
    fn use_one(&mut self, tensor: &Handle) {
        let own = Operand::Tensor(tensor);
        let turned = tensor.transpose(0, 1).unwrap();
        self.keep(operations::binary(SCONCE_BINARY_ADD, own, Operand::Tensor(&turned)));
        self.keep(turned.contiguous(SCONCE_MEMORY_FORMAT_CONTIGUOUS));
        self.keep(operations::reduce(SCONCE_REDUCE_SUM, tensor, None, false));
        self.keep(operations::cat(&[tensor, &turned], 1));
        self.keep(operations::matmul(tensor, tensor));
        self.keep(turned.to(&options(SCONCE_DTYPE_I64, 1), false));
        self.keep(tensor.to(&options(SCONCE_DTYPE_F16, CPU), false));
        let sorted = self.note(operations::sort(tensor, 0, true));
        self.held.extend(sorted.into_iter().flatten());
        let corner = turned.narrow(0, 1, 1).unwrap();
        self.note(outcome(sconce_tensor_uniform(corner.raw(), 0.0, 1.0, null_mut())));
        self.note(corner.fill(real(2.0)));
        let one = corner.narrow(1, 0, 1).unwrap();
        let item = self.note(one.item());
        if self.failures.is_empty() {
            assert_eq!(item, Some(real(2.0)));
        }
        self.note(outcome(sconce_tensor_record_stream(tensor.raw(), self.other)));
        let pinned = sconce_tensor_options { pinned: CBool::TRUE, ..options(-1, CPU) };
        if let Some(pinned) = self.note(empty(&[4, 4], &pinned)) {
            self.note(pinned.copy_from(tensor, true));
            self.note(tensor.copy_from(&pinned, true));
            self.held.push(pinned);
        }
    }

    fn run(&mut self) {
        let bytes: Vec<u8> = (0..16).flat_map(|at| (at as f32).to_le_bytes()).collect();
        for device in [0, 1] {
            let tensor = self.note(from_bytes(&bytes, &[4, 4], SCONCE_DTYPE_F32, device));
            if let Some(tensor) = tensor {
                self.use_one(&tensor);
                self.held.push(tensor);
            }
        }
        self.keep(full(&[3, 3], integer(7), &options(-1, 1)));
        self.keep(arange([integer(0), integer(9), integer(2)], &options(-1, 0)));
        self.held.truncate(12);
    }

    /// Nothing fails any more, and results are right.
    fn run_again(&mut self) {
        self.failures.clear();
        self.held.clear();
        self.run();
        assert!(self.failures.is_empty(), "after the fault: {:?}", self.failures);
        let sum = self.held[0].f32s();
        assert_eq!(sum[..5], [0.0, 5.0, 10.0, 15.0, 5.0]);
        assert_eq!(self.held[2].item().unwrap(), real(120.0));
        self.held.clear();
    }
}

/// Runs the script in a process of its own with one fault; says what went wrong.
fn scenario(names: &[String], fault: Option<(&str, u64, i32)>) -> Result<(), String> {
    forked_result(|| {
        let start = Figures::now();
        let mut script = Script::new();
        sconce::sim_controls::reset_call_counts().unwrap();
        let Some((call, nth, code)) = fault else {
            script.run();
            let count = |call: &String| sconce::sim_controls::call_count(call).unwrap();
            let counts: Vec<_> =
                names.iter().map(|call| format!("{call} {}", count(call))).collect();
            assert!(script.failures.is_empty(), "{:?}", script.failures);
            script.run_again();
            outcome(sconce_blas_clear_workspaces()).unwrap();
            start.assert_unchanged();
            return Err(counts.join("\n"));
        };
        sconce::sim_controls::fail_call(call, nth, code).unwrap();
        script.run();
        let struck = sconce::sim_controls::call_count(call).unwrap() >= nth;
        sconce::sim_controls::clear_faults().unwrap();
        for failure in &script.failures {
            let expected = [SCONCE_ERROR_OUT_OF_MEMORY, SCONCE_ERROR_DRIVER];
            assert!(expected.contains(&failure.status), "{failure:?}");
        }
        script.run_again();
        outcome(sconce_blas_clear_workspaces()).unwrap();
        start.assert_unchanged();
        if struck { Ok(()) } else { Err("not struck".to_owned()) }
    })
}

#[test]
fn a_failure_of_the_driver_at_any_point_loses_nothing() {
    let test = "a_failure_of_the_driver_at_any_point_loses_nothing";
    let environment = [("SCONCE_BACKEND", "sim"), ("SCONCE_LOG", "off"), ("RUST_BACKTRACE", "0")];
    testkit::in_child(test, &environment, || {
        let names = forked_names();
        let counts = scenario(&names, None).unwrap_err();
        let (mut scenarios, mut wrong) = (0, Vec::new());
        for line in counts.lines() {
            let Some((call, count)) = line.split_once(' ') else { panic!("{counts}") };
            let count: u64 = count.parse().unwrap_or_else(|_| panic!("{counts}"));
            if count > 0 {
                println!("{line}");
            }
            for nth in 1..=count.min(MOST_TURNS) {
                let code = CODES[(nth % 2) as usize];
                match scenario(&names, Some((call, nth, code))) {
                    Ok(()) => scenarios += 1,
                    // An earlier end, or a count that varies with time.
                    Err(text) if text == "not struck" => {}
                    Err(text) => wrong.push(format!("{call} {nth}, code {code}: {text}")),
                }
            }
        }
        assert!(wrong.is_empty(), "{} of {scenarios}:\n{}", wrong.len(), wrong.join("\n"));
        assert!(scenarios > 100, "only {scenarios} faults struck");
    });
}

/// The names of the calls, asked in a child: this process must not start the library.
fn forked_names() -> Vec<String> {
    let text = forked_result(|| Err(driver_calls().join(","))).unwrap_err();
    text.split(',').map(str::to_owned).collect()
}
