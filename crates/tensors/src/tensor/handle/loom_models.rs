//! Models of a place and the storages it names.

use loom::sync::Arc;

use super::direct_view::ViewPosition;
use super::place::{HandlePlace, Release};
use super::written::Written;
use crate::tensor::dim_list::Dims;
use crate::tensor::shared_storage::StoragePlace;

/// A place of a handle and one of a storage. The storage's value and the tensor's numbers belong together.
#[derive(Default)]
struct Places {
    handle: HandlePlace,
    storages: [StoragePlace<i64>; 2],
    /// The values of the storages that have gone. Not part of the model.
    gone: std::sync::Mutex<Vec<i64>>,
}

/// An ownership of a storage.
struct Owned<'a>(&'a Places, u32);

impl Drop for Owned<'_> {
    fn drop(&mut self) {
        self.0.let_go(self.1);
    }
}

impl Places {
    fn own(&self, number: u32) -> Option<Owned<'_>> {
        self.storages.get(number as usize)?.try_own().then(|| Owned(self, number))
    }

    /// Returns whether the storage has gone with this owner.
    fn let_go(&self, number: u32) -> bool {
        let gone = self.storages[number as usize].let_go();
        self.gone.lock().unwrap().extend(gone);
        gone.is_some()
    }

    fn gone(&self) -> Vec<i64> {
        self.gone.lock().unwrap().clone()
    }

    fn tensor(&self, storage: u32, value: i64, then: impl FnOnce(Written<'_>) -> u32) -> u32 {
        self.storages[storage as usize].fill(value);
        then(Written {
            storage,
            dtype: 0,
            offset: value,
            numel: value,
            address: value as usize,
            device: 0,
            sizes: &[value],
            strides: &[value],
        })
    }

    /// Reads the tensor of a handle. Returns its value.
    fn read(&self, generation: u32) -> Option<i64> {
        let (mut sizes, mut strides) = (Dims::new(), Dims::new());
        let (storage, offset, numel) = self.handle.look(generation, |words| {
            let number = words.storage()?;
            let storage = self.own(number)?;
            words.sizes(&mut sizes)?;
            words.strides(&mut strides)?;
            Some((storage, words.offset(), words.numel()))
        })?;
        assert!(offset == numel && sizes[0] == numel && strides[0] == numel, "a mixture was read");
        let _ = self.storages[storage.1 as usize].get();
        Some(offset)
    }

    /// Makes a direct view of the tensor of a handle in another place. Returns the value of the tensor.
    fn view(&self, generation: u32, target: &HandlePlace) -> Option<i64> {
        let owned = self.handle.look_once(generation, |words| {
            target.write_view(words, |from, to| {
                let (size, stride) = from.dim(0)?;
                to.set(0, size, stride);
                let (numel, offset) = (from.numel(), from.offset());
                Some(ViewPosition { rank: 1, numel, offset, address: from.address() })
            })?;
            self.own(words.storage()?)
        })?;
        let view = target.publish_written();
        let value = target.look(view, |words| {
            assert_eq!(words.storage(), Some(owned.1));
            let (numel, offset) = (words.numel(), words.offset());
            let alike = [offset, words.address() as i64, words.dim(0)?.0, words.dim(0)?.1];
            assert_eq!(alike, [numel; 4], "a mixture was published");
            Some(numel)
        });
        // Its ownership ends with the view.
        assert_eq!(target.release(view), Release::Last);
        assert_eq!(target.take_out(), owned.1);
        value
    }

    /// Looks at words of the tensor of a handle, without its storage. Returns its value.
    fn look(&self, generation: u32) -> Option<i64> {
        let (offset, address) =
            self.handle.look(generation, |words| Some((words.offset(), words.address())))?;
        assert_eq!(offset, address as i64, "a mixture was seen");
        Some(offset)
    }

    /// Releases a handle. Returns whether the storage went with it, too.
    fn release(&self, generation: u32) -> (Release, bool) {
        let release = self.handle.release(generation);
        let gone = release == Release::Last && self.let_go(self.handle.take_out());
        (release, gone)
    }
}

