//! Captures, and the graphs that they make.
#![forbid(unsafe_code)]

use super::*;

impl Checker {
    pub(super) fn captured(
        &mut self,
        number: u64,
        lane: Lane,
        by: &Arc<Operation>,
        uses: Option<Vec<Use>>,
    ) {
        let Some(capture) = self.captures.get_mut(&number) else { return };
        capture.work.has_unknown |= uses.is_none();
        let clock = capture.clocks.entry(lane).or_default();
        let epoch = clock.tick(lane);
        let clock = clock.clone();
        let settled = Clock::default();
        let mut found = Vec::new();
        for it in uses.unwrap_or_default() {
            if let Some(history) = &mut self.history {
                history.uses(by.number, it.writes, &it.pattern);
            }
            let new = NewAccess {
                epoch,
                writes: it.writes,
                pattern: &it.pattern,
                by,
                clock: &clock,
                settled: &settled,
            };
            let conflicts = capture.shadow.access(&new);
            found.push((conflicts, it.writes));
            capture.work.nodes.push(NodeUse { uses: it, by: Arc::clone(by) });
        }
        for (conflicts, writes) in found {
            self.conflicts(conflicts, FindingKind::Race, writes, by);
        }
    }

    /// A capture has begun, to which the driver has given a number.
    pub(crate) fn capture_began(&mut self, stream: StreamRef, number: Option<u64>) {
        let lane = self.order.lane(stream);
        self.captures_begun += 1;
        self.captures.insert(self.captures_begun, Capture::default());
        self.order.set_capture(lane, Some(self.captures_begun));
        self.numbers.extend(number.map(|number| (number, self.captures_begun)));
    }

    /// The driver has been asked for the number of the capture that a stream is in. Other code does not say when it
    /// begins a capture, nor when it ends one.
    pub(crate) fn found_capture(&mut self, stream: StreamRef, number: Option<u64>) {
        let lane = self.order.lane(stream);
        let current = self.order.capture_of(lane);
        let found = number.map(|number| self.numbers.get(&number).copied());
        // One that this library has begun says itself when it ends.
        if current.is_some_and(|current| !self.of_others.contains(&current)) {
            return;
        }
        if let Some(current) = current.filter(|current| found != Some(Some(*current))) {
            self.order.end_capture(current);
            self.captures.remove(&current);
            self.of_others.remove(&current);
            self.numbers.retain(|_, own| *own != current);
        }
        match found {
            None => {}
            Some(Some(known)) => self.order.set_capture(lane, Some(known)),
            Some(None) => {
                self.capture_began(stream, number);
                self.of_others.insert(self.captures_begun);
            }
        }
    }

    /// A capture has ended; `graph` is what it made.
    pub(crate) fn capture_ended(&mut self, stream: StreamRef, graph: Option<usize>) {
        let lane = self.order.lane(stream);
        let Some(number) = self.order.capture_of(lane) else { return };
        self.order.end_capture(number);
        self.numbers.retain(|_, own| *own != number);
        let Some(Capture { work, .. }) = self.captures.remove(&number) else { return };
        if let Some(graph) = graph {
            self.graphs.insert(graph, work);
        }
    }

    /// A captured node runs graphs that are captured later.
    pub(crate) fn bodies_added(&mut self, stream: StreamRef, bodies: &[usize]) {
        let lane = self.order.lane(stream);
        let number = self.order.capture_of(lane);
        if let Some(capture) = number.and_then(|number| self.captures.get_mut(&number)) {
            capture.work.bodies.extend(bodies);
        }
    }

    fn work_of(&self, graph: usize) -> Graph {
        let mut work = Graph::default();
        let mut left = vec![graph];
        while let Some(graph) = left.pop() {
            if let Some(Graph { nodes, bodies, has_unknown }) = self.graphs.get(&graph) {
                work.nodes.extend(nodes.iter().cloned());
                work.has_unknown |= has_unknown;
                left.extend(bodies);
            }
        }
        work
    }

    pub(crate) fn instantiated(&mut self, executable: usize, graph: usize) {
        let work = Arc::new(self.work_of(graph));
        let last = self.executables.remove(&executable).map(|old| old.last).unwrap_or_default();
        self.executables.insert(executable, Executable { work, last });
    }

    /// A graph is gone, and with it the bodies of its conditional nodes.
    pub(crate) fn graph_destroyed(&mut self, graph: usize) {
        let mut left = vec![graph];
        while let Some(graph) = left.pop() {
            left.extend(self.graphs.remove(&graph).map(|gone| gone.bodies).unwrap_or_default());
        }
    }

    pub(crate) fn executable_destroyed(&mut self, executable: usize) {
        self.executables.remove(&executable);
    }

    /// Returns the launch's number.
    pub(crate) fn launched(&mut self, executable: usize, stream: StreamRef) -> u64 {
        let lane = self.order.lane(stream);
        let launch = self.operation("graph launch", lane);
        self.last.insert(lane, Arc::clone(&launch));
        let Some(Executable { work, last }) = self.executables.get(&executable) else {
            self.unknown += 1;
            self.last_unknown = launch.number;
            return launch.number;
        };
        let (work, last) = (Arc::clone(work), last.clone());
        if self.order.capture_of(lane).is_some() {
            return launch.number;
        }
        if let Some(history) = &mut self.history {
            let news = self.order.news_in(lane, &last);
            history.learns(WaitKind::Launch, &news, lane, Some(&launch), &launch.site);
        }
        self.order.join(lane, &last);
        let epoch = self.order.begin(lane);
        self.is_pending(epoch, &launch, stream);
        let clock = self.order.clock(lane).clone();
        if work.has_unknown {
            self.last_unknown = launch.number;
        }
        for node in &work.nodes {
            // One operation of the stream, named by its node.
            let name = format!("{} in {}", node.by.name, launch.name);
            let by = Operation { number: launch.number, name, lane, site: launch.site.clone() };
            if node.uses.writes {
                self.shared(
                    node.uses.pattern.start(),
                    node.uses.pattern.end() - node.uses.pattern.start(),
                );
            }
            self.access(epoch, &clock, &node.uses, &Arc::new(by));
        }
        if let Some(executable) = self.executables.get_mut(&executable) {
            executable.last.clone_from(&clock);
        }
        self.launches.join(&clock);
        launch.number
    }
}
