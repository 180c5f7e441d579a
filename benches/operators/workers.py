"""Worker processes: each runs cases one after another; after a crash another one goes on."""

import ctypes
import json
import os
import selectors
import subprocess
import sys
import time
import traceback

from calls import Bound, run_sconce, run_torch
from pytorch_side import Torch
from sconce_side import Sconce

# Texts of errors after which nothing works in a process, and the status of a worker that ends because of one.
FAULTS = ("illegal", "misaligned", "launch failure", "device-side assert")
AFTER_A_FAULT = 3


def without_a_gpu(side):
    """What operators return that run on the host alone."""
    for library in ("C", "moe"):
        side.load(library)
    answers = {}
    for name, args in [("_C_custom_ar::meta_size", []), ("_C::cutlass_scaled_mm_supports_fp8", [90]),
                       ("_C::cutlass_scaled_mm_supports_fp4", [90]), ("_C::cutlass_scaled_mm_supports_block_fp8", [90]),
                       ("_C::cutlass_group_gemm_supported", [90]), ("_moe_C::moe_permute_unpermute_supported", [])]:
        values, _ = side.pack(args, {})
        results = side.call(side.find(name), values)
        answers[name] = results[0][0].integer
        side.drop(results)
    text = ctypes.c_void_p()
    side.check(side.torch.sconce_op_list(ctypes.byref(text)), True)
    answers["operators"] = ctypes.string_at(text).decode().count("\n")
    return answers


def worker(arguments):
    """A worker process: says `B name` before a case and `R json` after it."""
    if arguments.worker == "torch":
        side, run = Torch(arguments.folder), run_torch
    else:
        side, run = Sconce(arguments.folder, arguments.sconce, arguments.worker == "dry"), run_sconce
    if arguments.worker == "dry":
        print("R " + json.dumps(dict(name="host", answers=without_a_gpu(side))), flush=True)
    for name in arguments.names:
        print(f"B {name}", flush=True)
        try:
            if arguments.worker == "dry":
                bound = Bound(side, name, [1, 2])
                if not bound.before:
                    bound.fill(1)
                bound.call()
                line = dict(name=name, error="called on the CPU")
            else:
                line = run(side, name, arguments.light, arguments.dump)
        except Exception as why:
            if os.environ.get("TRACE"):
                traceback.print_exc()
            line = dict(name=name, error=str(why))
        print("R " + json.dumps(line), flush=True)
        texts = [str(line.get(way)) for way in ("error", "graph", "side", "threads")]
        if any(word in text for text in texts for word in FAULTS):
            raise SystemExit(AFTER_A_FAULT)
    if arguments.worker == "sconce":
        print("R " + json.dumps(dict(name="end", left=side.live())), flush=True)


def workers(kind, names, arguments, dump, until, prefix=()):
    """Runs the cases in worker processes, one after another; returns what they say of each."""
    todo, lines = list(names), {}
    while todo and time.monotonic() < until:
        log = open(dump / f"{kind}.log", "ab")
        command = [*prefix, sys.executable, arguments.program, str(arguments.folder), "--sconce", str(arguments.sconce),
                   "--worker", kind, "--dump", str(dump), *(["--light"] if prefix else []), "--names", ",".join(todo)]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log)
        current, started, pending = None, time.monotonic(), b""
        waiting = selectors.DefaultSelector()
        waiting.register(process.stdout, selectors.EVENT_READ)
        limit = arguments.each * (4 if prefix else 1)
        reason = None
        while True:
            left = min(until, started + limit) - time.monotonic()
            if left <= 0:
                reason = "out of time"
                process.kill()
                break
            if not waiting.select(left):
                continue
            data = os.read(process.stdout.fileno(), 65536)
            if not data:
                break
            pending += data
            *complete, pending = pending.split(b"\n")
            for row in complete:
                row = row.decode(errors="replace")
                if row.startswith("B "):
                    current, started = row[2:], time.monotonic()
                elif row.startswith("R "):
                    line = json.loads(row[2:])
                    line["seconds"] = time.monotonic() - started
                    lines[line["name"]] = line
                    if line["name"] in todo:
                        todo.remove(line["name"])
                    current, started = None, time.monotonic()
                else:
                    log.write((row + "\n").encode())
        status = process.wait()
        log.close()
        if current is not None:
            lines[current] = dict(name=current, error=reason or f"the process ended with status {status}")
            todo.remove(current)
        elif todo and (reason or status not in (0, AFTER_A_FAULT)):
            # It failed outside a case, such as at its start: once more would fail as well.
            for name in todo:
                lines[name] = dict(name=name, error=reason or f"the worker ended with status {status} outside a case")
            todo = []
        elif todo and status == 0:
            break
    for name in todo:
        lines.setdefault(name, dict(name=name, error="not run: out of time"))
    return lines
