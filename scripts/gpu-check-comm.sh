# The comm part of scripts/gpu-check, which sources this: collective calls beside bare NCCL and torch.distributed, tensors
# on several devices beside torch.cuda.comm, and their results compared. Needs two devices; takes about two minutes. With
# --only comm the tests of this part run before, which are among the suites otherwise.
# Figures go to $out/comm.txt, everything else to $out/comm.log.
# shellcheck shell=bash
# Set by gpu-check.
: "${from:?}" "${lib:?}" "${out:?}" "${work:?}" "${backend:?}" "${only-}"

comm_raw="$work/comm"
mkdir -p "$comm_raw"

# What the project promises: microseconds, or shares of a peer's time.
readonly most_broadcast_many_us=1000
readonly most_broadcast_of_copy=1.0526 most_tensors_of_torch=1.01
readonly most_queue_over_bare_us=1 most_done_of_bare=1.01 most_small_queue_of_torch=0.3

comm_figure() { figure "$comm_raw/$1.txt" "$2"; }

# comm_limit KEY: the most microseconds that a figure may have, or nothing.
comm_limit() {
  local key="$1" peer
  case "$key" in
    comm_tensors_broadcast_many) echo $most_broadcast_many_us ;;
    comm_tensors_broadcast)
      awk -v a="$(comm_figure sconce comm_peer_copy)" -v m=$most_broadcast_of_copy 'BEGIN { print a * m }' ;;
    comm_tensors_scatter | comm_tensors_gather | comm_tensors_reduce_add)
      peer="$(comm_figure torch "$key")"
      [ -z "$peer" ] || awk -v a="$peer" -v m=$most_tensors_of_torch 'BEGIN { print a * m }' ;;
    comm_all_reduce_*_queue)
      peer="$(comm_figure sconce "${key}_bare")"
      [ -z "$peer" ] || awk -v a="$peer" -v m=$most_queue_over_bare_us 'BEGIN { print a + m }' ;;
    comm_all_reduce_16777216_done | comm_all_reduce_268435456_done | comm_all_reduce_1073741824_done)
      peer="$(comm_figure sconce "${key}_bare")"
      [ -z "$peer" ] || awk -v a="$peer" -v m=$most_done_of_bare 'BEGIN { print a * m }' ;;
  esac
}

comm_rows() {
  local key value unit peer most result
  while read -r key value unit; do
    case "$key" in *_bare) continue ;; esac
    peer="$(comm_figure torch "$key")" most="$(comm_limit "$key")" result=ok
    if [ -n "$most" ] && awk -v a="$value" -v m="$most" 'BEGIN { exit !(a > m) }'; then result=over; fi
    if [ "$key" = comm_all_reduce_8_queue ] && [ -n "$peer" ] &&
      awk -v a="$value" -v b="$peer" -v m=$most_small_queue_of_torch 'BEGIN { exit !(a > m * b) }'; then
      result=over
    fi
    [ "$backend" = cuda ] || result=rehearsed
    row "$key" "$result" "$value $unit" "${peer:--}" \
      "$(awk -v a="$value" -v b="${peer:-0}" 'BEGIN { if (b + 0 > 0) printf "%.2f x", b / a; else print "-" }')"
  done <"$comm_raw/sconce.txt"
}

# The file of NCCL that comes with PyTorch, so that both sides call one library.
torch_nccl() {
  python3 -c '
import glob, os, torch
folder = os.path.dirname(os.path.dirname(torch.__file__))
print(next(iter(glob.glob(folder + "/nvidia/nccl/lib/libnccl.so.2")), ""))' 2>/dev/null || true
}

comm_beside_torch() {
  local counts result=ok
  if ! python3 -c 'import torch' 2>/dev/null; then
    row "communicators against PyTorch" skipped "no PyTorch" - -
    return
  fi
  timeout 200 python3 "$from/bench/comm/pytorch.py" >"$comm_raw/torch.txt" 2>"$comm_raw/torch-errors.txt" </dev/null ||
    row "comm of PyTorch" skipped "see comm.log" - -
  timeout 200 python3 "$from/bench/comm/check_torch.py" "$lib/libsconce.so" >"$comm_raw/check.txt" 2>&1 </dev/null || result=FAILED
  counts="$(sed -n 's/^comm against torch: \([0-9]* equal, [0-9]* different\).*/\1/p' "$comm_raw/check.txt")"
  row "communicators against PyTorch" "$result" "${counts:-see comm.log}" - -
}

comm_checks() {
  local file devices arguments=() nccl
  devices="$(gpus)"
  : >"$comm_raw/torch.txt"
  if [ "$backend" = cuda ]; then
    nccl="$(torch_nccl)"
    if [ -n "$nccl" ]; then export SCONCE_LIBNCCL="${SCONCE_LIBNCCL:-$nccl}"; fi
  else
    arguments=(--quick)
  fi
  if [ "$devices" -lt 2 ]; then
    row "communicators" skipped "$devices device" - -
    return
  fi
  if [ "$only" = comm ]; then
    cpp_tests '[Cc]omm*'
    conformance collectives
  fi
  if ! timeout 200 "$work/bin/sconce_comm_bench" "${arguments[@]}" >"$comm_raw/sconce.txt" 2>"$comm_raw/sconce-errors.txt" </dev/null; then
    row "communicators" FAILED "see comm.log" - -
  fi
  [ "$backend" != cuda ] || comm_beside_torch
  comm_rows
  cat "$comm_raw/sconce.txt" >"$out/comm.txt"
  for file in "$comm_raw"/*; do
    echo "== $(basename "$file")"
    cat "$file"
  done >"$out/comm.log"
}
