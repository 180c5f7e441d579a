//! The client of a server: a store over TCP.

use std::net::{SocketAddr, TcpStream, ToSocketAddrs};
use std::sync::Arc;
use std::thread::sleep;
use std::time::Duration;

use sconce_base::error::{Error, Result, Status};
use sconce_base::lock::{Mutex, rank};

use super::channel::{Channel, WaitEnd, answer_by};
use super::deadline::Deadline;
use super::limits::{shown, shown_all};
use super::request::{NOT_READY, READY, kind, put_bytes, with_key, with_keys, with_number};
use super::server::Server;
use super::{KeyValueStore, missing_keys};

/// The first wait before another try to connect, and the longest.
const FIRST_RETRY: Duration = Duration::from_millis(10);
const LAST_RETRY: Duration = Duration::from_millis(500);
/// The most connections that are kept.
const MOST_KEPT: usize = 8;

/// A client, and the server if it is of this process.
pub(super) struct TcpStore {
    server_address: SocketAddr,
    /// Ends before the server.
    connections: Mutex<rank::StoreConnections, Connections>,
    _server: Option<Server>,
    process: u32,
}

#[derive(Default)]
struct Connections {
    free: Vec<Channel>,
    /// Streams of calls in progress.
    busy: Vec<Arc<TcpStream>>,
    is_closed: bool,
}

impl TcpStore {
    /// Connects to a server, which may be started meanwhile.
    pub(super) fn connect(host: &str, port: u16, timeout: Duration) -> Result<TcpStore> {
        let deadline = Deadline::after(timeout);
        let mut retry = FIRST_RETRY;
        let (address, channel) = loop {
            match connect_once(host, port, deadline) {
                Ok(connected) => break connected,
                // Something else serves the port.
                Err(error) if error.status() == Status::InvalidArgument => return Err(error),
                Err(error) => match deadline.left() {
                    None => {
                        return Err(Error::new(
                            Status::Timeout,
                            format!(
                                "no store at {host}, port {port}, within {} ms (last: {}); is the process that \
                                 serves it running, and is its address right (MASTER_ADDR, MASTER_PORT)?",
                                deadline.ms(),
                                error.message()
                            ),
                        ));
                    }
                    Some(left) => sleep(retry.min(left)),
                },
            }
            retry = (retry * 2).min(LAST_RETRY);
        };
        Ok(TcpStore::new(address, channel, None))
    }

    fn new(server_address: SocketAddr, channel: Channel, server: Option<Server>) -> TcpStore {
        let connections = Connections { free: vec![channel], ..Connections::default() };
        TcpStore {
            server_address,
            connections: Mutex::new(connections),
            _server: server,
            process: std::process::id(),
        }
    }

    /// Starts a server, and connects to it.
    pub(super) fn serve(host: &str, port: u16, timeout: Duration) -> Result<TcpStore> {
        let server = Server::start(host, port)?;
        let mut address = server.address();
        if address.ip().is_unspecified() {
            // A server for all interfaces is reached by the loopback of its family.
            address.set_ip(match address {
                SocketAddr::V4(_) => std::net::Ipv4Addr::LOCALHOST.into(),
                SocketAddr::V6(_) => std::net::Ipv6Addr::LOCALHOST.into(),
            });
        }
        let channel = Channel::connect(address, answer_by(timeout))?;
        Ok(TcpStore::new(address, channel, Some(server)))
    }

    /// Runs an exchange on a connection of its own, which is kept if all of the exchange was done.
    fn exchange<T>(
        &self,
        deadline: Deadline,
        exchange: impl FnOnce(&mut Channel) -> Result<T>,
    ) -> Result<T> {
        if self.process != std::process::id() {
            return Err(Error::new(
                Status::Forked,
                "the store is the parent process's, which uses the same connections; make a store in the child",
            ));
        }
        let mut channel = self.take(deadline)?;
        let stream = channel.stream();
        let result = exchange(&mut channel);
        let mut connections = self.connections.lock();
        connections.busy.retain(|busy| !Arc::ptr_eq(busy, &stream));
        if connections.is_closed {
            return result.map_err(|_| closed());
        }
        if result.is_ok() && connections.free.len() < MOST_KEPT {
            connections.free.push(channel);
        } else {
            Channel::shut(&stream);
        }
        result
    }

    fn take(&self, deadline: Deadline) -> Result<Channel> {
        let free = self.connections.lock().free.pop();
        let channel = match free {
            Some(channel) => channel,
            None => Channel::connect(self.server_address, deadline)?,
        };
        let mut connections = self.connections.lock();
        if connections.is_closed {
            return Err(closed());
        }
        connections.busy.push(channel.stream());
        Ok(channel)
    }

    /// Sends a request and receives an answer of fixed size, at once.
    fn ask<const N: usize>(
        &self,
        request: &[u8],
        timeout: Duration,
        what: &str,
    ) -> Result<[u8; N]> {
        let deadline = answer_by(timeout);
        self.exchange(deadline, |channel| {
            channel.send(request, deadline, what)?;
            channel.receive(deadline, what)
        })
    }
}

