#!/usr/bin/env python3
"""Runs recorded models with sconce-run and compares their outputs with PyTorch's.

    check_models.py SCONCE-RUN FOLDER [--repeat N] [--libtorch PROGRAM]

FOLDER has NAME.pt2, NAME.json (types and shapes of inputs and outputs, the seed) and NAME.bin (their values), as
make_models.py writes them. Prints a line for each model and way to run it: model, way, difference relative to the
largest element, milliseconds from the start of the process to the first result, MB resident, microseconds a call, the
most bytes of the device that a call takes. The first result of calls of one thread is the least of three processes where
PyTorch is beside it, which has three in turns, so that both find their files in memory. Ways are calls of one thread, calls of 16 threads on streams of their own,
and a graph. Ends with 1 if a model fails or differs by more than its limit. PROGRAM is libtorch.cpp, compiled: PyTorch's
own loader, whose calls from one thread and from 16 are two more ways.
"""

import argparse
import json
import math
import os
import pathlib
import re
import struct
import subprocess
import tempfile
import time

# NumPy's names, and bytes an element.
TYPES = {"float32": ("<f4", 4), "int64": ("<i8", 8), "float16": ("<f2", 2)}
# What struct calls those that are compared by size, and the largest difference.
FLOATS = {"float32": ("f", 1e-5), "float16": ("e", 1e-2)}
# Threads that run one model.
THREADS = 16
# Processes whose first results are compared.
STARTS = 3
# Draws from the generator: every bit counts.
EXACT = {"dropout"}


def npy(path, entry, values):
    shape = "".join(f"{size}, " for size in entry["shape"])
    header = f"{{'descr': '{TYPES[entry['dtype']][0]}', 'fortran_order': False, 'shape': ({shape}), }}"
    header += " " * (-(len(header) + 11) % 64) + "\n"
    path.write_bytes(b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header.encode() + values)


def size_of(entry):
    return math.prod(entry["shape"]) * TYPES[entry["dtype"]][1]


def difference(entry, ours, theirs):
    """The largest difference as a share of what is allowed, and relative to the largest element; both are infinity
    where whole numbers differ."""
    if ours == theirs:
        return 0.0, 0.0
    if entry["dtype"] not in FLOATS or len(ours) != len(theirs):
        return math.inf, math.inf
    letter, most = FLOATS[entry["dtype"]]
    ours, theirs = ([value for (value,) in struct.iter_unpack(f"<{letter}", all)] for all in (ours, theirs))
    apart = max(abs(a - b) if a == a and b == b else math.inf for a, b in zip(ours, theirs))
    apart /= max(max(map(abs, theirs)), 1e-30)
    return apart / most, apart


class Model:
    def __init__(self, folder, name, place):
        self.name, self.package, self.place = name, folder / f"{name}.pt2", place
        described = json.loads((folder / f"{name}.json").read_text())
        values = (folder / f"{name}.bin").read_bytes()
        self.inputs, self.outputs, at = [], [], 0
        for entries, into in ((described["inputs"], self.inputs), (described["outputs"], self.outputs)):
            for entry in entries:
                into.append((entry, values[at:at + size_of(entry)]))
                at += size_of(entry)
        if at != len(values):
            raise SystemExit(f"{name}.bin has other values than {name}.json says")
        self.seed = described["seed"]

    def run(self, program, repeat, *more):
        words = [program.resolve(), self.package, "--seed", str(self.seed), "--repeat", str(repeat), *more]
        for at, (entry, values) in enumerate(self.inputs):
            path = self.place / f"{self.name}.in{at}.npy"
            npy(path, entry, values)
            words += ["--input", path]
        results = [self.place / f"{self.name}.out{at}.npy" for at in range(len(self.outputs))]
        for path in results:
            words += ["--output", path]
        words += ["--begin", time.monotonic_ns()]
        done = subprocess.run([str(word) for word in words], capture_output=True, text=True)
        if done.returncode != 0:
            return None, None, (done.stderr.strip().splitlines() or ["no message"])[-1]
        apart = max(difference(entry, path.read_bytes()[-size_of(entry):], values)
                    for (entry, values), path in zip(self.outputs, results))
        return *apart, done.stdout


    def run_libtorch(self, program, repeat, threads):
        """What PyTorch's loader prints for the model; nothing if it fails."""
        words = [program.resolve(), self.package, repeat, threads]
        for at, (entry, values) in enumerate(self.inputs):
            path = self.place / f"{self.name}.in{at}.raw"
            path.write_bytes(values)
            words.append(f"{entry['dtype']}:{'x'.join(map(str, entry['shape']))}:{path}")
        # Of this program alone: sconce-run is to find no library of PyTorch.
        environment = os.environ | {"LD_LIBRARY_PATH": os.environ.get("TORCH_PATHS", "")}
        environment["BEGIN_NS"] = str(time.monotonic_ns())
        done = subprocess.run([str(word) for word in words], capture_output=True, text=True, env=environment)
        return done.stdout if done.returncode == 0 else ""


