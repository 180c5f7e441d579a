#!/usr/bin/env python3
"""Times the random kernels beside torch, cuRAND and a zero fill, in one run on one GPU.

    benches/random/bench_random.py [--explore] [--quick] [--kernels FOLDER]
                                   [--library libsconce.so --header dtype.h]

With `--library` the large fills go through the C API, as a user's do.

Medians of CUDA-event timings, of single fills from 2^25 elements on; below, launches from Python
would be what is timed, so graphs of many fills are replayed. `--explore` adds variants of the PTX
(stores, blocks a multiprocessor) and of the grid. Small fills are also timed one by one.
"""

import argparse
import ctypes
import pathlib
import re
import statistics
import time

import torch

import device
import library
import reference as ref

CURAND_PHILOX4_32_10 = 161
EMPTY = b".version 8.0\n.target sm_75\n.address_size 64\n.visible .entry empty() { ret; }\n"
PARAMETERS = {"uniform": (0.0, 1.0), "normal": (0.0, 1.0), "log_normal": (0.5, 1.25), "exponential": (1.5, 0),
              "cauchy": (0.0, 1.0), "geometric": (0.2, 0), "bernoulli": (0.3, 0), "full_range": (0, 0),
              "integers": (10, 0)}
TORCH = {"uniform": lambda x: x.uniform_(), "normal": lambda x: x.normal_(),
         "log_normal": lambda x: x.log_normal_(0.5, 1.25), "exponential": lambda x: x.exponential_(1.5),
         "cauchy": lambda x: x.cauchy_(), "geometric": lambda x: x.geometric_(0.2),
         "bernoulli": lambda x: x.bernoulli_(0.3), "full_range": lambda x: x.random_(),
         "integers": lambda x: x.random_(0, 10)}


class CuRand:
    def __init__(self):
        self.shared = None
        for name in ("libcurand.so.10", "libcurand.so"):
            try:
                self.shared = ctypes.CDLL(name)
                break
            except OSError:
                continue
        if self.shared is None:
            folder = pathlib.Path(torch.__file__).resolve().parents[1] / "nvidia"
            found = sorted(folder.glob("**/libcurand.so*"))
            if not found:
                return
            self.shared = ctypes.CDLL(str(found[0]))
        self.generator = ctypes.c_void_p()
        assert self.shared.curandCreateGenerator(ctypes.byref(self.generator), CURAND_PHILOX4_32_10) == 0
        self.shared.curandSetPseudoRandomGeneratorSeed(self.generator, ctypes.c_ulonglong(1))

    def fill(self, distribution, address, n):
        self.shared.curandSetStream(self.generator, device.stream())
        if distribution == "uniform":
            code = self.shared.curandGenerateUniform(self.generator, ctypes.c_void_p(address), ctypes.c_size_t(n))
        else:
            code = self.shared.curandGenerateNormal(self.generator, ctypes.c_void_p(address), ctypes.c_size_t(n),
                                                     ctypes.c_float(0), ctypes.c_float(1))
        assert code == 0, f"cuRAND: {code}"


def median_seconds(work, repeats=15, warm=3):
    for _ in range(warm):
        work()
    pairs = [(torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)) for _ in range(repeats)]
    for begin, end in pairs:
        begin.record()
        work()
        end.record()
    torch.cuda.synchronize()
    return statistics.median(begin.elapsed_time(end) for begin, end in pairs) * 1e-3


def graph_seconds(work, count):
    """Seconds a fill in a replayed graph of `count`; None if it cannot be captured."""
    work()
    graph = torch.cuda.CUDAGraph()
    try:
        with torch.cuda.graph(graph, stream=torch.cuda.Stream()):
            for _ in range(count):
                work()
    except Exception:
        torch.cuda.synchronize()
        return None
    return median_seconds(graph.replay, 9) / count


def seconds(work, n):
    return median_seconds(work) if n >= 2**25 else graph_seconds(work, 20)


