//! Streams: values that name in-order queues of work on a device. See `docs/design/stream.md`.
//!
//! The library owns the default stream of each device and 32 pooled streams per device and priority
//! (made at first use, handed out in turn, never destroyed), and others of the same kind that it uses itself. The
//! program owns the streams that it made (*foreign* streams); their handles are passed to the driver only in calls that
//! name them. Each thread has a current stream per device, the default stream at first. Pooled streams are
//! non-blocking: only events order them with the default stream.
//!
//! Each file uses only files above it.
//!
//! | file | idea |
//! |---|---|
//! | `id` | the layout of stream ids, which is torch's |
//! | `maker` | the owner of a stream, and a stream as a call named it |
//! | `known_captures` | how many captures are known |
//! | `makers` | for each handle that a call named, the owner of its stream |
//! | `pool` | the pooled streams |
//! | `value` | a stream whose id has been checked |
//! | `external` | streams that the program made |
//! | `captures` | which streams are captured |
//! | `giving_back` | giving back to the driver, and beginning captures, one after the other |
//! | `device_waits` | waiting for devices, and beginning captures |
//! | `own_captures` | the captures of this library's graphs, for work that is queued meanwhile |
//! | `current` | the current stream of each thread and device |
//! | `named` | calls that name their stream |
//! | `work` | queries of streams and devices, waits and host functions; what every launch ends with |
//! | `lent` | the library's own streams: for captures, for communicators, for copies between devices |

mod captures;
mod current;
mod device_waits;
mod external;
mod giving_back;
mod id;
mod known_captures;
mod lent;
mod maker;
mod makers;
mod named;
mod own_captures;
mod pool;
mod value;
mod work;

pub(crate) use captures::is_under_capture_beside;
pub(crate) use current::current_here;
pub use current::{current, exchange, restore, run, set_current};
pub use current::{current_beside, current_on};
pub use device_waits::NotedCapture;
pub use external::name;
pub use external::{create, destroy, from_external};
#[cfg(all(test, loom))]
pub(crate) use giving_back::CaptureStarts;
pub use giving_back::{GivingBack, begin_capture, give_back, hold_back_captures};
pub(crate) use giving_back::{give_back_everywhere, try_hold_back_captures};
pub(crate) use id::{OWN_INDICES, own_index};
pub use known_captures::is_in_known_capture;
pub(crate) use known_captures::{add_capture, in_passing, remove_capture};
pub use lent::{LentStream, StreamUser, for_lane, lend, lend_or_share};
pub use maker::{Maker, Named};
pub(crate) use makers::last_named;
pub use makers::{on_replacement, replacements};
pub use named::beside;
pub use named::on;
pub use own_captures::{
    CaptureSeen, KeptByCapture, LaunchMember, LaunchMembers, begin_own_capture, capture_of,
    end_own_body, end_own_capture, keep_for_capture, launch_with, member_of,
};
pub use value::{Stream, default, from_pool};
pub use work::after_enqueue;
pub use work::{
    capture_status, is_capturing, launch_host_function, note_work_may_need_threads, priority,
    priority_range, query, synchronize, synchronize_device, try_synchronize_device,
};
pub(crate) use work::{is_stream_idle, may_give_back_unasked, work_may_need_threads};
