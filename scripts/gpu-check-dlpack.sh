# The part of scripts/gpu-check that exchanges tensors over DLPack, which sources this: with NumPy, PyTorch and CuPy,
# in both directions. Takes below a minute. A line for each check goes to $out/dlpack.txt.
# shellcheck shell=bash
# Set by gpu-check.
: "${from:?}" "${lib:?}" "${out:?}" "${backend:?}"

dlpack_checks() {
  local peer log status held
  : >"$out/dlpack.txt"
  for peer in numpy torch cupy; do
    log="$out/dlpack-$peer.txt" status=0
    timeout 200 python3 "$from/bench/dlpack/check-dlpack" "$lib/libsconce.so" $peer >"$log" 2>&1 || status=$?
    cat "$log" >>"$out/dlpack.txt"
    held="$(sed -n 's/^dlpack: \([0-9]* hold\), .*/\1/p' "$log")"
    case $status in
      0) row "DLPack with $peer on $backend" ok "$held" - - ;;
      77) row "DLPack with $peer on $backend" skipped "see dlpack.txt" - - ;;
      *) row "DLPack with $peer on $backend" FAILED "${held:-see dlpack.txt}" "status $status" - ;;
    esac
  done
  cat "$out/dlpack.txt"
}
