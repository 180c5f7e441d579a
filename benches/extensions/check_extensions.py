#!/usr/bin/env python3
"""Builds kernels of public projects over PyTorch and over Sconce, and compares outputs, host times and compile times.

  check_extensions.py PROJECTS PREFIX [NAME…]

PROJECTS has the projects' sources, unmodified, a folder each (names: the first column of `projects` below). PREFIX has
Sconce: include/, lib/. Needs a GPU, nvcc, g++, and an installed PyTorch. A driver is compiled twice, and so are the
project's files. Each output's bytes are compared. A row: project, outputs that are equal, microseconds that the host
needs for a call (over PyTorch, over Sconce, ratio), and processor seconds of compiling.
"""
import concurrent.futures
import os
import pathlib
import re
import statistics
import subprocess
import sys
import sysconfig
import tempfile

here = pathlib.Path(__file__).resolve().parent

# name: (folder, files, flags). $P is the project's folder.
apex = ["-I$P/csrc", "-DVERSION_GE_1_1", "-DVERSION_GE_1_3", "-DVERSION_GE_1_5"]
pointnet = "pointnet2_ops_lib/pointnet2_ops/_ext-src"
projects = {
    "pytorch3d": ("pytorch3d", ["pytorch3d/csrc/knn/knn.cu",
                                "pytorch3d/csrc/face_areas_normals/face_areas_normals.cu"], ["-I$P/pytorch3d/csrc"]),
    "detectron2": ("detectron2", ["detectron2/layers/csrc/ROIAlignRotated/ROIAlignRotated_cuda.cu",
                                  "detectron2/layers/csrc/nms_rotated/nms_rotated_cuda.cu",
                                  "detectron2/layers/csrc/box_iou_rotated/box_iou_rotated_cuda.cu"], ["-DWITH_CUDA"]),
    "nerfacc": ("nerfacc", ["nerfacc/cuda/csrc/scan.cu"], []),
    "pytorch_scatter": ("pytorch_scatter", ["csrc/cuda/scatter_cuda.cu", "csrc/cuda/segment_csr_cuda.cu"], []),
    "pytorch_cluster": ("pytorch_cluster", ["csrc/cuda/fps_cuda.cu", "csrc/cuda/radius_cuda.cu"], []),
    "kaolin": ("kaolin", ["kaolin/csrc/metrics/sided_distance_cuda.cu"], ["-DWITH_CUDA"]),
    "torchsparse": ("torchsparse", ["torchsparse/backend/hash/hash_cuda.cu"], []),
    "apex": ("apex", ["csrc/welford.cu", "csrc/layer_norm_cuda_kernel.cu"], apex),
    "pointnet2": ("Pointnet2_PyTorch", [f"{pointnet}/src/{name}" for name in (
        "ball_query.cpp", "ball_query_gpu.cu", "group_points.cpp", "group_points_gpu.cu", "interpolate.cpp",
        "interpolate_gpu.cu", "sampling.cpp", "sampling_gpu.cu")], [f"-I$P/{pointnet}/include"]),
    "torch_ngp": ("torch-ngp", ["shencoder/src/shencoder.cu"], []),
    "sam2": ("sam2", ["sam2/csrc/connected_components.cu"], []),
}


def sides(prefix):
    """The flags of compiling and of linking, for each library."""
    import torch
    from torch.utils import cpp_extension
    torch_lib = pathlib.Path(torch.__file__).parent / "lib"
    abi = int(torch.compiled_with_cxx11_abi())
    common = ["-std=c++17", "-DTORCH_EXTENSION_NAME=extension", "-DTORCH_API_INCLUDE_EXTENSION_H"]
    torch_flags = [word for path in cpp_extension.include_paths() for word in ("-isystem", path)]
    torch_flags += ["-isystem", sysconfig.get_paths()["include"], f"-D_GLIBCXX_USE_CXX11_ABI={abi}"]
    library = f"{prefix}/lib"
    return {
        "torch": (common + torch_flags,
                  [f"-L{torch_lib}", f"-Wl,-rpath,{torch_lib}", "-Wl,--no-as-needed", "-ltorch_cuda", "-lc10_cuda",
                   "-ltorch_cpu", "-lc10", "-ltorch", "-Wl,--unresolved-symbols=ignore-all"]),
        "sconce": (common + [f"-I{prefix}/include/sconce/torch_headers", f"-I{prefix}/include"],
                   [f"-L{library}", f"-Wl,-rpath,{library}", f"-Wl,-rpath-link,{library}",
                    "-l:libsconce_torch.so.0", "-l:libsconce.so.0"]),
    }


