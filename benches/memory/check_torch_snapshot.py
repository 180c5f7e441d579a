#!/usr/bin/env python3
"""Opens snapshots that Sconce saved with PyTorch's own tools.

    benches/memory/check_torch_snapshot.py BEFORE.pickle AFTER.pickle

AFTER is taken later in the same process, with history on, and both hold some allocations. Every
function of torch.cuda._memory_viz that reads snapshots is called with them, and its command line.
Where there is a GPU, the keys are compared with those of a snapshot of PyTorch's own allocator.
Prints a line a check and exits with 1 if one failed. Written for PyTorch 2.11.
"""

import base64
import contextlib
import copy
import io
import json
import pathlib
import pickle
import re
import subprocess
import sys
import tempfile
import traceback

import torch
from torch.cuda import _memory_viz as viz


class PlainUnpickler(pickle.Unpickler):
    """Refuses everything but plain values, as the viewer in the browser does."""

    def find_class(self, module, name):
        raise AssertionError(f"names the class {module}.{name}")


def load(path):
    with open(path, "rb") as file:
        data = PlainUnpickler(file).load()
        assert not file.read(), "something follows the pickle"
    return data


def lines(text):
    """What a flame graph is drawn from: a stack of names and bytes, a line each. Where a free block
    is smaller than what its last owner asked for, a gap is negative."""
    found = [line.rsplit(" ", 1) for line in text.splitlines()]
    assert found and all(stack for stack, _ in found), text[:200]
    return [(stack, int(size)) for stack, size in found]


def embedded(page):
    """The snapshot inside a page of the viewer."""
    files = json.loads(re.search(r"const local_files = (\[.*\])\n", page).group(1))
    return pickle.loads(base64.b64decode(files[0]["base64"]))


def count_traces(data):
    return sum(len(entries) for entries in data["device_traces"])


def check_blocks(data):
    assert data["segments"], "no segments"
    blocks = 0
    for segment in data["segments"]:
        at = segment["address"]
        for block in segment["blocks"]:
            assert block["address"] == at, f"a gap before {block['address']:#x}"
            assert block["size"] > 0 and block["frames"] == []
            at += block["size"]
            blocks += 1
        assert at == segment["address"] + segment["total_size"], "blocks do not fill the segment"
        for key, states in (("allocated_size", {"active_allocated"}),
                            ("active_size", {"active_allocated", "active_pending_free"})):
            held = sum(block["size"] for block in segment["blocks"] if block["state"] in states)
            assert segment[key] == held, f"{key} is {segment[key]}, its blocks have {held}"
        assert segment["device"] < len(data["device_traces"]), "a device without a history"
        assert type(segment["segment_pool_id"]) is tuple
    addresses = [segment["address"] for segment in data["segments"]]
    assert addresses == sorted(addresses), "segments are not in order"
    return f"{len(addresses)} segments, {blocks} blocks"


def check_history(data):
    assert count_traces(data), "no history: take the second snapshot with history on"
    for device, entries in enumerate(data["device_traces"]):
        times = [entry["time_us"] for entry in entries]
        assert times == sorted(times), "time runs backwards"
        live = {block["address"] for segment in data["segments"] if segment["device"] == device
                for block in segment["blocks"] if block["state"] == "active_allocated"}
        last = {}
        for entry in entries:
            if entry["action"] in ("alloc", "free_requested", "free_completed"):
                last[entry["addr"]] = entry["action"]
        for address, action in last.items():
            assert (action == "alloc") == (address in live), f"{address:#x} ends with {action}"
    return f"{count_traces(data)} entries"


def check_segsum(data):
    text = viz.segsum(data)  # It checks the sums of each segment and of all.
    found = dict(line.split(": ", 1) for line in text.splitlines() if line.startswith("total_"))
    assert f"segments: {len(data['segments'])}\n" in text, text
    return ", ".join(f"{key[6:]} {value}" for key, value in found.items())


def check_trace(data):
    text = viz.trace(data)
    assert f"{len(max(data['device_traces'], key=len))} entries" in text, text[:200]
    assert "cudaMalloc(" in text or " = " in text, text[:200]
    return f"{len(text.splitlines())} lines"


def check_segments(data):
    found = lines(viz.segments(data, format_flamegraph=lambda text: text))
    # `memory` and `segments` count what was asked for and, apart, what rounding added.
    assert sum(size for _, size in found) == sum(s["total_size"] for s in data["segments"])
    return f"{len(found)} stacks"


def check_memory(data):
    found = lines(viz.memory(data, format_flamegraph=lambda text: text))
    assert any("active_allocated" in stack for stack, _ in found)
    return f"{len(found)} stacks"


