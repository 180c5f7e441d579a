#!/usr/bin/env python3
"""Compares the results of communicators with torch.distributed's: every call, type and operation, bit by bit.

    check_torch.py LIBSCONCE

A process a device. Both libraries work on the same memory of PyTorch, on the legacy default stream. With two ranks the
order of additions cannot matter, so the bits must be equal. It ends with a line of counts.

PyTorch 2.11 gives NCCL the factor of a premultiplied sum of BF16 as an F32, of which NCCL reads the lower half: with
0.5 the sum is 0. This sum is compared with one that is computed here.
"""
import ctypes
import os
import sys

import torch
import torch.distributed as dist
import torch.multiprocessing

# SCONCE_DTYPE_… by PyTorch's types.
TYPES = {
    torch.float32: 0, torch.float64: 1, torch.float16: 2, torch.bfloat16: 3, torch.int8: 4, torch.int16: 5,
    torch.int32: 6, torch.int64: 7, torch.uint8: 8, torch.bool: 9, torch.complex64: 10, torch.complex128: 11,
    torch.float8_e4m3fn: 16, torch.float8_e5m2: 18,
}
# SCONCE_COMM_… by PyTorch's operations.
OPERATIONS = {
    "sum": (0, dist.ReduceOp.SUM), "prod": (1, dist.ReduceOp.PRODUCT), "min": (2, dist.ReduceOp.MIN),
    "max": (3, dist.ReduceOp.MAX), "avg": (4, dist.ReduceOp.AVG),
}
FACTOR = 0.5
SIZES = (1, 7, 1000, 65537)


class Stream(ctypes.Structure):
    _fields_ = [("id", ctypes.c_int64), ("device", ctypes.c_int32), ("reserved", ctypes.c_int32)]


class Library:
    """The C API of communicators."""

    def __init__(self, path, rank):
        self.library = ctypes.CDLL(path)
        self.library.sconce_last_error_message.restype = ctypes.c_char_p
        self.rank, self.stream = rank, Stream(0, rank, 0)
        identity = (ctypes.c_uint8 * 128)()
        if rank == 0:
            self.check(self.library.sconce_comm_get_unique_id(ctypes.byref(identity)))
        everywhere = [bytes(identity)]
        dist.broadcast_object_list(everywhere, 0)
        identity = (ctypes.c_uint8 * 128)(*everywhere[0])
        self.comm = ctypes.c_void_p()
        self.check(self.library.sconce_comm_init_rank(
            ctypes.byref(identity), 2, rank, rank, None, ctypes.byref(self.comm)))

    def check(self, status):
        if status != 0:
            raise RuntimeError(self.library.sconce_last_error_message().decode())

    def call(self, name, *arguments):
        function = getattr(self.library, f"sconce_comm_{name}")
        self.check(function(self.comm, *arguments, self.stream, None))

    def all_reduce(self, tensor, op, factor=0.0):
        at = ctypes.c_void_p(tensor.data_ptr())
        self.call("all_reduce", at, at, ctypes.c_size_t(tensor.numel()), TYPES[tensor.dtype], op, ctypes.c_double(factor))

    def reduce_scatter(self, output, tensor, op):
        self.call("reduce_scatter", ctypes.c_void_p(tensor.data_ptr()), ctypes.c_void_p(output.data_ptr()),
                  ctypes.c_size_t(output.numel()), TYPES[tensor.dtype], op, ctypes.c_double(0))

    def broadcast(self, tensor, root):
        at = ctypes.c_void_p(tensor.data_ptr())
        self.call("broadcast", at, at, ctypes.c_size_t(tensor.numel()), TYPES[tensor.dtype], root)

    def each(self, name, output, tensor, count):
        self.call(name, ctypes.c_void_p(tensor.data_ptr()), ctypes.c_void_p(output.data_ptr()), ctypes.c_size_t(count),
                  TYPES[tensor.dtype])


def drawn(dtype, size, rank, seed):
    """Values of every type that differ from rank to rank."""
    generator = torch.Generator().manual_seed(1000 * seed + rank)
    if dtype == torch.bool:
        return (torch.rand(size, generator=generator) < 0.5).cuda()
    if dtype.is_complex:
        real = torch.float32 if dtype == torch.complex64 else torch.float64
        return torch.view_as_complex(torch.randn(size, 2, dtype=real, generator=generator)).cuda()
    if dtype.is_floating_point:
        return torch.randn(size, generator=generator).to(dtype).cuda()
    low = 0 if dtype == torch.uint8 else -5
    return torch.randint(low, 6, (size,), generator=generator).to(dtype).cuda()


