# The part of scripts/gpu-check for code that was written for c10, which sources this: nvcc compiles c10_compat_kernels.cu
# with the runtime's own headers, and the program runs. Takes below a minute. Everything goes to $out/c10.txt.
# shellcheck shell=bash
# Set by gpu-check.
: "${from:?}" "${lib:?}" "${out:?}" "${work:?}" "${backend:?}" "${cuda:?}"

c10_checks() {
  local nvcc log="$out/c10.txt" program="$work/c10_compat_kernels" architecture=native status=0
  nvcc="$(command -v nvcc || echo "$cuda/bin/nvcc")"
  if [ ! -x "$nvcc" ]; then
    row "code for c10 under nvcc" skipped "no nvcc" - -
    return
  fi
  # A rehearsal has no GPU whose architecture nvcc could ask for.
  [ "$backend" = cuda ] || architecture=sm_75
  if ! "$nvcc" -std=c++17 -arch=$architecture --expt-relaxed-constexpr -I"$from/include" -o "$program" \
    "$from/bench/c10/c10_compat_kernels.cu" -L"$lib" -lsconce >"$log" 2>&1; then
    row "code for c10 under nvcc" FAILED "see c10.txt" - -
    return
  fi
  timeout 120 "$program" >>"$log" 2>&1 </dev/null || status=$?
  case $status in
    0) row "code for c10 under nvcc" ok "$("$nvcc" --version | sed -n 's/.*release \([0-9.]*\),.*/nvcc \1/p')" - - ;;
    77) row "code for c10 under nvcc" skipped "needs a GPU" - - ;;
    *) row "code for c10 under nvcc" FAILED "status $status" - - ;;
  esac
}