def figures(text):
    """Milliseconds to the first result, MB resident, microseconds a call, bytes of the device a call."""
    patterns = (r"first result after ([0-9.]+) ms", r"([0-9]+) MB resident", r"([0-9.]+) us a call",
                r"a call takes ([0-9]+) bytes")
    return [figure(text, pattern) for pattern in patterns]


def figure(text, pattern):
    found = re.search(pattern, text)
    return found.group(1) if found else "-"


def least(of, others):
    """Figures with the earliest first result among others."""
    firsts = [float(one[0]) for one in (of, *others) if one[0] != "-"]
    return [f"{min(firsts):.1f}" if firsts else "-", *of[1:]]


def first_results(model, arguments):
    """The figures of further processes of sconce-run, and of PyTorch's loader, in turns."""
    ours, theirs = [], []
    for _ in range(STARTS - 1):
        share, _, text = model.run(arguments.program, 1)
        if share is not None:
            ours.append(figures(text))
        theirs.append(figures(model.run_libtorch(arguments.libtorch, 1, 1)))
    return ours, theirs


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program", type=pathlib.Path)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--repeat", type=int, default=1000)
    parser.add_argument("--cpu", action="store_true", help="the models for the CPU only")
    parser.add_argument("--libtorch", type=pathlib.Path, help="PyTorch's loader, for models of CUDA")
    arguments = parser.parse_args()
    names = sorted(path.stem for path in arguments.folder.glob("*.pt2") if path.with_suffix(".bin").exists())
    names = [name for name in names if name.startswith("cpu_") or not arguments.cpu]
    if not names:
        raise SystemExit(f"there are no models in {arguments.folder}")
    failures = 0
    print("# model way result difference first_ms resident_mb call_us call_bytes")
    with tempfile.TemporaryDirectory() as place:
        for name in names:
            model = Model(arguments.folder, name, pathlib.Path(place))
            has_peer = arguments.libtorch is not None and not name.startswith("cpu_")
            ours, theirs = first_results(model, arguments) if has_peer else ([], [])
            ways = [("calls", []), ("threads", ["--threads", THREADS])]
            is_exact = name.removeprefix("cpu_") in EXACT
            # The runs before the capture of a graph draw nothing, so its first result has PyTorch's bits, too.
            if not name.startswith("cpu_"):
                ways.append(("graph", ["--graph"]))
            for way, words in ways:
                share, apart, text = model.run(arguments.program, arguments.repeat, *words)
                if apart is None:
                    failures += 1
                    print(name, way, "FAILED", text)
                    continue
                good = share <= (0 if is_exact else 1)
                failures += not good
                found = least(figures(text), ours if way == "calls" else [])
                print(name, way, "ok" if good else "FAILED", f"{apart:.1e}", *found, flush=True)
            if has_peer:
                for way, threads in (("libtorch", 1), ("libtorch_threads", THREADS)):
                    text = model.run_libtorch(arguments.libtorch, arguments.repeat, threads)
                    found = least(figures(text), theirs if threads == 1 else [])
                    print(name, way, "ok" if text else "skipped", "-", *found, flush=True)
    raise SystemExit(1 if failures else 0)


main()
