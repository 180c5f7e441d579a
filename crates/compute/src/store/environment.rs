//! The store of the job that the environment describes.

use std::thread::sleep;
use std::time::{Duration, Instant};

use sconce_base::config::JobEnvironment;
use sconce_base::error::{Error, Result, Status};

use super::Store;

/// Counts the processes that have joined, as PyTorch's stores do.
const JOINED: &[u8] = b"init/";
/// How long the server waits before it counts again.
const COUNT_AGAIN: Duration = Duration::from_millis(10);

/// Joins the job that the environment describes. Rank 0 serves the store, unless the launcher does, and waits until
/// all have joined.
pub fn join_job(timeout: Duration) -> Result<(Store, JobEnvironment)> {
    let job = JobEnvironment::read()?;
    let store = join(&job, timeout)?;
    Ok((store, job))
}

fn join(job: &JobEnvironment, timeout: Duration) -> Result<Store> {
    let is_server = job.rank == 0 && !job.launcher_serves;
    let store = if is_server {
        Store::server(&job.address, job.port, timeout)?
    } else {
        Store::client(&job.address, job.port, timeout)?
    };
    store.add_own(JOINED, 1)?;
    if is_server {
        wait_for_all(&store, job.world_size, timeout)?;
    }
    Ok(store)
}

fn wait_for_all(store: &Store, world_size: u32, timeout: Duration) -> Result<()> {
    let start = Instant::now();
    loop {
        let joined = store.add_own(JOINED, 0)?;
        if joined >= i64::from(world_size) {
            return Ok(());
        }
        if start.elapsed() > timeout {
            return Err(Error::new(
                Status::Timeout,
                format!(
                    "Timed out after {} seconds waiting for clients. {joined}/{world_size} clients joined.",
                    start.elapsed().as_secs()
                ),
            ));
        }
        sleep(COUNT_AGAIN);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job(rank: u32, port: u16) -> JobEnvironment {
        JobEnvironment {
            rank,
            world_size: 2,
            local_rank: rank,
            address: String::from("127.0.0.1"),
            port,
            launcher_serves: false,
        }
    }

    /// A port that is free now.
    fn free_port() -> u16 {
        std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
    }

    #[test]
    fn two_ranks_meet_in_either_order() {
        let timeout = Duration::from_secs(20);
        for first in [0, 1] {
            let port = free_port();
            std::thread::scope(|scope| {
                let one = scope.spawn(move || join(&job(first, port), timeout).unwrap());
                sleep(Duration::from_millis(50));
                let two = join(&job(1 - first, port), timeout).unwrap();
                let one = one.join().unwrap();
                one.set(b"key", b"value").unwrap();
                assert_eq!(two.get(b"key", None).unwrap(), b"value");
            });
        }
    }

    #[test]
    fn a_rank_that_does_not_come_is_counted() {
        let error = join(&job(0, free_port()), Duration::from_millis(100)).err().unwrap();
        assert_eq!(error.status(), Status::Timeout);
        assert!(error.message().contains("1/2 clients joined"), "{error}");
    }

    #[test]
    fn a_launchers_store_is_joined_by_all_ranks() {
        let timeout = Duration::from_secs(20);
        let server = Store::server("127.0.0.1", 0, timeout).unwrap();
        let port = server.port().unwrap();
        for rank in [0, 1] {
            let store = join(&JobEnvironment { launcher_serves: true, ..job(rank, port) }, timeout)
                .unwrap();
            store.set(b"k", &[rank as u8]).unwrap();
            assert_eq!(server.get(b"k", None).unwrap(), [rank as u8]);
        }
    }
}
