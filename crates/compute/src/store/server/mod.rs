//! The server of a store: one thread that serves all connections.
//!
//! A file uses only files above it.
//!
//! | file | idea |
//! |---|---|
//! | `refusal` | why connections end, and how that is logged |
//! | `connection_limit` | how many connections are accepted |
//! | `frame` | where a request ends |
//! | `holdings` | the memory of a table, counted and given back |
//! | `unused` | when freed memory is given back to the system |
//! | `waits` | the connections that wait for keys |
//! | `table` | keys, values and queues, without sockets |
//! | `connection` | one connection: bytes that have arrived, and bytes that wait to be sent |
//! | `dialogue` | the server's side without sockets, for tests and the fuzzer |

mod connection;
mod connection_limit;
pub mod dialogue;
mod frame;
mod holdings;
mod refusal;
mod table;
mod unused;
mod waits;

use std::collections::{BTreeMap, HashSet, VecDeque};
use std::io::ErrorKind;
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream, ToSocketAddrs};
use std::os::unix::net::UnixStream;
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use sconce_base::error::{Error, Result, Status};
use sconce_base::lock::{join, rank};
use sconce_base::log;
use sconce_base::process::give_free_memory_back;

use connection::{Closing, Connection, READ_BYTES};
use connection_limit::most_connections;
use refusal::{Complaints, Refusal};
use table::StoreTable;
use unused::UnusedMemory;
use waits::Peer;

/// How long a connection may take to greet.
const GREETING: Duration = Duration::from_secs(30);
/// The most bytes of unfinished requests and unsent replies of all connections together, when a turn is over.
const MOST_HELD_BYTES: usize = 256 << 20;
/// The wait before another try of what could not be done, such as accepting without descriptors left.
const RETRY_AFTER: Duration = Duration::from_millis(50);

/// A server that runs until it is dropped.
pub(in crate::store) struct Server {
    address: SocketAddr,
    /// Shut down to end the thread.
    stop: UnixStream,
    thread: Option<JoinHandle<()>>,
    /// The process whose thread serves; a forked child has none.
    process: u32,
}

impl Server {
    /// Listens on an address of this machine; port 0 takes a free one.
    pub(in crate::store) fn start(host: &str, port: u16) -> Result<Server> {
        let cannot = |why: std::io::Error| {
            Error::new(
                Status::Io,
                format!(
                    "cannot listen on {host}, port {port}: {why}; pass an address of this machine (127.0.0.1, or \
                     0.0.0.0 for all interfaces) and a free port (0 takes any)"
                ),
            )
        };
        let addresses: Vec<SocketAddr> = (host, port).to_socket_addrs().map_err(cannot)?.collect();
        let listener = TcpListener::bind(&addresses[..]).map_err(cannot)?;
        listener.set_nonblocking(true).map_err(cannot)?;
        let address = listener.local_addr().map_err(cannot)?;
        let (stop, stopped) = UnixStream::pair().map_err(cannot)?;
        let mut service = Service {
            listener,
            stopped,
            connections: BTreeMap::new(),
            addresses: BTreeMap::new(),
            held: 0,
            unused: UnusedMemory::default(),
            table: StoreTable::default(),
            buffer: vec![0; READ_BYTES],
            complaints: Complaints::default(),
            next: 0,
            pause: None,
        };
        let started =
            Builder::new().name(String::from("sconce-store")).spawn(move || service.run());
        let thread = started.map_err(|why| {
            Error::new(Status::OutOfMemory, format!("no thread for the store's server: {why}"))
        })?;
        Ok(Server { address, stop, thread: Some(thread), process: std::process::id() })
    }

    /// Where the server listens.
    pub(in crate::store) fn address(&self) -> SocketAddr {
        self.address
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if self.process != std::process::id() {
            // The parent's thread serves the parent's clients. Its end of the pair must stay open.
            if let Some(thread) = self.thread.take() {
                std::mem::forget(thread);
            }
            return;
        }
        let _ = self.stop.shutdown(Shutdown::Both);
        // A log callback may run on the thread itself.
        let is_other =
            |thread: &JoinHandle<()>| thread.thread().id() != std::thread::current().id();
        if let Some(thread) = self.thread.take().filter(is_other) {
            let _ = join::<rank::Idle, _>(thread);
        }
    }
}

