#!/usr/bin/env python3
"""The same figures of PyTorch: torch.cuda.comm in one process, torch.distributed with a process a device.

    pytorch.py          prints `key value us` lines, under the keys of sconce.cpp
"""
import os
import statistics
import sys
import time

import torch
import torch.cuda.comm
import torch.distributed
import torch.multiprocessing


def add(key, value):
    print(f"{key:<32} {value:12.3f} us", flush=True)


def until_done(work, rounds):
    """The median of microseconds until both devices are done."""
    times = []
    for number in range(-3, rounds):
        for device in (0, 1):
            torch.cuda.synchronize(device)
        start = time.perf_counter()
        result = work()
        for device in (0, 1):
            torch.cuda.synchronize(device)
        if number >= 0:
            times.append((time.perf_counter() - start) * 1e6)
        del result
    return statistics.median(times)


def tensors():
    comm = torch.cuda.comm
    first = torch.full((1 << 28,), 1.0, device="cuda:0")
    second = torch.full((1 << 28,), 2.0, device="cuda:1")
    there = torch.zeros(1 << 28, device="cuda:1")
    add("comm_peer_copy", until_done(lambda: there.copy_(first, non_blocking=True), 25))
    add("comm_tensors_broadcast", until_done(lambda: comm.broadcast(first, [0, 1]), 25))
    add("comm_tensors_scatter", until_done(lambda: comm.scatter(first, [0, 1]), 25))
    halves = comm.scatter(first, [0, 1])
    add("comm_tensors_gather", until_done(lambda: comm.gather(halves, 0, 0), 25))
    add("comm_tensors_reduce_add", until_done(lambda: comm.reduce_add([first, second], 0), 25))
    sizes = [64 + index % 64 for index in range(1000)]
    small = [torch.full((size,), float(index), device="cuda:0") for index, size in enumerate(sizes)]
    other = [torch.full((size,), 1.0, device="cuda:1") for size in sizes]
    add("comm_tensors_broadcast_many", until_done(lambda: comm.broadcast_coalesced(small, [0, 1]), 100))
    add("comm_tensors_reduce_add_many", until_done(lambda: comm.reduce_add_coalesced([small, other], 0), 100))


def calls(rank):
    memory = torch.zeros(1 << 28, device="cuda")
    works = {
        "all_reduce": lambda part: torch.distributed.all_reduce(part),
        "broadcast": lambda part: torch.distributed.broadcast(part, 0),
        "reduce": lambda part: torch.distributed.reduce(part, 0),
    }
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        for name, work in works.items():
            for size in (8, 1024, 64 << 10, 1 << 20, 16 << 20, 256 << 20, 1 << 30):
                part = memory[: size // 4]
                is_small = size <= 1 << 20
                batch, rounds = (50, 60) if is_small else (20, 20 if size <= 16 << 20 else 8)
                queue, first, done = [], [], []
                for number in range(-2, rounds):
                    torch.distributed.barrier()
                    stream.synchronize()
                    times = [time.perf_counter()]
                    for _ in range(batch):
                        work(part)
                        times.append(time.perf_counter())
                    stream.synchronize()
                    if number >= 0:
                        done.append((time.perf_counter() - times[0]) / batch * 1e6)
                        each = [(end - begin) * 1e6 for begin, end in zip(times, times[1:])]
                        first.append(each[0])
                        queue += each[1:]
                if rank == 0:
                    add(f"comm_{name}_{size}_queue", statistics.median(queue))
                    add(f"comm_{name}_{size}_first", statistics.median(first))
                    add(f"comm_{name}_{size}_done", statistics.median(done))


def process(rank, address):
    torch.cuda.set_device(rank)
    torch.distributed.init_process_group(
        "nccl", init_method=address, rank=rank, world_size=2, device_id=torch.device("cuda", rank)
    )
    calls(rank)
    torch.distributed.destroy_process_group()


def main():
    if torch.cuda.device_count() < 2:
        sys.exit("pytorch.py: needs 2 devices")
    tensors()
    torch.cuda.empty_cache()
    address = f"file:///tmp/comm-bench-{os.getpid()}"
    torch.multiprocessing.spawn(process, (address,), nprocs=2)


if __name__ == "__main__":
    main()
