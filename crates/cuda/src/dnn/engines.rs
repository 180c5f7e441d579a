//! The engines for a problem: cuDNN's heuristic guess, then those that work for most problems,
//! without those that the choice forbids.
//!
//! An engine's *notes* describe how it calculates; torch filters engines by the same notes.

use std::sync::Arc;

use cudarc::cudnn::sys::cudnnBackendAttributeName_t::*;
use cudarc::cudnn::sys::cudnnBackendDescriptorType_t as Kind;
use cudarc::cudnn::sys::cudnnBackendHeurMode_t as Mode;
use cudarc::cudnn::sys::cudnnBackendNumericalNote_t::{
    CUDNN_NUMERICAL_NOTE_DOWN_CONVERT_INPUTS as ROUNDS_FACTORS,
    CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC as NONDETERMINISTIC,
    CUDNN_NUMERICAL_NOTE_TENSOR_CORE as TENSOR_CORE,
};
use sconce_base::element::Dtype;
use sconce_base::error::{Error, Result};
use sconce_base::log;
use sconce_driver::{Convolution, ConvolutionEngines, ConvolutionPlan, EngineChoice};

use super::descriptor::{Descriptor, Value};
use super::distrust::narrowed;
use super::plan::Plan;
use super::problem::Problem;
use super::session::Session;
use super::version_of;

/// The lists, in the order in which their engines are listed. One is asked for when no engine of those before it will
/// do: a list takes milliseconds.
const LISTS: [Mode; 2] = [Mode::CUDNN_HEUR_MODE_A, Mode::CUDNN_HEUR_MODE_FALLBACK];
/// A list is a few dozen long.
const MOST_IN_A_LIST: usize = 1024;
/// How many of a list's engines are asked for first, and how many times as many then. cuDNN makes ready each engine
/// that it returns, and opens cuBLAS for some that it recommends last.
const FIRST_ASKED: usize = 2;
const ASKED_GROWTH: usize = 8;

/// Engines of a problem that may be used, as cuDNN's engine configurations.
pub(super) struct Engines {
    session: Arc<Session>,
    element: Dtype,
    choice: EngineChoice,
    configs: Vec<Arc<Descriptor>>,
    /// The first of the lists below, if a part of it has been read.
    list: Option<EngineList>,
    /// Lists that have not been read to their end.
    lists: &'static [Mode],
    /// Why the first list that failed did.
    failed: Option<Error>,
    /// What the configurations are about.
    problem: Problem,
}

impl Engines {
    /// Asks cuDNN, until it knows an engine. The session's context is current.
    pub(super) fn new(
        session: &Arc<Session>,
        convolution: &Convolution,
        choice: EngineChoice,
    ) -> Result<Engines> {
        let choice = narrowed(version_of(&session.functions)?, convolution, choice);
        let problem = Problem::new(session, convolution)?;
        let mut engines = Engines {
            session: session.clone(),
            element: convolution.element,
            choice,
            configs: Vec::new(),
            list: None,
            lists: &LISTS,
            failed: None,
            problem,
        };
        engines.list_until(0)?;
        match engines.failed.take() {
            Some(error) if engines.configs.is_empty() => Err(error),
            _ => Ok(engines),
        }
    }

    /// Reads lists until there is an engine at a place, or no list is left. The session's context is current.
    fn list_until(&mut self, index: usize) -> Result<()> {
        while self.configs.len() <= index
            && let Some((mode, others)) = self.lists.split_first()
        {
            let read = self.read(*mode);
            if self.list.is_none() {
                self.lists = others;
            }
            match read {
                Ok(found) => {
                    for config in found {
                        if is_acceptable(&config, self.element, self.choice)? {
                            self.configs.push(Arc::new(config));
                        }
                    }
                }
                // The other list may know a way all the same.
                Err(error) => {
                    log::debug(format_args!("{mode:?} gives no engine: {}", error.message()));
                    self.failed.get_or_insert(error);
                }
            }
        }
        Ok(())
    }