class Bench:
    def __init__(self, folder, through=None):
        self.through = through
        self.driver = device.Driver()
        self.folder = folder
        self.kernels = device.Kernels(self.driver, folder)
        self.curand = CuRand()
        self.buffer = torch.empty(2**32, dtype=torch.uint8, device="cuda")
        self.address = self.buffer.data_ptr()

    def ours(self, distribution, dtype, n, kernels=None, **options):
        first, second = PARAMETERS[distribution]
        return lambda: (kernels or self.kernels).fill(distribution, dtype, self.address, n, 1, 0, first, second, **options)

    def torch(self, distribution, dtype, n):
        view = self.buffer[:n * ref.SIZES[dtype]].view(device.TORCH_DTYPES[dtype])
        return lambda: TORCH[distribution](view)

    def zero(self, size):
        return lambda: self.driver.clear(self.address, size)

    def loads(self):
        """Where the driver has compiled an image before, its cache answers."""
        took = []
        for distribution in PARAMETERS:
            begin = time.perf_counter()
            self.kernels.load(distribution)
            took.append(f"{distribution} {time.perf_counter() - begin:.2f}")
        print("seconds to load:", ", ".join(took))

    def lengths(self, logs):
        print("f32, TB/s (share of the zero fill)")
        print(f"{'elements':<10}{'zero':>7}" + "".join(
            f"{who + ' ' + what:>22}" for what in ("uniform", "normal") for who in ("sconce", "torch", "cuRAND")))
        for log in logs:
            n = 2**log
            size = 4 * n
            zero = size / seconds(self.zero(size), n) * 1e-12
            line = f"2^{log:<8}{zero:>7.2f}"
            for what in ("uniform", "normal"):
                ours = self.ours(what, "f32", n)
                if self.through and n >= 2**25:
                    ours = lambda: self.through.draw(what, "f32", self.address, n, PARAMETERS[what])
                works = [ours, self.torch(what, "f32", n)]
                if self.curand.shared is not None:
                    works.append(lambda: self.curand.fill(what, self.address, n))
                for work in works:
                    took = seconds(work, n)
                    if took is None:
                        line += f"{'not captured':>22}"
                        continue
                    rate = size / took * 1e-12
                    line += f"{rate:>14.2f} ({rate / zero:.3f})"
            print(line, flush=True)

    def kinds(self, size=2**30):
        zero = size / median_seconds(self.zero(size)) * 1e-12
        print(f"other fills of {size >> 20} MiB, TB/s (zero {zero:.2f})")
        for distribution, dtype in [
                ("uniform", "f16"), ("uniform", "bf16"), ("uniform", "f64"), ("normal", "f16"), ("normal", "bf16"),
                ("normal", "f64"), ("log_normal", "f32"), ("exponential", "f32"), ("exponential", "f64"),
                ("cauchy", "f32"), ("cauchy", "f64"), ("geometric", "f32"), ("geometric", "i64"),
                ("bernoulli", "f32"), ("bernoulli", "bool"), ("integers", "i32"), ("integers", "i64"),
                ("integers", "u8"), ("full_range", "i64"), ("full_range", "f32")]:
            n = size // ref.SIZES[dtype]
            mine = size / median_seconds(self.ours(distribution, dtype, n), 7, 2) * 1e-12
            theirs = size / median_seconds(self.torch(distribution, dtype, n), 7, 2) * 1e-12
            print(f"  {distribution:<12}{dtype:<6}{mine:>7.2f} ({mine / zero:.3f}){theirs:>9.2f} ({theirs / zero:.3f})")
        for shift in (1, 2):
            n = size // 4 - 8
            first, second = PARAMETERS["uniform"]
            work = lambda: self.kernels.fill("uniform", "f32", self.address + 4 * shift, n, 1, 0, first, second)
            print(f"  uniform f32 {4 * shift} bytes off alignment {size / median_seconds(work, 7, 2) * 1e-12:.2f}")

    def small(self):
        print("small fills, microseconds each (200 in a replayed graph; one by one from Python)")
        empty = ctypes.c_void_p()
        self.driver.call("cuModuleGetFunction", ctypes.byref(empty), self.driver.load(EMPTY), b"empty")
        rows = [("empty kernel", lambda: self.kernels.launch(empty, (1, 1), [])),
                ("zero 16 KiB", self.zero(16384))]
        for n in (1, 256, 4096, 65536, 262144):
            for what in ("uniform", "normal"):
                rows += [(f"{what} {n}", self.ours(what, "f32", n)), (f"{what} {n} torch", self.torch(what, "f32", n))]
        rows += [("uniform f64 4096", self.ours("uniform", "f64", 4096)), ("normal f64 4096", self.ours("normal", "f64", 4096)),
                 ("integers i64 4096", self.ours("integers", "i64", 4096))]
        for name, work in rows:
            took = graph_seconds(work, 200)
            in_graph = "-" if took is None else f"{took * 1e6:.2f}"
            print(f"  {name:<22}{in_graph:>8}{median_seconds(work, 200, 20) * 1e6:>8.2f}", flush=True)

    def explore(self):
        """Variants, as text replacements in the PTX, at 2^29 elements (one launch)."""
        n = 2**29
        size = 4 * n
        edits = {"as built": lambda ptx: ptx}
        for cache in (b"cs", b"wt"):
            edits[f"st.{cache.decode()}"] = lambda ptx, cache=cache: re.sub(
                rb"st\.global\.(v\d)", rb"st.global." + cache + rb".\1", ptx)
        for blocks in (2, 3, 4, 5, 6):
            edits[f"{blocks} blocks"] = lambda ptx, blocks=blocks: re.sub(
                rb"\.minnctapersm \d", b".minnctapersm %d" % blocks, ptx)
        zero = size / median_seconds(self.zero(size)) * 1e-12
        print(f"variants at 2^29 f32, share of the zero fill ({zero:.2f} TB/s), by blocks a multiprocessor in the grid")
        counts = (4, 8, 16, 32, 64, 128, 512)
        print(f"{'':<24}" + "".join(f"{count:>8}" for count in counts))
        for name, edit in edits.items():
            kernels = device.Kernels(self.driver, self.folder, edit)
            for what in ("uniform", "normal"):
                line = f"{name + ' ' + what:<24}"
                for count in counts:
                    work = self.ours(what, "f32", n, kernels, blocks_per_sm=count)
                    line += f"{size / median_seconds(work, 7, 2) * 1e-12 / zero:>8.3f}"
                print(line, flush=True)


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--explore", action="store_true")
    options.add_argument("--library", dest="shared", type=pathlib.Path)
    options.add_argument("--header", type=pathlib.Path)
    options.add_argument("--quick", action="store_true", help="the large f32 fills only")
    options.add_argument("--kernels", type=pathlib.Path, default=device.KERNELS)
    chosen = options.parse_args()
    bench = Bench(chosen.kernels,
                  library.Library(chosen.shared, chosen.header) if chosen.shared else None)
    print(f"{bench.driver.name}, torch {torch.__version__}")
    bench.loads()
    bench.lengths([30] if chosen.quick else range(20, 31, 2))
    if chosen.explore:
        bench.explore()
    if not chosen.quick:
        bench.small()
        bench.kinds()


if __name__ == "__main__":
    main()