/// What the thread owns.
struct Service {
    listener: TcpListener,
    stopped: UnixStream,
    connections: BTreeMap<Peer, Connection<TcpStream>>,
    /// Where the peers are: a connection that its peer has reset does not say so any more.
    addresses: BTreeMap<Peer, SocketAddr>,
    /// The bytes that all connections hold.
    held: usize,
    unused: UnusedMemory,
    table: StoreTable,
    /// For reads.
    buffer: Vec<u8>,
    complaints: Complaints,
    next: Peer,
    /// Until when nothing is accepted, because descriptors have run out.
    pause: Option<Instant>,
}

impl Drop for Service {
    fn drop(&mut self) {
        // A forked child has copies of the descriptors, so that closing them would end nothing.
        let _ = rustix::net::shutdown(&self.listener, rustix::net::Shutdown::Both);
        for connection in self.connections.values() {
            let _ = connection.stream.shutdown(Shutdown::Both);
        }
    }
}

impl Service {
    fn run(&mut self) {
        loop {
            let (is_stopped, is_asked, ready) = self.wait();
            if is_stopped {
                return;
            }
            for (peer, events) in ready {
                self.serve(peer, events);
            }
            if is_asked {
                self.accept();
            }
            self.end_silent();
            self.table.tidy();
            if self.unused.note(self.held + self.table.held(), Instant::now()) {
                give_free_memory_back();
            }
            log::flush();
        }
    }

    /// Waits until something can be done: whether the server shall end, whether somebody connects, and which
    /// connections are ready.
    fn wait(&self) -> (bool, bool, Vec<(Peer, PollFlags)>) {
        let mut fds = Vec::with_capacity(2 + self.connections.len());
        fds.push(PollFd::new(&self.stopped, PollFlags::IN));
        let is_accepting = self.pause.is_none();
        let asked = if is_accepting { PollFlags::IN } else { PollFlags::empty() };
        fds.push(PollFd::new(&self.listener, asked));
        for connection in self.connections.values() {
            let wanted = if connection.has_output() { PollFlags::OUT } else { PollFlags::IN };
            fds.push(PollFd::new(&connection.stream, wanted));
        }
        let timeout = self.timeout().map(|timeout| Timespec {
            tv_sec: timeout.as_secs() as i64,
            tv_nsec: i64::from(timeout.subsec_nanos()),
        });
        let is_polled = match poll(&mut fds, timeout.as_ref()) {
            Ok(_) => true,
            Err(rustix::io::Errno::INTR) => return (false, false, Vec::new()),
            // More than the process may have open, since it has lowered its limit: each connection is tried.
            Err(_) => {
                std::thread::sleep(RETRY_AFTER);
                let _ = poll(&mut fds[..1], Some(&Timespec { tv_sec: 0, tv_nsec: 0 }));
                false
            }
        };
        let is_ready = |fd: &PollFd<'_>| !is_polled || !fd.revents().is_empty();
        let ready = self
            .connections
            .values()
            .zip(&fds[2..])
            .filter(|(connection, fd)| is_ready(fd) || connection.is_behind())
            .map(|(connection, fd)| (connection.peer, fd.revents()))
            .collect();
        (!fds[0].revents().is_empty(), is_accepting && is_ready(&fds[1]), ready)
    }

    /// How long nothing has to be done if nobody does anything.
    fn timeout(&self) -> Option<Duration> {
        if self.table.is_untidy() || self.connections.values().any(Connection::is_behind) {
            return Some(Duration::ZERO);
        }
        let now = Instant::now();
        let silent = self.connections.values().filter(|connection| !connection.is_valid());
        let ends = silent
            .map(|connection| connection.since + GREETING)
            .chain(self.pause)
            .chain(self.unused.due());
        ends.min().map(|end| end.saturating_duration_since(now) + Duration::from_millis(1))
    }

