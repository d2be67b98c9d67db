#!/usr/bin/env bash
# Runs go with the given arguments in each module below this one. They are not in ./... from
# here, and have dependencies of their own, which go downloads. WITHOUT is a folder to leave out. Modules in
# testdata are left out, too, except with TESTDATA=yes.
set -euo pipefail
go=${GO:-go}

testdata='*/testdata/*'
if [ -n "${TESTDATA:-}" ]; then
	testdata=
fi
status=0
while IFS= read -r file; do
	dir=$(dirname "$file")
	if ! "$go" -C "$dir" "$@"; then
		echo "go $* failed in $dir" >&2
		status=1
	fi
done < <(find . -mindepth 2 -name go.mod -not -path "$testdata" -not -path '*/.*/*' -not -path "./${WITHOUT:-none}/*" | sort)
exit "$status"
