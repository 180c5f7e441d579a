//! Random bytes of the operating system.

use rustix::io::Errno;
use rustix::rand::{GetRandomFlags, getrandom};

use crate::error::{Error, Result, Status};

/// Unpredictable random bytes. Needs no file descriptor.
pub fn random_bytes<const N: usize>() -> Result<[u8; N]> {
    const { assert!(N <= 256, "the kernel answers requests up to this size as a whole") }
    let mut bytes = [0; N];
    loop {
        match getrandom(&mut bytes, GetRandomFlags::empty()) {
            Ok(count) if count == N => return Ok(bytes),
            // A signal interrupted the wait for the first entropy after the machine's start.
            Ok(_) | Err(Errno::INTR) => {}
            Err(why) => {
                let words =
                    format!("the operating system returned no random bytes (getrandom: {why})");
                return Err(Error::new(Status::Io, words));
            }
        }
    }
}
