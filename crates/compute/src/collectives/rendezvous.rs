//! Communicators that are made through a store: the ranks exchange the id and agree on whether all have come, so that
//! none enters the driver in vain.
//!
//! Keys of the store, with the name N that the ranks use, and a nonce X that rank 0 draws:
//!
//! | key | set by | holds |
//! |---|---|---|
//! | `comm/N` | rank 0 | X, and the id; or why there is none |
//! | `comm/N/X/here/R` | rank R | nothing; the rank has read the id |
//! | `comm/N/X/go` | rank 0 | nothing; or why the communicator is not made |
//! | `comm/N/X/gone` | all others | how many have read `go`; the last one removes both |
//!
//! Rank 0 removes `comm/N` before it sets `go`, so the name can be used again at once, also after a failure.

use std::time::{Duration, Instant};

use sconce_base::entropy::random_bytes;
use sconce_base::error::{Error, Result, Status};
use sconce_driver::CommId;

use super::Key;
use super::config::CommConfig;
use super::group;
use super::handles::{check_rank, init_rank, unique_id};
use crate::store::Store;

const NONCE_BYTES: usize = 8;
/// What the value of `comm/N` holds behind the nonce.
const HAS_ID: u8 = 1;
const HAS_FAILURE: u8 = 0;
/// The limit of a wait without a limit; a store needs one.
const FOR_EVER: Duration = Duration::from_secs(10 * 365 * 24 * 3600);
/// How long other ranks wait for the word of rank 0 beyond their own limit, which may have begun earlier.
const GRACE: Duration = Duration::from_secs(2);

/// Makes a rank of a communicator whose ranks share a store; all ranks call with the same name.
pub fn init_store(
    store: &Store,
    name: &[u8],
    ranks: i32,
    rank: i32,
    index: i32,
    config: &CommConfig,
) -> Result<Key> {
    group::refuse_inside("a communicator cannot be made")?;
    check_rank(ranks, rank)?;
    let limit = config.limit.of_calls().unwrap_or(FOR_EVER);
    let meeting = Meeting { store, name, ranks, limit, began: Instant::now() };
    let id = match rank {
        0 => meeting.lead(unique_id())?,
        _ => meeting.follow(rank)?,
    };
    init_rank(&id, ranks, rank, index, config)
}

/// The ranks on their way to a communicator.
struct Meeting<'a> {
    store: &'a Store,
    name: &'a [u8],
    ranks: i32,
    limit: Duration,
    began: Instant,
}

