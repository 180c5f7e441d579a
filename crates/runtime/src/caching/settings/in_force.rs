//! The configuration in force: from the environment at first use, replaced by `configure`.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use sconce_base::config::Config;
use sconce_base::error::Result;
use sconce_base::lock::{RwLock, rank};
use sconce_base::log;

use super::Settings;
use super::keys::{self, Reading};
use super::notes;

static IN_FORCE: InForce = InForce::new();

/// A configuration that can be replaced, and a number that shows without a lock when it was. Both are
/// written under the lock.
struct InForce {
    settings: RwLock<rank::Settings, Option<Arc<Settings>>>,
    /// 0 until the first configuration, then one more with each.
    generation: AtomicU64,
}

/// The configuration in force.
pub fn current() -> Arc<Settings> {
    IN_FORCE.current(|| Config::get().alloc_conf.as_ref())
}

/// Replaces the configuration by what `text` means. What the text does not mention has its default
/// again, so that a text always means the same; an empty one means the defaults. A text that is
/// refused changes nothing.
pub fn configure(text: &str) -> Result<()> {
    IN_FORCE.configure(text)
}

/// Changes whenever the configuration does. A reader that keeps values reads this first and
/// [`current`] afterwards, so that the values are at least as new as the number.
pub fn generation() -> u64 {
    IN_FORCE.generation.load(Ordering::Acquire)
}

impl InForce {
    const fn new() -> InForce {
        InForce { settings: RwLock::new(None), generation: AtomicU64::new(0) }
    }

    /// No lock is held while a log callback runs, since it may call the library.
    fn current<'a>(&self, found: impl FnOnce() -> Option<&'a (String, String)>) -> Arc<Settings> {
        if let Some(settings) = &*self.settings.read() {
            return Arc::clone(settings);
        }
        let (reading, complaint) = of_environment(found());
        let mut current = self.settings.write();
        if let Some(settings) = &*current {
            return Arc::clone(settings); // Another thread was quicker, and logs what there is to log.
        }
        let settings = Arc::new(reading.settings);
        self.put(&mut current, Arc::clone(&settings));
        drop(current);
        if let Some(complaint) = complaint {
            log::warn(format_args!("{complaint}"));
        }
        notes::say(reading.notes);
        settings
    }

    fn configure(&self, text: &str) -> Result<()> {
        let reading = keys::read(text)?;
        self.put(&mut self.settings.write(), Arc::new(reading.settings));
        notes::say(reading.notes);
        Ok(())
    }

    fn put(&self, current: &mut Option<Arc<Settings>>, settings: Arc<Settings>) {
        *current = Some(settings);
        self.generation.fetch_add(1, Ordering::Release);
    }
}

/// What a variable and its text mean, and a complaint when that is nothing.
fn of_environment(found: Option<&(String, String)>) -> (Reading, Option<String>) {
    let defaults = || Reading { settings: Settings::default(), notes: Vec::new() };
    match found.map(|(name, text)| (name, keys::read(text))) {
        None => (defaults(), None),
        Some((_, Ok(reading))) => (reading, None),
        Some((name, Err(error))) => (
            defaults(),
            Some(format!(
                "{name}: {}; all of it is ignored, and the defaults are used",
                error.message()
            )),
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn configuring_replaces_everything_and_refusals_change_nothing() {
        let found = ("PYTORCH_ALLOC_CONF".to_owned(), "large_segment_size_mb:64".to_owned());
        let own = InForce::new();
        let current = || own.current(|| Some(&found));
        assert_eq!(own.generation.load(Ordering::Relaxed), 0);
        let state = || (current().rounds_plainly(), own.generation.load(Ordering::Relaxed));
        assert_eq!(current().large_segment_bytes, 64 << 20);
        assert_eq!(state(), (true, 1));

        own.configure("max_split_size_mb:64,roundup_power2_divisions:4").unwrap();
        let settings = current();
        assert_eq!((settings.max_split_bytes, settings.large_segment_bytes), (64 << 20, 20 << 20));
        assert_eq!(state(), (false, 2));

        own.configure("max_split_size_mb:128,nonsense:1").unwrap_err();
        assert_eq!(current(), settings);
        assert_eq!(state(), (false, 2));

        own.configure("garbage_collection_threshold:0.5").unwrap();
        assert_eq!(current().max_split_bytes, usize::MAX);
        assert_eq!(current().garbage_collection_threshold, 0.5);
        assert_eq!(state(), (true, 3));

        own.configure("").unwrap();
        assert_eq!(*current(), Settings::default());
    }

    #[test]
    fn the_process_has_settings_from_the_first_question_on() {
        assert!(current().rounds_plainly());
        assert!(generation() > 0);
    }

    #[test]
    fn the_environment_gives_settings_or_a_complaint_that_names_the_variable() {
        let found = |text: &str| ("PYTORCH_ALLOC_CONF".to_owned(), text.to_owned());
        let (reading, complaint) = of_environment(Some(&found("max_split_size_mb:64")));
        assert_eq!((reading.settings.max_split_bytes, complaint), (64 << 20, None));

        let (reading, complaint) = of_environment(Some(&found("max_split_size_mb:64,color:red")));
        assert_eq!(reading.settings, Settings::default());
        let complaint = complaint.unwrap();
        for part in
            ["PYTORCH_ALLOC_CONF", "`color`", "all of it is ignored", "the defaults are used"]
        {
            assert!(complaint.contains(part), "{complaint}");
        }

        let (reading, complaint) = of_environment(None);
        assert_eq!((reading.settings, complaint), (Settings::default(), None));
    }
}
