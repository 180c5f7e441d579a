"""What scripts/check-dlpack exchanges with PyTorch and CuPy: values of every type in both directions, the order of
streams, and when memory is used again. The order is checked with a sleep on one stream; a control without an order
must read the old values, so that the check is seen to see.
"""
import contextlib
import ctypes
import gc
import os
from ctypes import byref, c_int32, c_size_t, c_uint64, c_void_p

SLEEP_NS = 150_000_000
# A size with a block of its own in both allocators.
LARGE = 6 << 20


class TorchPeer:
    """PyTorch on one device."""

    name = "PyTorch"

    def __init__(self, torch, device):
        self.module, self.device = torch, device
        self.place = "cpu" if device < 0 else f"cuda:{device}"

    def has(self, name):
        return hasattr(self.module, name)

    def array(self, data, sizes, name):
        flat = self.module.frombuffer(bytearray(data), dtype=self.module.uint8).clone()
        return flat.view(getattr(self.module, name)).reshape(sizes).to(self.place)

    def full(self, count, value):
        return self.module.full((count,), value, dtype=self.module.float32, device=self.place)

    def fill(self, array, value):
        array.fill_(value)

    def clone(self, array):
        return array.clone()

    def transposed(self, array):
        return array.t()

    def bytes(self, array):
        packed = array.contiguous().cpu()
        return ctypes.string_at(packed.data_ptr(), packed.numel() * packed.element_size())

    def address(self, array):
        return array.data_ptr()

    def describe(self, array):
        return str(array.dtype).split(".")[-1], tuple(array.shape), tuple(array.stride())

    def from_dlpack(self, tensor):
        return self.module.from_dlpack(tensor)

    def make_stream(self):
        return self.module.cuda.Stream(self.device)

    def on(self, stream):
        return self.module.cuda.stream(stream)

    def native(self, stream):
        return stream.cuda_stream

    def empty_cache(self):
        self.module.cuda.empty_cache()


