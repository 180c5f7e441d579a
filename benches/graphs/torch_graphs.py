"""The figures of `sconce.cpp` for torch.cuda.CUDAGraph: the same work, measured in the same way."""

import statistics
import time

import torch


def show(name, unit, value):
    print(f"{name:<44} {unit:<3} {value:10.3f}")


def queue_and_run(name, stream, work):
    queued, ran = [], []
    for _ in range(60):
        stream.synchronize()
        start = time.perf_counter()
        for _ in range(20):
            work()
        queued.append((time.perf_counter() - start) / 20 * 1e6)
        stream.synchronize()
        ran.append((time.perf_counter() - start) / 20 * 1e6)
    print(name)
    show("  queue", "us", statistics.median(queued))
    show("  queue, fastest round", "us", min(queued))
    show("  with the device", "us", statistics.median(ran))


def make_graphs(name, work):
    made = []
    for _ in range(40):
        with torch.cuda.stream(torch.cuda.Stream()):
            torch.cuda.synchronize()
            graph = torch.cuda.CUDAGraph()
            start = time.perf_counter()
            graph.capture_begin()
            work()
            graph.capture_end()
            made.append((time.perf_counter() - start) * 1e6)
    show(name, "us", statistics.median(made))


def decode(x, gates):
    for gate in gates:
        mean = (x * x).mean(-1, keepdim=True)
        normal = x * (mean + 1e-5).rsqrt()
        x = x + torch.nn.functional.silu(normal * gate)
    return x


def main():
    print("torch", torch.__version__)
    stream = torch.cuda.Stream()
    with torch.no_grad(), torch.cuda.stream(stream):
        a, b = torch.zeros(256, device="cuda"), torch.ones(256, device="cuda")

        def additions():
            for _ in range(100):
                a.add_(b)

        additions()
        make_graphs("100 additions: capture and instantiate", additions)
        graph = torch.cuda.CUDAGraph()
        graph.capture_begin()
        additions()
        graph.capture_end()
        queue_and_run("100 additions: eagerly", stream, additions)
        queue_and_run("100 additions: replay", stream, graph.replay)

        gates = [torch.full((256,), 0.25, device="cuda") for _ in range(5)]
        x = torch.full((8, 256), 1.5, device="cuda")
        decode(x, gates)
        make_graphs("decode step: capture and instantiate", lambda: decode(x, gates))
        decoding = torch.cuda.CUDAGraph()
        decoding.capture_begin()
        output = decode(x, gates)
        decoding.capture_end()
        queue_and_run("decode step: eagerly", stream, lambda: decode(x, gates))
        queue_and_run("decode step: replay", stream, decoding.replay)
        del output


if __name__ == "__main__":
    main()
