# The copies part of scripts/gpu-check, which sources this: what copies promise, proved on a busy device;
# pinned memory and copies beside PyTorch's. Takes below three minutes on a GPU. The table goes to
# $out/copies.txt, everything else to $out/copies.log.
# shellcheck shell=bash
# Set by gpu-check.
: "${from:?}" "${lib:?}" "${out:?}" "${work:?}" "${backend:?}"

copies_raw="$work/copies"
mkdir -p "$copies_raw"

# The project's targets: the most nanoseconds, or the most pinned bytes for each requested byte. With eight live
# blocks of very different sizes some memory is lost between them in any cache.
declare -A most_copies=([pin_hit_1M]=30 [pin_hit_512]=30 [pin_waste_log]=1.125 [pin_waste_loader]=1.25
  [pin_waste_users]=1.125)
# Ordinary memory must reach this share of what pinned memory reaches.
readonly least_ordinary=0.80
# Between devices this share of PyTorch's. What is compared but not promised reads `slower` below it, and
# where a call costs more than PyTorch's; that fails nothing.
readonly least_of_peer=0.95
readonly compared_speeds=(h2d_pinned_1G h2d_queued_1G d2h_pinned_1G d2h_queued_1G d2d_1G set_1G
  strided_transpose strided_channels rows_d2d rows_h2d_pinned)
readonly compared_peers=(peer_01_1G peer_10_1G peer_both_1G)
readonly compared_costs=(pin_live_64 pin_two_sizes call_h2d_4 call_d2h_4 call_d2d_4 call_set_4)

copies_figure() { figure "$copies_raw/$1.txt" "$2"; }

# copies_row CHECK FIGURE PEER UNIT LEAST MOST [slower]: judged against bounds, where there are such. A
# rehearsal judges nothing.
copies_row() {
  local result
  result="$(awk -v value="${2:--}" -v least="$5" -v most="$6" '
    function is_figure(text) { return text ~ /^[0-9.]+$/ }
    BEGIN {
      if (!is_figure(value)) print "FAILED"
      else if (is_figure(least) && value + 0 < least + 0) print "short"
      else if (is_figure(most) && value + 0 > most + 0) print "over"
      else print "ok"
    }')"
  case "$result" in short | over) result="${7:-$result}" ;; esac
  [ "$backend" = cuda ] || result=rehearsed
  row "copies: $1" "$result" "$(copies_number "$2") $4" "$(copies_number "$3")" \
    "$(copies_ratio "$2" "$3" "$4")"
}

# Short enough for the table's columns.
copies_number() {
  case "$1" in '' | -) echo - ;; *) awk -v x="$1" 'BEGIN { printf((x >= 1000 ? "%.0f" : x >= 100 ? "%.1f" : "%.2f"), x) }' ;; esac
}

# copies_ratio OURS THEIRS UNIT: how many times better ours is.
copies_ratio() {
  awk -v a="${1:-0}" -v b="${2:-0}" -v unit="$3" 'BEGIN {
    if (a + 0 == 0 || b + 0 == 0) print "-"
    else printf "%.2f x", unit ~ /GiB|Mpairs/ ? a / b : b / a
  }'
}

# times FACTOR FIGURE: nothing where there is no figure.
times() { [ -z "$2" ] || [ "$2" = - ] || awk -v a="$1" -v b="$2" 'BEGIN { printf "%.6g", a * b }'; }

# The programs that prove what copies promise, a row each; those of the suites, here with their lines in the log.
copies_proofs() {
  local name log status
  for name in copies copies_devices copies_managed copies_random; do
    log="$copies_raw/proof-$name.txt" status=0
    (cd "$work" && timeout 120 "$work/bin/cpp/sconce_$name") >"$log" 2>&1 </dev/null || status=$?
    if [ $status -eq 0 ]; then
      row "$name on $backend" ok "$(grep -c '^ok ' "$log") hold" - -
    elif [ $status -eq 77 ]; then
      row "$name on $backend" skipped "see copies.log" - -
    else
      row "$name on $backend" FAILED "$(grep -c '^FAILED' "$log" || true) do not" "status $status" -
    fi
  done
}

copies_benchmarks() {
  local started=$SECONDS
  SCONCE_SIM_MEMORY=64G both_sides copies sconce_copy_bench copy "$copies_raw"
  row "copies measured" ok "$((SECONDS - started)) s" "$(grep -c . "$copies_raw/torch.txt" || true) of theirs" -
}

# All figures side by side.
copies_table() {
  awk '
    /^#/ { title[column] = substr($0, 3); next }
    $1 ~ /_best$/ { best[substr($1, 1, length($1) - 5), column] = $2; next }
    { value[$1, column] = $2; if (column == 1) { keys[++count] = $1; unit[$1] = $2 == "-" ? "-" : $3 } }
    function shown(text) { return text == "" ? "-" : text }
    END {
      print "# " title[1] (title[2] == "" ? "" : "; " title[2])
      printf "%-28s %-9s %12s %12s %12s %12s %9s\n", \
        "measure", "unit", "Sconce", "best", "PyTorch", "best", "x PyTorch"
      for (i = 1; i <= count; i++) {
        key = keys[i]; ours = value[key, 1]; theirs = value[key, 2]; ratio = "-"
        if (ours + 0 > 0 && theirs + 0 > 0)
          ratio = sprintf("%.2f x", unit[key] ~ /GiB|Mpairs/ ? ours / theirs : theirs / ours)
        printf "%-28s %-9s %12s %12s %12s %12s %9s\n", key, unit[key], ours, shown(best[key, 1]), \
          shown(theirs), shown(best[key, 2]), ratio
      }
    }' column=1 "$copies_raw/sconce.txt" column=2 "$copies_raw/torch.txt" >"$out/copies.txt"
}

