"""Operations that models call by name, through their proxy executor."""

import random

import torch

from .operands import FLOATS, REALS, distinct, indices, shape, values

aten = torch.ops.aten
SINGLE_AND_DOUBLE = [torch.float32, torch.float64]


def compare(check, name, arguments, near=None, **how):
    """An operation beside PyTorch's, with the same arguments by their places."""
    if check.wanted and not any(word in name for word in check.wanted):
        return
    base, _, overload = name.partition(".")
    schema = getattr(getattr(aten, base), overload or "default")._schema
    placed = [one for one, what in zip(arguments, schema.arguments) if not what.kwarg_only]
    named = {what.name: one for one, what in zip(arguments, schema.arguments) if what.kwarg_only}
    expected = getattr(getattr(aten, base), overload or "default")(*placed, **named)
    expected = [expected] if isinstance(expected, torch.Tensor) else list(expected)
    # What was not asked for is no tensor in PyTorch on a device, and has no elements here, as in PyTorch on the CPU.
    device = next((one.device for one in placed if isinstance(one, torch.Tensor)), None)
    empty = torch.empty([0], dtype=torch.int64, device=device)
    expected = [empty if one is None else one.resolve_conj().resolve_neg() for one in expected]
    check.compare(name, arguments, expected, near, by_name=True, **how)


def complex_values(sizes, device):
    real = random.choice(SINGLE_AND_DOUBLE)
    return torch.complex(*(values(sizes, real, device).contiguous() for _ in range(2)))


def check_transforms(check, device):
    sizes = shape(random.randint(1, 4), 8)
    dims = random.sample(range(len(sizes)), random.randint(1, len(sizes)))
    norm = random.choice([0, 1, 2])
    whole = complex_values(sizes, device)
    compare(check, "_fft_c2c", [whole, dims, norm, random.random() < 0.5], 1e-4)
    real = values(sizes, random.choice(SINGLE_AND_DOUBLE), device)
    compare(check, "_fft_r2c", [real, dims, norm, random.random() < 0.8], 1e-4)
    # The imaginary parts of what has no counterpart are not read alike: the transform of real numbers has none.
    half = torch.fft.rfftn(real, dim=dims)
    length = real.shape[dims[-1]] if random.random() < 0.7 else max(1, 2 * (half.shape[dims[-1]] - 1))
    compare(check, "_fft_c2r", [half, dims, norm, length], 1e-4)


def check_windows(check, device):
    length = random.choice([0, 1, 2, 3, random.randint(4, 60)])
    options = [random.choice([None, torch.float32, torch.float64]), None, None, None]
    if device == "cuda":
        options[2] = "cuda"
    near = 2e-5
    periodic = random.random() < 0.5
    if device == "cpu":
        for name in ("bartlett", "blackman", "hann", "hamming", "kaiser"):
            compare(check, f"{name}_window", [length, *options], near)
            compare(check, f"{name}_window.periodic", [length, periodic, *options], near)
        compare(check, "hamming_window.periodic_alpha", [length, periodic, 0.6, *options], near)
        compare(check, "hamming_window.periodic_alpha_beta", [length, periodic, 0.6, 0.3, *options], near)
        compare(check, "kaiser_window.beta", [length, periodic, random.uniform(0, 20), *options], near)
        compare(check, "fft_fftfreq", [length, random.uniform(0.5, 2), *options], near)
        compare(check, "fft_rfftfreq", [length, random.uniform(0.5, 2), *options], near)


