"""A case with its tensors in memory, and the ways in which its operator is called."""

import threading
import time

import numpy as np

import values
from cases import CASES
from values import T


def all_tensors(case):
    found = []
    for _, args, *_ in case.before:
        found += [a for a in args if isinstance(a, T)]
    found += [a for a in case.args if isinstance(a, T)]
    unique = []
    for t in found:
        if not any(t is u for u in unique):
            unique.append(t)
    return unique


class Bound:
    """A case with its tensors in memory. Data sets of other seeds have the same shapes."""

    def __init__(self, side, name, seeds):
        self.side = side
        self.sets = [CASES[name](np.random.default_rng(seed)) for seed in seeds]
        case = self.case = self.sets[0]
        side.load(case.library)
        self.mine = all_tensors(case)
        self.handles = {id(t): side.upload(t) for t in self.mine}
        # The initial values of every set, in memory: writing them needs no transfer.
        self.sources = [[side.upload(t) for t in all_tensors(s)] for s in self.sets]
        self.op = side.find(case.op)
        self.before, self.results = [], []
        for op, args, *made in case.before:
            words, keep = side.pack(args, self.handles)
            op = side.find(op)
            results = side.call(op, words)
            if made:
                tensor = side.tensors(results)[0]
                self.handles[id(made[0])] = (tensor, tensor)
            self.results.append(results)
            self.before.append((op, words, made, keep))
        self.words, self.keep = side.pack(case.args, self.handles)

    def fill(self, which):
        for t, source in zip(self.mine, self.sources[which]):
            self.side.copy(self.handles[id(t)][0], source[0])
        for op, words, made, _ in self.before:
            results = self.side.call(op, words)
            if made:
                self.side.copy(self.handles[id(made[0])][0], self.side.tensors(results)[0])
            self.side.drop(results)

    def call(self):
        return self.side.call(self.op, self.words)

    def outputs(self, results, raw=None):
        tensors, got = self.side.tensors(results), {}
        for at in self.case.expect:
            handle = tensors[-at - 1] if at < 0 else self.handles[id(self.case.args[at])][1]
            numbers, kind = self.side.read(handle)
            got[at] = values.real(numbers, kind)
            if raw is not None:
                raw[str(at)] = numbers
        return got

    def verify(self, results, which, raw=None):
        got = self.outputs(results, raw)
        apart, good = 0.0, True
        for at, check in self.sets[which].expect.items():
            difference, fine = check(got[at], got)
            apart, good = max(apart, difference), good and fine
        return apart, good

    def once(self, which, raw=None):
        self.fill(which)
        results = self.call()
        self.side.synchronize()
        verdict = self.verify(results, which, raw)
        self.side.drop(results)
        return verdict

    def free(self):
        for results in self.results:
            self.side.drop(results)
        pairs = [self.handles[id(t)] for t in self.mine] + [pair for s in self.sources for pair in s]
        for base, view in pairs:
            if view is not base and view != base:
                self.side.release(view)
            self.side.release(base)


def say(verdict):
    return "ok" if verdict[1] else f"WRONG {verdict[0]:.1e}"


def attempt(work):
    try:
        return work()
    except Exception as why:
        return f"FAILED {why}"


def in_graph(side, bound, stream):
    """Captures a call, and launches the graph with other arguments in the same memory."""
    graph, results = None, None
    bound.fill(0)
    side.synchronize()
    try:
        graph, results = side.capture(stream, bound.call)
        worst = (0.0, True)
        for which in (1, 0, 1):
            bound.fill(which)
            side.replay(graph, stream)
            side.synchronize()
            verdict = bound.verify(results, which)
            worst = (max(worst[0], verdict[0]), worst[1] and verdict[1])
        return say(worst), graph, results
    finally:
        side.use(None)


def on_side(side, bound, stream):
    """A call on a stream that is not the default one."""
    side.use(stream)
    try:
        return say(bound.once(1))
    finally:
        side.use(None)


def from_threads(side, name, rounds):
    """Four threads call at once, each on a stream of its own and with arguments of its own."""
    answers = [None] * 4
    together = threading.Barrier(4)

    def work(me):
        try:
            side.use(side.side_stream())
            bound = Bound(side, name, [10 + me])
            together.wait(30)
            worst = (0.0, True)
            for _ in range(rounds):
                bound.fill(0)
                results = bound.call()
                verdict = bound.verify(results, 0)
                side.drop(results)
                worst = (max(worst[0], verdict[0]), worst[1] and verdict[1])
            bound.free()
            answers[me] = say(worst)
        except Exception as why:
            together.abort()
            answers[me] = f"FAILED {why}"

    threads = [threading.Thread(target=work, args=(me,)) for me in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    bad = [a for a in answers if a != "ok" and "BrokenBarrier" not in a] or [a for a in answers if a != "ok"]
    return bad[0] if bad else "ok"


def timed(side, work, count):
    """Microseconds of one of `count` calls in a row, with the wait for the device at their end."""
    for _ in range(3):
        work()
    side.synchronize()
    begin = time.perf_counter()
    for _ in range(count):
        work()
    side.synchronize()
    return (time.perf_counter() - begin) / count * 1e6


def run_sconce(side, name, light, dump):
    """All ways of a case through Sconce. Results go to `dump`, for PyTorch's worker."""
    before = side.live()
    line = dict(name=name)
    bound, raw = Bound(side, name, [1, 2]), {}
    line["difference"], good = bound.once(0, raw)
    line["result"] = "ok" if good else "WRONG"
    np.savez(dump / f"{name}.npz", **raw)
    stream = side.side_stream()
    graph = results = None
    answer = attempt(lambda: in_graph(side, bound, stream))
    if isinstance(answer, tuple):
        line["graph"], graph, results = answer
    else:
        line["graph"] = answer
    line["side"] = attempt(lambda: on_side(side, bound, stream))
    line["threads"] = attempt(lambda: from_threads(side, name, 2 if light else 8))
    if not light:
        bound.fill(0)
        side.use(None)
        line["us"] = timed(side, side.caller(bound.op, bound.words), 300)
        if graph is not None:
            line["graph_us"] = timed(side, lambda: side.replay(graph, stream), 300)
    if graph is not None:
        side.drop(results)
        side.destroy(graph)
    bound.free()
    side.synchronize()
    line["left"] = side.live() - before
    return line


def run_torch(side, name, light, dump):
    """A call of a case through PyTorch, beside the bits in `dump`."""
    line, raw = dict(name=name), {}
    bound = Bound(side, name, [1])
    line["difference"], good = bound.once(0, raw)
    line["result"] = "ok" if good else "WRONG"
    path = dump / f"{name}.npz"
    if path.exists():
        with np.load(path) as theirs:
            same = all(np.array_equal(raw[key].view(np.uint8), theirs[key].view(np.uint8)) for key in raw)
        line["same"] = "same bits" if same else "other bits"
    bound.fill(0)
    line["us"] = timed(side, side.caller(bound.op, bound.words), 300)
    return line
