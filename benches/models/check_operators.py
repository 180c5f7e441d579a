#!/usr/bin/env python3
"""Operators of published kernel libraries beside PyTorch's results for the same arguments.

    check_operators.py record FOLDER LIBRARY...     with PyTorch: draws arguments, calls, and writes both down
    check_operators.py check FOLDER LIBRARY... --sconce LIBSCONCE_TORCH
                                                    without PyTorch: calls through Sconce, and compares

LIBRARY is a shared library of torchvision or torchaudio. Prints a line for each operator and device: its name, the
difference relative to the largest element, and microseconds a call. Ends with 1 if a result differs by more than 1e-5,
or a whole number at all.
"""

import argparse
import array
import ctypes
import json
import math
import pathlib
import time

MOST_DIFFERENCE = 1e-5


def cases(torch, device):
    """Each operator with its arguments, and which of these it writes to."""
    generator = torch.Generator().manual_seed(7)

    def real(*sizes):
        return torch.rand(*sizes, generator=generator)

    def moved(arguments):
        return [value.to(device) if isinstance(value, torch.Tensor) else value for value in arguments]

    corners = real(40, 2) * 20
    boxes = torch.cat([corners, corners + 2 + real(40, 2) * 20], 1)
    rois = torch.cat([torch.randint(0, 2, (40, 1), generator=generator).float(), boxes], 1)
    image = real(2, 8, 48, 48) - 0.5
    yield "torchvision::nms", moved([boxes, real(40), 0.3]), []
    yield "torchvision::roi_align", moved([image, rois, 1.0, 4, 4, 2, True]), []
    yield "torchvision::roi_pool", moved([image, rois, 1.0, 4, 4]), []
    yield "torchvision::ps_roi_align", moved([image, rois, 1.0, 2, 2, 2]), []
    yield "torchvision::ps_roi_pool", moved([image, rois, 1.0, 2, 2]), []
    yield "torchvision::_roi_align_backward", moved(
        [real(40, 8, 4, 4), rois, 1.0, 4, 4, 2, 8, 48, 48, 2, True]), []
    yield "torchvision::deform_conv2d", moved(
        [image, real(6, 8, 3, 3) - 0.5, real(2, 18, 48, 48) - 0.5, real(2, 9, 48, 48), real(6),
         1, 1, 1, 1, 1, 1, 1, 1, True]), []
    turned = torch.cat([real(12, 2) * 20, 1 + real(12, 2) * 10, real(12, 1) * 90], 1)
    yield "torchvision::box_iou_rotated", moved([turned[:5].clone(), turned[5:].clone()]), []
    scores = torch.log_softmax(real(1, 60, 20) * 4, -1)
    targets = 1 + torch.randint(0, 19, (1, 15), generator=generator)
    lengths = [torch.tensor([60]), torch.tensor([15])]
    yield "torchaudio::forced_align", moved([scores, targets, *lengths, 0]), []
    ints = [torch.randint(1, 10, (2, 7), generator=generator).int(), torch.tensor([12, 9]).int(),
            torch.tensor([7, 5]).int()]
    yield "torchaudio::rnnt_loss_forward", moved([real(2, 12, 8, 10) * 3, *ints, 0, -1.0, True]), []
    coefficients = torch.tensor([[0.1, -0.4, 1.0], [0.2, 0.3, 1.0]])
    yield "torchaudio::_lfilter_core_loop", moved(
        [real(3, 2, 200) - 0.5, coefficients, torch.zeros(3, 2, 202)]), [2]
    if device == "cpu":
        state = [torch.zeros(2), torch.zeros(2), torch.zeros(2, 200)]
        yield "torchaudio::_overdrive_core_loop", [real(2, 200) - 0.5, real(2, 200) - 0.5, *state], [2, 3, 4]


