#!/usr/bin/env python3
"""Compares the names of this library's figures of pinned memory with PyTorch's.

    check_stats_keys.py LIBSCONCE

Each key of `torch.cuda.host_memory_stats()` must be one of `sconce_host_memory_get_stats_json`, with a
whole number as its value. This library has the requested bytes in addition. Prints the differences; the exit
status is 1 if there are any, and 77 without PyTorch or a GPU.
"""

import ctypes
import json
import sys

SKIPPED = 77
# torch's count for each power of two; there are no such classes here.
NOT_OURS = ("bucket_",)
OURS_ALONE = ("requested_bytes.",)


def our_stats(path):
    library = ctypes.CDLL(path)
    library.sconce_last_error_message.restype = ctypes.c_char_p
    library.sconce_string_free.argtypes = [ctypes.c_void_p]
    library.sconce_host_memory_alloc.argtypes = [ctypes.c_size_t, ctypes.c_void_p]
    library.sconce_host_memory_free.argtypes = [ctypes.c_void_p]
    library.sconce_host_memory_get_stats_json.argtypes = [ctypes.c_void_p]

    def call(name, *arguments):
        if getattr(library, name)(*arguments) != 0:
            raise SystemExit(f"{name}: {library.sconce_last_error_message().decode()}")

    block, text = ctypes.c_void_p(), ctypes.c_void_p()
    call("sconce_host_memory_alloc", 1000, ctypes.byref(block))
    call("sconce_host_memory_free", block)
    call("sconce_host_memory_get_stats_json", ctypes.byref(text))
    stats = json.loads(ctypes.string_at(text.value))
    library.sconce_string_free(text)
    return stats


def their_stats():
    """None where there is no PyTorch with a GPU."""
    try:
        import torch
    except ImportError:
        return None
    if not torch.cuda.is_available():
        return None
    torch.cuda.init()
    block = torch.empty(1000, dtype=torch.uint8, pin_memory=True)
    del block
    return torch.cuda.host_memory_stats()


def main(arguments):
    if len(arguments) != 1:
        print(__doc__, file=sys.stderr)
        return 2
    ours = our_stats(arguments[0])
    theirs = their_stats()
    if theirs is None:
        print(f"skipped: no PyTorch with a GPU; ours are {len(ours)} keys")
        return SKIPPED
    different = [f"only PyTorch's: {key}" for key in sorted(theirs.keys() - ours.keys())
                 if not key.startswith(NOT_OURS)]
    different += [f"only ours: {key}" for key in sorted(ours.keys() - theirs.keys())
                  if not key.startswith(OURS_ALONE)]
    different += [f"no number: {key} is {value!r}" for key, value in sorted(ours.items())
                  if type(value) is not int]
    for line in different:
        print(line)
    both = len(theirs.keys() & ours.keys())
    print(f"pinned figures: {both} of PyTorch's {len(theirs)} keys are ours, {len(different)} differ")
    return 1 if different or not both else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
