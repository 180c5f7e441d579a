#!/usr/bin/env python3
"""Attention of sequences of several lengths by libsconce_torch.so on a GPU, with keys one after another and in pages.

    sequences_check.py FOLDER results   random cases beside sums in float64, each calculated twice
    sequences_check.py FOLDER times     batches as servers have them, beside PyTorch's flash attention
    sequences_check.py FOLDER few       a few cases whose results nobody reads, for compute-sanitizer

FOLDER has libsconce.so.0 and libsconce_torch.so.0. Ends with 1 if a result differs. Without a GPU `results` compares
the CPU, which rehearses it. A result may differ as much as in attention_check.py.
"""

import ctypes
import random
import sys

from attention_check import on_device  # Sets the path for what follows, too.
import torch
from check_torch_operations.library import Int, Library, Optional

FLASH = "_flash_attention_forward_v2"
INTO = "_flash_attention_forward_no_dropout_inplace_v2"
EFFICIENT = "_efficient_attention_forward"
ROUNDING = {torch.float16: 2.0 ** -11, torch.bfloat16: 2.0 ** -8, torch.float32: 0.0}


def bounds(lengths, device):
    return torch.tensor([0] + lengths, device=device).cumsum(0).to(torch.int32)


class Case:
    """Random sequences. Keys have room for more than a sequence has, if there are counts."""

    def __init__(self, dtype, device, lengths, rooms, heads, key_heads, width, value_width, page, counts):
        make = lambda *sizes: torch.randn(sizes, device=device).to(dtype)
        self.lengths, self.rooms, self.counts, self.page = lengths, rooms, counts, page
        self.most = [max(lengths), max(counts or rooms)]
        self.query = make(sum(lengths), heads, width)
        self.bounds = [bounds(lengths, device), bounds(rooms, device)]
        self.key, self.value = make(sum(rooms), key_heads, width), make(sum(rooms), key_heads, value_width)
        self.numbers = None if counts is None else torch.tensor(counts, dtype=torch.int32, device=device)
        self.table, self.paged = None, [self.key, self.value]
        if page:
            row = max(-(-room // page) for room in rooms) + 1
            order = torch.randperm(row * len(rooms) + 2)
            # Pages that no sequence needs have numbers that are none.
            self.table = torch.full((len(rooms), row), 1 << 30, dtype=torch.int32)
            self.paged = [torch.full((len(order), page, *one.shape[1:]), torch.nan, device=device, dtype=dtype)
                          for one in self.paged]
            begin = 0
            for at, room in enumerate(rooms):
                for number in range(-(-counts[at] // page)):
                    self.table[at, number] = chosen = order[at * row + number]
                    length = min(page, room - number * page)
                    for pages, packed in zip(self.paged, [self.key, self.value]):
                        first = begin + number * page
                        pages[chosen, :length] = packed[first:first + length]
                begin += room
            self.table = self.table.to(device)

    def arguments(self, is_causal, window, scale, splits):
        optional = lambda tensor: Optional(None, tensor)
        left, right = (Optional(ctypes.c_int64, one) for one in window)
        return [self.query, *self.paged, optional(self.bounds[0]), optional(None if self.page else self.bounds[1]),
                Int(self.most[0]), Int(self.most[1]), 0.0, is_causal, False, Optional(ctypes.c_double, scale), left,
                right, optional(self.numbers), Optional(None, None), optional(self.table),
                Optional(ctypes.c_int64, splits)]

    def is_alike_alone(self, library, found, is_causal, window, scale):
        """Whether a sequence has the same bits without the others."""
        at = random.randrange(len(self.lengths))
        length, room = self.lengths[at], self.rooms[at]
        begin, begin_key = sum(self.lengths[:at]), sum(self.rooms[:at])
        count = room if self.counts is None else self.counts[at]
        part = lambda tensor, begin, length: tensor[begin:begin + length].contiguous()
        alone = Case(self.query.dtype, "cuda", [length], [count], self.query.shape[1], self.key.shape[1],
                     self.query.shape[2], self.value.shape[2], 0, None)
        alone.query = part(self.query, begin, length)
        alone.paged = [part(one, begin_key, count) for one in (self.key, self.value)]
        result, *_ = library.call(FLASH, alone.arguments(is_causal, window, scale, 1), 5, "cuda", of="cuda")
        return torch.equal(result, part(found, begin, length))

    def expected(self, is_causal, window, scale, ends_meet=True):
        """The result, the sum of the sizes of values with their weights, and the log sums, in float64."""
        group = self.query.shape[1] // self.key.shape[1]
        whole, begin_query, begin_key = [], 0, 0
        left, right = [-1 if one is None else one for one in window]
        right = 0 if is_causal else right
        for at, (length, room) in enumerate(zip(self.lengths, self.rooms)):
            count = room if self.counts is None else self.counts[at]
            query = self.query[begin_query:begin_query + length].double().transpose(0, 1)
            key, value = (one[begin_key:begin_key + count].double().repeat_interleave(group, 1).transpose(0, 1)
                          for one in (self.key, self.value))
            begin_query, begin_key = begin_query + length, begin_key + room
            scores = query @ key.transpose(-1, -2) * (query.shape[-1] ** -0.5 if scale is None else scale)
            ahead = torch.arange(count, device=query.device) - torch.arange(length, device=query.device)[:, None]
            if ends_meet:
                ahead = ahead - (count - length)
            meets = torch.ones_like(ahead, dtype=torch.bool)
            if left >= 0:
                meets &= ahead >= -left
            if right >= 0:
                meets &= ahead <= right
            scores = scores.masked_fill(~meets, -torch.inf)
            empty = ~meets.any(-1, keepdim=True)
            weights = scores.masked_fill(empty, 0).softmax(-1).masked_fill(empty, 0)
            logs = scores.logsumexp(-1) if count else torch.full(scores.shape[:2], -torch.inf, device=query.device)
            parts = weights @ value, weights @ value.abs()
            whole.append([*(one.transpose(0, 1) for one in parts), logs.masked_fill(logs == -torch.inf, torch.inf)])
        outputs, sizes, logs = zip(*whole)
        return torch.cat(outputs), torch.cat(sizes), torch.cat(logs, 1)


def random_case(dtype, device):
    count = random.choice([1, 2, 3, 5, 17])
    key_heads = random.choice([1, 2, 4, 8])
    heads = key_heads * random.choice([1, 1, 2, 4, 8])
    kind = random.choice(["decode", "mixed", "prefill"])
    most = {"decode": 1, "mixed": 40, "prefill": 700 if device == "cuda" else 40}[kind]
    lengths = [random.choice([1, random.randint(0, most), most]) for _ in range(count)]
    longest = random.choice([30, 200, 900, 2500]) if device == "cuda" else 60
    rooms = [random.choice([0, 1, random.randint(1, longest)]) for _ in range(count)]
    page = random.choice([0, 0, 16, 64, 256, random.randint(1, 50)])
    counts = [random.randint(0, room) if random.random() < 0.5 else room for room in rooms]
    counts = counts if page or random.random() < 0.3 else None
    width = random.choice([8, 64, 64, 80, 128, 128, 128, 192, 256] + ([33] if dtype == torch.float32 else []))
    value_width = width if random.random() < 0.8 else random.choice([8, 64, 128])
    return Case(dtype, device, lengths, rooms, heads, key_heads, width, value_width, page, counts)


def results(folder):
    library = Library(folder)
    torch.manual_seed(1)
    random.seed(1)
    failures = 0
    device = "cuda" if torch.cuda.is_available() else "cpu"
    for dtype in ROUNDING:
        count, worst, worst_log = 0, 0.0, 0.0
        of_sums = 3e-5 if dtype == torch.float32 else 1e-4
        for number in range({torch.float32: 60}.get(dtype, 300) if device == "cuda" else 30):
            case = random_case(dtype, device)
            is_causal, scale = random.random() < 0.4, random.choice([None, None, 0.3, -0.2])
            window = random.choice([(None, None), (-1, -1), (-1, 0), (100, 0), (random.randint(0, 60), 20)])
            splits = random.choice([None, None, 0, 1, 3])
            arguments = case.arguments(is_causal, window, scale, splits)
            result, sizes, log_sums = case.expected(is_causal, window, scale)
            found, logs, *_ = library.call(FLASH, arguments, 5, device, of="cuda")
            again = torch.empty_like(found)
            logs_again, = library.call(INTO, [again, *arguments], 1, device, of="cuda")
            bound = 1.05 * ROUNDING[dtype] * (sizes + result.abs()) + of_sums * sizes + 1e-6
            share = ((found.double() - result).abs() / bound).nan_to_num(torch.inf)
            share = share.max().item() if share.numel() else 0.0
            apart = torch.where(logs.double() == log_sums, 0, (logs.double() - log_sums).abs()).nan_to_num(torch.inf)
            # Products of queries that meet no key have another log sum where no kernel is used.
            apart = 0.0 if device == "cpu" or dtype == torch.float32 or not apart.numel() else apart.max().item()
            same = torch.equal(found, again) and torch.equal(logs, logs_again)
            if splits == 1 and device == "cuda" and dtype != torch.float32:
                same = same and case.is_alike_alone(library, found, is_causal, window, scale)
            if share > 1 or apart > 1e-4 or not same:
                failures += 1
                if failures <= 8:
                    print(f"differs: {dtype} lengths {case.lengths} rooms {case.rooms} counts {case.counts} page "
                          f"{case.page}, heads {case.query.shape[1]} / {case.key.shape[1]}, width "
                          f"{case.query.shape[2]} / {case.value.shape[2]}, causal {is_causal}, window {window}, scale "
                          f"{scale}, splits {splits}: {share:.3g} of the bound, log sums {apart:.3g}, "
                          f"{'the same' if same else 'other'} again")
            count, worst, worst_log = count + 1, max(worst, share), max(worst_log, apart)
        print(f"{str(dtype):16}{count:5} cases, at most {worst:.3f} of the bound, log sums {worst_log:.2g}", flush=True)
    failures += efficient(library, device)
    print("differences:", failures)
    return failures


def efficient(library, device):
    """The same through `_efficient_attention_forward`, whose log sums have a line for each sequence."""
    failures = 0
    for number in range(100 if device == "cuda" else 10):
        dtype = random.choice(list(ROUNDING))
        case = random_case(dtype, device)
        if case.page or case.counts:
            continue
        kind = random.choice([0, 1, 2])
        optional = lambda tensor: Optional(None, tensor)
        result, sizes, log_sums = case.expected(kind > 0, (None, None), None, ends_meet=kind == 2)
        batch = lambda tensor: tensor.unsqueeze(0)
        found, logs, *_ = library.call(EFFICIENT, [
            batch(case.query), batch(case.key), batch(case.value), optional(None), optional(case.bounds[0]),
            optional(case.bounds[1]), Optional(ctypes.c_int64, case.most[0]), Optional(ctypes.c_int64, case.most[1]),
            0.0, Int(kind), True, Optional(ctypes.c_double, None), optional(None), Optional(ctypes.c_int64, None),
        ], 4, device, of="cuda", numbers=2)
        bound = 1.05 * ROUNDING[dtype] * (sizes + result.abs()) + 1e-4 * sizes + 1e-6
        share = ((found[0].double() - result).abs() / bound).nan_to_num(torch.inf)
        begin, apart = 0, 0.0
        for at, length in enumerate(case.lengths):
            own, of_sums = logs[at, :, :length].double(), log_sums[:, begin:begin + length]
            begin += length
            if own.numel() and dtype != torch.float32 and device == "cuda":
                away = torch.where(own == of_sums, 0, (own - of_sums).abs()).nan_to_num(torch.inf)
                apart = max(apart, away.max().item())
        if (share.numel() and share.max() > 1) or apart > 1e-4:
            failures += 1
            print(f"differs: efficient, {dtype}, kind {kind}, lengths {case.lengths} rooms {case.rooms}: "
                  f"{share.max().item():.3g} of the bound, log sums {apart:.3g}")
    return failures


def times(folder):
    from check_torch_operations.speed import microseconds
    library = Library(folder)
    random.seed(1)

    def ours(case):
        none, place = ctypes.c_void_p(), ctypes.c_void_p()
        handles = [library.handle(one) for one in (case.query, *case.paged)]
        hold = lambda tensor: none if tensor is None else ctypes.byref(library.handle(tensor))
        bounds, counts, table = [hold(one) for one in case.bounds], hold(case.numbers), hold(case.table)
        function = getattr(library.code, f"aoti_torch_cuda_{FLASH}")

        def call():
            library.check(FLASH, function(
                *handles, bounds[0], none if case.page else bounds[1], ctypes.c_int64(case.most[0]),
                ctypes.c_int64(case.most[1]), ctypes.c_double(0.0), 1, 0, none, none, none, counts, none, table, none,
                ctypes.byref(place), none, none, none, none))
            library.delete(place)

        return call

    def theirs(case):
        return lambda: torch.ops.aten._flash_attention_forward(
            case.query, case.key, case.value, *case.bounds, *case.most, 0.0, True, False)

    batches = [
        ("64 x 1 query, 1,000 to 4,000 keys", [1] * 64, [random.randint(1000, 4000) for _ in range(64)]),
        ("8 x 1 query, 8,000 keys", [1] * 8, [8000] * 8),
        ("64 x 1 query and 1 x 512, 2,000 keys", [1] * 64 + [512], [2000] * 65),
        ("16 x 100 to 900 queries and keys", *[[random.randint(100, 900) for _ in range(16)]] * 2),
        ("4 x 4,096 queries and keys", [4096] * 4, [4096] * 4),
        ("4 x 512 queries, 4,096 keys", [512] * 4, [4096] * 4),
    ]
    print("kernels on the device, and a call in a row, us; causal, bfloat16, heads of 128 elements")
    print(f"{'':44}{'heads':>8}{'own':>9}{'page 16':>9}{'page 256':>9}{'torch':>9}{'ratio':>7} |{'call':>8}{'torch':>8}")
    for what, lengths, rooms in batches:
        for heads, key_heads in ((32, 8), (16, 16)):
            make = lambda page: Case(torch.bfloat16, "cuda", lengths, rooms, heads, key_heads, 128, 128, page,
                                     list(rooms) if page else None)
            cases = [make(page) for page in (0, 16, 256)]
            own, small, large = (on_device(ours(case)) for case in cases)
            other, row, other_row = on_device(theirs(cases[0])), microseconds(ours(cases[0]), 20), microseconds(
                theirs(cases[0]), 20)
            print(f"{what:44}{f'{heads}/{key_heads}':>8}{own:9.1f}{small:9.1f}{large:9.1f}{other:9.1f}"
                  f"{own / max(other, 1e-9):7.2f} |{row:8.1f}{other_row:8.1f}", flush=True)
    return 0


def few(folder):
    library = Library(folder)
    random.seed(3)
    count = 0
    for dtype in (torch.float16, torch.bfloat16):
        for _ in range(40):
            case = random_case(dtype, "cuda")
            library.call(FLASH, case.arguments(random.random() < 0.5, (random.choice([None, 50]), None), None, None), 5,
                         "cuda", of="cuda")
            count += 1
    torch.cuda.synchronize()
    print(count, "cases")
    return 0


if __name__ == "__main__":
    kinds = {"results": results, "times": times, "few": few}
    if len(sys.argv) != 3 or sys.argv[2] not in kinds:
        raise SystemExit(__doc__)
    sys.exit(1 if kinds[sys.argv[2]](sys.argv[1]) else 0)
