#!/usr/bin/env python3
"""Trains a small model with PyTorch's own allocator and with this library as its pluggable allocator.

    torch_drop_in.py LIBSCONCE [STEPS] [--pages]

Each run is a separate process, since PyTorch takes an allocator only before its first use. The
algorithms are deterministic and the seed is the same, so what must be equal is

- every loss, to the last bit: an allocator that hands memory out too early would show here;
- every figure of `torch.cuda.memory_stats()`, since each request reaches the library as the program
  made it: how many blocks, their bytes as asked for and rounded, peaks, segments, calls of the driver.

What may differ: addresses, and speed. Figures that one side lacks are named. With `--pages` the library's memory is
made of pages (`policy:pages`): then of the figures only those of requests must be equal, since blocks are cut in other
places. Ends with 77 where there is no PyTorch with a GPU.
"""

import json
import os
import pathlib
import subprocess
import sys
import time

SKIPPED = 77
# Batches of different sizes make the cache split and merge.
BATCHES = [16, 24, 32, 8, 48, 20]


def model(torch):
    """Convolutions, two transformer blocks and a classifier, some four million weights."""
    nn = torch.nn

    class Classifier(nn.Module):
        def __init__(self):
            super().__init__()
            self.stem = nn.Sequential(
                nn.Conv2d(3, 64, 3, padding=1), nn.BatchNorm2d(64), nn.ReLU(),
                nn.Conv2d(64, 256, 4, stride=4), nn.ReLU())
            layer = nn.TransformerEncoderLayer(256, 8, 1024, dropout=0.1, batch_first=True)
            self.blocks = nn.TransformerEncoder(layer, 2)
            self.head = nn.Linear(256, 10)

        def forward(self, images):
            patches = self.stem(images).flatten(2).transpose(1, 2)
            return self.head(self.blocks(patches).mean(1))

    return Classifier()


def train(torch, device, steps):
    """The loss of every step."""
    torch.manual_seed(0)
    torch.use_deterministic_algorithms(True)
    torch.backends.cudnn.benchmark = False
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.backends.cudnn.allow_tf32 = False
    classifier = model(torch).to(device).train()
    optimizer = torch.optim.AdamW(classifier.parameters(), lr=3e-4)
    losses = []
    # The plain attention: of the fused ones not every version is deterministic.
    with torch.nn.attention.sdpa_kernel(torch.nn.attention.SDPBackend.MATH):
        for step in range(steps):
            # Drawn on the host, so that both runs see the same pictures.
            count = BATCHES[step % len(BATCHES)]
            images = torch.randn(count, 3, 32, 32).to(device)
            labels = torch.randint(10, (count,)).to(device)
            optimizer.zero_grad(set_to_none=True)
            loss = torch.nn.functional.cross_entropy(classifier(images), labels)
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
    return losses


def child(side, library_path, steps):
    """One run; prints losses, figures and seconds as JSON."""
    import torch

    library = None
    if side == "sconce":
        from figures import Library

        torch.cuda.memory.change_current_allocator(torch.cuda.memory.CUDAPluggableAllocator(
            library_path, "sconce_torch_malloc", "sconce_torch_free"))
        library = Library(library_path)
    device = torch.device("cpu" if side == "host" else "cuda:0")
    started = time.monotonic()
    losses = train(torch, device, steps)
    seconds = time.monotonic() - started
    stats = {}
    if side != "host":
        torch.cuda.synchronize()
        stats = dict(library.stats() if library else torch.cuda.memory_stats(0))
    print(json.dumps({"losses": losses, "stats": stats, "seconds": seconds}))


def run(side, library_path, steps, conf=None):
    """A child's findings; `conf` is the library's configuration."""
    environment = dict(os.environ, CUBLAS_WORKSPACE_CONFIG=":4096:8")
    for name in ("PYTORCH_CUDA_ALLOC_CONF", "PYTORCH_ALLOC_CONF", "SCONCE_ALLOC_CONF",
                 "PYTORCH_NO_CUDA_MEMORY_CACHING"):
        environment.pop(name, None)
    if conf:
        environment["SCONCE_ALLOC_CONF"] = conf
    done = subprocess.run([sys.executable, __file__, "--child", side, library_path, str(steps)],
                          env=environment, capture_output=True, text=True, timeout=150)
    if done.returncode != 0:
        raise SystemExit(f"the run with {side} ended with {done.returncode}:\n{done.stderr[-4000:]}")
    return json.loads(done.stdout.splitlines()[-1])


def is_of_requests(key):
    """Whether a figure depends on the program's requests alone, and not on how blocks are cut."""
    return key.startswith(("requested_bytes.", "allocation."))


def compare(theirs, ours):
    """What differs, a line each."""
    different = []
    for step, (a, b) in enumerate(zip(theirs["losses"], ours["losses"], strict=True)):
        if a != b:
            different.append(f"the loss of step {step}: {a!r} against our {b!r}")
    for key in sorted(theirs["stats"].keys() & ours["stats"].keys()):
        a, b = theirs["stats"][key], ours["stats"][key]
        if a != b:
            different.append(f"{key}: {a} against our {b}")
    return different


def main(arguments):
    if arguments[:1] == ["--child"]:
        child(arguments[1], arguments[2], int(arguments[3]))
        return 0
    pages = "--pages" in arguments
    arguments = [word for word in arguments if word != "--pages"]
    if not 1 <= len(arguments) <= 2:
        print(__doc__, file=sys.stderr)
        return 2
    try:
        import torch
    except ImportError:
        print("skipped: PyTorch is not installed")
        return SKIPPED
    if not torch.cuda.is_available():
        print("skipped: PyTorch sees no GPU")
        return SKIPPED
    library_path = str(pathlib.Path(arguments[0]).resolve())
    steps = int(arguments[1]) if len(arguments) == 2 else 50

    from figures import summary

    theirs = run("torch", library_path, steps)
    ours = run("sconce", library_path, steps, "policy:pages" if pages else None)
    print(f"PyTorch {torch.__version__}, {steps} steps, losses {theirs['losses'][0]:.6f} to "
          f"{theirs['losses'][-1]:.6f}")
    for name, side in (("its own allocator", theirs), ("this library", ours)):
        print(f"{name}: {summary(side['stats'])}; {side['seconds']:.2f} s")
    if pages:
        for side in (theirs, ours):
            side["stats"] = {key: value for key, value in side["stats"].items() if is_of_requests(key)}
    both = theirs["stats"].keys() & ours["stats"].keys()
    for name, only in (("PyTorch", theirs), ("this library", ours)):
        lacking = sorted(only["stats"].keys() - both)
        if lacking:
            print(f"figures of {name} alone: {', '.join(lacking)}")
    largest = max(abs(a - b) for a, b in zip(theirs["losses"], ours["losses"], strict=True))
    print(f"largest difference of a loss: {largest!r}")
    different = compare(theirs, ours)
    for line in different:
        print(f"different: {line}")
    equal = len(both) - sum(1 for line in different if not line.startswith("the loss"))
    print(f"torch drop-in: {steps} losses {'equal' if largest == 0 else 'DIFFERENT'}, "
          f"{equal} of {len(both)} figures equal")
    return 1 if different or not both else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
