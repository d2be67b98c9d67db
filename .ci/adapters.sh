#!/usr/bin/env bash
# Runs the Example of each adapter that the present change touches, files that were not added to git included.
# What a change is compared with: the commit at which its branch left main or, on main, the commit before. If
# there is no such commit, as in a shallow clone, it runs all Examples, which takes a minute.
set -euo pipefail
go=${GO:-go}

base=
for branch in origin/main main; do
	if base=$(git merge-base HEAD "$branch" 2>/dev/null); then
		break
	fi
done
if [ -n "$base" ] && [ "$base" = "$(git rev-parse HEAD)" ]; then
	base=$(git rev-parse --verify --quiet HEAD^) || base=
fi

status=0
for file in recipes/adapters/*/go.mod; do
	dir=$(dirname "$file")
	if [ -n "$base" ] && git diff --quiet "$base" -- "$dir" && [ -z "$(git status --porcelain -- "$dir")" ]; then
		echo "$dir has not changed since $base"
	elif ! "$go" -C "$dir" test -count=1 -run '^Example' .; then
		status=1
	fi
done
exit "$status"
