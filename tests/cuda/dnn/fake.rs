//! The fake cuDNN beside the fake driver: what descriptors were set to, and what is to fail.

#![allow(clippy::unwrap_used, reason = "a test may fail loudly anywhere")]

use std::ffi::{CStr, c_char, c_int, c_void};

use sconce_base::error::Result;
use sconce_base::types::DeviceIndex;
use sconce_cuda::CudaDriver;
use sconce_driver::DnnHandle;
use sconce_driver::prelude::*;

use testkit::fake_cuda::{Built, Fake, open_beside};

const MOST_ENGINES: usize = 16;

/// `struct engine` of `fake_cudnn.c`.
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub(crate) struct Engine {
    pub(crate) mode: i64,
    pub(crate) workspace: i64,
    pub(crate) plan_code: i64,
    pub(crate) note_count: i64,
    pub(crate) notes: [i64; 4],
}

/// The modes of heuristics, by cuDNN's numbers.
pub(crate) const FALLBACK: i64 = 2;
pub(crate) const MODE_A: i64 = 3;

pub(crate) fn engine(mode: i64, notes: &[i64], workspace: i64) -> Engine {
    let mut engine =
        Engine { mode, workspace, note_count: notes.len() as i64, ..Engine::default() };
    engine.notes[..notes.len()].copy_from_slice(notes);
    engine
}

/// `struct cudnn` of `fake_cudnn.c`.
#[repr(C)]
pub(crate) struct State {
    pub(crate) calls: i64,
    pub(crate) fail_at: i64,
    pub(crate) fail_code: i64,
    pub(crate) live: i64,
    pub(crate) made: i64,
    pub(crate) faults: i64,
    pub(crate) elsewhere: i64,
    device: i64,
    pub(crate) streams: i64,
    pub(crate) stream: i64,
    pub(crate) executions: i64,
    pub(crate) executed: [i64; 6],
    pub(crate) mode_codes: [i64; 4],
    pub(crate) extra: i64,
    engine_count: i64,
    engines: [Engine; MOST_ENGINES],
}

/// A kind of descriptor, by cuDNN's numbers.
pub(crate) const CONVOLUTION: i32 = 1;
pub(crate) const HEURISTIC: i32 = 4;
pub(crate) const PLAN: i32 = 5;
pub(crate) const PACK: i32 = 16;
pub(crate) const TENSOR: i32 = 17;

/// What an attribute was set to: its type, and its values.
pub(crate) type Attribute = (i64, Vec<i64>);

/// Both fakes, and the backend on top of them.
pub(crate) struct Dnn {
    pub(crate) cuda: Fake,
    library: Built,
}

/// On which device handles are made.
pub(crate) fn device() -> DeviceIndex {
    DeviceIndex::new(1).unwrap()
}

/// Opens both in a variant; no engine is known.
pub(crate) fn open(defines: &[&str]) -> Dnn {
    let library = Built::new("fake_cudnn.c", "libcudnn.so.9", defines);
    let path = library.path();
    let cuda = open_beside(&[], |config| config.libcudnn = Some(path)).ok().unwrap();
    let place = library.symbol("current_device").cast::<*mut c_void>();
    // SAFETY: a pointer to a function of the fake, of that function's type; nothing calls it yet.
    unsafe { *place = cuda.symbol("fake_current") };
    let dnn = Dnn { cuda, library };
    dnn.state().device = 1;
    dnn
}

impl Dnn {
    pub(crate) fn driver(&self) -> &CudaDriver {
        &self.cuda.driver
    }

    pub(crate) fn create(&self) -> Result<Box<dyn DnnHandle>> {
        self.driver().dnn_create(device())
    }

    #[allow(clippy::mut_from_ref, reason = "the state is the library's, not the reference's")]
    pub(crate) fn state(&self) -> &mut State {
        let state = self.library.symbol("cudnn").cast::<State>();
        // SAFETY: `struct cudnn` has this layout; each test has a library and a thread of its own, and
        // keeps no two of these references at a time.
        unsafe { &mut *state }
    }

    /// The engines that there are from now on.
    pub(crate) fn set_engines(&self, engines: &[Engine]) {
        let state = self.state();
        state.engines[..engines.len()].copy_from_slice(engines);
        state.engine_count = engines.len() as i64;
    }

    /// Forgets all descriptors and counts; the engines stay.
    pub(crate) fn reset(&self) {
        let address = self.library.symbol("fake_reset");
        // SAFETY: the fake's own function has this type.
        let reset = unsafe { std::mem::transmute::<*mut c_void, extern "C" fn()>(address) };
        reset();
    }

    /// The first misuse, if any.
    pub(crate) fn fault(&self) -> Option<String> {
        let text = self.library.symbol("fault").cast::<c_char>();
        // SAFETY: the fake keeps a text here that ends with a NUL.
        let text = unsafe { CStr::from_ptr(text) }.to_str().unwrap();
        (!text.is_empty()).then(|| text.to_owned())
    }

    /// Nothing was misused, and each call had the device's context.
    #[track_caller]
    pub(crate) fn assert_orderly(&self) {
        assert_eq!(self.fault(), None);
        assert_eq!(self.state().elsewhere, 0, "calls without the device's context");
    }

    fn ask(&self, kind: i32, nth: c_int, attribute: c_int) -> (i64, [i64; 6]) {
        type Ask = unsafe extern "C" fn(c_int, c_int, c_int, *mut i64) -> i64;
        let address = self.library.symbol("fake_attribute");
        // SAFETY: the fake's own function has this type.
        let ask = unsafe { std::mem::transmute::<*mut c_void, Ask>(address) };
        let mut answer = [0; 6];
        // SAFETY: room for a type and five values.
        (unsafe { ask(kind, nth, attribute, answer.as_mut_ptr()) }, answer)
    }

    /// How many descriptors of a kind were made.
    pub(crate) fn count(&self, kind: i32) -> i64 {
        self.ask(kind, 0, -1).0
    }

    /// What the nth descriptor of a kind was set to. A descriptor is reported as 100 times its kind plus
    /// its place among those.
    #[track_caller]
    pub(crate) fn attribute(&self, kind: i32, nth: i32, attribute: i32) -> Attribute {
        let (count, answer) = self.ask(kind, nth, attribute);
        assert!(count > 0, "{kind} {nth} {attribute}: {count}");
        (answer[0], answer[1..=count as usize].to_vec())
    }
}
