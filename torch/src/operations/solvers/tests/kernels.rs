//! The parameters of the steps' kernels beside those of their sources.

use std::path::Path;

use crate::operations::solvers::steps::{PART, Parameters, SUBSTITUTE, Step, UPDATE};
use crate::operations::solvers::{panels, rotations, symmetric};

/// The types of the parameters of a step's kernels, as their source says.
fn in_source(step: &str) -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("kernels");
    let files = ["solvers", "solvers_jacobi", "solvers_panels", "solvers_symmetric"];
    let source: String = files
        .iter()
        .map(|file| std::fs::read_to_string(folder.join(format!("{file}.cu"))).unwrap())
        .collect();
    let (_, rest) = source.split_once(&format!("sconce_torch_solvers_{step}_##name(")).unwrap();
    let (parameters, _) = rest.split_once(')').unwrap();
    let parameters = parameters.replace('\\', " ");
    let kinds = parameters.split(',').map(|parameter| {
        let (kind, _name) = parameter.trim().rsplit_once(' ').unwrap();
        kind.trim().trim_start_matches("const ").to_owned()
    });
    kinds.collect()
}

fn check<P: Parameters>(step: &Step<P>) {
    assert_eq!(P::TYPES, in_source(step.name), "{}", step.name);
}

#[test]
fn steps_pass_the_parameters_that_their_kernels_have() {
    check(&UPDATE);
    check(&SUBSTITUTE);
    check(&PART);
    check(&panels::CHOLESKY);
    check(&panels::LU);
    check(&panels::SWAP_ROWS);
    check(&panels::REFLECT);
    check(&panels::JOIN);
    check(&rotations::ROTATE);
    check(&symmetric::SYMMETRIC_FACTOR);
    check(&symmetric::SYMMETRIC_SOLVE);
}
