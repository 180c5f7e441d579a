#!/usr/bin/env python3
"""Attention of libsconce_torch.so on a GPU: results beside sums in float64, times beside PyTorch's.

    attention_check.py FOLDER results   random cases of all forms, types, masks and strides, each calculated twice
    attention_check.py FOLDER times     long and short sequences, one query with many keys, and a small case
    attention_check.py FOLDER few       a few cases without PyTorch or results, for compute-sanitizer

FOLDER has libsconce.so.0 and libsconce_torch.so.0. Ends with 1 if a result differs. Without a GPU `results` compares
the CPU, which rehearses it.

A result differs if it is farther from the sum in float64 than 1.05 u (S + |result|) + e S + 1e-6. S is the sum of the
sizes of the values with their weights, u the rounding of the type (2^-11 of float16, 2^-8 of bfloat16, none of
float32), as weights and results are rounded once, and e is 3e-5 for sums and exponentials in float32 (1e-4 on tensor
cores). Log sums may differ by 1e-4.
"""

import ctypes
import os
import random
import sys

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
# Beside this file where both were copied together, else in the source tree.
for place in (HERE, os.path.join(HERE, "..", "..", "scripts")):
    if os.path.isdir(os.path.join(place, "check_torch_operations")):
        sys.path.insert(0, place)

FLASH = "aoti_torch_cuda__scaled_dot_product_flash_attention"
EFFICIENT = "_scaled_dot_product_efficient_attention"


def random_tensor(torch, dtype, device, batch, heads, positions, width):
    """A tensor whose heads or positions are in front of the other, perhaps with gaps, at times at odd places."""
    gap = random.choice([0, 0, 8])
    row = width + gap
    if random.random() < 0.15:
        row += 1
    if random.random() < 0.5:
        memory = torch.randn([batch, heads, positions, row], device=device).to(dtype)
    else:
        memory = torch.randn([batch, positions, heads, row], device=device).to(dtype).transpose(1, 2)
    if random.random() < 0.1:
        # The numbers of a position do not lie side by side.
        return torch.randn([batch, heads, width, positions], device=device).to(dtype).transpose(2, 3)
    return memory[..., :width]


def mask_of(torch, device, batch, heads, queries, keys):
    """A mask or none; its type, and where it is repeated, vary."""
    if random.random() < 0.5:
        return None
    sizes = random.choice([[queries, keys], [batch, heads, queries, keys], [batch, 1, 1, keys], [1, heads, queries, 1]])
    meets = torch.rand(sizes, device=device) > 0.25
    kind = random.choice([torch.bool, torch.float32, torch.float16, torch.bfloat16])
    if kind == torch.bool:
        return meets
    return torch.randn(sizes, device=device).to(kind).masked_fill(~meets, -torch.inf)


def expected(torch, query, key, value, mask, is_causal, scale):
    """The result, the sum of the sizes of values with their weights, and the log sums, in float64."""
    query, key, value = (one.double() for one in (query, key, value))
    group = query.shape[1] // key.shape[1]
    key, value = key.repeat_interleave(group, 1), value.repeat_interleave(group, 1)
    scores = query @ key.transpose(-1, -2) * (query.shape[-1] ** -0.5 if scale is None else scale)
    if mask is not None:
        added = torch.where(mask, 0.0, -torch.inf) if mask.dtype == torch.bool else mask
        scores = scores + added.double()
    if is_causal:
        meets = torch.ones(scores.shape[-2:], dtype=torch.bool, device=scores.device).tril()
        scores = scores.masked_fill(~meets, -torch.inf)
    empty = (scores == -torch.inf).all(-1, keepdim=True)
    weights = scores.masked_fill(empty, 0).softmax(-1).masked_fill(empty, 0)
    return weights @ value, weights @ value.abs(), scores.logsumexp(-1)


