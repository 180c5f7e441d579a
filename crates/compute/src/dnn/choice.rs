//! Which engine does a convolution: the first that can, or the fastest.
//!
//! An engine that cannot do the problem after all, or whose workspace cannot be had, is passed over.
//! Any other failure ends the search: the device or the library is in trouble.

use sconce_base::error::{Error, Result, Status};
use sconce_driver::{ConvolutionEngines, ConvolutionPlan};

/// What engines are tried with.
pub(super) trait Trial {
    /// Memory of the device for one execution.
    type Workspace;
    /// Gets it.
    fn workspace(&self, bytes: usize) -> Result<Self::Workspace>;
    /// Executes it, for good.
    fn execute(&self, plan: &mut dyn ConvolutionPlan, workspace: &Self::Workspace) -> Result<()>;
    /// How long an execution takes, in milliseconds.
    fn time(&self, plan: &mut dyn ConvolutionPlan, workspace: &Self::Workspace) -> Result<f32>;
}

/// An engine that was made ready and executed.
pub(super) struct Chosen {
    /// Its place in the library's order.
    pub(super) index: usize,
    pub(super) plan: Box<dyn ConvolutionPlan>,
    /// Others were passed over for want of memory, which may be there another time.
    pub(super) for_want_of_memory: bool,
}

/// Tries engines.
pub(super) struct Search<'a, T: Trial> {
    engines: &'a mut dyn ConvolutionEngines,
    trial: &'a T,
    deterministic: bool,
    tried: usize,
    last: Option<Error>,
    wants_memory: bool,
}

impl<'a, T: Trial> Search<'a, T> {
    pub(super) fn new(
        engines: &'a mut dyn ConvolutionEngines,
        trial: &'a T,
        deterministic: bool,
    ) -> Self {
        Search { engines, trial, deterministic, tried: 0, last: None, wants_memory: false }
    }

    /// Runs the first that can do it; before all others the one that was `found` earlier.
    pub(super) fn first(mut self, found: Option<usize>) -> Result<Chosen> {
        for index in found.into_iter().chain((0..).filter(|index| Some(*index) != found)) {
            if !self.engines.has(index)? {
                // The list may have become shorter since an engine was found; behind its end there is nothing.
                if Some(index) == found {
                    continue;
                }
                break;
            }
            let run = self.ready(index).and_then(|(mut plan, workspace)| {
                self.trial.execute(plan.as_mut(), &workspace)?;
                Ok(plan)
            });
            if let Some(plan) = self.unless_passed_over(run)? {
                return Ok(Chosen { index, plan, for_want_of_memory: self.wants_memory });
            }
        }
        Err(self.none_left())
    }

    /// Runs the fastest of the first `limit` (0: of all) that can do it.
    pub(super) fn fastest(mut self, limit: usize) -> Result<Chosen> {
        let mut best: Option<(f32, usize, Box<dyn ConvolutionPlan>)> = None;
        let mut timed = 0;
        for index in 0.. {
            if !self.engines.has(index)? {
                break;
            }
            let run = self.ready(index).and_then(|(mut plan, workspace)| {
                let took = self.trial.time(plan.as_mut(), &workspace)?;
                Ok((took, index, plan))
            });
            let Some(run) = self.unless_passed_over(run)? else { continue };
            if best.as_ref().is_none_or(|best| run.0 < best.0) {
                best = Some(run);
            }
            timed += 1;
            if timed == limit {
                break;
            }
        }
        let Some((_, index, mut plan)) = best else { return Err(self.none_left()) };
        // Each workspace was given back before the next was got.
        let workspace = self.trial.workspace(plan.workspace_bytes())?;
        self.trial.execute(plan.as_mut(), &workspace)?;
        Ok(Chosen { index, plan, for_want_of_memory: self.wants_memory })
    }

    fn ready(&mut self, index: usize) -> Result<(Box<dyn ConvolutionPlan>, T::Workspace)> {
        self.tried += 1;
        let plan = self.engines.plan(index)?;
        let workspace = self.trial.workspace(plan.workspace_bytes())?;
        Ok((plan, workspace))
    }

    fn unless_passed_over<U>(&mut self, result: Result<U>) -> Result<Option<U>> {
        match result {
            Ok(value) => Ok(Some(value)),
            Err(error) => match error.status() {
                Status::NotSupported | Status::OutOfMemory => {
                    self.wants_memory |= error.status() == Status::OutOfMemory;
                    self.last = Some(error);
                    Ok(None)
                }
                _ => Err(error),
            },
        }
    }

