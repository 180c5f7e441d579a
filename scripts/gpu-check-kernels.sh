# The kernels part of scripts/gpu-check, which sources this: operators of vLLM's kernel libraries beside NumPy's results
# and PyTorch's, in calls, in graphs, on a side stream and from several threads, and once more under memcheck. The
# libraries are those of the folder that --kernels names: _C_stable_libtorch.abi3.so, _moe_C_stable_libtorch.abi3.so,
# _vllm_fa2_C.abi3.so and _vllm_fa3_C.abi3.so of vLLM's wheel. Takes about half a minute on a GPU. The tables go to
# $out/kernels.txt and $out/kernels-memcheck.txt.
# shellcheck shell=bash
# Set by gpu-check.
: "${from:?}" "${lib:?}" "${out:?}" "${work:?}" "${backend:?}" "${torch_paths:?}"

# check_vllm FILE [WORD…]: the program's output goes to FILE.
check_vllm() {
  local file="$1"
  shift
  find_torch || true
  LD_LIBRARY_PATH="$torch_paths:$LD_LIBRARY_PATH" timeout 240 python3 "$from/bench/operators/check_vllm.py" \
    "$kernels" --sconce "$lib" --dump "$work/kernels" "$@" >"$file" 2>&1 </dev/null || true
}

kernels_checks() {
  local kernels="$1" name result us peer ratio counts
  if [ ! -d "$kernels" ] || [ "$backend" != cuda ]; then
    row "kernel libraries" skipped "$([ "$backend" = cuda ] && echo 'no libraries' || echo 'no GPU')" - -
    return
  fi
  check_vllm "$out/kernels.txt"
  while read -r name result us peer; do
    ratio="$(awk -v a="$peer" -v b="$us" 'BEGIN { if (a + 0 > 0 && b + 0 > 0) printf "%.1f x", a / b; else print "-" }')"
    [ "$us" = - ] || us+=" us"
    [ "$peer" = - ] || peer+=" us"
    row "$name" "$result" "$us" "$peer" "$ratio"
  done < <(awk 'NR > 1 && !/^#/ && NF >= 2 && $2 ~ /^(ok|WRONG|FAILED)$/ {
    good = $2 == "ok" && $4 == "ok" && $5 == "ok" && $6 == "ok"
    print $1, (good ? "ok" : "FAILED"), (NF > 6 ? $7 : "-"), (NF > 8 ? $9 : "-") }' "$out/kernels.txt")
  counts="$(tail -n 1 "$out/kernels.txt")"
  row "operators of vLLM" "$([[ $counts == *" passed, 0 failed" && $counts != 0* ]] && echo ok || echo FAILED)" \
    "$counts" - -
  check_vllm "$out/kernels-memcheck.txt" --sanitize
  counts="$(tail -n 1 "$out/kernels-memcheck.txt")"
  case "$counts" in
    *"is not installed"*) row "operators under memcheck" skipped "no memcheck" - - ;;
    0*) row "operators under memcheck" FAILED "$counts" - - ;;
    *" passed, 0 failed")
      result=ok
      grep -q '^# .* sanitizer errors: 0,' "$out/kernels-memcheck.txt" || result=FAILED
      row "operators under memcheck" "$result" "$counts" - - ;;
    *) row "operators under memcheck" FAILED "see kernels-memcheck.txt" - - ;;
  esac
}