copies_rows() {
  local key ours theirs size direction devices
  for key in pin_hit_1M pin_hit_512 pin_waste_log pin_waste_loader pin_waste_users; do
    copies_row "$key" "$(copies_figure sconce "$key")" "$(copies_figure torch "$key")" \
      "$(case "$key" in *hit*) echo ns ;; *) echo x ;; esac)" - "${most_copies[$key]}"
  done
  # Hits of a loader's 2,000 batches: at most two of a hundred may be lost for pinning less.
  ours="$(copies_figure sconce pin_calls_loader)" theirs="$(copies_figure torch pin_calls_loader)"
  copies_row pin_calls_loader "$ours" "$theirs" calls - "${theirs:+$((${theirs%.*} + 40))}"
  copies_row pin_threads_8 "$(copies_figure sconce pin_threads_8)" "$(copies_figure torch pin_threads_8)" \
    Mpairs/s "$(copies_figure torch pin_threads_8)" - slower
  for key in "${compared_costs[@]}"; do
    ours="$(copies_figure sconce "$key")" theirs="$(copies_figure torch "$key")"
    copies_row "$key" "$ours" "$theirs" ns - "$theirs" slower
  done
  for key in h2d d2h set; do
    ours="$(copies_figure sconce "call_${key}_4")"
    theirs="$(copies_figure sconce "bare_${key}_4")"
    copies_row "call_${key}_4 / driver" "$ours" "$theirs" ns - -
  done
  for direction in h2d d2h; do
    for size in 16M 256M 1G; do
      # Both in GiB/s; the peer's column is our pinned speed.
      ours="$(copies_figure sconce "${direction}_ordinary_$size")"
      theirs="$(copies_figure sconce "${direction}_pinned_$size")"
      [ "$backend" = cuda ] || [ -n "$ours" ] || continue
      copies_row "${direction}_ordinary_$size/pin" "$ours" "$theirs" GiB/s \
        "$([ "$size" = 16M ] && echo - || times $least_ordinary "$theirs")" -
    done
    theirs="$(copies_figure torch "${direction}_ordinary_1G")"
    [ "$backend" = cuda ] || continue
    copies_row "${direction}_ordinary_1G" "$(copies_figure sconce "${direction}_ordinary_1G")" "$theirs" \
      GiB/s "$theirs" -
  done
  devices="$(sed -n '1s/^# Sconce .* on \([0-9]*\) x .*/\1/p' "$copies_raw/sconce.txt")"
  for key in "${compared_speeds[@]}"; do
    ours="$(copies_figure sconce "$key")" theirs="$(copies_figure torch "$key")"
    [ "$backend" = cuda ] || [ -n "$ours" ] || continue
    copies_row "$key" "$ours" "$theirs" GiB/s "$(times $least_of_peer "$theirs")" - slower
  done
  if [ "${devices:-1}" -ge 2 ]; then
    for key in "${compared_peers[@]}"; do
      ours="$(copies_figure sconce "$key")" theirs="$(copies_figure torch "$key")"
      [ "$backend" = cuda ] || [ -n "$ours" ] || continue
      copies_row "$key" "$ours" "$theirs" GiB/s "$(times $least_of_peer "$theirs")" -
    done
    ours="$(copies_figure sconce bare_staged_1G)"
    [ -z "$ours" ] || copies_row bare_staged_1G "$ours" - GiB/s - -
  fi
}

# The names of the figures against PyTorch's.
copies_keys() {
  local log="$copies_raw/keys.txt" status=0
  timeout 100 python3 "$from/bench/copy/check_stats_keys.py" "$lib/libsconce.so" >"$log" 2>&1 || status=$?
  case $status in
    0) row "pinned figures' keys" ok "$(tail -n 1 "$log" | grep -o '[0-9]* of PyTorch.s [0-9]*' | sed "s/ PyTorch's//")" - - ;;
    77) row "pinned figures' keys" skipped "no PyTorch" - - ;;
    *) row "pinned figures' keys" FAILED "$(grep -c '^only' "$log" || true) differ" - - ;;
  esac
}

copies_checks() {
  local started=$SECONDS file
  copies_proofs
  copies_keys
  copies_benchmarks
  copies_table
  copies_rows
  echo "copies part: $((SECONDS - started)) s" >>"$out/copies.txt"
  for file in "$copies_raw"/*; do
    echo "== $(basename "$file")"
    cat "$file"
  done >"$out/copies.log"
  cat "$out/copies.txt"
}