    #[cold]
    fn none_left(self) -> Error {
        let status = if self.wants_memory { Status::OutOfMemory } else { Status::NotSupported };
        let which = if self.deterministic { "deterministic " } else { "" };
        let what = match (self.tried, &self.last) {
            (tried, Some(last)) => format!(
                "none of the {tried} {which}engines that cuDNN has for this convolution can be used; \
                 the last failed so: {}",
                last.message()
            ),
            (_, None) => format!("cuDNN has no {which}engine for this convolution"),
        };
        let remedy = if self.deterministic {
            "; others may do it if sconce_context_set_deterministic_cudnn and \
             sconce_context_set_deterministic_algorithms are both set to false"
        } else {
            ""
        };
        Error::new(status, what + remedy)
    }
}

#[cfg(test)]
mod tests {
    use std::cell::{Cell, RefCell};
    use std::rc::Rc;

    use sconce_base::types::DevicePtr;

    use super::*;

    /// What an engine is like: why it cannot be made ready, its workspace.
    #[derive(Clone, Copy)]
    struct Engine(Option<Status>, usize);

    /// The workspace of an engine that fails when it runs.
    const FAILS: usize = 77;

    impl ConvolutionPlan for Engine {
        fn workspace_bytes(&self) -> usize {
            self.1
        }

        fn execute(
            &mut self,
            _: DevicePtr,
            _: DevicePtr,
            _: DevicePtr,
            _: DevicePtr,
        ) -> Result<()> {
            Ok(())
        }
    }

    /// All of them, and how many have been asked for.
    struct Engines(Vec<Engine>, usize);

    impl ConvolutionEngines for Engines {
        fn has(&mut self, index: usize) -> Result<bool> {
            self.1 = self.1.max(index + 1);
            Ok(index < self.0.len())
        }

        fn plan(&mut self, index: usize) -> Result<Box<dyn ConvolutionPlan>> {
            match self.0[index] {
                Engine(Some(status), ..) => Err(Error::new(status, format!("no plan {index}"))),
                engine => Ok(Box::new(engine)),
            }
        }
    }

    /// A device with as much memory, where executions take so long one after the other.
    struct Device {
        memory: usize,
        takes: Vec<Result<f32>>,
        timed: RefCell<Vec<usize>>,
        held: Rc<Cell<usize>>,
        ran: Cell<usize>,
    }

    struct Held(Rc<Cell<usize>>, usize);

    impl Drop for Held {
        fn drop(&mut self) {
            self.0.set(self.0.get() - self.1);
        }
    }

    impl Trial for Device {
        type Workspace = Held;

        fn workspace(&self, bytes: usize) -> Result<Held> {
            if self.held.get() + bytes > self.memory {
                return Err(Error::new(Status::OutOfMemory, format!("no {bytes} bytes")));
            }
            self.held.set(self.held.get() + bytes);
            Ok(Held(self.held.clone(), bytes))
        }

        fn execute(&self, plan: &mut dyn ConvolutionPlan, held: &Held) -> Result<()> {
            assert_eq!(self.held.get(), held.1);
            match plan.workspace_bytes() {
                FAILS => Err(Error::not_supported("not to be run")),
                _ => {
                    self.ran.set(self.ran.get() + 1);
                    Ok(())
                }
            }
        }

        fn time(&self, plan: &mut dyn ConvolutionPlan, _: &Held) -> Result<f32> {
            let mut timed = self.timed.borrow_mut();
            timed.push(plan.workspace_bytes());
            self.takes[timed.len() - 1].clone()
        }
    }

    fn device(memory: usize, takes: &[f32]) -> Device {
        let takes = takes.iter().map(|takes| Ok(*takes)).collect();
        Device { memory, takes, timed: RefCell::default(), held: Rc::default(), ran: Cell::new(0) }
    }

    const FINE: Option<Status> = None;
    const UNABLE: Option<Status> = Some(Status::NotSupported);

    fn first(engines: &[Engine], memory: usize, found: Option<usize>) -> Result<(usize, bool)> {
        let device = device(memory, &[]);
        let mut engines = Engines(engines.to_vec(), 0);
        let search = Search::new(&mut engines, &device, false);
        let chosen = search.first(found)?;
        assert_eq!((device.held.get(), device.ran.get()), (0, 1));
        Ok((chosen.index, chosen.for_want_of_memory))
    }

