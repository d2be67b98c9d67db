#!/usr/bin/env bash
# Checks all packages and their tests for systems that this one is not, as far as compilers can.
set -euo pipefail
go=${GO:-go}

for system in windows darwin; do
	echo "GOOS=$system $go vet ./..."
	GOOS=$system "$go" vet ./...
done
