//! Outputs of captured work: a replay writes the caller's memory.

use std::ptr::null_mut;

use sconce::*;
use testkit::places::{alone, own_stream};

use super::forms::ALL;
use crate::api::{Handle, outcome, real};
use crate::create;
use crate::every::operations::Tensors;

#[test]
fn a_replay_writes_the_outputs_that_were_captured() {
    let _one = alone();
    let stream = own_stream(0);
    for form in ALL.iter().filter(|form| form.reads()) {
        let tensors = Tensors::new(0, 0);
        let outputs: Vec<Handle> = (form.new)(&tensors)
            .unwrap()
            .iter()
            .map(|result| create::empty_like(result, &crate::api::options(-1, -1)).unwrap())
            .collect();
        // Once before, so that plans and kernels are made.
        (form.write)(&tensors, &outputs).unwrap();
        let mut graph = null_mut();
        // SAFETY: a writable place.
        outcome(unsafe { sconce_graph_create(CBool::FALSE, &raw mut graph) }).unwrap();
        let mode = SCONCE_CAPTURE_GLOBAL;
        outcome(sconce_graph_capture_begin(graph, stream, null_mut(), mode)).unwrap();
        let written = (form.write)(&tensors, &outputs);
        outcome(sconce_graph_capture_end(graph)).unwrap();
        written.unwrap_or_else(|failure| panic!("{}: {failure:?}", form.name));
        for number in [0.5, 3.0] {
            tensors.matrix.select(0, 1).unwrap().fill(real(number)).unwrap();
            tensors.batch.select(0, 1).unwrap().fill(real(number)).unwrap();
            outcome(sconce_graph_replay(graph, stream)).unwrap();
            let expected = (form.new)(&tensors).unwrap();
            for (result, output) in expected.iter().zip(&outputs) {
                assert_eq!(result.bytes().unwrap(), output.bytes().unwrap(), "{}", form.name);
            }
        }
        outcome(sconce_graph_destroy(graph)).unwrap();
    }
}
