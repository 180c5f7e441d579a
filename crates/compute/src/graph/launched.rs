//! The streams on which a graph was launched, and which therefore may use its memory.

use sconce_driver::StreamHandle;
use sconce_runtime::context::Runtime;
use sconce_runtime::stream::{self, Named, Stream};

/// The streams, each once.
#[derive(Default)]
pub(super) struct LaunchStreams(Vec<LaunchedOn>);

/// A stream on which a graph was launched.
struct LaunchedOn {
    /// As the program names it. `None` if that names another stream by now.
    stream: Option<Stream>,
    named: Named,
    /// How often a handle had been found to name another stream than before.
    replacements: u64,
}

impl LaunchedOn {
    /// Whether it is certainly the stream that the program names so.
    #[inline]
    fn is(&self, stream: Stream) -> bool {
        let is_unchanged = || self.replacements == stream::replacements() && !is_of_thread(stream);
        self.stream == Some(stream) && (!self.named.is_foreign() || is_unchanged())
    }
}

/// Whether each thread has another stream of this name.
fn is_of_thread(stream: Stream) -> bool {
    stream.driver_ref().handle == StreamHandle::PER_THREAD
}

impl LaunchStreams {
    /// Notes a launch that was queued by the running call, which names the stream.
    #[inline]
    pub(super) fn note(&mut self, runtime: &Runtime, stream: Stream) {
        if !self.0.iter().any(|known| known.is(stream)) {
            self.add(runtime, stream);
        }
    }

    #[cold]
    #[inline(never)]
    fn add(&mut self, runtime: &Runtime, stream: Stream) {
        // Memory of an earlier graph may wait for the name of a stream of the program.
        stream.note_named(runtime);
        let named = stream.named(runtime);
        let replacements = stream::replacements();
        if let Some(known) = self.0.iter_mut().find(|known| known.named == named) {
            (known.stream, known.replacements) = (Some(stream), replacements);
            return;
        }
        // The program has destroyed a stream that had the handle before. Only a wait for the device tells when its work
        // is done; one such stream stands for all.
        let mut has_gone = self.0.iter().any(|known| known.stream.is_none());
        self.0.retain_mut(|known| {
            let is_gone = known.stream == Some(stream) && !is_of_thread(stream);
            let is_one_more = is_gone && has_gone;
            if is_gone {
                known.stream = None;
                has_gone = true;
            }
            !is_one_more
        });
        self.0.push(LaunchedOn { stream: Some(stream), named, replacements });
    }

    /// All of them.
    pub(super) fn all(&self) -> Vec<Named> {
        self.0.iter().map(|known| known.named).collect()
    }
}
