//! Words for host code that follows a device address, as a host function may by mistake.
//!
//! Nobody can read or write the addresses that users see of a simulator's window, so the processor raises SIGSEGV.
//! A handler recognises the address, writes a message to the standard error, and lets the signal take its course: it
//! puts the handler before it back and returns, and the access is made again. Other faults go the same way without
//! a message.
//!
//! A handler may allocate nothing and wait for no lock. It formats into a buffer on its stack and only tries a lock.

use std::fmt::{self, Write};
use std::mem::MaybeUninit;
use std::ptr::{null, null_mut};
use std::sync::atomic::{AtomicPtr, Ordering};

use libc::{c_int, c_void, sigaction, siginfo_t};

use sconce_base::lock::{Mutex, Once, rank};
use sconce_base::program_code;

/// A range of addresses that nobody may use, and what is known of an address in it.
pub(crate) struct WatchedAddresses {
    pub(crate) base: u64,
    pub(crate) bytes: u64,
    /// Writes what lies at an address. It neither allocates nor waits.
    pub(crate) describe: Box<Describe>,
}

/// See [`WatchedAddresses::describe`].
type Describe = dyn Fn(u64, &mut dyn Write) -> fmt::Result + Send + Sync;

/// As many simulators as a process has at a time, tests included; more are not watched.
const MOST: usize = 16;

static WATCHED: [AtomicPtr<WatchedAddresses>; MOST] = [const { AtomicPtr::new(null_mut()) }; MOST];

/// What was watched before. A handler may be using it, so it stays in memory.
static RETIRED: Mutex<rank::SimWatched, Vec<&'static WatchedAddresses>> = Mutex::new(Vec::new());

/// The action before this one; written before the handler is installed.
static BEFORE: AtomicPtr<sigaction> = AtomicPtr::new(null_mut());

/// Addresses are watched until this is dropped.
pub(crate) struct AddressWatch(Option<&'static WatchedAddresses>);

impl AddressWatch {
    /// Watches addresses from now on.
    pub(crate) fn new(watched: WatchedAddresses) -> AddressWatch {
        if cfg!(miri) {
            return AddressWatch(None); // Miri has no signals.
        }
        let watched: &'static WatchedAddresses = Box::leak(Box::new(watched));
        let address = std::ptr::from_ref(watched).cast_mut();
        let free = WATCHED.iter().any(|place| {
            place.compare_exchange(null_mut(), address, Ordering::AcqRel, Ordering::Relaxed).is_ok()
        });
        install();
        if !free {
            RETIRED.lock().push(watched);
            return AddressWatch(None);
        }
        AddressWatch(Some(watched))
    }
}

impl Drop for AddressWatch {
    fn drop(&mut self) {
        let Some(watched) = self.0 else { return };
        let address = std::ptr::from_ref(watched).cast_mut();
        RETIRED.lock().push(watched);
        for place in &WATCHED {
            let _ =
                place.compare_exchange(address, null_mut(), Ordering::AcqRel, Ordering::Relaxed);
        }
    }
}

fn install() {
    static INSTALLED: Once<rank::SimWatched> = Once::new();
    INSTALLED.call_once(|| {
        let mut before = MaybeUninit::<sigaction>::zeroed();
        // SAFETY: asks only; the place has room for an action.
        if unsafe { libc::sigaction(libc::SIGSEGV, null(), before.as_mut_ptr()) } != 0 {
            return;
        }
        // SAFETY: the call above filled it.
        let before = Box::new(unsafe { before.assume_init() });
        BEFORE.store(Box::into_raw(before), Ordering::Release);
        // SAFETY: all bytes 0 are an action.
        let mut action: sigaction = unsafe { MaybeUninit::zeroed().assume_init() };
        let function: unsafe extern "C" fn(c_int, *mut siginfo_t, *mut c_void) = on_fault;
        action.sa_sigaction = function as usize;
        action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
        // SAFETY: a complete action, whose function may run at any time.
        unsafe { libc::sigaction(libc::SIGSEGV, &action, null_mut()) };
    });
}

/// Text on the stack; what does not fit is cut off.
struct StackText {
    bytes: [u8; 640],
    used: usize,
}

impl Write for StackText {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let rest = &mut self.bytes[self.used..];
        let count = rest.len().min(text.len());
        rest[..count].copy_from_slice(&text.as_bytes()[..count]);
        self.used += count;
        Ok(())
    }
}

unsafe extern "C" fn on_fault(signal: c_int, info: *mut siginfo_t, _: *mut c_void) {
    // SAFETY: the kernel passes the information about the signal.
    let info = unsafe { info.read() };
    // SAFETY: for a signal that another process sent, what stands there is any number, and not used.
    let (address, code) = (unsafe { info.si_addr() } as u64, info.si_code);
    // Other processes send the signal with codes up to 0.
    if code > 0 {
        report(address);
    }
    let before = BEFORE.load(Ordering::Acquire);
    // SAFETY: the action that was there before, written before this handler was installed.
    unsafe { libc::sigaction(signal, before, null_mut()) };
    if code <= 0 {
        // SAFETY: nothing would raise it again.
        unsafe { libc::raise(signal) };
    }
}

fn report(address: u64) {
    let find = |place: &AtomicPtr<WatchedAddresses>| {
        // SAFETY: null, or never freed.
        let watched = unsafe { place.load(Ordering::Acquire).as_ref() }?;
        (address.wrapping_sub(watched.base) < watched.bytes).then_some(watched)
    };
    let Some(watched) = WATCHED.iter().find_map(find) else { return };
    let mut text = StackText { bytes: [0; 640], used: 0 };
    let code = program_code::running().unwrap_or("code of the host");
    let _ = write!(text, "sconce error: {code} dereferences the device address {address:#x}: ");
    let _ = (watched.describe)(address, &mut text);
    let _ = writeln!(
        text,
        "; only copies, fills and kernels reach the memory of a device: copy it to host memory before, or use \
         pinned memory"
    );
    // SAFETY: as many bytes as were written.
    unsafe { libc::write(2, text.bytes.as_ptr().cast(), text.used) };
}
