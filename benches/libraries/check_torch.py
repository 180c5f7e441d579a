#!/usr/bin/env python3
"""Compares products, convolutions and transforms with PyTorch's, element by element, for random shapes.

    check_torch.py LIBRARY HEADER [SHAPES]

A result fails when it is further from a reference in double precision than twice PyTorch's own result is
(and some units in the last place of the largest element). How many results have PyTorch's very bits is
told beside it: both call the same libraries, which may choose other kernels for them.
Prints a line a kind, then the figures of the cache of plans. Exit status 1 if any failed, 77 without a GPU.
"""

import math
import pathlib
import random
import sys

try:
    import torch
except ImportError:
    print("no PyTorch")
    sys.exit(77)

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from library import Library  # noqa: E402

REFERENCE = {torch.complex32: torch.complex128, torch.complex64: torch.complex128, torch.complex128: torch.complex128}


def wide(tensor):
    return tensor.to(REFERENCE.get(tensor.dtype, torch.float64))


class Tally:
    def __init__(self, name):
        self.name, self.equal, self.close, self.worst, self.failures = name, 0, 0, 0.0, []

    def add(self, what, ours, theirs, reference, unit):
        torch.cuda.synchronize()
        ours, theirs = wide(ours), wide(theirs)
        scale = reference.abs().max().item() if reference.numel() else 0.0
        error, their_error = ((t - reference).abs().max().item() if t.numel() else 0.0 for t in (ours, theirs))
        if torch.equal(ours, theirs):
            self.equal += 1
        elif error <= 2 * their_error + SLACK * unit * scale:
            self.close += 1
        else:
            self.failures.append(f"{what}: error {error:.3g}, PyTorch's {their_error:.3g}, largest {scale:.3g}")
        if scale > 0 and math.isfinite(error):
            self.worst = max(self.worst, error / scale)

    def report(self):
        total = self.equal + self.close + len(self.failures)
        print(f"{self.name:<28} {total:4} shapes: {self.equal:4} equal, {self.close:4} close, "
              f"{len(self.failures):3} wrong; largest relative error {self.worst:.2g}", flush=True)
        for failure in self.failures[:10]:
            print("    ", failure)
        return not self.failures


UNIT = {torch.float16: 2.0 ** -11, torch.bfloat16: 2.0 ** -8, torch.float32: 2.0 ** -24, torch.float64: 2.0 ** -53,
        torch.complex32: 2.0 ** -11, torch.complex64: 2.0 ** -24, torch.complex128: 2.0 ** -53}
TF32 = 2.0 ** -11
# In units of the type: in double precision the reference is itself a sum in some order.
SLACK = 16


def laid_out(shape, dtype, rng):
    """A tensor of random numbers, now and then with gaps or with its last two dimensions exchanged."""
    way = rng.random()
    make = lambda *sizes: torch.randn(*sizes, device="cuda", dtype=torch.float64).to(dtype)
    if way < 0.5:
        return make(*shape)
    if way < 0.8:
        return make(*shape[:-2], shape[-1], shape[-2]).transpose(-1, -2)
    if way < 0.9:
        return make(*shape[:-1], shape[-1] + rng.randint(1, 5))[..., : shape[-1]]
    return make(*shape[:-1], 2 * shape[-1])[..., ::2]


