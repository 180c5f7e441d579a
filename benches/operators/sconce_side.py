"""Operators through libsconce_torch, from Python without PyTorch."""

import ctypes

import numpy as np

from values import LIBRARIES, RAW, Made, T, Type


class Value(ctypes.Structure):
    pass


Value._fields_ = [("kind", ctypes.c_int32), ("reserved", ctypes.c_int32), ("integer", ctypes.c_int64),
                  ("real", ctypes.c_double), ("tensor", ctypes.c_void_p), ("text", ctypes.c_char_p),
                  ("items", ctypes.POINTER(Value)), ("count", ctypes.c_size_t), ("generator", ctypes.c_void_p)]
NONE, TENSOR, INTEGER, REAL, TRUTH, TEXT, LIST, DTYPE = range(8)


class Options(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_uint32), ("dtype", ctypes.c_int32), ("device", ctypes.c_int32),
                ("memory_format", ctypes.c_int32), ("pinned", ctypes.c_bool), ("reserved", ctypes.c_uint8 * 7)]


class Stream(ctypes.Structure):
    _fields_ = [("id", ctypes.c_int64), ("device", ctypes.c_int32), ("reserved", ctypes.c_int32)]


DTYPES = {"f32": 0, "f16": 2, "bf16": 3, "i8": 4, "i32": 6, "i64": 7, "u8": 8, "bool": 9, "fp8": 16}
KINDS = {code: kind for kind, code in DTYPES.items()}
CPU = -2
size_t = ctypes.c_size_t


