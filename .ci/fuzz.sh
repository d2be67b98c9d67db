#!/usr/bin/env bash
# Runs every fuzz target of the module for FUZZTIME. What a target finds is left in its
# package's testdata/fuzz, where plain go test runs it again.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

go=${GO:-go}
fuzztime=${FUZZTIME:-10s}
only=${FUZZ:-.}

targets=$(git ls-files '*_test.go' | xargs grep -Ho '^func Fuzz[A-Za-z0-9]*' | sed 's/:func / /')
if [ -z "$targets" ]; then
	echo "there are no fuzz targets" >&2
	exit 1
fi
while read -r file target; do
	if ! [[ "$file $target" =~ $only ]]; then
		continue
	fi
	echo "== $target in $(dirname "$file")"
	"$go" test -run '^$' -fuzz "^$target\$" -fuzztime "$fuzztime" "./$(dirname "$file")"
done <<<"$targets"
