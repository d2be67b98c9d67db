#!/usr/bin/env bash
# Runs make test RUNS times on the present commit, to see that it does not fail by chance: of four runs
# two alone, and two at the same time. The first run is under nohup, the second one ignores SIGHUP, SIGINT
# and SIGQUIT, as what a script starts in the background may.
#
# Each run that has ended is a line of record.tsv in SOAKDIR, and its output is in a folder beside it. Runs
# that the record has are not made again, so it goes on where it was interrupted. It tests a clone, so that
# the working tree can change meanwhile. It fails if a run of this commit has failed.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

runs=${RUNS:-20}
commit=$(git rev-parse HEAD)
if [ -n "$(git status --porcelain)" ]; then
	echo "NOTICE: there are changes that are not committed; the runs are of commit ${commit:0:12}" >&2
fi
soak=${SOAKDIR:-${XDG_CACHE_HOME:-$HOME/.cache}/curator-soak}
record=$soak/record.tsv
logs=$soak/${commit:0:12}
tree=$soak/tree
mkdir -p "$logs"
if ! [ -e "$record" ]; then
	printf 'commit\trun\thow\tbegan\tseconds\tprocessor seconds\tresult\tfailures\n' >"$record"
fi
rm -rf "$tree"
git clone --quiet --shared . "$tree"
git -C "$tree" checkout --quiet --detach "$commit"

recorded() { awk -F'\t' -v c="$commit" -v r="$1" '$1 == c && $2 == r { found = 1 } END { exit !found }' "$record"; }

# how names the way in which a run is made.
how() {
	case $1 in
	1) echo nohup ;;
	2) echo ignoring ;;
	*) if [ $((($1 - 1) % 4)) -ge 2 ]; then echo beside; else echo alone; fi ;;
	esac
}

# failures names the tests that a log says have failed.
failures() {
	sed -nE 's/^ *--- FAIL: ([^ ]+).*/\1/p; s/^FAIL\t([^ \t]+).*/\1/p; s/^(panic: test timed out.*)/\1/p; s/^(WARNING: DATA RACE)/\1/p' "$1" |
		awk '!seen[$0]++' | paste -sd ' '
}

# run makes one run and records it.
run() {
	local n=$1 kind=$2 log=$logs/$1.log began result=ok took
	local -a command=(make -C "$tree" test "TESTFLAGS=-count=1 ${TESTFLAGS:-}")
	began=$(date -u +%Y-%m-%dT%H:%M:%SZ)
	[ "$kind" != nohup ] || command=(nohup "${command[@]}")
	took=$(
		TIMEFORMAT='%0R %0U %0S'
		[ "$kind" != ignoring ] || trap '' HUP INT QUIT
		{ time "${command[@]}" >"$log" 2>&1 </dev/null; } 2>&1
	) || result=FAILED
	# shellcheck disable=SC2086 # three numbers
	set -- $took
	printf '%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n' "$commit" "$n" "$kind" "$began" "$1" "$(($2 + $3))" "$result" "$(failures "$log")" |
		tee -a "$record" | cut -f 2-
}

jobs=()
stop() {
	local pid
	for pid in "${jobs[@]}"; do
		kill -TERM -- "-$pid" 2>/dev/null || true
	done
}
trap stop EXIT
set -m # each job is a group of its own, which can be stopped whole

for ((n = 1; n <= runs; n++)); do
	jobs=()
	for ((beside = n; beside <= runs; beside++)); do
		kind=$(how "$beside")
		if ! recorded "$beside"; then
			run "$beside" "$kind" &
			jobs+=($!)
		fi
		# Two that are beside each other have numbers of the forms 4k+3 and 4k+4.
		if [ "$kind" != beside ] || [ $((beside % 4)) -eq 0 ]; then
			break
		fi
	done
	n=$beside
	for job in "${jobs[@]}"; do
		wait "$job" || true
	done
done
jobs=()

awk -F'\t' -v c="$commit" -v want="$runs" '
	$1 == c && $2 <= want { n++; if ($7 != "ok") { failed++; print "run " $2 " (" $3 "): " $8 } }
	END { printf "%d runs of %s, %d failed\n", n, substr(c, 1, 12), failed; exit failed > 0 || n < want }' "$record"
