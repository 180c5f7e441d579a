"""The same operators through PyTorch, as far as its worker needs them."""

import numpy as np

from values import LIBRARIES, RAW, Made, T, Type


class Torch:
    def __init__(self, folder):
        import torch
        self.t, self.folder, self.loaded = torch, folder, set()
        self.types = {"f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16, "i8": torch.int8,
                      "i32": torch.int32, "i64": torch.int64, "u8": torch.uint8, "bool": torch.bool,
                      "fp8": torch.float8_e4m3fn}
        self.kinds = {v: k for k, v in self.types.items()}

    def load(self, name):
        if name not in self.loaded:
            self.t.ops.load_library(str(self.folder / LIBRARIES[name]))
            self.loaded.add(name)

    def find(self, name):
        space, op = name.split("::")
        return getattr(getattr(self.t.ops, space), op)

    def make(self, array, kind, cpu=False):
        x = self.t.from_numpy(array.reshape(-1).view(np.uint8).copy()).view(self.types[kind]).reshape(array.shape)
        return x if cpu else x.cuda()

    def upload(self, t):
        x = self.make(t.raw, t.kind, t.cpu)
        return x, x.t() if t.turned else x

    def write(self, handle, t):
        handle.copy_(self.make(t.raw, t.kind, t.cpu))

    def copy(self, target, source):
        target.copy_(source)

    def read(self, x):
        kind = self.kinds[x.dtype]
        return x.contiguous().reshape(-1).view(self.t.uint8).cpu().numpy().view(RAW[kind]), kind

    def pack(self, args, handles):
        def word(value):
            if isinstance(value, (T, Made)):
                return handles[id(value)][1]
            return self.types[value.kind] if isinstance(value, Type) else value
        return [word(value) for value in args], None

    def call(self, op, values):
        out = op(*values)
        return [] if out is None else list(out) if isinstance(out, (tuple, list)) else [out]

    def caller(self, op, values):
        return lambda: op(*values)

    def tensors(self, results):
        return [x for x in results if isinstance(x, self.t.Tensor)]

    def drop(self, results):
        pass

    def release(self, handle):
        pass

    def synchronize(self):
        self.t.cuda.synchronize()
