#!/usr/bin/env bash
# Fails if go mod tidy would change a module of this repository, or if a module in Go's cache is not
# what go.sum says.
set -euo pipefail
go=${GO:-go}

status=0
while IFS= read -r file; do
	dir=$(dirname "$file")
	if ! "$go" -C "$dir" mod tidy -diff; then
		echo "run go mod tidy in $dir" >&2
		status=1
	fi
	"$go" -C "$dir" mod verify >/dev/null || status=1
done < <(find . -name go.mod -not -path '*/.*/*' | sort)
exit "$status"