    /// The next engines of the first list that is left.
    fn read(&mut self, mode: Mode) -> Result<Vec<Descriptor>> {
        let mut list = match self.list.take() {
            Some(list) => list,
            None => EngineList::new(&self.session, &self.problem, mode)?,
        };
        let found = list.read_more()?;
        self.list = (!list.is_read()).then_some(list);
        Ok(found)
    }
}

/// What a heuristic recommends, best first, read in parts.
struct EngineList {
    heuristic: Descriptor,
    /// How many there may be.
    promised: usize,
    /// How many were asked for.
    asked: usize,
    /// How many were returned.
    returned: usize,
}

impl EngineList {
    fn new(session: &Arc<Session>, problem: &Problem, mode: Mode) -> Result<EngineList> {
        let heuristic = Descriptor::new(session, Kind::CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR)?
            .with(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, &Value::Descriptor(&problem.graph))?
            .with(CUDNN_ATTR_ENGINEHEUR_MODE, &Value::HeuristicMode(mode))?
            .finalized()?;
        let promised = heuristic.count(CUDNN_ATTR_ENGINEHEUR_RESULTS)?.min(MOST_IN_A_LIST);
        Ok(EngineList { heuristic, promised, asked: 0, returned: 0 })
    }

    fn is_read(&self) -> bool {
        self.asked == self.promised
    }

    /// The next engines. cuDNN returns those before them again, and may return fewer than were asked for.
    fn read_more(&mut self) -> Result<Vec<Descriptor>> {
        self.asked = (self.asked * ASKED_GROWTH).max(FIRST_ASKED).min(self.promised);
        if self.asked == 0 {
            return Ok(Vec::new());
        }
        let kind = Kind::CUDNN_BACKEND_ENGINECFG_DESCRIPTOR;
        let mut found =
            self.heuristic.descriptors(CUDNN_ATTR_ENGINEHEUR_RESULTS, kind, self.asked)?;
        let known = self.returned.min(found.len());
        self.returned = found.len();
        Ok(found.split_off(known))
    }
}

fn is_acceptable(config: &Descriptor, element: Dtype, choice: EngineChoice) -> Result<bool> {
    let kind = Kind::CUDNN_BACKEND_ENGINE_DESCRIPTOR;
    let engine = config.descriptors(CUDNN_ATTR_ENGINECFG_ENGINE, kind, 1)?;
    let Some(engine) = engine.first() else { return Ok(false) };
    let notes = engine.notes(CUDNN_ATTR_ENGINE_NUMERICAL_NOTE)?;
    Ok(notes.iter().all(|note| allows(*note, element, choice)))
}

/// Whether an engine with a note may be used.
fn allows(note: i32, element: Dtype, choice: EngineChoice) -> bool {
    let is_f32 = element == Dtype::F32;
    match note {
        note if note == NONDETERMINISTIC as i32 => !choice.deterministic,
        // To F16: never asked for.
        note if note == ROUNDS_FACTORS as i32 => !is_f32,
        // Tensor cores have no F32 but TF32.
        note if note == TENSOR_CORE as i32 => !is_f32 || choice.allow_tf32,
        _ => true,
    }
}

impl ConvolutionEngines for Engines {
    fn has(&mut self, index: usize) -> Result<bool> {
        if self.configs.len() <= index && !self.lists.is_empty() {
            let context = self.session.context;
            let _entered = context.enter()?;
            self.list_until(index)?;
        }
        Ok(index < self.configs.len())
    }

    fn plan(&mut self, index: usize) -> Result<Box<dyn ConvolutionPlan>> {
        self.has(index)?;
        let config = self.configs.get(index).ok_or_else(|| {
            Error::invalid_argument(format!(
                "engine {index} does not exist; there are {}",
                self.configs.len()
            ))
        })?;
        let _entered = self.session.context.enter()?;
        Ok(Box::new(Plan::new(&self.session, config)?))
    }
}
