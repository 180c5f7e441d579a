//! Why the server ends connections, and how that is logged: one line for each cause, however often a peer repeats it.

use std::time::{Duration, Instant};

use sconce_base::log;

/// How long a cause is not logged again.
const QUIET: Duration = Duration::from_secs(60);

/// A rule that a peer has broken.
#[derive(Debug)]
pub(crate) struct Refusal {
    /// The rule; the same text each time.
    pub(crate) cause: &'static str,
    /// What the peer has done.
    pub(crate) why: String,
}

impl Refusal {
    pub(crate) fn new(cause: &'static str, why: impl Into<String>) -> Refusal {
        Refusal { cause, why: why.into() }
    }
}

/// What has been logged. There are as many entries as causes in the sources.
#[derive(Default)]
pub(super) struct Complaints(Vec<Complaint>);

struct Complaint {
    cause: &'static str,
    logged: Instant,
    /// How often it has happened since then.
    again: u64,
}

impl Complaints {
    /// Logs a warning, unless its cause has been logged within the last minute; the next line of the cause counts what
    /// was left out. The level `debug` shows every line.
    pub(super) fn warn(&mut self, cause: &'static str, text: &str) {
        match self.line(cause, text, Instant::now()) {
            Some(line) => log::warn(format_args!("{line}")),
            None => log::debug(format_args!("{text}")),
        }
    }

    fn line(&mut self, cause: &'static str, text: &str, now: Instant) -> Option<String> {
        let Some(known) = self.0.iter_mut().find(|known| known.cause == cause) else {
            self.0.push(Complaint { cause, logged: now, again: 0 });
            return Some(String::from(text));
        };
        if now < known.logged + QUIET {
            known.again += 1;
            return None;
        }
        let again = std::mem::take(&mut known.again);
        known.logged = now;
        Some(match again {
            0 => String::from(text),
            again => format!("{text} ({again} more since the last such line)"),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cause_is_logged_once_a_minute_and_the_next_line_counts_the_others() {
        let mut complaints = Complaints::default();
        let start = Instant::now();
        let mut line = |cause, text, seconds| {
            complaints.line(cause, text, start + Duration::from_secs(seconds))
        };
        assert_eq!(line("a", "a of one", 0).as_deref(), Some("a of one"));
        assert_eq!(line("a", "a of two", 1), None);
        assert_eq!(line("b", "b", 1).as_deref(), Some("b"));
        assert_eq!(line("a", "a of three", 59), None);
        let counted = "a of four (2 more since the last such line)";
        assert_eq!(line("a", "a of four", 60).as_deref(), Some(counted));
        assert_eq!(line("a", "a of five", 120).as_deref(), Some("a of five"));
    }
}
