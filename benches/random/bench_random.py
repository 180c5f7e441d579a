#!/usr/bin/env python3
"""Times the random kernels beside torch, cuRAND and a zero fill, in one run on one GPU.

    benches/random/bench_random.py [--explore] [--quick] [--ptx FILE]

Medians of CUDA-event timings of single fills. `--explore` adds variants of the PTX (stores, blocks a
multiprocessor) and of the grid. Small fills are timed in a replayed graph, which shows what the
device takes, and one by one.
"""

import argparse
import ctypes
import pathlib
import re
import statistics

import torch

import device
import reference as ref

CURAND_PHILOX4_32_10 = 161
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
        self.library = None
        for name in ("libcurand.so.10", "libcurand.so"):
            try:
                self.library = ctypes.CDLL(name)
                break
            except OSError:
                continue
        if self.library is None:
            folder = pathlib.Path(torch.__file__).resolve().parents[1] / "nvidia"
            found = sorted(folder.glob("**/libcurand.so*"))
            if not found:
                return
            self.library = ctypes.CDLL(str(found[0]))
        self.generator = ctypes.c_void_p()
        assert self.library.curandCreateGenerator(ctypes.byref(self.generator), CURAND_PHILOX4_32_10) == 0
        self.library.curandSetPseudoRandomGeneratorSeed(self.generator, ctypes.c_ulonglong(1))
        self.library.curandSetStream(self.generator, device.stream())

    def fill(self, distribution, address, n):
        if distribution == "uniform":
            code = self.library.curandGenerateUniform(self.generator, ctypes.c_void_p(address), ctypes.c_size_t(n))
        else:
            code = self.library.curandGenerateNormal(self.generator, ctypes.c_void_p(address), ctypes.c_size_t(n),
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


class Bench:
    def __init__(self, ptx):
        self.driver = device.Driver()
        self.ptx = ptx
        self.module = self.driver.load(ptx)
        self.curand = CuRand()
        self.buffer = torch.empty(2**32, dtype=torch.uint8, device="cuda")
        self.address = self.buffer.data_ptr()

    def ours(self, distribution, dtype, n, module=None, **options):
        first, second = PARAMETERS[distribution]
        return lambda: (module or self.module).fill(distribution, dtype, self.address, n, 1, 0, first, second, **options)

    def torch(self, distribution, dtype, n):
        view = self.buffer[:n * ref.SIZES[dtype]].view(device.TORCH_DTYPES[dtype])
        return lambda: TORCH[distribution](view)

    def zero(self, size):
        return lambda: self.driver.clear(self.address, size)

    def lengths(self, logs):
        print("f32, TB/s (share of the zero fill)")
        print(f"{'elements':<10}{'zero':>7}" + "".join(
            f"{who + ' ' + what:>22}" for what in ("uniform", "normal") for who in ("sconce", "torch", "cuRAND")))
        for log in logs:
            n = 2**log
            size = 4 * n
            zero = size / median_seconds(self.zero(size)) * 1e-12
            line = f"2^{log:<8}{zero:>7.2f}"
            for what in ("uniform", "normal"):
                works = [self.ours(what, "f32", n), self.torch(what, "f32", n)]
                if self.curand.library is not None:
                    works.append(lambda: self.curand.fill(what, self.address, n))
                for work in works:
                    rate = size / median_seconds(work) * 1e-12
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
            work = lambda: self.module.fill("uniform", "f32", self.address + 4 * shift, n, 1, 0, first, second)
            print(f"  uniform f32 {4 * shift} bytes off alignment {size / median_seconds(work, 7, 2) * 1e-12:.2f}")

    def small(self):
        print("small fills, microseconds each (200 in a replayed graph; one by one from Python)")
        one = torch.zeros(2, dtype=torch.int64, device="cuda")
        rows = [("empty kernel", lambda: self.module.launch("sconce_random_advance", (1, 1), [one.data_ptr(), 0])),
                ("zero 16 KiB", self.zero(16384))]
        for n in (1, 256, 4096, 65536):
            for what in ("uniform", "normal"):
                rows += [(f"{what} {n}", self.ours(what, "f32", n)), (f"{what} {n} torch", self.torch(what, "f32", n))]
        rows += [("uniform f64 4096", self.ours("uniform", "f64", 4096)), ("normal f64 4096", self.ours("normal", "f64", 4096)),
                 ("integers i64 4096", self.ours("integers", "i64", 4096))]
        for name, work in rows:
            side = torch.cuda.Stream()
            graph = torch.cuda.CUDAGraph()
            try:
                with torch.cuda.graph(graph, stream=side):
                    for _ in range(200):
                        work()
                in_graph = f"{median_seconds(graph.replay, 9) / 200 * 1e6:>8.2f}"
            except Exception as error:  # a fill that cannot be captured still has its other figure
                in_graph = f"({type(error).__name__})"
                torch.cuda.synchronize()
            print(f"  {name:<22}{in_graph:>8}{median_seconds(work, 200, 20) * 1e6:>8.2f}", flush=True)

    def explore(self):
        """Variants, as text replacements in the PTX, at 2^29 elements (one launch)."""
        n = 2**29
        size = 4 * n
        text = self.ptx.decode()
        variants = {"as built": text}
        for cache in ("cs", "wt"):
            variants[f"st.{cache}"] = re.sub(r"st\.global\.(v\d)", rf"st.global.{cache}.\1", text)
        for blocks in (3, 5, 6):
            variants[f"{blocks} blocks"] = text.replace(".minnctapersm 4", f".minnctapersm {blocks}")
        zero = size / median_seconds(self.zero(size)) * 1e-12
        print(f"variants at 2^29 f32, share of the zero fill ({zero:.2f} TB/s), by blocks a multiprocessor in the grid")
        counts = (4, 8, 16, 32, 64, 128, 512)
        print(f"{'':<24}" + "".join(f"{count:>8}" for count in counts))
        for name, ptx in variants.items():
            module = self.driver.load(ptx.encode())
            for what in ("uniform", "normal"):
                line = f"{name + ' ' + what:<24}"
                for count in counts:
                    work = self.ours(what, "f32", n, module, blocks_per_sm=count)
                    line += f"{size / median_seconds(work, 7, 2) * 1e-12 / zero:>8.3f}"
                print(line, flush=True)


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--explore", action="store_true")
    options.add_argument("--quick", action="store_true", help="the large f32 fills only")
    options.add_argument("--ptx", type=pathlib.Path, default=device.PTX)
    chosen = options.parse_args()
    bench = Bench(chosen.ptx.read_bytes())
    print(bench.driver.name, "torch", torch.__version__)
    bench.lengths([30] if chosen.quick else range(20, 31, 2))
    if chosen.explore:
        bench.explore()
    if not chosen.quick:
        bench.small()
        bench.kinds()


if __name__ == "__main__":
    main()