impl Meeting<'_> {
    /// Rank 0: gives the id to the others and waits for them.
    fn lead(&self, id: Result<CommId>) -> Result<CommId> {
        let nonce = hex(&random_bytes::<NONCE_BYTES>()?);
        let content = match &id {
            Ok(id) => [nonce.as_bytes(), &[HAS_ID], &id.0[..]].concat(),
            Err(why) => [nonce.as_bytes(), &[HAS_FAILURE], why.message().as_bytes()].concat(),
        };
        self.store.set(&self.key("", ""), &content)?;
        // Without an id the others leave at once, and read the reason as long as rank 0 waits for them.
        let all_here = self.wait_for_all(&nonce);
        self.store.delete_key(&self.key("", ""))?;
        let word = match (&id, &all_here) {
            (Ok(_), Err(why)) => why.message().to_owned(),
            _ => String::new(),
        };
        if id.is_ok() && self.ranks > 1 {
            self.store.set(&self.key(&nonce, "/go"), word.as_bytes())?;
        }
        let id = id?;
        all_here?;
        Ok(id)
    }

    /// Waits until all others have read the id, and removes what they have set.
    fn wait_for_all(&self, nonce: &str) -> Result<()> {
        let keys: Vec<Vec<u8>> = (1..self.ranks).map(|rank| self.here(nonce, rank)).collect();
        let each: Vec<&[u8]> = keys.iter().map(Vec::as_slice).collect();
        let waited = match each.is_empty() {
            true => Ok(()),
            false => self.store.wait(&each, Some(self.left())),
        };
        let mut missing = Vec::new();
        for (key, rank) in each.iter().zip(1..) {
            if !self.store.delete_key(key)? {
                missing.push(rank);
            }
        }
        match waited {
            Err(why) if why.status() == Status::Timeout && !missing.is_empty() => {
                Err(self.timeout(&format!("{} not come", ranks_have(&missing))))
            }
            Err(why) if why.status() != Status::Timeout => Err(why),
            _ => Ok(()),
        }
    }

    /// Other ranks: get the id from rank 0, and its word that all are there.
    fn follow(&self, rank: i32) -> Result<CommId> {
        let content = self
            .store
            .get(&self.key("", ""), Some(self.left()))
            .map_err(|why| self.instead_of_timeout(why, "rank 0 has not come"))?;
        let (nonce, content) = content.split_at_checked(2 * NONCE_BYTES).ok_or_else(malformed)?;
        let nonce = std::str::from_utf8(nonce).map_err(|_| malformed())?;
        self.store.set(&self.here(nonce, rank), b"")?;
        let id = match content.split_first() {
            Some((&HAS_ID, id)) => CommId(id.try_into().map_err(|_| malformed())?),
            Some((&HAS_FAILURE, why)) => {
                let why = String::from_utf8_lossy(why);
                return Err(Error::new(Status::Remote, format!("rank 0 has failed: {why}")));
            }
            _ => return Err(malformed()),
        };
        let go = self.key(nonce, "/go");
        let word = self.store.get(&go, Some(self.left() + GRACE)).map_err(|why| {
            self.instead_of_timeout(why, "rank 0 has joined, but does not proceed")
        })?;
        let gone = self.key(nonce, "/gone");
        if self.store.add(&gone, 1)? == i64::from(self.ranks - 1) {
            self.store.delete_key(&go)?;
            self.store.delete_key(&gone)?;
        }
        match word.is_empty() {
            true => Ok(id),
            false => Err(Error::new(Status::Timeout, String::from_utf8_lossy(&word).into_owned())),
        }
    }

    fn left(&self) -> Duration {
        self.limit.saturating_sub(self.began.elapsed())
    }

    fn key(&self, nonce: &str, part: &str) -> Vec<u8> {
        let slash: &[u8] = if nonce.is_empty() { b"" } else { b"/" };
        [b"comm/", self.name, slash, nonce.as_bytes(), part.as_bytes()].concat()
    }

    fn here(&self, nonce: &str, rank: i32) -> Vec<u8> {
        self.key(nonce, &format!("/here/{rank}"))
    }

    fn instead_of_timeout(&self, why: Error, what: &str) -> Error {
        if why.status() == Status::Timeout { self.timeout(what) } else { why }
    }

    fn timeout(&self, what: &str) -> Error {
        Error::new(
            Status::Timeout,
            format!(
                "the communicator \"{}\" of {} ranks is not made after {:?}: {what}; is every rank alive, and does \
                 every rank make the call with this name? timeout_ms of the configuration sets the limit",
                String::from_utf8_lossy(self.name).escape_debug(),
                self.ranks,
                self.limit
            ),
        )
    }
}