def check_complex(check, device):
    sizes = shape(random.randint(0, 4), 6)
    real = random.choice(SINGLE_AND_DOUBLE)
    other = [random.choice([1, size]) for size in sizes]
    compare(check, "complex", [values(sizes, real, device), values(other, real, device)], strides=False)
    whole = complex_values(sizes, device)
    compare(check, "_conj_physical", [whole], 0)
    compare(check, "_conj", [whole], 0, strides=False)
    compare(check, "view_as_real", [whole], 0)
    compare(check, "lift_fresh_copy", [whole], 0)
    compare(check, "full_like", [values(sizes, real, device), 2.5], 0, strides=False)
    compare(check, "fill.Scalar", [whole, 3], 0)
    if not sizes:
        return
    dim = random.randrange(len(sizes))
    given = whole if random.random() < 0.5 else values(sizes, random.choice(REALS), device)
    index = random.randrange(sizes[dim])
    part = given.select(dim, index)
    compare(check, "select_scatter", [given, part.clone() * 0, dim, index], 0, strides=False)
    start, step = random.randint(0, sizes[dim] - 1), random.randint(1, 2)
    part = given.narrow(dim, start, sizes[dim] - start)[(slice(None),) * dim + (slice(None, None, step),)]
    compare(check, "slice_scatter", [given, part.clone() * 0, dim, start, None, step], 0, strides=False)
    pads = [random.randint(-1, 3) for _ in range(2 * random.randint(1, len(sizes)))]
    if all(sizes[-1 - at] + pads[2 * at] + pads[2 * at + 1] > 0 for at in range(len(pads) // 2)):
        compare(check, "constant_pad_nd", [given, pads, random.choice([0, 2])], 0, strides=False)
    target = random.choice([torch.float32, torch.int64, torch.bool, torch.bfloat16])
    compare(check, "_to_copy", [values(sizes, random.choice(FLOATS), device), target])


def check_unique(check, device):
    sizes = shape(random.randint(0, 3), 6, 0)
    dtype = random.choice(REALS + [torch.bool])
    given = values(sizes, dtype, device, small=True)
    flags = [random.random() < 0.5, random.random() < 0.5]
    compare(check, "_unique2", [given, True, *flags], 0)
    compare(check, "_unique", [given, True, flags[0]], 0)
    compare(check, "unique_consecutive", [given, *flags], 0)
    if sizes and given.numel():
        dim = random.randrange(-len(sizes), len(sizes))
        compare(check, "unique_dim", [given, dim, True, True, True], 0)
        compare(check, "unique_dim_consecutive", [given, dim, True, True], 0)
        compare(check, "unique_consecutive", [given, True, True, dim], 0)
    whole = random.choice([torch.int64, torch.int32, torch.uint8])
    counted = torch.randint(0, random.choice([1, 5, 100]), [random.randint(0, 50)], device=device).to(whole)
    weights = random.choice([None, values([len(counted)], random.choice(REALS), device)])
    compare(check, "bincount", [counted, weights, random.choice([0, 7])], 1e-4)


def check_lines(check, device):
    sizes = shape(random.randint(1, 3), 8)
    dim = random.randrange(-len(sizes), len(sizes))
    given = distinct(sizes, random.choice(SINGLE_AND_DOUBLE), device, dim)
    index = indices(sizes[dim], sizes, device)
    compare(check, "gather", [given, dim, index], 0)
    order = torch.rand(sizes, device=device).argsort(dim)
    compare(check, "scatter.src", [given, dim, order, given.clone()], 0, strides=False)
    compare(check, "scatter_add", [given, dim, index, given.clone()], 1e-4, strides=False)
    reduce = random.choice(["sum", "prod", "mean", "amax", "amin"])
    compare(check, "scatter_reduce.two", [given, dim, index, given.clone(), reduce, random.random() < 0.5], 1e-4,
            strides=False)
    k = random.randint(1, sizes[dim])
    compare(check, "topk", [given, k, dim, random.random() < 0.5], 0, strides=False)
    compare(check, "kthvalue", [given, k, dim, random.random() < 0.5], 0, strides=False)
    holes = given.clone()
    holes[torch.rand(sizes, device=device) < 0.3] = float("nan")
    if not holes.isnan().all(dim).any():
        compare(check, "nanmedian.dim", [holes, dim, random.random() < 0.5], 0, strides=False)
    compare(check, "nanmedian", [holes], 0)
    compare(check, "cummax", [given, dim], 0)
    compare(check, "cummin", [given, dim], 0)
    compare(check, "_logcumsumexp", [given, dim], 1e-4)
    compare(check, "cumprod", [given, dim], 1e-4)
    compare(check, "_aminmax", [given], 0)
    compare(check, "_aminmax.dim", [given, dim, random.random() < 0.5], 0, strides=False)
    compare(check, "histc", [given, random.randint(1, 9), 0, random.choice([0, 5])], 0)
    edges = torch.rand(random.randint(1, 9), device=device, dtype=given.dtype).sort().values
    compare(check, "bucketize.Tensor", [given, edges, random.random() < 0.5, random.random() < 0.5], 0, strides=False)
    compare(check, "searchsorted.Tensor", [edges, given, random.random() < 0.5, random.random() < 0.5], 0, strides=False)


def check_resampling(check, device):
    dtype = random.choice(SINGLE_AND_DOUBLE)
    align = random.random() < 0.5
    for name, dims in (("upsample_linear1d", 1), ("upsample_bilinear2d", 2), ("upsample_bicubic2d", 2),
                       ("_upsample_bilinear2d_aa", 2), ("_upsample_bicubic2d_aa", 2), ("upsample_trilinear3d", 3)):
        # PyTorch 2.11's antialiasing is wrong for images of one column on the CPU.
        least = 2 if name.endswith("_aa") else 1
        sizes = [random.randint(least, 12) for _ in range(dims)]
        output = [random.randint(least, 12) for _ in range(dims)]
        scales = [None] * dims
        if random.random() < 0.3:
            scales = [random.choice([0.5, 1.5, 2.0]) for _ in range(dims)]
            output = [max(least, int(size * scale)) for size, scale in zip(sizes, scales)]
        image = values([random.randint(1, 2), random.randint(1, 3), *sizes], dtype, device)
        if dims == 2 and random.random() < 0.3:
            image = image.contiguous(memory_format=torch.channels_last)
        else:
            image = image.contiguous()
        compare(check, name, [image, output, align, *scales], 1e-4)
    image = values([2, 2, 3, 4, 5], dtype, device)
    grid = values([2, 2, 3, 2, 3], dtype, device)
    compare(check, "grid_sampler_3d", [image, grid, random.randint(0, 1), random.randint(0, 2), align], 1e-4)


def check_random(check, device):
    """Numbers of the default generator, which both libraries seed alike. On a device PyTorch's `bernoulli` and
    `multinomial` with replacement draw others."""
    sizes = shape(random.randint(1, 3), 9)
    dtype = random.choice(SINGLE_AND_DOUBLE)
    made = values(sizes, dtype, device).contiguous()
    chances = torch.rand([random.randint(1, 4), random.randint(2, 9)], dtype=dtype, device=device) * 0.9 + 0.01
    cases = [("uniform", [made, 1.0, 3.0]), ("normal_functional", [made, 1.0, 2.0]), ("exponential", [made, 0.5]),
             ("geometric", [made, 0.3]), ("log_normal", [made, 1.0, 0.5]), ("cauchy", [made, 0.0, 1.0]),
             ("random.from", [made, 3, 90]), ("random.to", [made, 90]), ("rand_like", [made]), ("randn_like", [made]),
             ("randint_like", [made, 10]), ("normal.Tensor_float", [made, 0.5]),
             ("normal.Tensor_Tensor", [made, made.abs()]),
             ("multinomial", [chances, random.randint(1, chances.shape[1]), False])]
    if device == "cpu":
        cases += [("bernoulli", [chances]), ("multinomial", [chances, 7, True]), ("rand", [sizes]), ("randn", [sizes]),
                  ("randint", [9, sizes]), ("randint.low", [3, 9, sizes]), ("randperm", [12])]
    for name, arguments in cases:
        if check.wanted and not any(word in name for word in check.wanted):
            continue
        check.library.seed(device, 7)
        torch.manual_seed(7)
        compare(check, name, arguments, 1e-5, strides=False)


FAMILIES = [check_transforms, check_windows, check_complex, check_unique, check_lines, check_resampling, check_random]