def compiled(source, flags, target):
    """Compiles one file. The result: None or the first errors; processor seconds."""
    halves = ["-D__CUDA_NO_HALF_OPERATORS__", "-D__CUDA_NO_HALF_CONVERSIONS__", "-D__CUDA_NO_BFLOAT16_CONVERSIONS__",
              "-D__CUDA_NO_HALF2_OPERATORS__"]
    # As PyTorch compiles extensions.
    command = ["nvcc", *flags, *halves, "-O2", "-w", "--expt-relaxed-constexpr", "--expt-extended-lambda",
               "-arch=sm_90", "-Xcompiler", "-fPIC", "-I", str(source.parent), "-I", str(here), "-c", str(source),
               "-o", str(target)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    output = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = status
    errors = [line for line in output.splitlines() if "error" in line or "fatal" in line][:3]
    return (None if status == 0 else "; ".join(errors) or output[:400]), usage.ru_utime + usage.ru_stime


def built(name, side, flags, links, folder, root):
    sub, files, own = projects[name]
    place = root / sub
    own = [flag.replace("$P", str(place)) for flag in own]
    sources = [here / f"{name}.cpp"] + [place / file for file in files]
    objects, seconds = [], 0.0
    for number, source in enumerate(sources):
        target = folder / f"{name}.{side}.{number}.o"
        error, took = compiled(source, flags + own, target)
        seconds += took
        if error:
            return None, seconds, f"{source.name}: {error}"
        objects.append(str(target))
    program = folder / f"{name}.{side}"
    link = subprocess.run(["nvcc", "-arch=sm_90", "-cudart", "shared", *objects, "-o", str(program),
                           *[f"-Xlinker={flag[4:]}" if flag.startswith("-Wl,") else flag for flag in links]],
                          capture_output=True, text=True)
    if link.returncode:
        return None, seconds, "link: " + (link.stderr + link.stdout)[-400:].replace("\n", " ")
    return program, seconds, None


def lines(program):
    run = subprocess.run([str(program)], capture_output=True, text=True, timeout=120)
    found = {}
    for line in run.stdout.splitlines():
        match = re.fullmatch(r"(\S+) ([0-9a-f]{16}) ([0-9.]+)", line)
        if match:
            found[match[1]] = (match[2], float(match[3]))
    error = None
    if run.returncode or not found:
        error = f"status {run.returncode}: {(run.stdout + run.stderr)[-300:]}".replace("\n", " ")
    return found, error


def main():
    root, prefix, names = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve(), sys.argv[3:]
    flags = sides(prefix)
    good = 0
    names = names or list(projects)
    with tempfile.TemporaryDirectory() as scratch, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        folder = pathlib.Path(scratch)
        work = {(name, side): pool.submit(built, name, side, *flags[side], folder, root)
                for name in names for side in flags}
        print(f"{'project':17}{'equal':>9}{'torch us':>10}{'sconce us':>10}{'ratio':>7}{'compile s':>15}{'ratio':>7}")
        for name in names:
            results = {side: work[name, side].result() for side in flags}
            times = "{:7.1f}{:8.1f}{:7.2f}".format(results["torch"][1], results["sconce"][1],
                                                    results["sconce"][1] / max(results["torch"][1], 1e-9))
            failed = [f"{side}: {results[side][2]}" for side in flags if results[side][2]]
            outputs = {}
            for side in flags:
                if not failed:
                    outputs[side], error = lines(results[side][0])
                    if error:
                        failed.append(f"{side}: {error}")
            if failed:
                print(f"{name:17}{'FAILED':>9}{'':27}{times}\n    " + "\n    ".join(failed), flush=True)
                continue
            ours, theirs = outputs["sconce"], outputs["torch"]
            same = sum(ours.get(key, ("",))[0] == value[0] for key, value in theirs.items())
            us = [statistics.mean(value[1] for value in side.values()) for side in (theirs, ours)]
            good += same == len(theirs) == len(ours)
            print(f"{name:17}{f'{same} of {len(theirs)}':>9}{us[0]:10.1f}{us[1]:10.1f}{us[1] / us[0]:7.2f}{times}",
                  flush=True)
            for key, value in theirs.items():
                if ours.get(key, ("",))[0] != value[0]:
                    print(f"    {key} differs")
    print(f"{good} of {len(names)} projects: all outputs are equal")
    return 0 if good == len(names) else 1


if __name__ == "__main__":
    sys.exit(main())
