#!/usr/bin/env python3
"""Runs CuPy with this library as its allocator, and compares what it computes with NumPy.

    cupy_drop_in.py LIBSCONCE               ends with 77 where there is no CuPy
    cupy_drop_in.py LIBSCONCE --imitate     calls the functions as CuPy does, without CuPy
    cupy_drop_in.py LIBSCONCE --imitate FOLDER

The second form needs nothing but the library, and runs on the simulator too. The third also writes
before.pickle and after.pickle into the folder, snapshots with history for check_torch_snapshot.py.
"""

import ctypes
import pathlib
import random
import sys

from figures import Library, summary

SKIPPED = 77


def close(numpy, ours, theirs, what):
    """Raises if CuPy's result differs from NumPy's by more than rounding."""
    scale = float(numpy.max(numpy.abs(theirs))) or 1.0
    worst = float(numpy.max(numpy.abs(ours.get() - theirs))) / scale
    if not worst < 1e-10:
        raise SystemExit(f"{what}: differs from NumPy by {worst:.3g} of the largest value")


def compute(cupy, numpy):
    """Sorts, transforms and products of many sizes; returns how many were compared."""
    draws = numpy.random.default_rng(0)
    compared = 0
    # Results that stay alive, so that blocks of different ages lie side by side.
    kept = []
    for round_ in range(6):
        for n in (1000, 65537, 1 << 20, 3_000_000):
            host = draws.standard_normal(n)
            device = cupy.asarray(host)
            if not numpy.array_equal(cupy.sort(device).get(), numpy.sort(host)):
                raise SystemExit(f"sorting {n} numbers: differs from NumPy")
            close(numpy, cupy.fft.fft(device), numpy.fft.fft(host), f"a transform of {n} numbers")
            compared += 2
            kept.append((device * 2.0 + 1.0, host))
        for n in (17, 256, 700 + 31 * round_):
            a, b = draws.standard_normal((n, n)), draws.standard_normal((n, n))
            close(numpy, cupy.asarray(a) @ cupy.asarray(b), a @ b, f"a product of {n} by {n}")
            compared += 1
        # Some leave, in no order.
        draws.shuffle(kept)
        while len(kept) > 8:
            kept.pop()
    for device, host in kept:
        close(numpy, device, host * 2.0 + 1.0, "an array that was kept")
        compared += 1
    return compared


def with_cupy(library):
    try:
        import cupy
        import numpy
    except ImportError as error:
        print(f"skipped: CuPy is not installed ({error})")
        return SKIPPED
    # CuPy passes this parameter on, and none of the functions uses it.
    allocator = cupy.cuda.CFunctionAllocator(
        0, library.address("sconce_cupy_malloc"), library.address("sconce_cupy_free"), library)
    cupy.cuda.set_allocator(allocator.malloc)
    compared = compute(cupy, numpy)
    cupy.cuda.Device().synchronize()
    stats = library.stats()
    print(f"CuPy {cupy.__version__}: {summary(stats)}")
    if stats["allocation.all.allocated"] < compared:
        raise SystemExit("CuPy did not allocate from this library")
    print(f"cupy drop-in: {compared} results as NumPy's, {stats['allocation.all.allocated']} allocations")
    return 0


def imitate(library, folder):
    """The calls that CuPy makes: a size and a device, later the pointer and the device."""

    def save(name):
        if folder is not None:
            library.call("sconce_memory_save_snapshot", str(folder / name).encode())

    pointer, size, number = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int
    malloc = ctypes.CFUNCTYPE(pointer, pointer, size, number)(library.address("sconce_cupy_malloc"))
    free = ctypes.CFUNCTYPE(None, pointer, pointer, number)(library.address("sconce_cupy_free"))
    draws = random.Random(0)
    live = {}
    made = held = peak = 0
    if folder is not None:
        library.call("sconce_memory_record_history", ctypes.c_bool(True), size(10000))
    for step in range(20000):
        if step == 10000:
            save("before.pickle")
        if live and (draws.random() < 0.45 or len(live) >= 400):
            address = draws.choice(list(live))
            held -= live.pop(address)
            free(None, address, 0)
            continue
        count = int(2 ** draws.uniform(0, 24))
        address = malloc(None, count, 0)
        if not address:
            raise SystemExit(f"no memory for {count} bytes")
        if address % 512 != 0:
            raise SystemExit(f"{address:#x} is not at a multiple of 512")
        for other, other_count in live.items():
            if address < other + other_count and other < address + count:
                raise SystemExit(f"{address:#x} lies in the block at {other:#x}")
        live[address] = count
        made += 1
        held += count
        peak = max(peak, held)
    stats = library.stats()
    for key, expected in (("allocation.all.allocated", made), ("allocation.all.current", len(live)),
                          ("requested_bytes.all.current", held), ("requested_bytes.all.peak", peak)):
        if stats[key] != expected:
            raise SystemExit(f"{key} is {stats[key]} and should be {expected}")
    save("after.pickle")
    for address in live:
        free(None, address, 0)
    # CuPy keeps arrays without elements to itself; others with the same kind of function may not.
    empty = malloc(None, 0, 0)
    if empty:
        raise SystemExit("0 bytes gave an address")
    free(None, empty, 0)
    left = library.stats()["allocation.all.current"]
    if left != 0:
        raise SystemExit(f"{left} blocks are left after everything was freed")
    print(summary(stats))
    print(f"cupy calls: {made} blocks, none overlapped, figures as counted")
    return 0


def main(arguments):
    if not 1 <= len(arguments) <= 3 or arguments[1:2] not in ([], ["--imitate"]):
        print(__doc__, file=sys.stderr)
        return 2
    library = Library(str(pathlib.Path(arguments[0]).resolve()))
    if len(arguments) == 1:
        return with_cupy(library)
    return imitate(library, pathlib.Path(arguments[2]) if len(arguments) == 3 else None)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
