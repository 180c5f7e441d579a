//! A server, peers that speak its protocol byte by byte, and what the server takes from its process.

use std::alloc::{GlobalAlloc, Layout, System};
use std::ffi::{CStr, c_char, c_void};
use std::fs::File;
use std::io::{Read as _, Seek as _, Write as _};
use std::net::TcpStream;
use std::ptr::null_mut;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use sconce::*;
use testkit::statuses::ok;

static HELD: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

/// The system's allocator, counted.
pub(crate) struct Counting;

fn count(more: usize, less: usize) {
    let held = HELD.fetch_add(more, Ordering::Relaxed) + more;
    PEAK.fetch_max(held, Ordering::Relaxed);
    HELD.fetch_sub(less, Ordering::Relaxed);
}

// SAFETY: every method passes on what it was given and what it got.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size(), 0);
        // SAFETY: the layout is the one of this call, whose size `GlobalAlloc` demands not to be 0.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, address: *mut u8, layout: Layout) {
        count(0, layout.size());
        // SAFETY: the block came from `System` with this layout.
        unsafe { System.dealloc(address, layout) }
    }

    unsafe fn realloc(&self, address: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count(size, layout.size());
        // SAFETY: the block came from `System` with this layout, and the caller's size is not 0.
        unsafe { System.realloc(address, layout, size) }
    }
}

/// The bytes that the process has allocated.
pub(crate) fn held() -> usize {
    HELD.load(Ordering::Relaxed)
}

/// The most bytes that it had allocated at any time since this was called last.
pub(crate) fn take_peak() -> usize {
    PEAK.swap(held(), Ordering::Relaxed)
}

static LOG: Mutex<Vec<String>> = Mutex::new(Vec::new());

extern "C" fn keep(_level: i32, message: *const c_char, _user: *mut c_void) {
    // SAFETY: the library passes a NUL-terminated text.
    let text = unsafe { CStr::from_ptr(message) };
    LOG.lock().unwrap().push(text.to_string_lossy().into_owned());
}

/// The messages since this was called last.
pub(crate) fn take_log() -> Vec<String> {
    std::mem::take(&mut LOG.lock().unwrap())
}

/// A server in this process, and the client that belongs to it.
pub(crate) struct Server {
    store: *mut sconce_store,
    pub(crate) port: u16,
}

impl Server {
    pub(crate) fn start() -> Server {
        // SAFETY: the function keeps nothing that could end.
        unsafe { sconce_log_set_callback(Some(keep), null_mut()) };
        let mut store = null_mut();
        // SAFETY: a NUL-terminated address, and a place.
        ok(unsafe {
            sconce_store_create_tcp_server(c"127.0.0.1".as_ptr(), 0, 60_000, &raw mut store)
        });
        let mut port = 0;
        // SAFETY: a store and a place.
        ok(unsafe { sconce_store_get_port(store, &raw mut port) });
        Server { store, port }
    }

    /// A request of a well-behaved client. When it returns, every earlier byte of other peers that had arrived has had
    /// its turn.
    pub(crate) fn add(&self) {
        let mut sum = 0;
        // SAFETY: a store, a NUL-terminated key, and a place.
        ok(unsafe { sconce_store_add(self.store, c"probe".as_ptr(), 1, &raw mut sum) });
    }

    /// A connection of a peer.
    pub(crate) fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        stream.set_nodelay(true).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        stream.set_write_timeout(Some(Duration::from_secs(60))).unwrap();
        stream
    }

    /// A connection that has greeted, if the server takes it.
    pub(crate) fn greeted(&self) -> Option<TcpStream> {
        let mut stream = self.connect();
        let greeting = [&[VALIDATE][..], &VALIDATION, &[PING, 1, 2, 3, 4]].concat();
        stream.write_all(&greeting).ok()?;
        let mut answer = [0; 4];
        stream.read_exact(&mut answer).ok()?;
        Some(stream)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        ok(sconce_store_destroy(self.store));
    }
}

pub(crate) const VALIDATION: [u8; 4] = 0x3C85_F7CE_u32.to_le_bytes();
pub(crate) const VALIDATE: u8 = 0;
pub(crate) const SET: u8 = 1;
pub(crate) const GET: u8 = 3;
pub(crate) const ADD: u8 = 4;
pub(crate) const CHECK: u8 = 5;
pub(crate) const WAIT: u8 = 6;
pub(crate) const DELETE_KEY: u8 = 8;
pub(crate) const APPEND: u8 = 9;
pub(crate) const MULTI_GET: u8 = 10;
pub(crate) const CANCEL_WAIT: u8 = 12;
pub(crate) const PING: u8 = 13;
pub(crate) const QUEUE_PUSH: u8 = 14;
pub(crate) const QUEUE_POP: u8 = 15;

/// A request of a kind, a key and perhaps values.
pub(crate) fn request(kind: u8, parts: &[&[u8]]) -> Vec<u8> {
    let mut out = vec![kind];
    for part in parts {
        out.extend((part.len() as u64).to_le_bytes());
        out.extend(*part);
    }
    out
}

/// A request of a kind and several keys.
pub(crate) fn list<'a>(kind: u8, keys: impl ExactSizeIterator<Item = &'a [u8]>) -> Vec<u8> {
    let mut out = vec![kind];
    out.extend((keys.len() as u64).to_le_bytes());
    for key in keys {
        out.extend((key.len() as u64).to_le_bytes());
        out.extend(key);
    }
    out
}

/// Reads and forgets so many bytes.
pub(crate) fn skip(stream: &mut TcpStream, mut count: usize) {
    let mut buffer = [0; 1 << 14];
    while count > 0 {
        let most = count.min(buffer.len());
        let taken = stream.read(&mut buffer[..most]).unwrap();
        assert!(taken > 0, "the server closed the connection");
        count -= taken;
    }
}

/// The processor time of the thread of a server.
pub(crate) struct Clock(File);

impl Clock {
    pub(crate) fn new() -> Clock {
        for task in std::fs::read_dir("/proc/self/task").unwrap() {
            let path = task.unwrap().path();
            let name = std::fs::read_to_string(path.join("comm"));
            if name.is_ok_and(|name| name == "sconce-store\n") {
                return Clock(File::open(path.join("stat")).unwrap());
            }
        }
        panic!("there is no thread of a server");
    }

    pub(crate) fn seconds(&self) -> f64 {
        let mut stat = String::new();
        (&self.0).rewind().unwrap();
        (&self.0).read_to_string(&mut stat).unwrap();
        let (_, fields) = stat.rsplit_once(") ").unwrap();
        let ticks = fields.split(' ').skip(11).take(2).map(|ticks| ticks.parse::<f64>().unwrap());
        // The kernel's unit of these figures is always 10 ms.
        ticks.sum::<f64>() / 100.0
    }
}
