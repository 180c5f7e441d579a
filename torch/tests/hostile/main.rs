//! Hostile arguments: every operation that can be called by name, and every function of PyTorch's ABI that takes tensors,
//! with lists that are too short, ranks, dimensions and sizes that are none, types and devices that differ, handles that
//! are not alive. A call may be refused in words or succeed. It may not crash, hang, panic inside, or leave tensors.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
#![allow(unsafe_code, reason = "calls functions of C")]

mod bases;
mod functions;
mod kinds;
mod made;
mod search;
mod values;
mod watch;

use std::ffi::{CStr, CString, c_char};
use std::path::PathBuf;

use kinds::{Callable, of_schema};
use made::{Kept, delete};
use search::search_all;
use values::Case;

const SCHEMAS: &str = include_str!("../operations/schemas.txt");
/// Operations that are written in Python, whose schemas are not in the list.
const IN_PYTHON: &str = "\
transformers::grouped_mm_fallback(Tensor input, Tensor weight, Tensor offs) -> Tensor
torch_attn::_varlen_attn(Tensor query, Tensor key, Tensor value, Tensor cu_seq_q, Tensor? cu_seq_k, SymInt max_q, SymInt max_k, bool is_causal=False, float? scale=None, SymInt[]? window_size=None, bool enable_gqa=False, Tensor? seqused_k=None, Tensor? block_table=None, SymInt? num_splits=None, SymInt backend=1) -> (Tensor, Tensor, Tensor)
";

#[link(name = "sconce_torch")]
unsafe extern "C" {
    fn torch_call_dispatcher(
        name: *const c_char,
        overload: *const c_char,
        stack: *mut u64,
        version: u64,
    ) -> i32;
    fn torch_exception_get_what() -> *const c_char;
}

/// The text of the thread's newest failure.
fn message() -> String {
    // SAFETY: no preconditions.
    let text = unsafe { torch_exception_get_what() };
    // SAFETY: a text that is valid until the next call.
    unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
}

/// An empty folder, in which operations make the files that they are asked for.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Folder {
        let path = std::env::temp_dir().join(format!("sconce_hostile_{}", std::process::id()));
        std::fs::create_dir(&path).unwrap();
        std::env::set_current_dir(&path).unwrap();
        Folder(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        drop(std::fs::remove_dir_all(&self.0));
    }
}

/// Uses the simulator, which has one small device, and a folder of this process.
fn simulate() -> Folder {
    for (name, value) in [
        ("SCONCE_BACKEND", "sim"),
        ("SCONCE_SIM_DEVICES", "1"),
        ("SCONCE_SIM_MEMORY", "256M"),
        // A panic within the library is reported by its message.
        ("RUST_BACKTRACE", "0"),
    ] {
        // SAFETY: this process runs one test, and no other thread of it uses the environment.
        unsafe { std::env::set_var(name, value) };
    }
    Folder::new()
}

/// Calls an operation by name.
fn by_name(what: &Callable, cases: &[Case]) -> Result<(), String> {
    let (name, overload) =
        (CString::new(&*what.name).unwrap(), CString::new(&*what.overload).unwrap());
    let mut kept = Kept::default();
    let mut stack = vec![0; what.arguments.len().max(what.results.len())];
    for ((word, kind), case) in stack.iter_mut().zip(&what.arguments).zip(cases) {
        *word = kept.word(kind, case);
    }
    // SAFETY: the stack has a word of each argument's type.
    let status =
        unsafe { torch_call_dispatcher(name.as_ptr(), overload.as_ptr(), stack.as_mut_ptr(), 0) };
    if status != 0 {
        return Err(message());
    }
    what.results.iter().zip(stack).for_each(|(kind, word)| delete(kind, word));
    Ok(())
}

#[test]
fn operations_called_by_name_refuse_what_is_hostile() {
    let _folder = simulate();
    let lines = SCHEMAS.lines().chain(IN_PYTHON.lines());
    let lines = lines.filter(|line| !line.is_empty() && !line.starts_with('#'));
    let is_offered = |what: &Callable| {
        let overload = CString::new(&*what.overload).unwrap();
        let name = CString::new(&*what.name).unwrap();
        // Without arguments nothing is read but the schema: an operation that has some is refused for its first one.
        let mut stack = [0_u64; 64];
        // SAFETY: words that are 0 are NULL handles, texts and lists, or numbers.
        let status = unsafe {
            torch_call_dispatcher(name.as_ptr(), overload.as_ptr(), stack.as_mut_ptr(), 0)
        };
        if status == 0 {
            what.results.iter().zip(stack).for_each(|(kind, word)| delete(kind, word));
        }
        status == 0 || !message().contains("is not offered by libsconce_torch")
    };
    let all: Vec<Callable> = lines.filter_map(of_schema).filter(is_offered).collect();
    assert!(all.len() > 330, "{}", all.len());
    search_all(&all, &by_name, 300);
}