def results(folder):
    import torch
    from check_torch_operations.library import Library, Optional
    library = Library(folder)
    torch.manual_seed(1)
    random.seed(1)
    # What is rounded once, and the error of sums.
    rounding = {torch.float16: 2.0 ** -11, torch.bfloat16: 2.0 ** -8, torch.float32: 0.0}
    of_sums = {torch.float16: 1e-4, torch.bfloat16: 1e-4, torch.float32: 3e-5}
    failures = 0
    device = "cuda" if torch.cuda.is_available() else "cpu"
    for dtype in rounding:
        count, worst, worst_log = 0, 0.0, 0.0
        for number in range(240 if device == "cuda" else 30):
            batch, heads = random.choice([1, 2, 3]), random.choice([1, 2, 4, 6, 40 if device == "cuda" else 1])
            key_heads = random.choice([one for one in range(1, heads + 1) if heads % one == 0])
            around = lambda sizes: max(1, random.choice(sizes) + random.randint(-2, 2))
            queries = random.choice([1, 1, random.randint(1, 300), around([16, 32, 64, 128, 256])])
            keys = random.choice([random.randint(1, 300), around([32, 64, 128, 256, 512]), random.randint(500, 2500)])
            has_many_queries = number % 8 == 0 and device == "cuda"
            if has_many_queries:
                # So many queries and keys that a form of many is taken.
                batch, heads, key_heads = 3, 40, random.choice([8, 40])
                queries, keys = around([130, 192, 384]), around([200, 260, 384, 600])
            width = random.choice([8, 32, 40, 64, 64, 80, 128, 128, 256, random.randint(1, 256)])
            value_width = width if random.random() < 0.8 else random.choice([8, 64, 72, 128, 200])
            make = lambda heads, positions, width: random_tensor(
                torch, dtype, device, batch, heads, positions, width)
            query, key = make(heads, queries, width), make(key_heads, keys, width)
            value = make(key_heads, keys, value_width)
            mask = None if has_many_queries else mask_of(torch, device, batch, heads, queries, keys)
            is_causal, scale = random.random() < 0.3, random.choice([None, None, 0.3, -0.2])
            arguments = [query, key, value, Optional(None, mask), True, 0.0, is_causal,
                         Optional(ctypes.c_double, scale)]
            found, logs, *_ = library.call(EFFICIENT, arguments, 4, device, of="cuda")
            again, logs_again, *_ = library.call(EFFICIENT, arguments, 4, device, of="cuda")
            result, sizes, log_sums = expected(torch, query, key, value, mask, is_causal, scale)
            if device == "cpu":
                # Those of queries that meet no key are 0 on the CPU.
                log_sums = log_sums.masked_fill(log_sums == -torch.inf, 0.0)
            bound = 1.05 * rounding[dtype] * (sizes + result.abs()) + of_sums[dtype] * sizes + 1e-6
            share = ((found.double() - result).abs() / bound).nan_to_num(torch.inf).max().item()
            logs, logs_again = logs[..., :queries], logs_again[..., :queries]
            apart = torch.where(logs.double() == log_sums, 0, (logs.double() - log_sums).abs())
            apart = apart.nan_to_num(torch.inf).max().item()
            same = torch.equal(found, again) and torch.equal(logs, logs_again)
            if share > 1 or apart > 1e-4 or not same:
                failures += 1
                if failures <= 8:
                    print(f"differs: {dtype} {batch} x {heads} / {key_heads}, {queries} x {keys}, width {width} / "
                          f"{value_width}, mask {None if mask is None else (mask.dtype, tuple(mask.shape))}, "
                          f"causal {is_causal}, scale {scale}, strides {query.stride()} {key.stride()} "
                          f"{value.stride()}: {share:.3g} of the bound, log sums {apart:.3g}, "
                          f"{'the same' if same else 'other'} again")
            count, worst, worst_log = count + 1, max(worst, share), max(worst_log, apart)
        print(f"{str(dtype):16}{count:5} cases, at most {worst:.3f} of the bound, log sums {worst_log:.2g}", flush=True)
    print("differences:", failures)
    return failures


def on_device(call, rounds=10):
    """Microseconds that the kernels of a call take."""
    import torch
    from torch.profiler import ProfilerActivity, profile
    for _ in range(2):
        call()
    torch.cuda.synchronize()
    with profile(activities=[ProfilerActivity.CUDA]) as profiled:
        for _ in range(rounds):
            call()
        torch.cuda.synchronize()
    return sum(getattr(one, "self_device_time_total", 0) for one in profiled.key_averages()) / rounds


