"""Products, convolutions and transforms through libsconce's C API, beside PyTorch in one process: the
legacy default stream is both sides' current stream, and the primary context is shared."""

import ctypes
import re

import torch


def constants(headers):
    """The numbers of the SCONCE_… macros and enumerators of the C headers in a folder."""
    found = {}
    pattern = r"^(?:#define\s+|\s+)SCONCE_(\w+)(?:\s+|\s*=\s*)(-?(?:0x)?[0-9a-fA-F]+),?$"
    for name, number in re.findall(pattern, "".join(file.read_text() for file in headers.glob("*.h")), re.MULTILINE):
        found[name] = int(number, 0)
    return found


class MatmulDesc(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_uint32), ("dtype", ctypes.c_int32)] + [
        (name, ctypes.c_int64) for name in ("m", "n", "k", "batch")] + [
        ("alpha", ctypes.c_double), ("beta", ctypes.c_double),
        ("transpose_a", ctypes.c_bool), ("transpose_b", ctypes.c_bool)] + [
        (name, ctypes.c_int64 * 3) for name in ("a_strides", "b_strides", "c_strides")]


class ConvolutionDesc(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_uint32)] + [
        (name, ctypes.c_int32) for name in ("dtype", "operation", "spatial_rank")] + [
        (name, ctypes.c_int64) for name in ("batch", "in_channels", "out_channels", "groups")] + [
        (name, ctypes.c_int64 * 3)
        for name in ("input_sizes", "filter_sizes", "stride", "padding", "dilation")] + [
        (name, ctypes.c_int64 * 5) for name in ("input_strides", "filter_strides", "output_strides")]


class FftDesc(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_uint32)] + [
        (name, ctypes.c_int32) for name in ("kind", "dtype", "direction", "normalization", "rank")] + [
        ("sizes", ctypes.c_int64 * 3), ("batch", ctypes.c_int64),
        ("in_batch_stride", ctypes.c_int64), ("in_strides", ctypes.c_int64 * 3),
        ("out_batch_stride", ctypes.c_int64), ("out_strides", ctypes.c_int64 * 3),
        ("may_overwrite_input", ctypes.c_bool)]


def filled(array, values):
    return array(*(list(values) + [0] * (array._length_ - len(values))))


class Library:
    def __init__(self, path, headers):
        self.shared = ctypes.CDLL(str(path))
        self.shared.sconce_last_error_message.restype = ctypes.c_char_p
        self.numbers = constants(headers)
        self.dtypes = {torch.float16: self.numbers["DTYPE_F16"], torch.bfloat16: self.numbers["DTYPE_BF16"],
                       torch.float32: self.numbers["DTYPE_F32"], torch.float64: self.numbers["DTYPE_F64"],
                       torch.complex32: self.numbers["DTYPE_F16"], torch.complex64: self.numbers["DTYPE_F32"],
                       torch.complex128: self.numbers["DTYPE_F64"]}

    def call(self, name, *arguments):
        if getattr(self.shared, name)(*arguments) != 0:
            raise RuntimeError(f"{name}: {self.shared.sconce_last_error_message().decode()}")

    def use_tf32(self, allow):
        self.shared.sconce_context_set_allow_tf32_cublas(ctypes.c_bool(allow))
        self.shared.sconce_context_set_allow_tf32_cudnn(ctypes.c_bool(allow))
        torch.backends.cuda.matmul.allow_tf32 = allow
        torch.backends.cudnn.allow_tf32 = allow

    def matmul(self, a, b, c, alpha=1.0, beta=0.0):
        """c = alpha * a @ b + beta * c; each has a batch, rows and columns, with any strides."""
        desc = MatmulDesc(ctypes.sizeof(MatmulDesc), self.dtypes[c.dtype], c.shape[1], c.shape[2], a.shape[2],
                          c.shape[0], alpha, beta, False, False)
        desc.a_strides, desc.b_strides, desc.c_strides = (filled(ctypes.c_int64 * 3, t.stride()) for t in (a, b, c))
        self.call("sconce_matmul", ctypes.byref(desc), *(ctypes.c_void_p(t.data_ptr()) for t in (a, b, c)))

    def convolution(self, operation, a, b, result, tensors, stride, padding, dilation, groups):
        """`tensors`: the input, the filter and the output, whichever of them is the result."""
        x, w, y = tensors
        desc = ConvolutionDesc(ctypes.sizeof(ConvolutionDesc), self.dtypes[x.dtype],
                               self.numbers[f"CONVOLUTION_{operation}"], x.dim() - 2, x.shape[0], x.shape[1],
                               w.shape[0], groups)
        three, five = ctypes.c_int64 * 3, ctypes.c_int64 * 5
        desc.input_sizes, desc.filter_sizes = filled(three, x.shape[2:]), filled(three, w.shape[2:])
        desc.stride, desc.padding, desc.dilation = (filled(three, v) for v in (stride, padding, dilation))
        desc.input_strides, desc.filter_strides, desc.output_strides = (filled(five, t.stride()) for t in tensors)
        self.call("sconce_convolution", ctypes.byref(desc), *(ctypes.c_void_p(t.data_ptr()) for t in (a, b, result)))

    def fft(self, kind, direction, normalization, sizes, x, y):
        """Both have a batch, then the transform's dimensions, with any strides."""
        desc = FftDesc(ctypes.sizeof(FftDesc), self.numbers[f"FFT_{kind}"], self.dtypes[x.dtype],
                       self.numbers[f"FFT_{direction}"], self.numbers[f"FFT_NORM_{normalization}"], len(sizes))
        three = ctypes.c_int64 * 3
        desc.sizes, desc.batch = filled(three, sizes), x.shape[0]
        desc.in_batch_stride, desc.in_strides = x.stride(0), filled(three, x.stride()[1:])
        desc.out_batch_stride, desc.out_strides = y.stride(0), filled(three, y.stride()[1:])
        self.call("sconce_fft", ctypes.byref(desc), ctypes.c_void_p(x.data_ptr()), ctypes.c_void_p(y.data_ptr()))
