# The part of scripts/gpu-check for code that was written for c10, which sources this: nvcc compiles the programs
# c10_compat_kernels, c10_extension and c10_numbers with the runtime's own headers, and they run. Where PyTorch is
# installed, c10_numbers is also compiled with its headers, and both must print the same rows. Takes three minutes.
# Everything goes to $out/c10.txt, and the rows to $out/c10_numbers.txt and $out/c10_numbers_torch.txt.
# shellcheck shell=bash
# Set by gpu-check.
: "${from:?}" "${lib:?}" "${out:?}" "${work:?}" "${backend:?}" "${cuda:?}"

# compile_c10 SOURCE PROGRAM FLAG…: as torch compiles extensions.
compile_c10() {
  local source="$1" program="$2" architecture=native
  shift 2
  # A rehearsal has no GPU whose architecture nvcc could ask for.
  [ "$backend" = cuda ] || architecture=sm_75
  "$nvcc" -std=c++17 -arch=$architecture --expt-relaxed-constexpr -D__CUDA_NO_HALF_OPERATORS__ \
    -D__CUDA_NO_HALF_CONVERSIONS__ -D__CUDA_NO_BFLOAT16_CONVERSIONS__ -D__CUDA_NO_HALF2_OPERATORS__ \
    -o "$program" "$from/bench/c10/$source.cu" "$@" >>"$log" 2>&1
}

# run_c10 NAME PROGRAM OUTPUT: a row for a program that answers 77 if there is no GPU.
run_c10() {
  local status=0
  timeout 120 "$2" >"$3" 2>&1 </dev/null || status=$?
  cat "$3" >>"$log"
  case $status in
    0) row "$1" ok "$version" - - ;;
    77) row "$1" skipped "needs a GPU" - - ;;
    *) row "$1" FAILED "status $status" - - ;;
  esac
}

c10_checks() {
  local nvcc version log="$out/c10.txt"
  nvcc="$(command -v nvcc || echo "$cuda/bin/nvcc")"
  if [ ! -x "$nvcc" ]; then
    row "code for c10 under nvcc" skipped "no nvcc" - -
    return
  fi
  version="$("$nvcc" --version | sed -n 's/.*release \([0-9.]*\),.*/nvcc \1/p')"
  : >"$log"
  if compile_c10 c10_compat_kernels "$work/c10_compat_kernels" -I"$from/include" -L"$lib" -lsconce; then
    run_c10 "code for c10 under nvcc" "$work/c10_compat_kernels" "$work/c10_compat_kernels.txt"
  else
    row "code for c10 under nvcc" FAILED "see c10.txt" - -
  fi
  if compile_c10 c10_extension "$work/c10_extension" -I"$from/include/sconce/torch_headers" -I"$from/include" \
    -L"$lib" -lsconce; then
    run_c10 "an extension for c10" "$work/c10_extension" "$work/c10_extension.txt"
  else
    row "an extension for c10" FAILED "see c10.txt" - -
  fi
  if compile_c10 c10_numbers "$work/c10_numbers" -I"$from/include"; then
    run_c10 "numbers for c10 on the device" "$work/c10_numbers" "$out/c10_numbers.txt"
  else
    row "numbers for c10 on the device" FAILED "see c10.txt" - -
    return
  fi
  if [ "$backend" != cuda ] || ! find_torch; then
    return
  fi
  # shellcheck disable=SC2154 # an array of gpu-check
  if ! compile_c10 c10_numbers "$work/c10_numbers_torch" -DNUMBERS_OF_PYTORCH "${torch_includes[@]}"; then
    row "numbers for c10 beside PyTorch's" FAILED "see c10.txt" - -
  elif ! timeout 120 "$work/c10_numbers_torch" >"$out/c10_numbers_torch.txt" 2>>"$log" </dev/null; then
    row "numbers for c10 beside PyTorch's" FAILED "PyTorch's own do not hold" - -
  elif diff "$out/c10_numbers.txt" "$out/c10_numbers_torch.txt" >>"$log"; then
    row "numbers for c10 beside PyTorch's" ok "$(wc -l <"$out/c10_numbers.txt") lines" - -
  else
    row "numbers for c10 beside PyTorch's" FAILED "rows differ: see c10.txt" - -
  fi
}
