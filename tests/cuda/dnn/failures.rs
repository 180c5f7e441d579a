//! cuDNN missing, old, or failing at each of its calls.

#![allow(unsafe_code, reason = "reaches into the fake libraries")]
#![allow(clippy::unwrap_used, reason = "a test may fail loudly anywhere")]

use super::fake::{Dnn, FALLBACK, MODE_A, device, engine, open};
use super::shapes::convolution;
use sconce_base::element::Dtype;
use sconce_base::error::{Error, Result, Status};
use sconce_base::types::DevicePtr;
use sconce_driver::prelude::*;
use sconce_driver::{ConvolutionOperation, DnnHandle, EngineChoice, StreamRef};
use testkit::fake_cuda::{self, open_beside};

const ANY: EngineChoice = EngineChoice { allow_tf32: true, deterministic: false };

fn dnn(defines: &[&str]) -> Dnn {
    let dnn = open(defines);
    dnn.set_engines(&[engine(MODE_A, &[0, 4], 64), engine(FALLBACK, &[], 0)]);
    dnn
}

/// All that can be done with a handle.
fn convolve(handle: &mut dyn DnnHandle) -> Result<()> {
    handle.set_stream(StreamRef { device: device(), handle: fake_cuda::stream(5) })?;
    let shape = convolution(ConvolutionOperation::Forward, Dtype::F16);
    let mut engines = handle.engines(&shape, ANY)?;
    let count = engines.count()?;
    assert!((1..=2).contains(&count));
    for index in 0..count {
        let mut plan = engines.plan(index)?;
        for output in [3, 4] {
            plan.execute(DevicePtr(1), DevicePtr(2), DevicePtr(output), DevicePtr(0))?;
        }
    }
    handle.set_stream(StreamRef { device: device(), handle: fake_cuda::stream(0) })
}

#[test]
fn whichever_call_fails_is_told_and_nothing_is_left() {
    let dnn = dnn(&[]);
    convolve(&mut *dnn.create().unwrap()).unwrap();
    let calls = dnn.state().calls;
    assert!(calls > 100, "{calls}");
    let mut borne = 0;
    for at in 1..=calls {
        dnn.reset();
        dnn.state().fail_at = at;
        dnn.state().fail_code = 5003;
        match dnn.create().and_then(|mut handle| convolve(&mut *handle)) {
            Err(error) => {
                assert_eq!((error.status(), error.backend_code()), (Status::Driver, 5003), "{at}");
                let words = "cuDNN says \"the test wants it (5003)\"";
                assert!(error.message().contains(words), "{at}: {error}");
                assert!(error.message().contains("failed: CUDNN_STATUS_EXECUTION_FAILED"));
            }
            Ok(()) => borne += 1,
        }
        assert!(dnn.state().calls >= at, "{at}");
        assert_eq!(dnn.state().live, 0, "{at}");
        dnn.assert_orderly();
    }
    // What fails at destroying has no consequence, and one list of engines is enough.
    assert!((20..calls * 2 / 3).contains(&borne), "{borne} of {calls}");
}

#[test]
fn once_the_driver_has_shut_down_nothing_is_destroyed() {
    let dnn = dnn(&[]);
    let mut handle = dnn.create().unwrap();
    let shape = convolution(ConvolutionOperation::Forward, Dtype::F16);
    let plan = handle.engines(&shape, ANY).unwrap().plan(0).unwrap();
    let (calls, live) = (dnn.state().calls, dnn.state().live);
    dnn.cuda.answer_current(4);
    drop(plan);
    assert_eq!((dnn.state().calls, dnn.state().live), (calls, live), "the driver took it along");
}

