"""Results beside PyTorch's: values, types, sizes and strides."""

import torch

from .library import Refused

# What each result may differ by, relative and absolute: sums of 16-bit numbers are rounded more often here.
NEAR = {torch.float32: 1e-5, torch.float64: 1e-12, torch.float16: 4e-3, torch.bfloat16: 4e-2}


class Check:
    def __init__(self, library, wanted):
        self.library, self.wanted = library, wanted
        self.counts, self.failures = {}, []

    def compare(self, name, arguments, expected, near=None, strides=True, results=None, out=None, of=None,
                by_name=False, integers=0):
        """Compares an operation's results with what PyTorch returned, or an argument that it writes. `of` names the kind
        of device that has such a function, if only one has. `by_name` calls the operation of the dispatcher. Integers may
        be `integers` apart. `near` is one number, or a relative and an absolute one."""
        device = "cuda" if expected[0].is_cuda else "cpu"
        if self.wanted and not any(word in name for word in self.wanted):
            return
        self.counts[device, name] = self.counts.get((device, name), 0) + 1
        what = f"{name} on {device} of " + ", ".join(
            f"{tuple(one.shape)}{one.stride()}{one.dtype}" if isinstance(one, torch.Tensor) else repr(one)
            for one in arguments)
        try:
            if by_name:
                found = self.library.call_by_name(name, arguments, len(expected), device)
            else:
                count = 0 if out is not None else results or len(expected)
                found = self.library.call(name, arguments, count, device, of)
        except (Refused, AttributeError) as error:
            self.failures.append(f"{what}: {error}")
            return
        if out is not None:
            found = [out]
        for at, (ours, theirs) in enumerate(zip(found, expected)):
            problem = difference(ours, theirs, near, strides, integers)
            if problem:
                self.failures.append(f"{what}: result {at}: {problem}")


    def same(self, name, device, arguments, pairs, near):
        """Compares pairs of tensors, each with a name; without `near` their sizes and strides alone."""
        if near is not None:
            self.counts[device, name] = self.counts.get((device, name), 0) + 1
        what = f"{name} on {device} of " + ", ".join(
            f"{tuple(one.shape)}{one.stride()}{one.dtype}" if isinstance(one, torch.Tensor) else repr(one)
            for one in arguments)
        for which, ours, theirs in pairs:
            if near is None:
                # The same values, so that only what is around them counts.
                theirs = torch.empty_strided(theirs.shape, theirs.stride(), dtype=theirs.dtype,
                                             device=theirs.device).copy_(ours)
            problem = difference(ours.resolve_conj(), theirs.resolve_conj(), near or 0, near is None)
            if problem:
                self.failures.append(f"{what}: {which}: {problem}")


def difference(ours, theirs, near, strides, integers=0):
    if ours.dtype != theirs.dtype:
        return f"{ours.dtype} instead of {theirs.dtype}"
    if ours.shape != theirs.shape:
        return f"sizes {tuple(ours.shape)} instead of {tuple(theirs.shape)}"
    relevant = [at for at, size in enumerate(ours.shape) if size > 1]
    if strides and ours.numel() and [ours.stride(at) for at in relevant] != [theirs.stride(at) for at in relevant]:
        return f"strides {ours.stride()} instead of {theirs.stride()}"
    if ours.dtype.is_complex:
        return difference(torch.view_as_real(ours), torch.view_as_real(theirs), near, strides)
    if ours.dtype.itemsize == 1 and ours.dtype.is_floating_point:
        ours, theirs = ours.float(), theirs.float()
    if ours.dtype in NEAR:
        within = NEAR[ours.dtype] if near is None else near
        relative, absolute = within if isinstance(within, tuple) else (within, within)
        same = torch.allclose(ours.double(), theirs.double(), rtol=relative, atol=absolute, equal_nan=True)
    else:
        same = torch.equal(ours, theirs) if integers == 0 else (
            not ours.numel() or (ours.long() - theirs.long()).abs().max().item() <= integers)
    if same:
        return None
    different = (ours != theirs) & ~(ours.isnan() & theirs.isnan())
    if ours.dtype in NEAR:
        different &= ~torch.isclose(ours.double(), theirs.double(), rtol=relative, atol=absolute)
    wrong = different.nonzero()[:1].flatten().tolist()
    return f"at {wrong}: {ours[tuple(wrong)].item()} instead of {theirs[tuple(wrong)].item()}"
