# The graphs part of scripts/gpu-check, which sources this: what captures and replays cost beside PyTorch. Takes about
# half a minute on a GPU. Both tables go to $out/graphs.txt.
# shellcheck shell=bash
# Set by gpu-check.
: "${from:?}" "${out:?}" "${work:?}" "${backend:?}"

# What the project promises: captures beside PyTorch's, replays beside the driver's own call, device time beside PyTorch's.
readonly most_capture_of_torch=0.4 most_replay_of_driver=1.03 most_device_of_torch=1.03

# graph_figures FILE: one line a figure, with the title above it.
graph_figures() {
  awk '
    /^[^ ]/ { title = $0; sub(/  +.*/, "", title); if ($(NF - 1) == "us") print title "\t" $NF; next }
    $(NF - 1) == "us" { name = $0; sub(/^ +/, "", name); sub(/  +.*/, "", name); print title ", " name "\t" $NF }' "$1"
}

graph_figure() { graph_figures "$1" | awk -F '\t' -v key="$2" '$1 == key { print $2; exit }'; }

graph_checks() {
  local ours="$work/graphs-sconce.txt" theirs="$work/graphs-torch.txt" key value peer most result
  : >"$theirs"
  if ! timeout 60 "$work/bin/sconce_graph_bench" >"$ours" 2>&1 </dev/null; then
    row "graphs" FAILED "see graphs.txt" - -
    cp "$ours" "$out/graphs.txt"
    return
  fi
  if [ "$backend" = cuda ] && python3 -c 'import torch' 2>/dev/null; then
    timeout 100 python3 "$from/bench/graphs/torch_graphs.py" >"$theirs" 2>&1 </dev/null || row "graphs of PyTorch" skipped "see graphs.txt" - -
  fi
  while IFS=$'\t' read -r key value; do
    peer="$(graph_figure "$theirs" "$key")"
    most=
    case "$key" in
      *capture*) most=$most_capture_of_torch ;;
      '100 additions: replay, queue')
        peer="$(graph_figure "$ours" '100 additions: cuGraphLaunch, queue')" most=$most_replay_of_driver ;;
      *replay*device*) most=$most_device_of_torch ;;
    esac
    result=ok
    if [ -n "$most" ] && [ -n "$peer" ] && awk -v a="$value" -v b="$peer" -v m="$most" 'BEGIN { exit !(a > m * b) }'; then
      result=over
    fi
    [ "$backend" = cuda ] || result=rehearsed
    row "$key" "$result" "$value us" "${peer:--}" "$(awk -v a="$value" -v b="${peer:-0}" 'BEGIN { if (b + 0 > 0) printf "%.2f x", b / a; else print "-" }')"
  done < <(graph_figures "$ours")
  cat "$ours" "$theirs" >"$out/graphs.txt"
}
