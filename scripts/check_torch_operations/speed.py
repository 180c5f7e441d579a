"""Microseconds of calls with large inputs, beside PyTorch's."""

import ctypes
import time

import torch

from .library import Int, Refused


def microseconds(call, rounds=30):
    for _ in range(3):
        call()
    torch.cuda.synchronize()
    start = time.perf_counter()
    for _ in range(rounds):
        call()
    torch.cuda.synchronize()
    return (time.perf_counter() - start) / rounds * 1e6


def measure(library, wanted):
    """Prints microseconds of calls with large inputs, ours and PyTorch's; reading results is not counted."""
    def of_ours(name, arguments, results):
        # Handles and results as a compiled model has them: made once, and deleted after each call.
        handles = []

        def converted(value):
            if isinstance(value, torch.Tensor):
                handles.append(library.handle(value))
                return [handles[-1]]
            if isinstance(value, tuple):
                inner = [library.handle(one) if one is not None else None for one in value[1]]
                handles.extend(one for one in inner if one is not None)
                array = (ctypes.c_void_p * len(inner))(*[
                    None if one is None else ctypes.addressof(one) for one in inner])
                return [array, ctypes.c_int64(len(inner))]
            if isinstance(value, bool):
                return [ctypes.c_int32(value)]
            if isinstance(value, Int):
                return [ctypes.c_int64(value)]
            if isinstance(value, str):
                return [ctypes.c_char_p(value.encode())]
            return [ctypes.c_void_p()] if value is None else [ctypes.c_double(value)]

        passed = [one for value in arguments for one in converted(value)]
        places = [ctypes.c_void_p() for _ in range(results)]
        function = getattr(library.code, f"aoti_torch_cuda_{name}")

        def call():
            library.check(name, function(*passed, *[ctypes.byref(place) for place in places]))
            for place in places:
                library.delete(place)

        return call

    table = torch.randn(50_000, 1024, device="cuda", dtype=torch.float16)
    rows = torch.randint(0, 50_000, [8192], device="cuda")
    singles = torch.randn(4096, 4096, device="cuda")
    anywhere = torch.randint(0, 4096, [4096, 4096], device="cuda")
    other = torch.randint(0, 4096, [4096, 4096], device="cuda")
    out = torch.empty_like(singles)
    logits = torch.randn(64, 128_256, device="cuda")
    halves, experts = logits[:1].half(), torch.randn(4096, 8192, device="cuda")
    long, gates = torch.randn(8, 1_000_000, device="cuda"), torch.randn(4096, 64, device="cuda")
    mask = singles > 0
    thousand = torch.randn(8192, 1024, device="cuda", dtype=torch.float16)
    aten = torch.ops.aten
    cases = [
        ("index_Tensor", "rows of 2 KB", [table, ("pointers", [rows])], 1, lambda: table[rows]),
        ("index_Tensor", "single elements", [singles, ("pointers", [anywhere, other])], 1,
         lambda: singles[anywhere, other]),
        ("index_put", "rows of 2 KB", [table, ("pointers", [rows]), thousand, False], 1,
         lambda: aten.index_put(table, [rows], thousand, False)),
        ("index_put", "rows, added", [table, ("pointers", [rows]), thousand, True], 1,
         lambda: aten.index_put(table, [rows], thousand, True)),
        ("scatter_src_out", "4096 x 4096", [out, singles, Int(1), anywhere, singles], 0,
         lambda: aten.scatter.src_out(singles, 1, anywhere, singles, out=out)),
        ("scatter_reduce_two_out", "sums, 4096 x 4096", [out, singles, Int(1), anywhere, singles, "sum", True], 0,
         lambda: aten.scatter_reduce.two_out(singles, 1, anywhere, singles, "sum", include_self=True, out=out)),
        ("topk", "50 of 64 x 128256", [logits, Int(50), Int(1), True, True], 2, lambda: torch.topk(logits, 50, 1)),
        ("topk", "50 of 128256", [logits[:1], Int(50), Int(1), True, True], 2, lambda: torch.topk(logits[:1], 50, 1)),
        ("topk", "50 of 128256, float16", [halves, Int(50), Int(1), True, True], 2, lambda: torch.topk(halves, 50, 1)),
        ("topk", "8 of 4096 x 8192", [experts, Int(8), Int(1), True, True], 2, lambda: torch.topk(experts, 8, 1)),
        ("topk", "1000 of 8 x 1000000", [long, Int(1000), Int(1), True, True], 2, lambda: torch.topk(long, 1000, 1)),
        ("topk", "8 of 4096 x 64", [gates, Int(8), Int(1), True, True], 2, lambda: torch.topk(gates, 8, 1)),
        ("sort", "64 x 128256", [logits, Int(1), True], 2, lambda: torch.sort(logits, 1, True)),
        ("masked_select", "half of 4096 x 4096", [singles, mask], 1, lambda: torch.masked_select(singles, mask)),
        ("nonzero", "half of 4096 x 4096", [mask], 1, lambda: torch.nonzero(mask)),
        ("cummax", "4096 x 4096", [singles, Int(1)], 2, lambda: torch.cummax(singles, 1)),
    ]
    print("operation                                        µs      torch  ratio")
    for name, what, arguments, results, theirs in cases:
        if wanted and not any(word in name for word in wanted):
            continue
        try:
            ours = microseconds(of_ours(name, arguments, results))
        except (Refused, AttributeError) as error:
            print(f"{name}, {what}: {error}")
            continue
        reference = microseconds(theirs)
        print(f"{name + ', ' + what:42}{ours:10.1f}{reference:10.1f}{ours / reference:7.2f}", flush=True)
