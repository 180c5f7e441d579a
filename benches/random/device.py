"""The random kernels on a GPU, beside PyTorch in one process: libcuda through ctypes, launches on
torch's current stream, in the primary context that torch uses."""

import ctypes
import lzma
import pathlib
import sys

import torch

import reference as ref

ROOT = pathlib.Path(__file__).resolve().parents[2]
# In a package of gpu-check it lies beside this file.
sys.path.append(str(ROOT / "scripts"))
import packed_ptx

KERNELS = ROOT / "kernels" / "generated"
SENTINEL = 0xA5

TORCH_DTYPES = {
    "f32": torch.float32, "f64": torch.float64, "f16": torch.float16, "bf16": torch.bfloat16,
    "i8": torch.int8, "i16": torch.int16, "i32": torch.int32, "i64": torch.int64, "u8": torch.uint8,
    "bool": torch.bool,
}


class Driver:
    """cuLaunchKernel and the few calls round it."""

    def __init__(self):
        torch.zeros(1, device="cuda")  # torch's primary context, current on this thread
        self.shared = ctypes.CDLL("libcuda.so.1")
        properties = torch.cuda.get_device_properties(0)
        self.sms = properties.multi_processor_count
        self.threads_per_sm = properties.max_threads_per_multi_processor
        self.name = properties.name

    def call(self, name, *arguments):
        code = getattr(self.shared, name)(*arguments)
        if code != 0:
            text = ctypes.c_char_p()
            self.shared.cuGetErrorName(code, ctypes.byref(text))
            raise RuntimeError(f"{name}: {text.value.decode() if text.value else code}")

    def load(self, ptx):
        module = ctypes.c_void_p()
        self.call("cuModuleLoadData", ctypes.byref(module), ctypes.c_char_p(ptx + b"\0"))
        return module

    def clear(self, address, size):
        """cuMemsetD32Async to zero on the current stream: the speed of light for a fill."""
        self.call("cuMemsetD32Async", ctypes.c_uint64(address), ctypes.c_uint(0),
                  ctypes.c_size_t(size // 4), stream())


def stream():
    return ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)


class Kernels:
    """The images of the random kernels, one a distribution, each loaded when it is first used; `edit`
    may change an image's PTX before."""

    def __init__(self, driver, folder=KERNELS, edit=lambda ptx: ptx):
        self.driver, self.folder, self.edit = driver, folder, edit
        self.modules, self.functions = {}, {}

    def load(self, distribution):
        if distribution not in self.modules:
            packed = (self.folder / f"random_{distribution}.ptx.lzma").read_bytes()
            ptx = packed_ptx.unpack(lzma.decompress(packed, lzma.FORMAT_ALONE).decode()).encode()
            self.modules[distribution] = self.driver.load(self.edit(ptx))
        return self.modules[distribution]

    def function(self, distribution, name):
        if name not in self.functions:
            function = ctypes.c_void_p()
            self.driver.call("cuModuleGetFunction", ctypes.byref(function), self.load(distribution),
                             name.encode())
            self.functions[name] = function
        return self.functions[name]

    def launch(self, function, grid, slots):
        values = (ctypes.c_uint64 * len(slots))(*slots)
        pointers = (ctypes.c_void_p * len(slots))(
            *(ctypes.addressof(values) + 8 * i for i in range(len(slots))))
        self.driver.call("cuLaunchKernel", function, grid[0], grid[1], 1, ref.BLOCK, 1, 1,
                         0, stream(), pointers, None)

    def fill(self, distribution, dtype, address, n, seed, offset, first=0, second=0, state=0,
             blocks_per_sm=None):
        """A whole fill as Sconce's host side does it; returns the offset after it."""
        driver, size = self.driver, ref.SIZES[dtype]
        draws = ref.draws_a_block(distribution, dtype, first)
        plan, after = ref.launches(n, size, draws, driver.sms, driver.threads_per_sm, offset)
        function = self.function(distribution, ref.kernel_name(distribution, dtype, first))
        extra = {} if blocks_per_sm is None else {"blocks_per_sm": blocks_per_sm}
        for begin, length, at in plan:
            threads = ref.virtual_threads(length, driver.sms, driver.threads_per_sm)
            self.launch(function, ref.launch_shape(length, threads, draws, size, driver.sms, **extra),
                        ref.arguments(distribution, address + begin * size, length, seed, at, threads,
                                      first, second, state))
        return after