fn connect_once(host: &str, port: u16, deadline: Deadline) -> Result<(SocketAddr, Channel)> {
    let unknown =
        |why: String| Error::new(Status::Io, format!("the name {host} cannot be resolved: {why}"));
    let addresses = (host, port).to_socket_addrs().map_err(|why| unknown(why.to_string()))?;
    let mut last = unknown(String::from("it has no address"));
    for address in addresses {
        match Channel::connect(address, deadline) {
            Ok(channel) => return Ok((address, channel)),
            Err(error) => last = error,
        }
    }
    Err(last)
}

fn closed() -> Error {
    Error::invalid_state("the store was destroyed while the call used it")
}

impl KeyValueStore for TcpStore {
    fn set(&self, key: &[u8], value: &[u8], timeout: Duration) -> Result<()> {
        let mut request = with_key(kind::SET, key);
        put_bytes(&mut request, value);
        let number = key.len() as u32 ^ 0x5e7;
        // The reply proves that the value is there.
        request.extend(with_number(kind::PING, number));
        let what = format!("the set of the key \"{}\"", shown(key));
        let deadline = answer_by(timeout);
        self.exchange(deadline, |channel| {
            channel.send(&request, deadline, &what)?;
            match u32::from_le_bytes(channel.receive(deadline, &what)?) {
                answer if answer == number => Ok(()),
                _ => Err(channel
                    .failed(Status::Remote, format!("it answered {what} with another number"))),
            }
        })
    }

    fn get(&self, key: &[u8], timeout: Duration) -> Result<Vec<u8>> {
        let keys = [key.to_vec()];
        let deadline = Deadline::after(timeout);
        let what = format!("the get of the key \"{}\"", shown(key));
        self.exchange(deadline, |channel| {
            // A server that is asked for what it has not closes the connection, or returns nothing.
            channel.send(&with_keys(kind::WAIT, &keys), answer_by(timeout), &what)?;
            if channel.receive_wait(deadline, &what)? == WaitEnd::TimedOut {
                return Ok(None);
            }
            // The key is there, perhaps since the last moment of the wait.
            let answer = answer_by(deadline.left().unwrap_or_default());
            channel.send(&with_key(kind::GET, key), answer, &what)?;
            channel.receive_bytes(answer, &what).map(Some)
        })?
        .ok_or_else(|| missing_keys(&keys, deadline))
    }

    fn add(&self, key: &[u8], delta: i64, timeout: Duration) -> Result<i64> {
        let mut request = with_key(kind::ADD, key);
        request.extend(delta.to_le_bytes());
        let what = format!("the addition to the key \"{}\"", shown(key));
        self.ask(&request, timeout, &what).map(i64::from_le_bytes)
    }

    fn compare_set(
        &self,
        key: &[u8],
        expected: &[u8],
        desired: &[u8],
        timeout: Duration,
    ) -> Result<Vec<u8>> {
        let mut request = with_key(kind::COMPARE_SET, key);
        put_bytes(&mut request, expected);
        put_bytes(&mut request, desired);
        let what = format!("the compare_set of the key \"{}\"", shown(key));
        let deadline = answer_by(timeout);
        self.exchange(deadline, |channel| {
            channel.send(&request, deadline, &what)?;
            channel.receive_bytes(deadline, &what)
        })
    }

    fn check(&self, keys: &[Vec<u8>], timeout: Duration) -> Result<bool> {
        let what = format!("the check of {}", shown_all(keys));
        let deadline = answer_by(timeout);
        self.exchange(deadline, |channel| {
            channel.send(&with_keys(kind::CHECK, keys), deadline, &what)?;
            match channel.receive(deadline, &what)? {
                [READY] => Ok(true),
                [NOT_READY] => Ok(false),
                [other] => Err(channel.strange(&what, other)),
            }
        })
    }

    fn wait(&self, keys: &[Vec<u8>], timeout: Duration) -> Result<()> {
        let deadline = Deadline::after(timeout);
        let what = format!("the wait for {}", shown_all(keys));
        let end = self.exchange(deadline, |channel| {
            channel.send(&with_keys(kind::WAIT, keys), answer_by(timeout), &what)?;
            channel.receive_wait(deadline, &what)
        })?;
        match end {
            WaitEnd::Found => Ok(()),
            WaitEnd::TimedOut => Err(missing_keys(keys, deadline)),
        }
    }

    fn delete_key(&self, key: &[u8], timeout: Duration) -> Result<bool> {
        let what = format!("the deletion of the key \"{}\"", shown(key));
        let deleted = self.ask(&with_key(kind::DELETE_KEY, key), timeout, &what)?;
        Ok(i64::from_le_bytes(deleted) > 0)
    }

    fn num_keys(&self, timeout: Duration) -> Result<i64> {
        self.ask(&[kind::NUM_KEYS], timeout, "the count of the keys").map(i64::from_le_bytes)
    }

    fn port(&self) -> Option<u16> {
        Some(self.server_address.port())
    }

    fn close(&self) {
        if self.process != std::process::id() {
            return;
        }
        let mut connections = self.connections.lock();
        connections.is_closed = true;
        let free: Vec<_> = connections.free.drain(..).map(|channel| channel.stream()).collect();
        for stream in free.iter().chain(&connections.busy) {
            Channel::shut(stream);
        }
    }
}