#[test]
fn an_attribute_that_is_refused_is_named() {
    let dnn = dnn(&[]);
    let mut handle = dnn.create().unwrap();
    // The call after the one that makes the first descriptor.
    dnn.state().fail_at = dnn.state().calls + 2;
    dnn.state().fail_code = 2000;
    let shape = convolution(ConvolutionOperation::Forward, Dtype::F16);
    let error = handle.engines(&shape, ANY).err().unwrap();
    assert_eq!(error.status(), Status::InvalidArgument);
    for part in ["CUDNN_ATTR_TENSOR_DATA_TYPE", "cudnnBackendSetAttribute", "(2000)"] {
        assert!(error.message().contains(part), "{error}");
    }
}

#[test]
fn a_handle_that_cannot_be_made_is_asked_for_again() {
    let dnn = dnn(&[]);
    dnn.state().fail_at = 1;
    dnn.state().fail_code = 4004;
    let error = dnn.create().err().unwrap();
    assert_eq!((error.status(), error.backend_code()), (Status::OutOfMemory, 4004));
    assert!(error.message().contains("cudnnCreate"), "{error}");
    dnn.reset();
    dnn.state().fail_at = 1;
    dnn.state().fail_code = 1008;
    assert_eq!(dnn.create().err().unwrap().status(), Status::LibraryNotFound);
    assert_ne!(dnn.create().unwrap().native(), 0);
    dnn.assert_orderly();
}

#[test]
fn the_version_needs_neither_device_nor_context() {
    let dnn = dnn(&[]);
    assert_eq!(dnn.driver().dnn_version(), Ok(91_400));
    assert_eq!((dnn.cuda.state().retains, dnn.state().calls), (0, 0));
}

fn refused(defines: &[&str]) -> Error {
    let dnn = dnn(defines);
    let error = dnn.create().err().unwrap();
    assert_eq!(dnn.driver().dnn_version().unwrap_err(), error);
    assert_eq!(error.status(), Status::LibraryNotFound, "{error}");
    error
}

#[test]
fn a_library_of_before_version_nine_is_refused() {
    let error = refused(&["VERSION=8907"]);
    assert!(error.message().contains("8907") && error.message().contains("cuDNN 9"), "{error}");
    assert_eq!(dnn(&["VERSION=90000"]).driver().dnn_version(), Ok(90_000));
}

#[test]
fn a_function_that_is_needed_is_named_and_the_last_words_are_not_needed() {
    for function in [
        "cudnnGetVersion",
        "cudnnCreate",
        "cudnnSetStream",
        "cudnnGetStream",
        "cudnnBackendCreateDescriptor",
        "cudnnBackendDestroyDescriptor",
        "cudnnBackendSetAttribute",
        "cudnnBackendGetAttribute",
        "cudnnBackendFinalize",
        "cudnnBackendExecute",
    ] {
        let error = refused(&[&format!("{function}=gone")]);
        assert!(error.message().contains(&format!("lacks the symbol {function};")), "{error}");
    }
    let dnn = dnn(&["cudnnGetLastErrorString=gone"]);
    dnn.state().fail_at = 1;
    dnn.state().fail_code = 1001;
    let error = dnn.create().err().unwrap();
    assert_eq!(
        error.message(),
        "cudnnCreate failed: CUDNN_STATUS_NOT_INITIALIZED (1001)",
        "no words, no more"
    );
}

#[test]
fn a_library_that_is_missing_is_looked_for_again() {
    let missing = std::env::temp_dir().join(format!("no-cudnn-{}.so", std::process::id()));
    let path = missing.to_str().unwrap().to_owned();
    let fake = open_beside(&[], |config| config.libcudnn = Some(path.clone())).ok().unwrap();
    let error = fake.driver.dnn_create(device()).err().unwrap();
    assert_eq!(error.status(), Status::LibraryNotFound);
    for part in ["cuDNN", path.as_str(), "SCONCE_LIBCUDNN"] {
        assert!(error.message().contains(part), "{error}");
    }
    let built = fake_cuda::Built::new("fake_cudnn.c", "libcudnn.so.9", &[]);
    std::fs::copy(built.path(), &missing).unwrap();
    assert_eq!(fake.driver.dnn_version(), Ok(91_400));
    std::fs::remove_file(missing).unwrap();
}
