//! The progress bar, on standard error: shown on a terminal, for work that takes some time.

use std::io::{IsTerminal, Read};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// Shows progress bars, or none.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Progress {
    shown: bool,
}

/// The number of bytes or events below which no bar is shown.
const LONG: u64 = 1 << 20;

impl Progress {
    /// Shows bars if standard error is a terminal.
    pub(crate) fn wanted(wanted: bool) -> Progress {
        Progress { shown: wanted && std::io::stderr().is_terminal() }
    }

    pub(crate) fn bytes(self, what: &'static str, total: u64) -> Bar {
        self.bar(what, total, "{prefix:10} {wide_bar} {bytes}/{total_bytes} {eta}")
    }

    pub(crate) fn events(self, what: &'static str, total: u64) -> Bar {
        self.bar(what, total, "{prefix:10} {wide_bar} {human_pos}/{human_len} events {eta}")
    }

    fn bar(self, what: &'static str, total: u64, template: &str) -> Bar {
        if !self.shown || total < LONG {
            return Bar(ProgressBar::hidden());
        }
        let bar =
            ProgressBar::with_draw_target(Some(total), ProgressDrawTarget::stderr_with_hz(10));
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style);
        }
        bar.set_prefix(what);
        bar.enable_steady_tick(Duration::from_millis(200));
        Bar(bar)
    }
}

pub(crate) struct Bar(ProgressBar);

impl Bar {
    pub(crate) fn set(&self, done: u64) {
        self.0.set_position(done);
    }

    /// A reader that moves the bar.
    pub(crate) fn reader<R: Read>(&self, source: R) -> impl Read {
        self.0.wrap_read(source)
    }

    pub(crate) fn finish(&self) {
        self.0.finish_and_clear();
    }
}
