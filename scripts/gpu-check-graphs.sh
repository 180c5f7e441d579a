# The graphs part of scripts/gpu-check, which sources this: what captures and replays cost beside PyTorch and the driver,
# and launches of the program's kernels beside the driver's own. Takes about a minute on a GPU. Figures go to
# $out/graphs.txt and $out/launches.txt, everything else to $out/graphs.log.
# shellcheck shell=bash
# Set by gpu-check.
: "${from:?}" "${out:?}" "${work:?}" "${backend:?}"

graphs_raw="$work/graphs"
mkdir -p "$graphs_raw"

# What the project promises: captures beside PyTorch's, replays beside the driver's own call, device time beside PyTorch's.
# Launches of kernels beside cuLaunchKernel.
readonly most_launch_of_driver=1.05
readonly most_capture_of_torch=0.4 most_replay_of_driver=1.03 most_device_of_torch=1.03

# The first graph of a process, in so many processes of each side, by turns.
readonly first_graphs=9

graph_figure() { figure "$graphs_raw/$1.txt" "$2"; }

# The median of what the first graph of a process takes becomes the figure of each side.
first_graph_rows() {
  local side program median
  [ -x "$work/torch_graphs" ] || return 0
  for _ in $(seq $first_graphs); do
    for side in sconce torch; do
      program="$work/bin/sconce_graph_bench"
      [ "$side" = sconce ] || program="$work/torch_graphs"
      LD_LIBRARY_PATH="$torch_paths:$LD_LIBRARY_PATH" timeout 60 "$program" --only graph_adds_first \
        >>"$graphs_raw/first-$side.txt" 2>>"$graphs_raw/$side-errors.txt" </dev/null || true
    done
  done
  for side in sconce torch; do
    median="$(figure "$graphs_raw/first-$side.txt" graph_adds_first | sort -n | awk '{ a[NR] = $1 } END { print a[int((NR + 1) / 2)] }')"
    sed -i "s/^graph_adds_first .*/graph_adds_first $median us/" "$graphs_raw/$side.txt"
  done
}

graph_rows() {
  local key value unit peer most result
  while read -r key value unit; do
    [ "$key" != "#" ] || continue
    peer="$(graph_figure torch "$key")" most=
    case "$key" in
      *_first | *_make | *_make_again) most=$most_capture_of_torch ;;
      *_replay | *_replay_again)
        peer="$(graph_figure sconce "${key/_replay/_driver}")" most=$most_replay_of_driver ;;
      *_replay_device*) most=$most_device_of_torch ;;
    esac
    result=ok
    if [ -n "$most" ] && [ -n "$peer" ] && awk -v a="$value" -v b="$peer" -v m="$most" 'BEGIN { exit !(a > m * b) }'; then
      result=over
    fi
    [ "$backend" = cuda ] || result=rehearsed
    row "$key" "$result" "$value $unit" "${peer:--}" "$(awk -v a="$value" -v b="${peer:-0}" 'BEGIN { if (b + 0 > 0) printf "%.2f x", b / a; else print "-" }')"
  done <"$graphs_raw/sconce.txt"
}

graph_checks() {
  local file
  both_sides graphs sconce_graph_bench graphs "$graphs_raw"
  [ "$backend" != cuda ] || first_graph_rows
  graph_rows
  cat "$graphs_raw/sconce.txt" >"$out/graphs.txt" 2>/dev/null || true
  for file in "$graphs_raw"/*; do
    echo "== $(basename "$file")"
    cat "$file"
  done >"$out/graphs.log"
  launch_checks
}

# Figures of launches: a title, then indented figures in nanoseconds.
launch_checks() {
  local figures="$work/launches.txt" key value peer result
  if ! timeout 60 "$work/bin/sconce_launch_bench" >"$figures" 2>&1 </dev/null; then
    row "kernel launches" FAILED "see launches.txt" - -
    cat "$figures" >"$out/launches.txt"
    return
  fi
  while IFS=$'\t' read -r key value peer; do
    result=ok
    if [ "$peer" != - ] && awk -v a="$value" -v b="$peer" -v m="$most_launch_of_driver" 'BEGIN { exit !(a > m * b) }'; then
      result=over
    fi
    [ "$backend" = cuda ] || result=rehearsed
    row "$key" "$result" "$value ns" "$peer" "$(awk -v a="$value" -v b="$peer" 'BEGIN { if (b + 0 > 0) printf "%.2f x", b / a; else print "-" }')"
  done < <(awk '
    /^[^ ]/ { title = $0; peer = "-"; next }
    /cuLaunchKernel/ { peer = $NF; next }
    /this library/ { print title "\t" $NF "\t" peer }' "$figures")
  cat "$figures" >"$out/launches.txt"
}
