//! Ids, and how communicators are made.
#![forbid(unsafe_code)]

use std::sync::Arc;

use sconce_base::error::{Error, Result, Status};
use sconce_driver::nvidia::comm_failure;
use sconce_driver::{Collectives, CommEndpoint, CommId, CommMember, CommOptions};

use super::endpoint::{SimEndpoint, no_board, refused};
use super::group;
use crate::call::Call;
use crate::processes::board::{Board, MOST_RANKS};
use crate::processes::handle::nonce;
use crate::state::Simulator;

const LIBRARY: &str = "NCCL";
/// The version that the simulator reports.
const VERSION: i32 = 22_800;

impl Collectives for Simulator {
    fn comm_version(&self) -> Result<i32> {
        self.inner.open_library(Call::CommVersion, LIBRARY, comm_failure)?;
        Ok(VERSION)
    }

    fn comm_unique_id(&self) -> Result<CommId> {
        let inner = &self.inner;
        inner.open_library(Call::CommUniqueId, LIBRARY, comm_failure)?;
        let board = Board::new(nonce()?).map_err(no_board)?;
        let id = board.id();
        inner.ranks.keep_board(board);
        Ok(id)
    }

    fn comm_create(
        &self,
        id: &CommId,
        ranks: usize,
        members: &[CommMember],
        _options: &CommOptions,
    ) -> Result<Vec<Box<dyn CommEndpoint>>> {
        let call = Call::CommCreate;
        for member in members {
            self.inner.enter_library_on(call, member.device, LIBRARY, comm_failure)?;
        }
        if ranks > MOST_RANKS {
            let why = format!("the simulator has communicators of at most {MOST_RANKS} ranks");
            return Err(Error::not_supported(why));
        }
        let fields = Board::fields(id).ok_or_else(|| {
            refused(call).context("the id is not one that the simulator made, or is damaged")
        })?;
        let make = |member: &CommMember| {
            let board = Board::open(fields.pid, u64::from(fields.fd), Some(fields.nonce));
            let board = Arc::new(board.map_err(|why| {
                let why = format!("the process that made the id cannot be reached ({why})");
                Error::new(Status::Remote, why)
            })?);
            board.agree_on_ranks(ranks).map_err(|other| {
                let why = format!("ranks is {ranks}, but another rank says {other}");
                refused(call).context(why)
            })?;
            let place = (member.rank, ranks);
            let end = SimEndpoint::join(&self.inner, board, place, member.device)?;
            Ok(Box::new(end) as Box<dyn CommEndpoint>)
        };
        members.iter().map(make).collect()
    }

    fn comm_group_start(&self) -> Result<()> {
        self.inner.enter_library(Call::CommGroupStart, comm_failure)?;
        group::start()
    }

    fn comm_group_end(&self) -> Result<()> {
        let ended = group::end();
        self.inner.enter_library(Call::CommGroupEnd, comm_failure).and(ended)
    }
}