/// Runs a model with every interleaving of at most two preemptions: all of them take minutes.
fn model(model: impl Fn() + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(2);
    builder.check(model);
}

/// A thread reads a handle while another releases it and makes the next one in the same places.
#[test]
fn a_read_meets_a_release_and_the_next_handle() {
    model(|| {
        let places = Arc::new(Places::default());
        let first = places.tensor(0, 10, |tensor| places.handle.publish(tensor));
        let reader = {
            let places = places.clone();
            loom::thread::spawn(move || places.read(first))
        };
        let (release, gone) = places.release(first);
        assert_eq!(release, Release::Last);
        // The storage's place may be used again only when its last owner has gone.
        let free = if gone { 0 } else { 1 };
        let second = places.tensor(free, 20, |tensor| places.handle.publish(tensor));
        assert_ne!(first, second);
        let read = reader.join().unwrap();
        assert!(read.is_none() || read == Some(10), "{read:?}");
        assert!(places.read(first).is_none());
        assert_eq!(places.read(second), Some(20));
        assert_eq!(places.release(second), (Release::Last, true));
        assert_eq!(places.gone(), [10, 20]);
    });
}

/// A thread makes a direct view of a handle while another releases it and makes the next one in the same places: the
/// view is of the first tensor, or there is none.
#[test]
fn a_direct_view_meets_a_release_and_the_next_handle() {
    model(|| {
        let places = Arc::new(Places::default());
        let first = places.tensor(0, 10, |tensor| places.handle.publish(tensor));
        let viewer = {
            let places = places.clone();
            loom::thread::spawn(move || places.view(first, &HandlePlace::default()))
        };
        let (release, gone) = places.release(first);
        assert_eq!(release, Release::Last);
        let free = if gone { 0 } else { 1 };
        let second = places.tensor(free, 20, |tensor| places.handle.publish(tensor));
        let seen = viewer.join().unwrap();
        assert!(seen.is_none() || seen == Some(10), "{seen:?}");
        assert_eq!(places.view(first, &HandlePlace::default()), None);
        assert_eq!(places.view(second, &HandlePlace::default()), Some(20));
        assert_eq!(places.release(second), (Release::Last, true));
        assert_eq!(places.gone(), [10, 20]);
    });
}

/// A thread makes a direct view of a handle while another assigns: the view is of one tensor, or there is none.
#[test]
fn a_direct_view_meets_an_assignment() {
    model(|| {
        let places = Arc::new(Places::default());
        let generation = places.tensor(0, 10, |tensor| places.handle.publish(tensor));
        let viewer = {
            let places = places.clone();
            loom::thread::spawn(move || places.view(generation, &HandlePlace::default()))
        };
        let before = places.tensor(1, 20, |tensor| places.handle.assign(tensor));
        places.let_go(before);
        let seen = viewer.join().unwrap();
        assert!(matches!(seen, None | Some(10 | 20)), "{seen:?}");
        assert_eq!(places.release(generation), (Release::Last, true));
        assert_eq!(places.gone(), [10, 20]);
    });
}

/// A thread looks at words of a handle while another releases it and makes the next one in the same place.
#[test]
fn a_look_meets_a_release_and_the_next_handle() {
    model(|| {
        let places = Arc::new(Places::default());
        let first = places.tensor(0, 10, |tensor| places.handle.publish(tensor));
        let reader = {
            let places = places.clone();
            loom::thread::spawn(move || places.look(first))
        };
        assert_eq!(places.release(first), (Release::Last, true));
        let second = places.tensor(0, 20, |tensor| places.handle.publish(tensor));
        let seen = reader.join().unwrap();
        assert!(seen.is_none() || seen == Some(10), "{seen:?}");
        assert_eq!((places.look(first), places.look(second)), (None, Some(20)));
        assert_eq!(places.release(second), (Release::Last, true));
    });
}

