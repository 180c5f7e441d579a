//! Calls of the libraries, and the expected results.
//!
//! | module | what it holds |
//! |---|---|
//! | `handles` | cuBLAS handles of a process, and in threads of their own |
//! | `products`, `convolutions`, `fft` | calls of each library, and references for their results |
//! | `repeats` | transforms that are executed again |

pub mod convolutions;
pub mod fft;
pub mod handles;
pub mod products;
pub mod repeats;

/// Waits for the current device: memory that was allocated for one stream may be used on any from here on.
fn settle() {
    let mut device = 0;
    // SAFETY: a good place.
    let status = unsafe { sconce::sconce_device_get_current(&raw mut device) };
    assert_eq!(status, sconce::sconce_status::SCONCE_OK);
    // During a capture there is nothing to wait for.
    let _ = sconce::sconce_device_synchronize(device);
}