class Sconce:
    """Libraries of `folder` through the libraries of Sconce in `sconce`."""

    def __init__(self, folder, sconce, on_cpu=False):
        self.folder = folder
        self.base = ctypes.CDLL(str(sconce / "libsconce.so.0"), mode=ctypes.RTLD_GLOBAL)
        self.torch = ctypes.CDLL(str(sconce / "libsconce_torch.so"), mode=ctypes.RTLD_GLOBAL)
        for library in (self.torch.sconce_torch_last_error_message, self.base.sconce_last_error_message):
            library.restype = ctypes.c_char_p
        self.drop_results = self.torch.sconce_op_values_release
        self.base.sconce_tensor_live_count.restype = ctypes.c_uint64
        self.device = CPU if on_cpu else 0
        self.loaded = {}

    def check(self, status, torch=False):
        if status != 0:
            message = self.torch.sconce_torch_last_error_message() if torch else self.base.sconce_last_error_message()
            raise RuntimeError(f"status {status}: {message.decode()}")

    def load(self, name):
        if name not in self.loaded:
            library = ctypes.c_void_p()
            path = self.folder / LIBRARIES[name]
            self.check(self.torch.sconce_torch_load(str(path).encode(), ctypes.byref(library)), True)
            self.loaded[name] = library

    def find(self, name):
        op = ctypes.c_void_p()
        self.check(self.torch.sconce_op_find(name.encode(), None, ctypes.byref(op)), True)
        return op

    def make(self, array, kind, cpu=False):
        sizes = (ctypes.c_int64 * array.ndim)(*array.shape)
        options = Options(ctypes.sizeof(Options), DTYPES[kind], CPU if cpu else self.device, 0, False)
        made = ctypes.c_void_p()
        self.check(self.base.sconce_tensor_from_values(
            array.ctypes.data_as(ctypes.c_void_p), size_t(array.nbytes), sizes, size_t(array.ndim),
            ctypes.byref(options), ctypes.byref(made)))
        return made.value

    def upload(self, t):
        base = self.make(t.raw, t.kind, t.cpu)
        if not t.turned:
            return base, base
        view = ctypes.c_void_p()
        self.check(self.base.sconce_tensor_transpose(ctypes.c_void_p(base), ctypes.c_int64(0), ctypes.c_int64(1),
                                                     ctypes.byref(view)))
        return base, view.value

    def write(self, handle, t):
        fresh = self.make(t.raw, t.kind, t.cpu)
        try:
            self.copy(handle, fresh)
        finally:
            self.release(fresh)

    def copy(self, target, source):
        self.check(self.base.sconce_tensor_copy(ctypes.c_void_p(target), ctypes.c_void_p(source), False))

    def read(self, handle):
        kind = ctypes.c_int32()
        self.check(self.base.sconce_tensor_get_dtype(ctypes.c_void_p(handle), ctypes.byref(kind)))
        count = ctypes.c_uint64()
        self.check(self.base.sconce_tensor_get_numel(ctypes.c_void_p(handle), ctypes.byref(count)))
        kind = KINDS[kind.value]
        out = np.empty(count.value, RAW[kind])
        self.check(self.base.sconce_tensor_to_values(ctypes.c_void_p(handle), out.ctypes.data_as(ctypes.c_void_p),
                                                     size_t(out.nbytes)))
        return out, kind

    def release(self, handle):
        self.base.sconce_tensor_release(ctypes.c_void_p(handle))

    def pack(self, args, handles):
        """The values of arguments, and what they point to."""
        values, keep = (Value * len(args))(), []
        for place, value in zip(values, args):
            if value is None:
                place.kind = NONE
            elif isinstance(value, (T, Made)):
                place.kind, place.tensor = TENSOR, handles[id(value)][1]
            elif isinstance(value, Type):
                place.kind, place.integer = DTYPE, DTYPES[value.kind]
            elif isinstance(value, list):
                items, inner = self.pack(value, handles)
                keep += [items, *inner]
                place.kind, place.items, place.count = LIST, items, len(value)
            elif isinstance(value, bool):
                place.kind, place.integer = TRUTH, value
            elif isinstance(value, int):
                place.kind, place.integer = INTEGER, value
            elif isinstance(value, float):
                place.kind, place.real = REAL, value
            elif isinstance(value, str):
                place.kind, place.text = TEXT, value.encode()
            else:
                raise TypeError(type(value))
        return values, keep

    def call(self, op, values):
        results, count = (Value * 8)(), size_t()
        self.check(self.torch.sconce_op_call(op, values, size_t(len(values)), results, size_t(8),
                                             ctypes.byref(count)), True)
        return results, count.value

    def caller(self, op, values):
        """A function that calls and drops the results, with as little of Python as possible."""
        call, release, results, count = self.torch.sconce_op_call, self.drop_results, (Value * 8)(), size_t()
        place, given, room = ctypes.byref(count), size_t(len(values)), size_t(8)

        def again():
            if call(op, values, given, results, room, place) != 0:
                self.check(1, True)
            if count.value:
                release(results, count)
        return again

    def tensors(self, results):
        got = []
        for value in results[0][:results[1]]:
            if value.kind == LIST:
                got += [value.items[i].tensor for i in range(value.count)]
            elif value.kind == TENSOR:
                got.append(value.tensor)
        return got

    def drop(self, results):
        self.drop_results(results[0], size_t(results[1]))

    def synchronize(self):
        if self.device != CPU:
            self.check(self.base.sconce_device_synchronize(ctypes.c_int32(0)))

    def side_stream(self):
        stream = Stream()
        self.check(self.base.sconce_stream_get_from_pool(ctypes.c_int32(0), ctypes.c_int32(0), ctypes.byref(stream)))
        return stream

    def use(self, stream):
        """Makes a stream current; None is the default one."""
        if stream is None:
            stream = Stream()
            self.check(self.base.sconce_stream_get_default(ctypes.c_int32(0), ctypes.byref(stream)))
        self.check(self.base.sconce_stream_set_current(stream))

    def capture(self, stream, work):
        graph = ctypes.c_void_p()
        self.check(self.base.sconce_graph_create(False, ctypes.byref(graph)))
        self.use(stream)
        self.check(self.base.sconce_graph_capture_begin(graph, stream, None, ctypes.c_int32(1)))
        try:
            kept = work()
        except BaseException:
            self.base.sconce_graph_capture_abort(graph)
            self.base.sconce_graph_destroy(graph)
            raise
        self.check(self.base.sconce_graph_capture_end(graph))
        return graph, kept

    def replay(self, graph, stream):
        self.check(self.base.sconce_graph_replay(graph, stream))

    def destroy(self, graph):
        self.check(self.base.sconce_graph_destroy(graph))

    def live(self):
        return int(self.base.sconce_tensor_live_count())