/// A thread guesses the next handle of a place while it is made: it gets all of it or nothing.
#[test]
fn a_guessed_handle_meets_its_making() {
    model(|| {
        let places = Arc::new(Places::default());
        let first = places.tensor(0, 10, |tensor| places.handle.publish(tensor));
        assert_eq!(places.release(first), (Release::Last, true));
        let reader = {
            let places = places.clone();
            loom::thread::spawn(move || places.look(first + 1))
        };
        let second = places.tensor(0, 20, |tensor| places.handle.publish(tensor));
        assert_eq!(second, first + 1);
        let seen = reader.join().unwrap();
        assert!(seen.is_none() || seen == Some(20), "{seen:?}");
        assert_eq!(places.release(second), (Release::Last, true));
    });
}

/// A thread looks at words of a handle while another assigns: they are those of one tensor.
#[test]
fn a_look_meets_an_assignment() {
    model(|| {
        let places = Arc::new(Places::default());
        let generation = places.tensor(0, 10, |tensor| places.handle.publish(tensor));
        let reader = {
            let places = places.clone();
            loom::thread::spawn(move || places.look(generation))
        };
        let before = places.tensor(1, 20, |tensor| places.handle.assign(tensor));
        places.let_go(before);
        let seen = reader.join().unwrap();
        assert!(seen == Some(10) || seen == Some(20), "{seen:?}");
        assert_eq!(places.release(generation), (Release::Last, true));
    });
}

/// Of two releases of one ownership one wins, and a thread that retained in between keeps the tensor.
#[test]
fn one_release_wins() {
    model(|| {
        let places = Arc::new(Places::default());
        let generation = places.tensor(0, 10, |tensor| places.handle.publish(tensor));
        let thread = {
            let places = places.clone();
            loom::thread::spawn(move || {
                if places.handle.retain(generation) {
                    assert_eq!(places.read(generation), Some(10));
                    places.release(generation)
                } else {
                    (Release::Dead, false)
                }
            })
        };
        let own = places.release(generation);
        let outcomes = [own, thread.join().unwrap()];
        assert_eq!(outcomes.iter().filter(|one| **one == (Release::Last, true)).count(), 1);
        assert_eq!(places.release(generation), (Release::Dead, false));
        assert_eq!(places.gone(), [10]);
    });
}

/// Of two releases of a handle that is owned once one ends it.
#[test]
fn a_double_release_is_seen() {
    model(|| {
        let places = Arc::new(Places::default());
        let generation = places.tensor(0, 10, |tensor| places.handle.publish(tensor));
        let thread = {
            let places = places.clone();
            loom::thread::spawn(move || places.release(generation))
        };
        let own = places.release(generation);
        let mut outcomes = [own.0, thread.join().unwrap().0];
        outcomes.sort_by_key(|outcome| *outcome == Release::Last);
        assert_eq!(outcomes, [Release::Dead, Release::Last]);
    });
}

/// A thread reads while another assigns: it gets one tensor or the other.
#[test]
fn a_read_meets_an_assignment() {
    model(|| {
        let places = Arc::new(Places::default());
        let generation = places.tensor(0, 10, |tensor| places.handle.publish(tensor));
        let reader = {
            let places = places.clone();
            loom::thread::spawn(move || places.read(generation))
        };
        let before = places.tensor(1, 20, |tensor| places.handle.assign(tensor));
        assert_eq!(before, 0);
        places.let_go(before);
        let value = reader.join().unwrap().unwrap();
        assert!(value == 10 || value == 20, "{value}");
        assert_eq!(places.gone(), [10]);
        assert_eq!(places.release(generation), (Release::Last, true));
        assert_eq!(places.gone(), [10, 20]);
    });
}