fn malformed() -> Error {
    Error::invalid_argument(
        "the store holds something else under the communicator's name; use another name or prefix",
    )
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Ranks that a message names; of more it says how many there are.
const NAMED_RANKS: usize = 16;

/// The subject and verb of a sentence about ranks.
fn ranks_have(ranks: &[i32]) -> String {
    let named = &ranks[..ranks.len().min(NAMED_RANKS)];
    let all = named.iter().map(i32::to_string).collect::<Vec<_>>().join(", ");
    match ranks.len() - named.len() {
        0 if ranks.len() == 1 => format!("rank {all} has"),
        0 => format!("ranks {all} have"),
        others => format!("ranks {all} and {others} others have"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOON: Duration = Duration::from_millis(300);

    fn meeting(store: &Store, ranks: i32, limit: Duration) -> Meeting<'_> {
        Meeting { store, name: b"all", ranks, limit, began: Instant::now() }
    }

    fn id() -> CommId {
        CommId(random_bytes().unwrap())
    }

    fn server() -> Store {
        Store::server("127.0.0.1", 0, Duration::from_secs(20)).unwrap()
    }

    /// What the ranks of a meeting return; `None` stands for one that does not come.
    fn meet(store: &Store, come: &[bool], limit: Duration) -> Vec<Option<Result<CommId>>> {
        let ranks = come.len() as i32;
        std::thread::scope(|scope| {
            let one = |rank: usize| {
                let meeting = meeting(store, ranks, limit);
                scope.spawn(move || match rank {
                    0 => meeting.lead(Ok(id())),
                    _ => meeting.follow(rank as i32),
                })
            };
            let threads: Vec<_> =
                (0..come.len()).map(|rank| come[rank].then(|| one(rank))).collect();
            threads.into_iter().map(|thread| thread.map(|thread| thread.join().unwrap())).collect()
        })
    }

    fn message(result: &Option<Result<CommId>>) -> String {
        let error = result.as_ref().unwrap().as_ref().unwrap_err();
        assert_eq!(error.status(), Status::Timeout);
        error.message().to_owned()
    }

    #[test]
    fn a_name_can_be_used_again_at_once_and_leaves_no_keys() {
        let store = server();
        let mut seen = Vec::new();
        for _ in 0..20 {
            let ids = meet(&store, &[true; 4], Duration::from_secs(20));
            let ids: Vec<[u8; 128]> = ids.into_iter().map(|id| id.unwrap().unwrap().0).collect();
            assert!(ids.iter().all(|id| *id == ids[0]));
            assert!(!seen.contains(&ids[0]));
            seen.push(ids[0]);
        }
        assert_eq!(store.num_keys(), Ok(0));
    }

    #[test]
    fn all_ranks_name_those_that_do_not_come() {
        let store = server();
        let results = meet(&store, &[true, false, true, false], SOON);
        for rank in [0, 2] {
            let text = message(&results[rank]);
            assert!(text.contains("ranks 1, 3 have not come"), "{text}");
        }
        let results = meet(&store, &[false, true], SOON);
        assert!(message(&results[1]).contains("rank 0 has not come"));
        // The name is free all the same.
        let ids = meet(&store, &[true; 3], Duration::from_secs(20));
        assert!(ids.iter().all(|id| id.as_ref().unwrap().is_ok()));
    }

    #[test]
    fn a_rank_alone_waits_for_nobody() {
        let store = server();
        assert!(meeting(&store, 1, Duration::ZERO).lead(Ok(id())).is_ok());
        assert_eq!(store.num_keys(), Ok(0));
    }

    #[test]
    fn a_failure_of_rank_0_and_foreign_values_are_refused() {
        let store = server();
        let error = std::thread::scope(|scope| {
            let leader = scope.spawn(|| {
                let why = Error::new(Status::LibraryNotFound, "no library");
                meeting(&store, 2, SOON).lead(Err(why))
            });
            let error = meeting(&store, 2, SOON).follow(1).unwrap_err();
            assert_eq!(leader.join().unwrap().unwrap_err().status(), Status::LibraryNotFound);
            error
        });
        assert_eq!(store.num_keys(), Ok(0));
        assert_eq!(
            (error.status(), error.message()),
            (Status::Remote, "rank 0 has failed: no library")
        );
        for value in [&b"short"[..], b"0123456789abcdef", b"0123456789abcdef\x01short"] {
            store.set(b"comm/all", value).unwrap();
            let error = meeting(&store, 2, SOON).follow(1).unwrap_err();
            assert_eq!(error.status(), Status::InvalidArgument);
        }
    }
}
