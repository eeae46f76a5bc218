# Sourced by the CI runs. A part is a command whose output ends with "N passed, N failed, N skipped". Parts may run at the same
# time, so each prints its output when it ends.

export NO_COLOR=1
results=$(mktemp -d)
mkdir "$results/running" "$results/counts"
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$results"' EXIT

# Installs a Debian package unless its command exists.
need() { # command package
  command -v "$1" >/dev/null && return
  echo "ci: installing $2"
  apt-get -qq update && DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends "$2" >/dev/null
}

elapsed() { # seconds
  echo "$(($1 / 60)) min $(($1 % 60)) s"
}

# Runs a command and counts what its last matching line says. A command that fails without counting a failure, or prints no
# counts, counts as one failure.
part() { # title command...
  local title=$1 status=0 began=$SECONDS output counts passed=0 failed=0 skipped=0
  shift
  output="$results/${title//[^a-z]/-}"
  touch "$results/running/$title"
  "$@" >"$output" 2>&1 || status=$?
  rm "$results/running/$title"
  counts=$(grep -E '^[0-9]+ passed, [0-9]+ failed, [0-9]+ skipped$' "$output" | tail -n 1 || true)
  if [[ $counts =~ ^([0-9]+)\ passed,\ ([0-9]+)\ failed,\ ([0-9]+)\ skipped$ ]]; then
    passed=${BASH_REMATCH[1]} failed=${BASH_REMATCH[2]} skipped=${BASH_REMATCH[3]}
  fi
  if ((failed == 0)) && { ((status != 0)) || [[ -z $counts ]]; }; then failed=1; fi
  echo "$passed $failed $skipped $((SECONDS - began)) $title" >"$results/counts/${output##*/}"
  {
    flock 9
    echo "ci: output of $title"
    cat "$output"
    echo "ci: $title ended with exit status $status after $(elapsed $((SECONDS - began))), $(elapsed $SECONDS) after the start"
  } 9>"$results/lock"
}

# Names the parts that run, every minute.
report_progress() {
  while sleep 60; do
    (cd "$results/running" && printf 'ci: %s, running:' "$(elapsed $SECONDS)" && printf ' %s;' * && echo)
  done
}

# Prints each part with its time and counts, then the total. Returns 1 if something failed.
conclude() {
  cat "$results"/counts/* | sort -k4 -rn | awk '
    { title = $5; for (i = 6; i <= NF; i++) title = title " " $i
      printf "ci: %-32s %5d s %6d passed %3d failed %4d skipped\n", title, $4, $1, $2, $3
      passed += $1; failed += $2; skipped += $3 }
    END { printf "ci: %d s\n%d passed, %d failed, %d skipped\n", seconds, passed, failed, skipped; exit failed > 0 }
  ' seconds="$SECONDS"
}