class CupyPeer:
    """CuPy on one device, which is current."""

    name = "CuPy"

    def __init__(self, cupy, device):
        self.module, self.device = cupy, device

    def has(self, name):
        return name != "bfloat16"

    def array(self, data, sizes, name):
        flat = self.module.asarray(memoryview(bytearray(data)).cast("B"), dtype="uint8")
        return flat.view(name).reshape(sizes)

    def full(self, count, value):
        return self.module.full(count, value, dtype="float32")

    def fill(self, array, value):
        array.fill(value)

    def clone(self, array):
        return array.copy()

    def transposed(self, array):
        return array.T

    def bytes(self, array):
        return array.get().tobytes()

    def address(self, array):
        return array.data.ptr

    def describe(self, array):
        strides = tuple(stride // array.itemsize for stride in array.strides)
        return array.dtype.name, tuple(array.shape), strides

    def from_dlpack(self, tensor):
        return self.module.from_dlpack(tensor)

    def make_stream(self):
        return self.module.cuda.Stream(non_blocking=True)

    def on(self, stream):
        return stream

    def native(self, stream):
        return stream.ptr

    def empty_cache(self):
        self.module.get_default_memory_pool().free_all_blocks()


def asked_versions(array):
    """Ways to ask for the struct that the peer knows."""
    try:
        array.__dlpack__(max_version=(1, 0))
    except TypeError:
        return [{}]
    return [{}, {"max_version": (1, 0)}]


def takes(checks, base, library, peer):
    for dtype, (name, element) in enumerate(base.DTYPES):
        if not peer.has(name):
            continue
        data = base.bool_noise(name, 24 * element)
        for old in (False, True):
            ours = library.tensor(data, [4, 6], dtype, peer.device)
            ours.only_unversioned = old
            theirs = peer.from_dlpack(ours)
            checks.equal(peer.describe(theirs), (name, (4, 6), (6, 1)), name)
            checks.equal((peer.bytes(theirs), peer.address(theirs)), (data, ours.address), name)
            part = ours.view("sconce_tensor_transpose", 0, 1).view("sconce_tensor_narrow", 0, 2, 3)
            part.only_unversioned = old
            expected = part.bytes()
            theirs = peer.from_dlpack(part)
            checks.equal(peer.describe(theirs), (name, (3, 4), (1, 6)), name)
            checks.equal((peer.bytes(theirs), peer.address(theirs)), (expected, part.address), name)
            ours.release()
            part.release()
            checks.equal(peer.bytes(theirs), expected, "the array outlives the handles")
    ours = library.tensor(bytes(24), [6], 0, peer.device)
    theirs = peer.from_dlpack(ours)
    peer.fill(theirs, 3.0)
    checks.equal(peer.bytes(theirs), ours.bytes(), "what the peer writes is there")
    for sizes in ([], [0], [2, 0, 3], [1, 1, 1]):
        theirs = peer.from_dlpack(library.empty(sizes, 0, peer.device))
        checks.equal(peer.describe(theirs)[1], tuple(sizes), "shapes")


def gives(checks, base, library, peer):
    for name, element in base.DTYPES:
        if not peer.has(name):
            continue
        whole = peer.array(base.bool_noise(name, 24 * element), [4, 6], name)
        for theirs in (whole, peer.transposed(whole), whole[1:3, 1:], whole[2], whole[:0]):
            for asked in asked_versions(theirs):
                ours = library.from_dlpack(theirs, **asked)
                checks.equal(ours.bytes(), peer.bytes(theirs), f"{name} {peer.describe(theirs)}")
                if len(ours.bytes()):
                    checks.equal((ours.address, ours.device), (peer.address(theirs), peer.device), name)
    # The peer's memory is kept, whatever happens to its own name.
    theirs = peer.full(1000, 5.0)
    ours = library.from_dlpack(theirs)
    expected = peer.bytes(theirs)
    del theirs
    others = [peer.full(1000, 6.0) for _ in range(8)]
    checks.equal(ours.bytes(), expected, "the tensor outlives the array")
    del others


class Streams:
    """A stream of this library that is current, and one of the peer."""

    def __init__(self, base, library, peer):
        self.base, self.library, self.peer = base, library, peer
        self.own = library.out(base.Stream, "sconce_stream_get_from_pool", c_int32(peer.device), c_int32(0))
        library.call("sconce_stream_set_current", self.own)
        self.side = peer.make_stream()
        self.side_number = peer.native(self.side)
        self.side_here = library.out(base.Stream, "sconce_stream_get_from_external", c_void_p(self.side_number),
                                     c_int32(peer.device))

    def delay(self, stream):
        self.library.call("sconce_stream_sleep", stream, c_uint64(SLEEP_NS))

    def wait(self):
        self.library.call("sconce_device_synchronize", c_int32(self.peer.device))

    def close(self):
        self.wait()
        default = self.library.out(self.base.Stream, "sconce_stream_get_default", c_int32(self.peer.device))
        self.library.call("sconce_stream_set_current", default)

    def floats(self, value):
        number = ctypes.c_float(value)
        tensor = self.library.tensor(bytes(number) * LARGE, [LARGE], 0, self.peer.device)
        self.wait()
        return tensor


def first(data):
    return ctypes.c_float.from_buffer_copy(data[:4]).value, ctypes.c_float.from_buffer_copy(data[-4:]).value


class Exported:
    """A tensor that is exported for a stream of the check's choice."""

    def __init__(self, tensor, stream):
        self.tensor, self.stream = tensor, stream

    def __dlpack_device__(self):
        return self.tensor.__dlpack_device__()

    def __dlpack__(self, *, stream=None, **asked):
        return self.tensor.__dlpack__(stream=self.stream or stream, **asked)


def order_of_exports(checks, base, library, peer):
    streams = Streams(base, library, peer)
    ones = streams.floats(1.0)
    for stream, expected in ((None, (1.0, 1.0)), (-1, (0.0, 0.0))):
        target = streams.floats(0.0)
        with peer.on(streams.side):
            peer.clone(peer.full(LARGE, 0.0))
        streams.wait()
        streams.delay(streams.own)
        library.call("sconce_tensor_copy", c_void_p(target.handle), c_void_p(ones.handle), ctypes.c_bool(True))
        with peer.on(streams.side):
            theirs = peer.from_dlpack(Exported(target, stream))
            got = peer.clone(theirs)
            checks.equal(first(peer.bytes(got)), expected, f"read on the peer's stream, exported for {stream}")
        streams.wait()
        del theirs, got
    # The consumer's stream still reads when the tensor is gone on both sides.
    target = streams.floats(1.0)
    address = target.address
    with peer.on(streams.side):
        theirs = peer.from_dlpack(target)
        streams.delay(streams.side_here)
        got = peer.clone(theirs)
        del theirs
    target.release()
    gc.collect()
    base.delete_unused()
    again = library.empty([LARGE], 0, peer.device)
    checks.equal(again.address != address, True, "memory that the consumer's stream reads is not handed out")
    streams.wait()
    checks.equal(first(peer.bytes(got)), (1.0, 1.0), "what the consumer's stream read")
    streams.close()


def order_of_imports(checks, base, library, peer):
    streams = Streams(base, library, peer)
    # How the import is ordered; what our stream reads then.
    ways = [("by the producer", {}, (1.0, 1.0)),
            ("by producer_stream", {"stream": -1, "producer_stream": streams.side_number}, (1.0, 1.0)),
            ("not at all", {"stream": -1}, (0.0, 0.0))]
    for way, arguments, expected in ways:
        library.empty([LARGE], 0, peer.device).release()
        with peer.on(streams.side):
            theirs = peer.full(LARGE, 0.0)
            streams.wait()
            streams.delay(streams.side_here)
            peer.fill(theirs, 1.0)
            ours = library.from_dlpack(theirs, **arguments)
        copy = base.Tensor(library, ours.get(c_void_p, "sconce_tensor_clone", c_int32(0)))
        checks.equal(first(copy.bytes()), expected, f"read on our stream, ordered {way}")
        streams.wait()
        ours.release()
        del theirs
    # Our stream still reads when the peer has its memory back, and uses it again on its own stream.
    for way, producer_stream, expected in (("ordered", streams.side_number, (1.0, 1.0)), ("not ordered", None, (2.0, 2.0))):
        peer.empty_cache()
        copy = streams.floats(0.0)
        with peer.on(streams.side):
            theirs = peer.full(LARGE, 1.0)
            address = peer.address(theirs)
            streams.wait()
            ours = library.from_dlpack(theirs, stream=-1, producer_stream=producer_stream)
            del theirs
            streams.delay(streams.own)
            library.call("sconce_tensor_copy", c_void_p(copy.handle), c_void_p(ours.handle), ctypes.c_bool(True))
            ours.release()
            gc.collect()
            again = peer.full(LARGE, 2.0)
            checks.equal(peer.address(again), address, "the peer uses its memory again")
        checks.equal(first(copy.bytes()), expected, f"read while the memory goes back, {way}")
        streams.wait()
        del again
    streams.close()


def exchange_table(checks, base, library, peer):
    """PyTorch's own table, whose allocator we import from."""
    torch = peer.module
    capsule = getattr(torch.Tensor, "__dlpack_c_exchange_api__", None)
    if capsule is None or not base.python.PyCapsule_IsValid(id(capsule), base.TABLE):
        print("  PyTorch publishes no exchange table")
        checks.held += 1
        return
    table = base.ExchangeTable.from_address(base.python.PyCapsule_GetPointer(id(capsule), base.TABLE))
    checks.equal(table.major, 1, "the version of PyTorch's table")
    side = peer.make_stream()
    stream = c_void_p()
    with peer.on(side):
        checks.equal((table.current_work_stream(2, peer.device, byref(stream)), stream.value), (0, side.cuda_stream),
                     "PyTorch's current stream")
    shape = (ctypes.c_int64 * 2)(3, 4)
    prototype = base.DLTensor(None, base.DLDevice(2, peer.device), 2, base.DLDataType(2, 32, 1), shape, None, 0)
    told = []
    note = base.SetError(lambda context, kind, message: told.append((kind, message)))
    managed = c_void_p()
    checks.equal((table.allocator(byref(prototype), byref(managed), None, note), told), (0, []), "PyTorch's allocator")
    ours = base.Tensor(library, library.out(c_void_p, "sconce_tensor_from_dlpack", managed, None))
    checks.equal(len(ours.bytes()), 48, "a tensor of PyTorch's allocator")
    # And the other way round.
    code = library.table.allocator(byref(prototype), byref(managed), None, note)
    checks.equal((code, told), (0, []), "our allocator")
    theirs = peer.from_dlpack(base.Capsule(managed.value, (2, peer.device)))
    checks.equal(tuple(theirs.shape), (3, 4), "a tensor of our allocator")


def host_memory(checks, base, library, peer):
    """Pinned memory in both directions."""
    torch = peer.module
    theirs = torch.arange(6, dtype=torch.float32).pin_memory()
    ours = library.from_dlpack(theirs)
    checks.equal((ours.device, ours.address), (base.CPU, theirs.data_ptr()), "PyTorch's pinned memory")
    checks.equal(ours.get(ctypes.c_bool, "sconce_tensor_is_pinned"), True, "it is known as pinned")
    options = base.Options(ctypes.sizeof(base.Options), 0, base.CPU, 0, True)
    sizes = (ctypes.c_int64 * 1)(6)
    ours = base.Tensor(library, library.out(c_void_p, "sconce_tensor_empty", sizes, c_size_t(1), byref(options)))
    theirs = torch.from_dlpack(ours)
    checks.equal((theirs.data_ptr(), theirs.is_pinned()), (ours.address, True), "our pinned memory")


def managed_memory(checks, base, library, peer):
    cupy = peer.module
    with cupy.cuda.using_allocator(cupy.cuda.malloc_managed):
        theirs = cupy.arange(100, dtype="float32")
    print(f"  CuPy's managed memory is of device {tuple(map(int, theirs.__dlpack_device__()))}")
    ours = library.from_dlpack(theirs)
    checks.equal((ours.device, ours.address), (0, theirs.data.ptr), "managed memory")
    checks.equal(ours.bytes(), theirs.get().tobytes(), "managed memory")


def narrow_floats(checks, base, library, peer):
    """Types that PyTorch exchanges in newer versions only: reported, and judged where it takes them."""
    names = ["float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz", "float8_e8m0fnu"]
    for dtype, name in enumerate(names, 16):
        if not peer.has(name):
            continue
        ours = library.empty([4], dtype, peer.device)
        try:
            theirs = peer.from_dlpack(ours)
        except (BufferError, RuntimeError) as error:
            print(f"  PyTorch takes no {name}: {str(error).splitlines()[0]}")
            checks.held += 1
            continue
        checks.equal(str(theirs.dtype), f"torch.{name}", name)
        back = library.from_dlpack(theirs)
        checks.equal(back.get(c_int32, "sconce_tensor_get_dtype"), dtype, name)


def on_gpu(checks, base, library, peer):
    for check in (takes, gives, order_of_exports, order_of_imports):
        checks.run(f"{peer.name} cuda:{peer.device}: {check.__name__}", check, base, library, peer)


def check_torch(base, checks, library):
    import torch
    print(f"PyTorch {torch.__version__}")
    peer = TorchPeer(torch, base.CPU)
    for check in (takes, gives):
        checks.run(f"PyTorch cpu: {check.__name__}", check, base, library, peer)
    if not torch.cuda.is_available() or os.environ.get("SCONCE_BACKEND") == "sim":
        print("skipped: PyTorch on a GPU")
        return
    for device in range(torch.cuda.device_count()):
        with torch.cuda.device(device):
            peer = TorchPeer(torch, device)
            on_gpu(checks, base, library, peer)
            for check in (exchange_table, host_memory, narrow_floats):
                checks.run(f"PyTorch cuda:{device}: {check.__name__}", check, base, library, peer)


def check_cupy(base, checks, library):
    import cupy
    if os.environ.get("SCONCE_BACKEND") == "sim":
        raise ImportError("CuPy needs a GPU")
    print(f"CuPy {cupy.__version__}")
    with contextlib.ExitStack() as stack:
        stack.enter_context(cupy.cuda.Device(0))
        peer = CupyPeer(cupy, 0)
        on_gpu(checks, base, library, peer)
        checks.run("CuPy cuda:0: managed_memory", managed_memory, base, library, peer)
