//! A call of each exported function, with arguments that it accepts. Functions of tensors are called in
//! `tests/tensor/every`.
//!
//! | file | functions |
//! |---|---|
//! | `runtime` | the library, devices, streams, events, profiling marks, threads of the CPU |
//! | `memory` | device and pinned memory, pools, sleep, memory of other processes |
//! | `work` | copies, fills, random numbers, modules, products, convolutions, transforms |
//! | `graphs` | graphs, conditional nodes, backward passes |
//! | `jobs` | communicators, tensors on several devices, stores |
//! | `simulator` | the simulator's controls |

mod graphs;
mod jobs;
mod memory;
mod runtime;
mod simulator;
mod work;

use sconce::sconce_status;
use sconce::sconce_status::SCONCE_OK;

use crate::world::World;

/// A call, ready to be made.
pub(crate) type Ready = Box<dyn FnOnce() -> sconce_status>;

/// A call of a function.
pub(crate) struct Call {
    pub(crate) name: &'static str,
    /// Makes what the function is called with, on the thread that will call it.
    pub(crate) prepare: fn(&World) -> Ready,
}

/// The calls of each file.
pub(crate) const TABLES: [(&str, &[Call]); 6] = [
    ("runtime", runtime::ALL),
    ("memory", memory::ALL),
    ("work", work::ALL),
    ("graphs", graphs::ALL),
    ("jobs", jobs::ALL),
    ("simulator", simulator::ALL),
];

/// All calls.
pub(crate) fn all() -> impl Iterator<Item = &'static Call> {
    TABLES.into_iter().flat_map(|(_, calls)| calls)
}

/// What a function returns, as a status.
pub(crate) trait Returned {
    fn status(self) -> sconce_status;
}

impl Returned for sconce_status {
    fn status(self) -> sconce_status {
        self
    }
}

macro_rules! no_status {
    ($($kind:ty),*) => { $(impl Returned for $kind {
        fn status(self) -> sconce_status {
            SCONCE_OK
        }
    })* };
}

no_status!((), bool, i32, i64, u32, sconce::CBool, sconce::sconce_backend);

impl<T> Returned for *const T {
    fn status(self) -> sconce_status {
        SCONCE_OK
    }
}

impl<T> Returned for *mut T {
    fn status(self) -> sconce_status {
        SCONCE_OK
    }
}

/// A call of a function: its name, the name of the world, and the arguments, which are made before the capture begins.
macro_rules! call {
    ($name:ident, $w:ident, [$($argument:expr),* $(,)?]) => {
        $crate::calls::call!(@ $name, $w, {}, [$($argument),*] [] [a b c d e f g h i j k l])
    };
    ($name:ident, $w:ident, { $($before:stmt;)* } [$($argument:expr),* $(,)?]) => {
        $crate::calls::call!(@ $name, $w, { $($before;)* }, [$($argument),*] [] [a b c d e f g h i j k l])
    };
    (@ $name:ident, $w:ident, { $($before:stmt;)* }, [] [$($id:ident = $made:expr,)*] [$($rest:ident)*]) => {
        $crate::calls::Call {
            name: stringify!($name),
            #[allow(unused_variables, unused_unsafe, reason = "some calls need neither")]
            prepare: |$w: &$crate::world::World| {
                $($before)*
                $(let $id = $made;)*
                // SAFETY: the arguments are what the function asks for, and live as long as the process.
                Box::new(move || $crate::calls::Returned::status(unsafe { $name($($id),*) }))
            },
        }
    };
    (@ $name:ident, $w:ident, { $($before:stmt;)* }, [$first:expr $(, $more:expr)*] [$($done:tt)*]
     [$id:ident $($rest:ident)*]) => {
        $crate::calls::call!(@ $name, $w, { $($before;)* }, [$($more),*] [$($done)* $id = $first,] [$($rest)*])
    };
}

pub(crate) use call;