    fn accept(&mut self) {
        loop {
            match self.listener.accept() {
                Ok((stream, address)) => {
                    let most = most_connections(self.connections.len(), &stream);
                    if self.connections.len() >= most {
                        let text = format!(
                            "the store's server refused the connection of {address}: there is room for {most} \
                             connections, the others' descriptors aside; raise the limit (ulimit -n)"
                        );
                        self.complaints.warn("no room for a connection", &text);
                        continue;
                    }
                    if stream.set_nonblocking(true).is_err() {
                        continue;
                    }
                    let _ = stream.set_nodelay(true);
                    self.next += 1;
                    self.addresses.insert(self.next, address);
                    self.connections.insert(self.next, Connection::new(stream, self.next));
                }
                Err(why) if why.kind() == ErrorKind::WouldBlock => return,
                Err(why)
                    if matches!(
                        why.kind(),
                        ErrorKind::Interrupted | ErrorKind::ConnectionAborted
                    ) => {}
                Err(why) => {
                    let text = format!("the store's server cannot accept a connection: {why}");
                    self.complaints.warn("a failure to accept", &text);
                    self.pause = Some(Instant::now() + RETRY_AFTER);
                    return;
                }
            }
        }
    }

    /// Gives a connection that is ready its turn.
    fn serve(&mut self, peer: Peer, events: PollFlags) {
        let Some(connection) = self.connections.get_mut(&peer) else { return };
        let mut awake = VecDeque::new();
        let before = connection.held();
        let is_broken = events.intersects(PollFlags::ERR | PollFlags::HUP);
        let result = if connection.has_output() && is_broken {
            Err(Closing::Gone)
        } else {
            connection.turn(&mut self.table, &mut awake, &mut self.buffer)
        };
        self.held = self.held + connection.held() - before;
        if let Err(end) = result {
            self.end(peer, end);
        }
        self.wake(awake);
        self.relieve();
    }

    /// Ends connections that hold the most, while all together hold too much.
    fn relieve(&mut self) {
        while self.held > MOST_HELD_BYTES
            && let Some(most) = self.connections.values().max_by_key(|one| one.held())
        {
            let why = format!(
                "all connections hold {} bytes of unfinished requests and replies, and this one the most, {}",
                self.held,
                most.held()
            );
            self.end(most.peer, Closing::Refused(Refusal::new("too much memory", why)));
        }
    }

    /// Ends the waits of connections, and of those that wait for what these do next.
    fn wake(&mut self, mut awake: VecDeque<Peer>) {
        while let Some(peer) = awake.pop_front() {
            let Some(connection) = self.connections.get_mut(&peer) else { continue };
            let before = connection.held();
            let result = connection.wake(&mut self.table, &mut awake);
            self.held = self.held + connection.held() - before;
            if let Err(end) = result {
                self.end(peer, end);
            }
        }
    }

    fn end(&mut self, peer: Peer, end: Closing) {
        self.table.forget(peer);
        let address = self.addresses.remove(&peer);
        let Some(connection) = self.connections.remove(&peer) else { return };
        self.held -= connection.held();
        let _ = connection.stream.shutdown(Shutdown::Both);
        if let Closing::Refused(refusal) = end {
            let address = address.map_or_else(String::new, |address| address.to_string());
            let text =
                format!("the store's server closed the connection of {address}: {}", refusal.why);
            self.complaints.warn(refusal.cause, &text);
        }
    }

    /// Ends connections that have not greeted in time, and a pause that is over.
    fn end_silent(&mut self) {
        let now = Instant::now();
        self.pause = self.pause.filter(|end| *end > now);
        let silent: HashSet<Peer> = self
            .connections
            .values()
            .filter(|connection| !connection.is_valid() && now > connection.since + GREETING)
            .map(|connection| connection.peer)
            .collect();
        for peer in silent {
            let why = format!("no greeting in {} s", GREETING.as_secs());
            self.end(peer, Closing::Refused(Refusal::new("no greeting in time", why)));
        }
    }
}