def check_compare(before, after):
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        text = viz.compare(before["segments"], after["segments"],
                           format_flamegraph=lambda text: text)
    assert "only_before = [" in said.getvalue() and "only_after = [" in said.getvalue()
    keys = [{(s["address"], s["total_size"]) for s in data["segments"]} for data in (before, after)]
    assert ("only_after" in text) == bool(keys[1] - keys[0]), text[:200]
    assert ("only_before" in text) == bool(keys[0] - keys[1]), text[:200]
    return f"{len(keys[0] - keys[1])} segments went, {len(keys[1] - keys[0])} came"


def check_plot(plot, data):
    page = plot(copy.deepcopy(data))
    assert page.lstrip().startswith("<!DOCTYPE html>") and "MemoryViz.js" in page
    assert embedded(page) == data, "the page holds another snapshot"
    return f"{len(page)} characters"


def check_filtered(data):
    kept = embedded(viz.trace_plot(copy.deepcopy(data), filter_freed=True))
    assert count_traces(kept) < count_traces(data), "nothing was freed while history was on"
    return f"{count_traces(data)} entries, {count_traces(kept)} of them not freed"


def check_command(arguments):
    """The command line, as users call it; it prints, or writes the file after -o."""
    done = subprocess.run([sys.executable, "-m", "torch.cuda._memory_viz", *arguments],
                          capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr[-500:]
    text = done.stdout
    if "-o" in arguments:
        text = pathlib.Path(arguments[arguments.index("-o") + 1]).read_text()
    assert text.strip(), "nothing came out"
    return f"{len(text)} characters"


def shape(value, at="snapshot", found=None):
    """Which keys stand where, and the types of what they hold."""
    found = {} if found is None else found
    if isinstance(value, dict):
        for key, inner in value.items():
            shape(inner, f"{at}.{key}", found)
    elif isinstance(value, list):
        for inner in value:
            shape(inner, f"{at}[]", found)
    found.setdefault(at, set()).add(type(value).__name__)
    return found


def torch_snapshot():
    torch.cuda.memory._record_memory_history(context=None, max_entries=1000)
    held = [torch.empty(size, device="cuda") for size in (100, 1 << 20, 1 << 24)]
    del held[1]
    data = torch.cuda.memory._snapshot()
    torch.cuda.memory._record_memory_history(enabled=None)
    return data


def check_keys(data):
    theirs, ours = shape(torch_snapshot()), shape(data)
    # Only events of private pools and of failures have these; stacks are what we do not take.
    rare = {"snapshot.device_traces[][].pool_id", "snapshot.device_traces[][].device_free"}
    surplus = {key for key in ours if key not in theirs} - rare
    missing = {key for key in theirs if key not in ours and "frames[]" not in key
               and not key.startswith("snapshot.external_annotations")}
    other = {key for key in ours if key in theirs and ours[key] != theirs[key]}
    missing -= {"snapshot.device_traces[][].frames"}
    assert not (surplus or missing or other), f"{surplus=} {missing=} {other=}"
    return f"{len(ours)} places"


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    paths = sys.argv[1:]
    failed, passed = [], 0

    def check(name, function, *arguments):
        nonlocal passed
        try:
            print(f"viz {name} ok: {function(*arguments)}", flush=True)
            passed += 1
        except Exception as failure:  # The next check is still worth making.
            last = traceback.extract_tb(failure.__traceback__)[-1]
            print(f"viz {name} FAILED: {type(failure).__name__}: {failure} ({last.name}, line "
                  f"{last.lineno})", flush=True)
            failed.append(name)

    snapshots = []
    for path in paths:
        check(f"load {path}", lambda: snapshots.append(load(path)) or sorted(snapshots[-1]))
    if len(snapshots) == 2:
        before, after = snapshots
        for name, data in zip(("before", "after"), snapshots):
            check(f"blocks {name}", check_blocks, data)
            check(f"segsum {name}", check_segsum, data)
            check(f"segments {name}", check_segments, data)
            check(f"memory {name}", check_memory, data)
            check(f"segment_plot {name}", check_plot, viz.segment_plot, data)
        check("history", check_history, after)
        check("trace", check_trace, after)
        check("trace_plot", check_plot, viz.trace_plot, after)
        check("trace_plot of segments", check_plot,
              lambda data: viz.trace_plot(data, plot_segments=True), after)
        check("trace_plot without freed", check_filtered, after)
        check("compare", check_compare, before, after)
        with tempfile.TemporaryDirectory() as folder:
            page = str(pathlib.Path(folder) / "page.html")
            check("command stats", check_command, ["stats", paths[1]])
            check("command trace", check_command, ["trace", paths[1]])
            check("command trace_plot", check_command, ["trace_plot", paths[1], "-o", page])
            check("command segment_plot", check_command, ["segment_plot", paths[1], "-o", page])
        if torch.cuda.is_available():
            check("keys as torch's own", check_keys, after)
        else:
            print("viz keys as torch's own skipped: there is no GPU")
    print(f"torch {torch.__version__}: {passed} ok, {len(failed)} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
