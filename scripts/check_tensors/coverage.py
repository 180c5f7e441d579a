"""Whether every function of the header and every operation of its enumerations was in some case."""

# scripts/check-dlpack compares these with NumPy.
ELSEWHERE = {
    "sconce_tensor_to_dlpack",
    "sconce_tensor_to_dlpack_unversioned",
    "sconce_tensor_from_dlpack",
    "sconce_tensor_from_dlpack_unversioned",
}
ENUMERATIONS = {
    "SCONCE_UNARY_": "unary",
    "SCONCE_BINARY_": "binary",
    "SCONCE_REDUCE_": "reduce",
    "SCONCE_LINE_": "along",
}


def missing(library, names):
    """A line for each that was in none."""
    lines = [
        f"no case calls {name}" for name in library.functions if not library.called[name] and name not in ELSEWHERE
    ]
    for prefix, group in ENUMERATIONS.items():
        operations = library.operations(prefix)
        if not operations:
            lines.append(f"the header has no {prefix}…")
        lines += [f"no case computes {prefix}{name.upper()}" for name in operations if not names[f"{group}.{name}"]]
    return lines
