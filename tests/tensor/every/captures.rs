//! Every operation inside a capture: it becomes part of the graph, or is refused with words. The capture survives
//! both, and afterwards the operation works as before.

use sconce::sconce_status::*;
use sconce::*;
use testkit::places::{alone, captured};

use super::operations::{ALL, InCapture, Operation, Tensors, is_unpredictable};
use crate::api::{Handle, Outcome, outcome};
use crate::storage::figures::Figures;

/// What is wrong with the outcome of an operation amid a capture.
fn wrong(operation: &Operation, seen: &Outcome<Vec<Handle>>) -> Option<String> {
    match (operation.in_capture, seen) {
        (InCapture::Refused, Ok(_)) => Some("worked".to_owned()),
        (InCapture::Refused, Err(failure)) => {
            let with_words = failure.status == SCONCE_ERROR_INVALID_STATE
                && failure.message.contains("is being captured");
            (!with_words).then(|| format!("other words: {failure:?}"))
        }
        (_, Ok(_)) => None,
        (_, Err(failure)) => Some(format!("refused: {failure:?}")),
    }
}

/// The bytes of results; random numbers and new memory differ each time.
fn bytes(operation: &Operation, tensors: &Tensors) -> Vec<Vec<u8>> {
    let results = (operation.call)(tensors).unwrap();
    if is_unpredictable(operation) {
        return Vec::new();
    }
    results.iter().map(|tensor| tensor.bytes().unwrap()).collect()
}

#[test]
fn an_operation_is_captured_or_refused_and_spoils_nothing() {
    let _alone = alone();
    let later = ALL.iter().find(|each| each.name == "unary").unwrap();
    let mut problems = Vec::new();
    for (number, operation) in ALL.iter().enumerate() {
        let name = format!("{} ({number})", operation.name);
        // Once before, so that kernels, plans and handles are made; a capture may hold all of them.
        drop((operation.call)(&Tensors::new(0, 0)).unwrap());
        outcome(sconce_blas_clear_workspaces()).unwrap();
        let start = Figures::now();
        let eager = bytes(operation, &Tensors::new(0, 0));
        let tensors = Tensors::new(0, 0);
        let before: Vec<u8> = tensors.matrix.bytes().unwrap();
        let mut kept = None;
        captured(|_| {
            let seen = (operation.call)(&tensors);
            problems.extend(wrong(operation, &seen).map(|text| format!("{name}: {text}")));
            // The capture still takes work.
            let again = (later.call)(&tensors);
            problems
                .extend(again.err().map(|failure| format!("after {name}: {:?}", failure.message)));
            kept = Some(seen);
        });
        assert_eq!(sconce_device_synchronize(0), SCONCE_OK);
        if tensors.matrix.bytes().unwrap() != before {
            problems.push(format!("{name}: it ran, and was not only captured"));
        }
        drop((kept, tensors));
        let later = bytes(operation, &Tensors::new(0, 0));
        if later != eager {
            problems.push(format!("{name}: other values after the capture"));
        }
        // Each capture has a stream of its own, with a workspace for products.
        outcome(sconce_blas_clear_workspaces()).unwrap();
        if operation.in_capture != InCapture::KeepsPinned {
            start.assert_unchanged();
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

/// Plans, handles, workspaces and kernels are made inside the capture.
#[test]
fn the_first_call_of_each_operation_may_be_captured() {
    let environment = [("SCONCE_BACKEND", "sim"), ("SCONCE_LOG", "off")];
    testkit::in_child("the_first_call_of_each_operation_may_be_captured", &environment, || {
        let mut problems = Vec::new();
        for (number, operation) in ALL.iter().enumerate() {
            let text = testkit::fork::forked_result(|| {
                let tensors = Tensors::new(0, 0);
                let mut seen = None;
                captured(|_| seen = wrong(operation, &(operation.call)(&tensors)));
                seen.map_or(Ok(()), Err)
            });
            problems
                .extend(text.err().map(|text| format!("{} ({number}): {text}", operation.name)));
        }
        assert!(problems.is_empty(), "{}", problems.join("\n"));
    });
}
