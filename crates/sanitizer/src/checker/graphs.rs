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
            let block = self.shadow.block_at(it.pattern.start()).filter(|block| {
                self.blocks.get(&block.address).is_some_and(|live| !live.is_of_graphs)
            });
            let block = block.map(|block| block.allocated.number);
            capture.work.nodes.push(NodeUse { uses: it, by: Arc::clone(by), block });
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

    /// Reports memory of a launch whose block was freed since the capture. Returns the first address whose memory was
    /// given back to the driver.
    fn launch_lives(&mut self, work: &Graph, launch: &Arc<Operation>) -> Option<u64> {
        let mut gone = None;
        for NodeUse { uses, by, block } in &work.nodes {
            let Some(number) = *block else { continue };
            let address = uses.pattern.start();
            if self.shadow.is_released(address) {
                gone = gone.or(self.lives(std::slice::from_ref(uses), &of_node(by, launch)));
                continue;
            }
            let block = self.shadow.block_at(address);
            let freed = block.filter(|it| it.freed.is_some() && it.allocated.number == number);
            if let Some(block) = freed {
                let place =
                    (address, uses.pattern.end().min(block.address + block.bytes) - address);
                let second = (of_node(by, launch), uses.writes);
                self.after_free(FindingKind::UseAfterFree, place, block, second);
            }
        }
        gone
    }

    pub(crate) fn launched(&mut self, executable: usize, stream: StreamRef) -> Told {
        let lane = self.order.lane(stream);
        let launch = self.operation("graph launch", lane);
        self.last.insert(lane, Arc::clone(&launch));
        let Some(Executable { work, last }) = self.executables.get(&executable) else {
            self.unknown += 1;
            self.last_unknown = launch.number;
            return Told { number: launch.number, released: None };
        };
        let (work, last) = (Arc::clone(work), last.clone());
        if self.order.capture_of(lane).is_some() {
            return Told { number: launch.number, released: None };
        }
        let released = self.launch_lives(&work, &launch);
        if released.is_some() {
            return Told { number: launch.number, released };
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
            if node.uses.writes {
                self.shared(
                    node.uses.pattern.start(),
                    node.uses.pattern.end() - node.uses.pattern.start(),
                );
            }
            self.access(epoch, &clock, &node.uses, &of_node(&node.by, &launch));
        }
        if let Some(executable) = self.executables.get_mut(&executable) {
            executable.last.clone_from(&clock);
        }
        self.launches.join(&clock);
        Told { number: launch.number, released: None }
    }
}

/// A launch is one operation of its stream; reports name it by the node that uses the memory.
fn of_node(node: &Operation, launch: &Operation) -> Arc<Operation> {
    let name = format!("{} in {}", node.name, launch.name);
    let (number, lane, site) = (launch.number, launch.lane, launch.site.clone());
    Arc::new(Operation { number, name, lane, site })
}