def products(library, shapes, rng):
    fine = True
    for dtype, tf32 in [(torch.float32, True), (torch.float32, False), (torch.float16, True), (torch.bfloat16, True),
                        (torch.float64, True)]:
        tally = Tally(f"matmul {str(dtype)[6:]}" + ((" tf32" if tf32 else " ieee") if dtype == torch.float32 else ""))
        library.use_tf32(tf32)
        for _ in range(shapes):
            batch, m, n, k = (rng.choice([1, 1, rng.randint(2, 9)]), *(rng.randint(1, rng.choice([8, 64, 700]))
                                                                     for _ in range(3)))
            a, b, c = laid_out((batch, m, k), dtype, rng), laid_out((batch, k, n), dtype, rng), laid_out(
                (batch, m, n), dtype, rng)
            alpha, beta = rng.choice([(1.0, 0.0), (1.0, 0.0), (0.5, 1.0), (-2.0, 0.25)])
            reference = alpha * (wide(a) @ wide(b)) + beta * wide(c)
            theirs = torch.baddbmm(c, a, b, alpha=alpha, beta=beta) if batch > 1 else torch.addmm(
                c[0], a[0], b[0], alpha=alpha, beta=beta)[None]
            library.matmul(a, b, c, alpha, beta)
            unit = TF32 if dtype == torch.float32 and tf32 else UNIT[dtype]
            tally.add(f"{batch}x{m}x{n}x{k} {a.stride()} {b.stride()} {c.stride()}", c, theirs, reference, unit)
        fine &= tally.report()
    return fine