def record(folder, libraries, repeat):
    import torch
    for library in libraries:
        torch.ops.load_library(str(library))
    data, entries = bytearray(), []

    def written(value):
        if not isinstance(value, torch.Tensor):
            return value
        value = value.detach().cpu().contiguous()
        entry = dict(dtype=str(value.dtype).split(".")[1], shape=list(value.shape), at=len(data))
        data.extend(value.reshape(-1).view(torch.uint8).numpy().tobytes())
        return entry

    for device in ["cpu"] + (["cuda"] if torch.cuda.is_available() else []):
        for name, arguments, changed in cases(torch, device):
            entry = dict(name=name, device=device, arguments=[written(value) for value in arguments])
            try:
                space, operator = name.split("::")
                operator = getattr(getattr(torch.ops, space), operator)
                results = operator(*arguments)
                after = [arguments[at].clone() for at in changed]
                begin = time.perf_counter()
                for _ in range(repeat):
                    operator(*arguments)
                if device == "cuda":
                    torch.cuda.synchronize()
                entry["us"] = (time.perf_counter() - begin) / repeat * 1e6
            except Exception as why:
                print(f"{name} {device} not recorded: {str(why).splitlines()[0]}")
                continue
            results = results if isinstance(results, (tuple, list)) else [results]
            entry["results"] = [written(value) for value in results] if not changed else []
            entry["changed"] = list(zip(changed, map(written, after)))
            entries.append(entry)
    (folder / "operators.json").write_text(json.dumps(entries))
    (folder / "operators.bin").write_bytes(bytes(data))


class Value(ctypes.Structure):
    """A value of an operator, as sconce_torch.h has it."""


Value._fields_ = [("kind", ctypes.c_int32), ("reserved", ctypes.c_int32), ("integer", ctypes.c_int64),
                  ("real", ctypes.c_double), ("tensor", ctypes.c_void_p), ("text", ctypes.c_char_p),
                  ("items", ctypes.POINTER(Value)), ("count", ctypes.c_size_t), ("generator", ctypes.c_void_p)]
TENSOR, INTEGER, REAL, TRUTH = 1, 2, 3, 4


class Options(ctypes.Structure):
    """What a new tensor is to be."""

    _fields_ = [("struct_size", ctypes.c_uint32), ("dtype", ctypes.c_int32), ("device", ctypes.c_int32),
                ("memory_format", ctypes.c_int32), ("pinned", ctypes.c_bool), ("reserved", ctypes.c_uint8 * 7)]


# Sconce's numbers, letters of the module array, and bytes.
TYPES = {"float32": (0, "f", 4), "int32": (6, "i", 4), "int64": (7, "q", 8)}
CPU = -2


class Sconce:
    def __init__(self, path):
        self.torch = ctypes.CDLL(str(path), mode=ctypes.RTLD_GLOBAL)
        self.base = ctypes.CDLL("libsconce.so.0")
        self.torch.sconce_torch_last_error_message.restype = ctypes.c_char_p

    def check(self, status):
        if status != 0:
            ours = self.torch.sconce_torch_last_error_message().decode()
            raise RuntimeError(ours or f"status {status}")

    def tensor(self, entry, data, device):
        dtype, _, width = TYPES[entry["dtype"]]
        shape, made = entry["shape"], ctypes.c_void_p()
        count = math.prod(shape) * width
        options = Options(ctypes.sizeof(Options), dtype, CPU if device == "cpu" else 0, 0, False)
        sizes = (ctypes.c_int64 * len(shape))(*shape)
        raw = (ctypes.c_uint8 * max(count, 1)).from_buffer_copy(data[entry["at"]:entry["at"] + count] or b"\0")
        self.check(self.base.sconce_tensor_from_values(raw, ctypes.c_size_t(count), sizes,
                                                       ctypes.c_size_t(len(shape)), ctypes.byref(options),
                                                       ctypes.byref(made)))
        return made.value

    def values(self, tensor, entry):
        _, letter, width = TYPES[entry["dtype"]]
        count = math.prod(entry["shape"]) * width
        raw = (ctypes.c_uint8 * max(count, 1))()
        self.check(self.base.sconce_tensor_to_values(ctypes.c_void_p(tensor), raw, ctypes.c_size_t(count)))
        return array.array(letter, bytes(raw)[:count])

    def load(self, path):
        library = ctypes.c_void_p()
        self.check(self.torch.sconce_torch_load(str(path).encode(), ctypes.byref(library)))

    def find(self, name):
        op = ctypes.c_void_p()
        self.check(self.torch.sconce_op_find(name.encode(), None, ctypes.byref(op)))
        return op

    def call(self, op, arguments):
        results, count = (Value * 8)(), ctypes.c_size_t()
        self.check(self.torch.sconce_op_call(op, arguments, ctypes.c_size_t(len(arguments)), results,
                                             ctypes.c_size_t(8), ctypes.byref(count)))
        return results, count.value

    def release(self, results, count):
        self.torch.sconce_op_values_release(results, ctypes.c_size_t(count))


