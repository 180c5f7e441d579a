//! A default generator for each device, and the calls that seed all of them.
//!
//! A default generator is made when it is first used, with a seed from the operating system unless a seed was
//! set before. Setting a seed needs no device and initialises nothing: the seed is kept for generators that
//! are still to be made.

use std::sync::atomic::{AtomicU64, Ordering};

use sconce_base::collections::per_device::{PerDevice, per_device};
use sconce_base::collections::slab::Key;
use sconce_base::error::Result;
use sconce_base::lock::{Mutex, rank};
use sconce_base::thread_state;
use sconce_base::types::{CPU, DeviceIndex, MAX_DEVICES};
use sconce_runtime::context::{self, runtime};
use sconce_runtime::device;

use super::{entropy, generator, numbers};

/// The default generators, by device; `None` stands for the CPU.
struct Registry {
    /// The handles, readable without the lock; 0 if there is none.
    keys: PerDevice<AtomicU64>,
    cpu: AtomicU64,
    /// The seeds of generators that are still to be made; the last is the CPU's.
    seeds: Mutex<rank::GeneratorSeeds, [Option<u64>; MAX_DEVICES + 1]>,
}

/// The place of a device's seed, or of the CPU's.
fn seed_place(device: Option<DeviceIndex>) -> usize {
    device.map_or(MAX_DEVICES, DeviceIndex::as_usize)
}

static REGISTRY: Registry = Registry::new();

impl Registry {
    const fn new() -> Registry {
        Registry {
            keys: per_device!(AtomicU64::new(0)),
            cpu: AtomicU64::new(0),
            seeds: Mutex::new([None; MAX_DEVICES + 1]),
        }
    }

    #[inline]
    fn key(&self, device: Option<DeviceIndex>) -> &AtomicU64 {
        match device {
            Some(device) => &self.keys[device],
            None => &self.cpu,
        }
    }

    #[inline]
    fn existing(&self, device: Option<DeviceIndex>) -> Option<Key> {
        match self.key(device).load(Ordering::Acquire) {
            0 => None,
            bits => Some(Key::from_bits(bits)),
        }
    }

    #[inline]
    fn get(&self, device: Option<DeviceIndex>) -> Result<Key> {
        match self.existing(device) {
            Some(key) => Ok(key),
            None => self.make(device),
        }
    }

    #[cold]
    fn make(&self, device: Option<DeviceIndex>) -> Result<Key> {
        let mut seeds = self.seeds.lock();
        if let Some(key) = self.existing(device) {
            return Ok(key);
        }
        let seed = match seeds[seed_place(device)].take() {
            Some(seed) => seed,
            None => entropy::seed()?,
        };
        let key = generator::create_default(device, seed)?;
        self.key(device).store(key.bits(), Ordering::Release);
        Ok(key)
    }

    /// Seeds generators, or keeps the seed for those that are still to be made. Where the calling thread captures its
    /// current stream of one of the devices, none is seeded.
    fn set_seeds(&self, owners: &[Option<DeviceIndex>], seed: u64) -> Result<()> {
        let devices = || owners.iter().copied().flatten();
        devices()
            .filter(|device| self.existing(Some(*device)).is_some())
            .try_for_each(numbers::refuse_in_capture)?;
        let mut untold = Vec::new();
        for owner in owners {
            let Some(key) = self.existing_or_keep(*owner, seed) else { continue };
            match owner {
                Some(_) => untold.push(numbers::set_numbers(key, Some(seed), 0)?),
                None => drop(numbers::set_cpu_seed(key, seed)?),
            }
        }
        // All have the seed now, whether a device can be told or not.
        untold.into_iter().map(numbers::Untold::tell).fold(Ok(()), Result::and)
    }

    /// The generator; if it is still to be made, the seed is kept for it.
    fn existing_or_keep(&self, owner: Option<DeviceIndex>, seed: u64) -> Option<Key> {
        let mut seeds = self.seeds.lock();
        let key = self.existing(owner);
        if key.is_none() {
            seeds[seed_place(owner)] = Some(seed);
        }
        key
    }
}

/// The devices that there may be.
fn all_devices() -> impl Iterator<Item = Option<DeviceIndex>> {
    (0..MAX_DEVICES as i32).map(DeviceIndex::new)
}

