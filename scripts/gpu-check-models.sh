# The models part of scripts/gpu-check, which sources this: compiled models of PyTorch, their results beside PyTorch's
# recorded ones, and what they cost. The models are those packaged with --models. Takes about a minute on a GPU. Figures
# go to $out/models.txt.
# shellcheck shell=bash
# Set by gpu-check.
: "${from:?}" "${out:?}" "${work:?}" "${backend:?}"

models_checks() {
  local name way result difference first resident call words=()
  if [ ! -d "$from/models" ]; then
    row "compiled models" skipped "no models" - -
    return
  fi
  # Models for CUDA need a GPU.
  [ "$backend" = cuda ] || words+=(--cpu)
  timeout 300 python3 "$from/bench/models/check_models.py" "$work/bin/sconce-run" "$from/models" "${words[@]}" \
    >"$out/models.txt" 2>&1 || true
  while read -r name way result difference first resident call; do
    [ "$name" != "#" ] || continue
    case "$result" in
      ok) row "model $name, $way" ok "$call us" "$difference off" "$first ms" ;;
      *) row "model $name, $way" FAILED "see models.txt" - - ;;
    esac
  done <"$out/models.txt"
}