def difference(entry, ours, data):
    _, letter, width = TYPES[entry["dtype"]]
    theirs = array.array(letter, bytes(data[entry["at"]:entry["at"] + math.prod(entry["shape"]) * width]))
    if ours == theirs:
        return 0.0
    if letter != "f" or len(ours) != len(theirs):
        return math.inf
    apart = max(abs(a - b) if a == a and b == b else math.inf for a, b in zip(ours, theirs))
    return apart / max(max(map(abs, theirs)), 1e-30)


def run(sconce, entry, data, repeat):
    device, op = entry["device"], sconce.find(entry["name"])
    arguments = (Value * len(entry["arguments"]))()
    for place, value in zip(arguments, entry["arguments"]):
        if isinstance(value, dict):
            place.kind, place.tensor = TENSOR, sconce.tensor(value, data, device)
        elif isinstance(value, bool):
            place.kind, place.integer = TRUTH, value
        elif isinstance(value, int):
            place.kind, place.integer = INTEGER, value
        else:
            place.kind, place.real = REAL, value
    results, count = sconce.call(op, arguments)
    apart = [difference(wanted, sconce.values(results[at].tensor, wanted), data)
             for at, wanted in enumerate(entry["results"])]
    apart += [difference(wanted, sconce.values(arguments[at].tensor, wanted), data)
              for at, wanted in entry["changed"]]
    sconce.release(results, count)
    begin = time.perf_counter()
    for _ in range(repeat):
        sconce.release(*sconce.call(op, arguments))
    if device == "cuda":
        sconce.check(sconce.base.sconce_device_synchronize(ctypes.c_int32(0)))
    spent = (time.perf_counter() - begin) / repeat * 1e6
    for place in arguments:
        if place.kind == TENSOR:
            sconce.base.sconce_tensor_release(ctypes.c_void_p(place.tensor))
    return max(apart), spent


def check(folder, libraries, path, repeat):
    sconce, failures = Sconce(path), 0
    for library in libraries:
        sconce.load(library)
    data = (folder / "operators.bin").read_bytes()
    print("# operator device result difference us torch_us")
    for entry in json.loads((folder / "operators.json").read_text()):
        try:
            apart, spent = run(sconce, entry, data, repeat)
        except RuntimeError as why:
            failures += 1
            print(entry["name"], entry["device"], "FAILED", why, flush=True)
            continue
        good = apart <= MOST_DIFFERENCE
        failures += not good
        print(entry["name"], entry["device"], "ok" if good else "FAILED", f"{apart:.1e}", f"{spent:.1f}",
              f"{entry['us']:.1f}", flush=True)
    left = sconce.base.sconce_tensor_live_count()
    print("tensors left:", left)
    raise SystemExit(1 if failures or left else 0)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("way", choices=["record", "check"])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("libraries", type=pathlib.Path, nargs="+")
    parser.add_argument("--sconce", type=pathlib.Path)
    parser.add_argument("--repeat", type=int, default=200)
    arguments = parser.parse_args()
    if arguments.way == "record":
        record(arguments.folder, arguments.libraries, arguments.repeat)
    elif arguments.sconce is None:
        parser.error("check needs --sconce")
    else:
        check(arguments.folder, arguments.libraries, arguments.sconce, arguments.repeat)


if __name__ == "__main__":
    main()
