//! What the calling thread has declared: the memory of the next launch, and operations that consist of several calls.
#![forbid(unsafe_code)]

use std::cell::{Cell, RefCell};
use std::thread::LocalKey;

use crate::checker::Use;
use crate::pattern::Pattern;

/// An operation that has begun and not ended.
#[derive(Default)]
struct Operation {
    name: String,
    /// Where the tensors lie that were declared when it began.
    memory: Vec<(u64, u64)>,
    /// How many have begun: those within another one are a part of it.
    depth: usize,
}

thread_local! {
    /// How many times the thread has begun to move memory and not ended.
    static MOVES: Cell<u32> = const { Cell::new(0) };
    /// How many times the thread has begun to ask for the library's own sake and not ended.
    static ASKS: Cell<u32> = const { Cell::new(0) };
    /// What the next launch of a program's kernel on this thread uses.
    static LAUNCH: RefCell<Option<Vec<Use>>> = const { RefCell::new(None) };
    static OPERATION: RefCell<Operation> = const {
        RefCell::new(Operation { name: String::new(), memory: Vec::new(), depth: 0 })
    };
}

/// The thread does something of a kind until this is dropped.
pub(crate) struct Scope(&'static LocalKey<Cell<u32>>);

impl Scope {
    fn begin(begun: &'static LocalKey<Cell<u32>>) -> Scope {
        begun.set(begun.get() + 1);
        Scope(begun)
    }

    /// The thread's copies move whole pages of the allocator, whatever they hold.
    pub(crate) fn moves_memory() -> Scope {
        Scope::begin(&MOVES)
    }

    /// The thread asks for the library's own sake.
    pub(crate) fn asks_for_itself() -> Scope {
        Scope::begin(&ASKS)
    }
}

impl Drop for Scope {
    fn drop(&mut self) {
        self.0.set(self.0.get().saturating_sub(1));
    }
}

pub(crate) fn asks_for_itself() -> bool {
    ASKS.get() > 0
}

pub(crate) fn moves_memory() -> bool {
    MOVES.get() > 0
}

pub(crate) fn declare_launch(uses: Option<Vec<Use>>) {
    LAUNCH.with(|launch| *launch.borrow_mut() = uses);
}

/// What a kernel of the program uses that is launched now. One within an operation uses what the operation does.
pub(crate) fn take_launch() -> Option<Vec<Use>> {
    let declared = LAUNCH.with(|launch| launch.borrow_mut().take());
    declared.or_else(|| is_open().then(Vec::new))
}

/// Whether the thread is within an operation.
pub(crate) fn is_open() -> bool {
    OPERATION.with(|operation| operation.borrow().depth > 0)
}

/// An operation begins. Whether it is not a part of another one.
pub(crate) fn begin(name: &str, memory: impl FnOnce() -> Vec<(u64, u64)>) -> bool {
    OPERATION.with(|operation| {
        let mut operation = operation.borrow_mut();
        operation.depth += 1;
        if operation.depth > 1 {
            return false;
        }
        operation.name = name.to_owned();
        operation.memory = memory();
        true
    })
}

/// An operation ends. Returns its name and its memory unless it is a part of another one.
pub(crate) fn end() -> Option<(String, Vec<(u64, u64)>)> {
    OPERATION.with(|operation| {
        let mut operation = operation.borrow_mut();
        operation.depth = operation.depth.checked_sub(1)?;
        (operation.depth == 0).then(|| {
            let Operation { name, memory, .. } = std::mem::take(&mut *operation);
            (name, memory)
        })
    })
}

/// Where a use lies.
pub(crate) fn extent(pattern: &Pattern) -> (u64, u64) {
    (pattern.start(), pattern.end())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kernels_within_an_operation_are_known_and_others_are_not() {
        assert!(take_launch().is_none());
        assert!(begin("outer", || vec![(1, 2)]));
        assert!(take_launch().is_some_and(|uses| uses.is_empty()));
        assert!(!begin("inner", || vec![(3, 4)]));
        assert!(end().is_none());
        declare_launch(Some(vec![Use::reads(1, 1)]));
        assert_eq!(take_launch().map(|uses| uses.len()), Some(1));
        assert_eq!(take_launch().map(|uses| uses.len()), Some(0));
        assert_eq!(end(), Some(("outer".to_owned(), vec![(1, 2)])));
        assert!(take_launch().is_none());
        // An end without a begin, as of an operation that began while there was no sanitizer.
        assert!(end().is_none() && take_launch().is_none());
    }
}