def convolutions(library, shapes, rng):
    fine = True
    kinds = [(torch.float32, True), (torch.float32, False), (torch.float16, True), (torch.bfloat16, True),
             (torch.float64, True)]
    for dtype, tf32 in kinds:
        tally = Tally(f"convolution {str(dtype)[6:]}"
                      + ((" tf32" if tf32 else " ieee") if dtype == torch.float32 else ""))
        library.use_tf32(tf32)
        for i in range(shapes):
            rank = rng.choice([1, 2, 2, 2, 3])
            groups = rng.choice([1, 1, 1, 2, 4])
            cin, cout = groups * rng.randint(1, rng.choice([3, 16])), groups * rng.randint(1, rng.choice([3, 16]))
            filters = [rng.choice([1, 2, 3, 3, 5]) for _ in range(rank)]
            stride = [rng.choice([1, 1, 2]) for _ in range(rank)]
            padding = [rng.randint(0, 2) for _ in range(rank)]
            dilation = [rng.choice([1, 1, 2]) for _ in range(rank)]
            sizes = [rng.randint((f - 1) * d + 1, (f - 1) * d + {1: 60, 2: 24, 3: 9}[rank])
                     for f, d in zip(filters, dilation)]
            last = rank == 2 and rng.random() < 0.4
            layout = {"memory_format": torch.channels_last} if last else {}
            make = lambda *s: torch.randn(*s, device="cuda", dtype=torch.float64).to(dtype).contiguous(**layout)
            x, w = make(rng.randint(1, 4), cin, *sizes), make(cout, cin // groups, *filters)
            forward = {1: torch.nn.functional.conv1d, 2: torch.nn.functional.conv2d,
                       3: torch.nn.functional.conv3d}[rank]
            theirs = forward(x, w, None, stride, padding, dilation, groups)
            dy = torch.randn_like(theirs)
            operation = ["FORWARD", "BACKWARD_DATA", "BACKWARD_FILTER"][i % 3]
            back = lambda t, u, v, which: torch.ops.aten.convolution_backward(
                v, t, u, None, stride, padding, dilation, False, [0] * rank, groups, which)
            arguments = ((x, w, theirs), stride, padding, dilation, groups)
            if operation == "FORWARD":
                reference = forward(wide(x).cpu(), wide(w).cpu(), None, stride, padding, dilation, groups).cuda()
                ours = torch.full_like(theirs, float("nan"))
                library.convolution(operation, x, w, ours, *arguments)
            else:
                which = [operation == "BACKWARD_DATA", operation == "BACKWARD_FILTER", False]
                reference = back(wide(x).cpu(), wide(w).cpu(), wide(dy).cpu(), which)[which.index(True)].cuda()
                theirs = back(x, w, dy, which)[which.index(True)]
                ours = torch.full_like(x if which[0] else w, float("nan"))
                library.convolution(operation, dy, w if which[0] else x, ours, *arguments)
            unit = TF32 if dtype == torch.float32 and tf32 else UNIT[dtype]
            what = f"{operation} {tuple(x.shape)} {tuple(w.shape)} s{stride} p{padding} d{dilation} g{groups}"
            tally.add(what + (" last" if last else ""), ours, theirs, reference, unit)
        fine &= tally.report()
    return fine


def transforms(library, shapes, rng):
    fine = True
    for dtype in (torch.complex64, torch.complex128, torch.complex32):
        real = {torch.complex64: torch.float32, torch.complex128: torch.float64, torch.complex32: torch.float16}[dtype]
        for kind in ("C2C", "R2C", "C2R"):
            tally = Tally(f"fft {kind} {str(real)[6:]}")
            for _ in range(shapes if dtype != torch.complex32 else max(shapes // 4, 5)):
                rank, batch = rng.choice([1, 1, 2, 3]), rng.randint(1, 5)
                if dtype == torch.complex32:
                    sizes = [2 ** rng.randint(1, {1: 12, 2: 6, 3: 4}[rank]) for _ in range(rank)]
                else:
                    sizes = [rng.randint(1, rng.choice([9, {1: 5000, 2: 80, 3: 20}[rank]])) for _ in range(rank)]
                half = sizes[:-1] + [sizes[-1] // 2 + 1]
                inverse = kind == "C2R" or (kind == "C2C" and rng.random() < 0.5)
                norm, ours_norm = rng.choice([("backward", "BY_N" if inverse else "NONE"), ("ortho", "BY_ROOT_N"),
                                              ("forward", "NONE" if inverse else "BY_N")])
                make = lambda s, d: torch.view_as_complex(torch.randn(*s, 2, device="cuda", dtype=torch.float64)).to(
                    d) if d.is_complex else torch.randn(*s, device="cuda", dtype=torch.float64).to(d)
                x = make([batch] + (half if kind == "C2R" else sizes), real if kind == "R2C" else dtype)
                if rng.random() < 0.3 and rank > 1:
                    x = x.transpose(-1, -2).contiguous().transpose(-1, -2)
                y = torch.empty([batch] + (half if kind == "R2C" else sizes), device="cuda",
                                dtype=real if kind == "C2R" else dtype)
                axes = tuple(range(1, rank + 1))
                if kind == "C2R":  # what imaginary parts of real sums mean differs between libraries
                    x = torch.fft.rfftn(make([batch] + sizes, torch.float64), dim=axes).to(dtype)
                if kind == "R2C":
                    call = lambda t: torch.fft.rfftn(t, dim=axes, norm=norm)
                elif kind == "C2R":
                    call = lambda t: torch.fft.irfftn(t, s=sizes, dim=axes, norm=norm)
                else:
                    call = lambda t: (torch.fft.ifftn if inverse else torch.fft.fftn)(t, dim=axes, norm=norm)
                kept = x.clone()
                library.fft(kind, "INVERSE" if inverse else "FORWARD", ours_norm, sizes, x, y)
                torch.cuda.synchronize()
                if not torch.equal(torch.view_as_real(x) if x.is_complex() else x,
                                   torch.view_as_real(kept) if kept.is_complex() else kept):
                    tally.failures.append(f"{kind} {sizes} overwrote its input")
                    continue
                reference = call(wide(x).cpu()).cuda()
                tally.add(f"{kind} {batch} x {sizes} {norm}", y, call(x), reference,
                          UNIT[dtype] * max(1.0, math.log2(math.prod(sizes) + 1)))
            fine &= tally.report()
    return fine


def main():
    if not torch.cuda.is_available():
        print("no GPU")
        return 77
    library = Library(pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]))
    shapes = int(sys.argv[3]) if len(sys.argv) > 3 else 200
    rng = random.Random(20)
    torch.manual_seed(20)
    fine = products(library, shapes, rng)
    fine &= transforms(library, shapes, rng)
    fine &= convolutions(library, shapes, rng)
    return 0 if fine else 1


if __name__ == "__main__":
    sys.exit(main())