def bits(tensor):
    return tensor.contiguous().view(torch.uint8)


class Counts:
    def __init__(self):
        self.equal, self.refused, self.more, self.different = 0, 0, 0, []

    def compare(self, what, ours, theirs):
        """Both run. What both refuse, and what PyTorch alone refuses, is counted as such."""
        results = []
        for work in (ours, theirs):
            try:
                result = work()
                torch.cuda.synchronize()
                results.append(result)
            except (RuntimeError, ValueError, TypeError) as why:
                results.append(str(why).splitlines()[0])
        if all(isinstance(result, str) for result in results):
            self.refused += 1
        elif isinstance(results[1], str):
            self.more += 1
        elif isinstance(results[0], str):
            self.different.append(f"{what}: refused: {results[0][:90]}")
        elif torch.equal(bits(results[0]), bits(results[1])):
            self.equal += 1
        else:
            self.different.append(f"{what}: other bits")


def sweep(library, rank, counts):
    for seed, (dtype, size) in enumerate((dtype, size) for dtype in TYPES for size in SIZES):
        tensor = drawn(dtype, size, rank, seed)
        both = torch.cat([bits(tensor), bits(tensor).flip(0)]).view(dtype)
        what = f"{dtype} {size}"

        def on_copy(work, source=tensor):
            def run():
                result = source.clone()
                work(result)
                return result
            return run

        def into(elements, work):
            def run():
                result = torch.empty(elements, dtype=dtype, device="cuda")
                work(result)
                return result
            return run

        for name, (op, theirs) in OPERATIONS.items():
            counts.compare(f"all_reduce {name} {what}", on_copy(lambda t: library.all_reduce(t, op)),
                           on_copy(lambda t: dist.all_reduce(t, theirs)))
            counts.compare(f"reduce_scatter {name} {what}",
                           into(size, lambda t: library.reduce_scatter(t, both, op)),
                           into(size, lambda t: dist.reduce_scatter_tensor(t, both, theirs)))
        if dtype in (torch.float16, torch.bfloat16, torch.float32, torch.float64):
            scaled = dist._make_nccl_premul_sum(FACTOR)
            theirs = on_copy(lambda t: dist.all_reduce(t, scaled))
            if dtype == torch.bfloat16:
                def theirs():
                    everyone = [torch.empty_like(tensor) for _ in range(2)]
                    dist.all_gather(everyone, tensor)
                    return everyone[0] * FACTOR + everyone[1] * FACTOR
            counts.compare(f"all_reduce premul {what}", on_copy(lambda t: library.all_reduce(t, 5, FACTOR)), theirs)
        for root in (0, 1):
            counts.compare(f"broadcast {root} {what}", on_copy(lambda t: library.broadcast(t, root)),
                           on_copy(lambda t: dist.broadcast(t, root)))
        counts.compare(f"all_gather {what}", into(2 * size, lambda t: library.each("all_gather", t, tensor, size)),
                       into(2 * size, lambda t: dist.all_gather_into_tensor(t, tensor)))
        counts.compare(f"all_to_all {what}", into(2 * size, lambda t: library.each("all_to_all", t, both, size)),
                       into(2 * size, lambda t: dist.all_to_all_single(t, both)))


def process(rank, address, path):
    torch.cuda.set_device(rank)
    dist.init_process_group("nccl", init_method=address, rank=rank, world_size=2, device_id=torch.device("cuda", rank))
    torch.zeros(1, device="cuda")
    library, counts = Library(path, rank), Counts()
    sweep(library, rank, counts)
    everything = [None, None]
    dist.all_gather_object(everything, (counts.equal, counts.refused, counts.more, counts.different))
    if rank == 0:
        equal, refused, more = (sum(one[index] for one in everything) for index in (0, 1, 2))
        different = [text for one in everything for text in one[3]]
        for text in sorted(set(different))[:40]:
            print(text)
        print(f"comm against torch: {equal} equal, {len(different)} different, {refused} refused by both, {more} by torch")
    dist.barrier()
    os._exit(0 if not counts.different else 1)


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    address = f"file:///tmp/comm-check-{os.getpid()}"
    torch.multiprocessing.spawn(process, (address, os.path.abspath(sys.argv[1])), nprocs=2)


if __name__ == "__main__":
    main()
