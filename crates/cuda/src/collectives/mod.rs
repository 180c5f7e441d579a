//! NCCL.
//!
//! Communicators are NCCL's blocking ones. What waits for other ranks (making, splitting, finalizing) runs on a thread
//! of its own and is pending meanwhile. NCCL's non-blocking communicators would need no threads, but queue each call on
//! a thread that they make for it: 70 µs instead of 10 (NCCL 2.28.9, H100).
//!
//! | file | what |
//! |---|---|
//! | `functions` | the table of its functions, and the structs that they take |
//! | `call` | a call in NCCL's functions |
//! | `task` | what waits for other ranks, on a thread of its own |
//! | `endpoint` | a rank's end of a communicator |

mod call;
mod endpoint;
mod functions;
mod task;

use std::ffi::CStr;
use std::ptr::null_mut;
use std::sync::Arc;

use sconce_base::error::{Error, Result, Status};
use sconce_driver::nvidia::comm_failure;
use sconce_driver::{Collectives, CommEndpoint, CommId, CommMember, CommOptions};

use self::functions::{CommFunctions, NcclConfig, NcclUniqueId};
use super::CudaDriver;
use super::libraries::library::LibraryName;
use super::result::SUCCESS;

const NAME: LibraryName =
    LibraryName { name: "NCCL", files: &["libnccl.so.2"], variable: "SCONCE_LIBNCCL" };

/// The oldest version whose configuration is the one that is passed.
const OLDEST: i32 = 21_800;
/// `NCCL_CONFIG_UNDEF_INT`, and the number at the beginning of a configuration.
const NOT_SET: i32 = i32::MIN;
const MAGIC: u32 = 0xcafe_beef;

/// The library, once it was opened.
pub(super) type Nccl = Arc<CommFunctions>;

impl Collectives for CudaDriver {
    fn comm_version(&self) -> Result<i32> {
        version(self.nccl()?)
    }

    fn comm_unique_id(&self) -> Result<CommId> {
        let functions = self.nccl()?;
        let mut id = NcclUniqueId([0; CommId::BYTES]);
        // SAFETY: `id` outlives the call.
        let code = unsafe { functions.ncclGetUniqueId()?(&mut id) };
        check(functions, "ncclGetUniqueId", code)?;
        Ok(CommId(id.0))
    }

    fn comm_create(
        &self,
        id: &CommId,
        ranks: usize,
        members: &[CommMember],
        options: &CommOptions,
    ) -> Result<Vec<Box<dyn CommEndpoint>>> {
        let functions = self.nccl()?;
        let contexts = members.iter().map(|member| self.held_context(member.device));
        let contexts = contexts.collect::<Result<Vec<_>>>()?;
        endpoint::make_all(functions, id, ranks, members, contexts, options)
    }

    fn comm_group_start(&self) -> Result<()> {
        start_group(self.nccl()?)
    }

    fn comm_group_end(&self) -> Result<()> {
        end_group(self.nccl()?)
    }

    fn comm_pending(&self) -> usize {
        task::running()
    }
}

impl CudaDriver {
    fn nccl(&self) -> Result<&Nccl> {
        self.nccl.get_or_try_init(|| {
            let library = self.libraries.open(&NAME, self.libraries.nccl.as_deref());
            let library = library.map_err(|why| {
                why.context(
                    "collective calls need NCCL 2.18 or newer (the packages libnccl2, \
                     nvidia-nccl-cu12 or nvidia-nccl-cu13)",
                )
            })?;
            let functions = CommFunctions::load(&library)?;
            match version(&functions)? {
                old if old < OLDEST => Err(Error::new(
                    Status::LibraryNotFound,
                    format!("the installed NCCL is version {old}; collective calls need {OLDEST} or newer"),
                )),
                _ => Ok(Arc::new(functions)),
            }
        })
    }
}

fn version(functions: &CommFunctions) -> Result<i32> {
    let mut version = 0;
    // SAFETY: `version` outlives the call.
    let code = unsafe { functions.ncclGetVersion()?(&mut version) };
    check(functions, "ncclGetVersion", code).map(|()| version)
}

fn start_group(functions: &CommFunctions) -> Result<()> {
    // SAFETY: no conditions.
    let code = unsafe { functions.ncclGroupStart()?() };
    check(functions, "ncclGroupStart", code)
}

fn end_group(functions: &CommFunctions) -> Result<()> {
    // SAFETY: the thread is in a group, whose communicators live: the caller ends no end of one meanwhile.
    let code = unsafe { functions.ncclGroupEnd()?() };
    check(functions, "ncclGroupEnd", code)
}

fn config_of(options: &CommOptions) -> NcclConfig {
    NcclConfig {
        size: size_of::<NcclConfig>(),
        magic: MAGIC,
        version: OLDEST as u32,
        blocking: 1,
        cga_cluster_size: options.cga_cluster_size.unwrap_or(NOT_SET),
        min_ctas: options.min_ctas.unwrap_or(NOT_SET),
        max_ctas: options.max_ctas.unwrap_or(NOT_SET),
        net_name: null_mut(),
        split_share: i32::from(options.split_share),
    }
}

/// Turns the code of a call into a result.
#[inline]
fn check(functions: &CommFunctions, call: &str, code: i32) -> Result<()> {
    if code == SUCCESS { Ok(()) } else { Err(failure(functions, call, code)) }
}

/// The failure of a call, with the words that NCCL has for it.
#[cold]
#[inline(never)]
fn failure(functions: &CommFunctions, call: &str, code: i32) -> Error {
    let error = comm_failure(call, code);
    let Ok(last_error) = functions.ncclGetLastError() else { return error };
    // SAFETY: NCCL keeps the newest failure of the process, and takes no communicator for it.
    let words = unsafe { last_error(null_mut()) };
    if words.is_null() {
        return error;
    }
    // SAFETY: a NUL-terminated string of NCCL, read at once.
    let words = unsafe { CStr::from_ptr(words) }.to_string_lossy().trim().to_owned();
    if words.is_empty() { error } else { error.context(words) }
}
