#!/usr/bin/env bash
# Runs every fuzz test of this module for the given time: .ci/fuzz.sh 10s
set -euo pipefail
go=${GO:-go}
time=$1

status=0
while IFS=: read -r file test; do
	echo "== $test in $(dirname "$file")"
	"$go" test -run '^$' -fuzz "^$test\$" -fuzztime "$time" -timeout 0 "./$(dirname "$file")" || status=1
done < <(grep -rho --include='*_test.go' -H '^func Fuzz[A-Za-z0-9]*' . | sed 's/func //; s|^\./||' | sort)
exit "$status"