def times(folder):
    import torch
    from check_torch_operations.library import Library
    from check_torch_operations.speed import microseconds
    library = Library(folder)

    def ours(query, key, value, is_causal):
        handles = [library.handle(one) for one in (query, key, value)]
        function, none = getattr(library.code, FLASH), ctypes.c_void_p()
        place = ctypes.c_void_p()

        def call():
            library.check("attention", function(
                *handles, ctypes.c_double(0.0), int(is_causal), 0, none, ctypes.byref(place), *[none] * 8))
            library.delete(place)

        return call

    def theirs(query, key, value, is_causal):
        grouped = {"enable_gqa": True} if query.shape[1] != key.shape[1] else {}
        return lambda: torch.nn.functional.scaled_dot_product_attention(
            query, key, value, is_causal=is_causal, **grouped)

    short = {torch.float16: "f16", torch.bfloat16: "bf16", torch.float32: "f32"}
    cases = [(what, dtype, sizes, sizes[1], sizes[2], is_causal)
             for what, sizes in (("2x8x4096x128", (2, 8, 4096, 128)), ("2x8x4096x64", (2, 8, 4096, 64)))
             for dtype in short for is_causal in (False, True)]
    cases += [(f"{batch}x32/{heads}x1x128, 4096 keys", dtype, (batch, 32, 1, 128), heads, 4096, False)
              for batch in (1, 8) for heads in (32, 8) for dtype in short]
    cases += [("2x4x48x32", dtype, (2, 4, 48, 32), 4, 48, False) for dtype in (torch.float32, torch.float16)]
    cases += [("x".join(map(str, sizes)), dtype, sizes, sizes[1], sizes[2], is_causal)
              for sizes in ((1, 32, 512, 128), (1, 32, 2048, 128), (8, 12, 197, 64), (16, 16, 512, 64))
              for dtype in (torch.float16, torch.bfloat16) for is_causal in (False, True)]
    print("on the device (kernels alone), and a call in a row        µs      torch    ratio   TFLOP/s   torch |"
          "  call µs    torch")
    for what, dtype, (batch, heads, queries, width), key_heads, keys, is_causal in cases:
        make = lambda heads, positions: torch.randn([batch, heads, positions, width], device="cuda").to(dtype)
        query, key, value = make(heads, queries), make(key_heads, keys), make(key_heads, keys)
        calls = [ours(query, key, value, is_causal), theirs(query, key, value, is_causal)]
        (own, other), (row, other_row) = [on_device(call) for call in calls], [microseconds(call, 20) for call in calls]
        work = 4 * batch * heads * queries * keys * width / (2 if is_causal else 1) / 1e6
        rate = lambda us: f"{work / us:8.1f}" if queries > 1000 and us else "       -"
        name = f"{what} {short[dtype]}{' causal' if is_causal else ''}"
        print(f"{name:50}{own:10.1f}{other:11.1f}{own / max(other, 1e-9):9.2f}  {rate(own)}{rate(other)} |"
              f"{row:9.1f}{other_row:9.1f}", flush=True)
    return 0


def few(folder):
    """Cases of each form, with memory as it comes: what the tools look at is where kernels read and write."""
    core = ctypes.CDLL(f"{folder}/libsconce.so.0")
    code = ctypes.CDLL(f"{folder}/libsconce_torch.so.0")
    code.sconce_torch_last_error_message.restype = ctypes.c_char_p

    def check(status):
        if status != 0:
            raise SystemExit(code.sconce_torch_last_error_message().decode())

    def make(dtype, sizes):
        handle, strides = ctypes.c_void_p(), [1] * 4
        for dim in (2, 1, 0):
            strides[dim] = strides[dim + 1] * sizes[dim + 1]
        numbers = lambda values: (ctypes.c_int64 * 4)(*values)
        check(code.aoti_torch_empty_strided(
            ctypes.c_int64(4), numbers(sizes), numbers(strides), dtype, 1, 0, ctypes.byref(handle)))
        check(code.aoti_torch_zero_(handle))
        return handle

    none, count = ctypes.c_void_p(), 0
    f16, f32, bf16, boolean = 5, 6, 15, 11
    for dtype in (f16, bf16, f32):
        for batch, heads, key_heads, queries, keys, width, masked, is_causal in (
                (1, 4, 1, 1, 600, 128, False, False), (1, 2, 2, 3, 700, 64, True, False),
                (1, 2, 1, 65, 130, 64, False, True), (1, 1, 1, 70, 100, 256, True, True),
                (2, 1, 1, 129, 65, 40, False, False), (3, 80, 80, 200, 100, 128, False, True),
                (3, 80, 80, 130, 70, 64, False, False)):
            query, key = make(dtype, (batch, heads, queries, width)), make(dtype, (batch, key_heads, keys, width))
            value, place = make(dtype, (batch, key_heads, keys, width)), [ctypes.c_void_p() for _ in range(4)]
            mask = make(random.choice([boolean, f32, f16]), (1, 1, queries, keys)) if masked else None
            check(code[f"aoti_torch_cuda_{EFFICIENT}"](
                query, key, value, ctypes.byref(mask) if masked else none, 1, ctypes.c_double(0.0), int(is_causal),
                none, *[ctypes.byref(one) for one in place]))
            for one in [query, key, value, *place] + ([mask] if masked else []):
                check(code.aoti_torch_delete_tensor_object(one))
            count += 1
    # Waits for the device, so that an error is seen here.
    if core.sconce_device_synchronize(0) != 0:
        raise SystemExit("the device reports an error")
    print(count, "cases")
    return 0


if __name__ == "__main__":
    kinds = {"results": results, "times": times, "few": few}
    if len(sys.argv) != 3 or sys.argv[2] not in kinds:
        raise SystemExit(__doc__)
    sys.exit(1 if kinds[sys.argv[2]](sys.argv[1]) else 0)
