#!/usr/bin/env python3
"""Operators of vLLM's kernel libraries through libsconce_torch, beside NumPy's results and PyTorch's.

    check_vllm.py FOLDER [--sconce FOLDER] [--sanitize] [--seconds N] [--only NAME,NAME]

FOLDER holds vLLM's libraries, and libsconce.so.0 and libsconce_torch.so unless --sconce names their folder. A worker
process runs one case after another, and another one goes on after a crash. A second kind of worker calls the same
operators through PyTorch, if it is installed, and compares the bits.

Prints a line for each operator: the result of a call, its largest difference, relative to the largest number of the
reference (for whole numbers, how many differ; for quantized ones, the share that differs by a step); the result of a
graph that is captured and launched with other numbers, of a side stream, and of four threads at once; microseconds of a
call, of a launch of the graph and of PyTorch's call; and whether PyTorch's result has the same bits. The last line
counts the operators. --dry needs no GPU and no vLLM kernel: it loads, finds operators and makes arguments.
"""

import argparse
import pathlib
import subprocess
import tempfile
import time

from cases import CASES
from workers import worker, workers


def table(names, lines, theirs):
    """Prints a line for each operator and notes below; returns how many passed and failed."""
    print(f"{'operator':36} {'result':7} {'differ':>8} {'graph':6} {'side':6} {'threads':7} {'us':>8} {'graph us':>8} "
          f"{'torch us':>8}  {'torch':10}")
    good = wrong = 0
    notes = []
    for name in names:
        line, other = lines.get(name, dict(error="not run")), theirs.get(name, {})
        if "error" in line:
            print(f"{name:36} FAILED")
            notes.append(f"{name}: {line['error']}")
            wrong += 1
            continue
        ways = [line[way] for way in ("graph", "side", "threads")]
        fine = line["result"] == "ok" and all(way == "ok" for way in ways) and line["left"] == 0
        good, wrong = good + fine, wrong + (not fine)
        for way in ("graph", "side", "threads"):
            if line[way] != "ok":
                notes.append(f"{name}, {way}: {line[way]}")
        if line["left"]:
            notes.append(f"{name}: {line['left']} tensors left")

        def figure(value):
            return f"{value:8.1f}" if isinstance(value, float) else f"{'-':>8}"

        print(f"{name:36} {line['result']:7} {line['difference']:8.1e} "
              f"{ways[0].split()[0]:6} {ways[1].split()[0]:6} {ways[2].split()[0]:7} {figure(line.get('us'))} "
              f"{figure(line.get('graph_us'))} {figure(other.get('us'))}  {other.get('same', '-')}")
        if "error" in other:
            notes.append(f"{name}, PyTorch: {other['error'].splitlines()[0][:200]}")
        elif other and other.get("result") != "ok":
            notes.append(f"{name}, PyTorch: {other['result']} {other.get('difference')}")
    for note in notes:
        print("#", note[:600])
    return good, wrong


def sanitizer():
    """The program of compute-sanitizer, if it is installed."""
    for place in ("compute-sanitizer", "/usr/local/cuda/bin/compute-sanitizer"):
        try:
            subprocess.run([place, "--version"], capture_output=True, check=True)
            return place
        except (OSError, subprocess.CalledProcessError):
            pass
    return None


def report_sanitizer(folder):
    """Prints what the tool found; returns the number of errors."""
    errors = 0
    for path in sorted(folder.glob("sanitizer-*.txt")):
        rows = path.read_text(errors="replace").splitlines()
        errors += sum(int(row.split("SUMMARY:")[1].split()[0]) for row in rows if "ERROR SUMMARY" in row)
        rows = [row for row in rows if row.startswith("====") and "Saved host" not in row and "Host Frame" not in row]
        print("\n".join("# " + row for row in rows[:40]))
    return errors


def report_logs(folder):
    for name in ("sconce", "torch"):
        path = folder / f"{name}.log"
        if path.exists() and path.stat().st_size:
            print(f"# {name}.log:", path.read_text(errors="replace")[-1500:].replace("\n", "\n#   "))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--sconce", type=pathlib.Path, help="the folder of libsconce.so.0 and libsconce_torch.so")
    parser.add_argument("--sanitize", action="store_true")
    parser.add_argument("--dry", action="store_true", help="without a GPU: everything up to the calls")
    parser.add_argument("--no-torch", action="store_true")
    parser.add_argument("--seconds", type=float, default=190)
    parser.add_argument("--each", type=float, default=25, help="seconds for a case")
    parser.add_argument("--only", default="")
    parser.add_argument("--worker")
    parser.add_argument("--names", default="")
    parser.add_argument("--light", action="store_true")
    parser.add_argument("--dump", type=pathlib.Path)
    arguments = parser.parse_args()
    arguments.program = __file__
    arguments.folder = arguments.folder.resolve()
    arguments.sconce = (arguments.sconce or arguments.folder).resolve()
    if arguments.worker:
        arguments.names = [name for name in arguments.names.split(",") if name]
        return worker(arguments)
    names = [name for name in CASES if not arguments.only or name in arguments.only.split(",")]
    begin = time.monotonic()
    dump = arguments.dump or pathlib.Path(tempfile.mkdtemp())
    dump.mkdir(exist_ok=True, parents=True)
    if arguments.dry:
        for name, line in workers("dry", names, arguments, dump, begin + arguments.seconds).items():
            print(name, line.get("answers") or line.get("error"))
        return
    theirs, prefix = {}, ()
    if arguments.sanitize:
        found = sanitizer()
        if found is None:
            print("compute-sanitizer is not installed; it comes with the CUDA toolkit")
            raise SystemExit(77)
        prefix = (found, "--tool", "memcheck", "--report-api-errors", "no", "--error-exitcode", "99",
                  "--log-file", str(dump / "sanitizer-%p.txt"))
    lines = workers("sconce", names, arguments, dump, begin + arguments.seconds * (1 if prefix else 0.7), prefix)
    if not arguments.sanitize and not arguments.no_torch:
        theirs = workers("torch", names, arguments, dump, begin + arguments.seconds)
    good, wrong = table(names, lines, theirs)
    errors = report_sanitizer(dump) if arguments.sanitize else 0
    report_logs(dump)
    found = f"sanitizer errors: {errors}" if arguments.sanitize else "without the sanitizer"
    print(f"# {time.monotonic() - begin:.0f} s, {found}, "
          f"tensors left at the end: {lines.get('end', {}).get('left', 'unknown')}, logs in {dump}")
    print(f"{good} passed, {wrong} failed")
    raise SystemExit(1 if wrong or errors else 0)


if __name__ == "__main__":
    main()