/// The default generator of a device (-1: the current one) or of the CPU.
pub fn default_generator(index: i32) -> Result<Key> {
    if index == CPU {
        return default_of_cpu();
    }
    default_of(device::resolve(runtime()?, index)?)
}

/// The default generator of a device that exists.
#[inline]
pub(super) fn default_of(device: DeviceIndex) -> Result<Key> {
    REGISTRY.get(Some(device))
}

/// The default generator of the CPU.
pub(super) fn default_of_cpu() -> Result<Key> {
    REGISTRY.get(None)
}

/// Seeds the current device's default generator. Succeeds without a device, and before a backend is open: the device
/// is then the one that the thread has in this library.
pub fn manual_seed(seed: u64) -> Result<()> {
    let device = match context::opened() {
        Some(runtime) => device::current_of_thread(runtime)?,
        None => thread_state::device(),
    };
    REGISTRY.set_seeds(&[Some(device)], seed)
}

/// Seeds every device's default generator. Succeeds without a device.
pub fn manual_seed_all(seed: u64) -> Result<()> {
    REGISTRY.set_seeds(&all_devices().collect::<Vec<_>>(), seed)
}

/// Seeds the default generators of the CPU and of every device. Succeeds without a device.
pub fn manual_seed_everywhere(seed: u64) -> Result<()> {
    REGISTRY.set_seeds(&std::iter::once(None).chain(all_devices()).collect::<Vec<_>>(), seed)
}

/// The default generator of the current device, or, without a device, of the one that the thread has in this library.
/// It is there when the program gets a device.
fn default_of_current() -> Result<Key> {
    let device = match context::runtime_if_any()? {
        Some(runtime) => device::current_of_thread(runtime)?,
        None => thread_state::device(),
    };
    default_of(device)
}

/// Seeds the current device's default generator from the operating system. Returns the seed. Succeeds without a
/// device.
pub fn seed() -> Result<u64> {
    numbers::seed_from_entropy(default_of_current()?)
}

/// The seed of the current device's default generator. Succeeds without a device.
pub fn default_seed() -> Result<u64> {
    numbers::initial_seed(default_of_current()?)
}

/// Seeds every device's default generator with one seed from the operating system. Returns the seed. Succeeds without
/// a device.
pub fn seed_all() -> Result<u64> {
    context::runtime_if_any()?;
    let seed = entropy::seed()?;
    manual_seed_all(seed)?;
    Ok(seed)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn device(index: i32) -> Option<DeviceIndex> {
        Some(DeviceIndex::new(index).unwrap())
    }

    fn seed_of(key: Key) -> u64 {
        numbers::initial_seed(key).unwrap()
    }

    #[test]
    fn seeds_wait_for_generators_that_are_still_to_be_made() {
        let registry = Registry::new();
        registry.set_seeds(&all_devices().collect::<Vec<_>>(), 7).unwrap();
        registry.set_seeds(&[device(3)], 8).unwrap();
        assert_eq!(seed_of(registry.get(device(0)).unwrap()), 7);
        assert_eq!(seed_of(registry.get(device(3)).unwrap()), 8);
        registry.set_seeds(&all_devices().collect::<Vec<_>>(), 9).unwrap();
        assert_eq!(seed_of(registry.get(device(3)).unwrap()), 9);
        assert_eq!(seed_of(registry.get(device(1)).unwrap()), 9);
    }

    #[test]
    fn without_a_seed_each_begins_somewhere_else() {
        let registry = Registry::new();
        let [a, b] = [0, 1].map(|index| seed_of(registry.get(device(index)).unwrap()));
        assert_ne!(a, b);
    }

    #[test]
    fn racing_threads_get_one_generator() {
        let registry = Registry::new();
        let keys: Vec<Key> = std::thread::scope(|scope| {
            let threads: Vec<_> =
                (0..8).map(|_| scope.spawn(|| registry.get(device(5)).unwrap())).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        assert!(keys.windows(2).all(|pair| pair[0] == pair[1]));
    }

    #[test]
    fn a_default_generator_cannot_be_destroyed() {
        let registry = Registry::new();
        let key = registry.get(device(2)).unwrap();
        let error = generator::destroy(key).unwrap_err();
        assert!(error.message().contains("default generator of device 2"), "{}", error.message());
        assert!(numbers::initial_seed(key).is_ok());
    }
}