    #[test]
    fn the_first_that_can_be_made_ready_is_taken() {
        let engines = [Engine(UNABLE, 0), Engine(FINE, 100), Engine(FINE, 0)];
        assert_eq!(first(&engines, 100, None), Ok((1, false)));
        assert_eq!(first(&engines, 99, None), Ok((2, true)));
        assert_eq!(first(&engines, 100, Some(2)), Ok((2, false)));
        assert_eq!(first(&engines, 99, Some(1)), Ok((2, true)));
        assert_eq!(first(&engines, 100, Some(0)), Ok((1, false)));
        assert_eq!(first(&engines, 100, Some(3)), Ok((1, false)));
        let failing = [Engine(FINE, FAILS), Engine(FINE, 2)];
        assert_eq!(first(&failing, 100, None), Ok((1, false)));
    }

    #[test]
    fn no_more_engines_are_asked_for_than_are_tried() {
        let three = vec![Engine(UNABLE, 0), Engine(FINE, 0), Engine(FINE, 0)];
        for (found, asked) in [(None, 2), (Some(2), 3), (Some(1), 2)] {
            let (device, mut engines) = (device(0, &[]), Engines(three.clone(), 0));
            Search::new(&mut engines, &device, false).first(found).unwrap();
            assert_eq!(engines.1, asked, "{found:?}");
        }
        let (device, mut engines) = (device(0, &[1.0]), Engines(three, 0));
        Search::new(&mut engines, &device, false).fastest(1).unwrap();
        assert_eq!(engines.1, 2);
    }

    #[test]
    fn other_failures_end_the_search() {
        for status in [Status::Driver, Status::InvalidArgument, Status::LibraryNotFound] {
            let engines = [Engine(Some(status), 0), Engine(FINE, 0)];
            assert_eq!(first(&engines, 0, None).unwrap_err().status(), status);
        }
    }

    fn fastest(device: &Device, engines: &[Engine], limit: usize) -> Result<usize> {
        let mut engines = Engines(engines.to_vec(), 0);
        let chosen = Search::new(&mut engines, device, false).fastest(limit)?;
        assert_eq!((device.held.get(), device.ran.get()), (0, 1));
        Ok(chosen.index)
    }

    #[test]
    fn the_fastest_is_kept_of_as_many_as_the_limit_says() {
        let engines: Vec<Engine> = (0..5).map(|i| Engine(FINE, 10 + i)).collect();
        let times = [5.0, 3.0, 4.0, 3.0, 1.0];
        for (limit, index, timed) in [(0, 4, 5), (1, 0, 1), (2, 1, 2), (4, 1, 4), (99, 4, 5)] {
            let device = device(14, &times);
            assert_eq!(fastest(&device, &engines, limit), Ok(index), "limit {limit}");
            assert_eq!(device.timed.borrow().len(), timed, "limit {limit}");
        }
        // What is passed over does not count.
        let mut some = engines.clone();
        (some[0].0, some[1].1) = (UNABLE, 15);
        let device = device(14, &[2.0, 1.0, 0.5]);
        assert_eq!(fastest(&device, &some, 2), Ok(3));
        assert_eq!(*device.timed.borrow(), [12, 13]);
    }

    #[test]
    fn an_engine_that_fails_when_it_runs_is_passed_over_or_ends_the_search() {
        let engines = [Engine(FINE, 0); 2];
        let mut device = device(0, &[1.0, 2.0]);
        device.takes[0] = Err(Error::not_supported("not this one"));
        assert_eq!(fastest(&device, &engines, 0), Ok(1));
        device.takes[0] = Err(Error::new(Status::Driver, "broken"));
        device.timed.take();
        assert_eq!(fastest(&device, &engines, 0).unwrap_err().status(), Status::Driver);
    }

    #[test]
    fn the_end_of_the_search_tells_how_many_and_why() {
        let engines = [Engine(FINE, 7), Engine(UNABLE, 0)];
        let error = first(&engines, 6, None).unwrap_err();
        assert_eq!(error.status(), Status::OutOfMemory);
        assert!(error.message().contains("none of the 2 engines"), "{error}");
        assert!(error.message().ends_with("the last failed so: no plan 1"), "{error}");
        let error = first(&engines[1..], 6, None).unwrap_err();
        assert_eq!(error.status(), Status::NotSupported);
        for fast in [false, true] {
            let device = device(0, &[]);
            let mut engines = Engines(Vec::new(), 0);
            let search = Search::new(&mut engines, &device, true);
            let chosen = if fast { search.fastest(0) } else { search.first(None) };
            let error = chosen.err().unwrap();
            assert_eq!(error.status(), Status::NotSupported);
            for words in ["no deterministic engine", "_deterministic_cudnn", "_algorithms"] {
                assert!(error.message().contains(words), "{error}");
            }
        }
    }
}
