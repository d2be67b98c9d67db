#!/usr/bin/env bash
# Builds the command line tool for the usual platforms: make release DIST=DIRECTORY. For each platform it
# writes an archive and an SBOM, and for all of them checksums.txt. On a commit with a tag of a
# version that is the version, else it is a snapshot. It publishes nothing: the workflow
# release.yml does. PLATFORMS names others, as "linux/amd64 windows/arm64".
set -euo pipefail
go=${GO:-go}
cyclonedx=${CYCLONEDX:?}
platforms=${PLATFORMS:-linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64 windows/arm64}
mkdir -p "$1"
dist=$(cd "$1" && pwd)
if [ -n "$(ls -A "$dist")" ]; then
	echo "$dist is not empty" >&2
	exit 1
fi

version=$(git describe --tags --exact-match --match 'v[0-9]*' 2>/dev/null || echo "snapshot-$(git rev-parse --short=12 HEAD)")
time=$(git log -1 --format=%ct)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/dist" # not in the tree, which Go would find changed

# sbom BINARY FILE writes the modules of a binary, and fails if one of them is not in the file. An SBOM has hashes
# of the tool that wrote it, so the tool is built in the same way everywhere.
sbom() {
	CGO_ENABLED=0 "$go" run -trimpath "$cyclonedx" bin -json -std -short-purls -noserial -notimestamp -output "$2" "$1"
	local module modules std
	modules=$("$go" version -m "$1" | awk '$1 == "dep" { print $2 "@" $3 }') # its status counts here, and not in a for
	std=$("$go" env GOVERSION)
	if [ -z "$modules" ] || [ -z "$std" ]; then
		echo "go version -m names no modules of $1" >&2
		return 1
	fi
	for module in $modules "std@$std"; do
		if ! grep -qF "\"purl\": \"pkg:golang/$module\"" "$2"; then
			echo "$module is in $1, and not in its SBOM" >&2
			return 1
		fi
	done
}

for platform in $platforms; do
	os=${platform%/*} arch=${platform#*/}
	name=curator_${version}_${os}_$arch
	binary=curator
	if [ "$os" = windows ]; then
		binary=curator.exe
	fi
	mkdir "$work/$name"
	GOOS=$os GOARCH=$arch CGO_ENABLED=0 "$go" build -trimpath -buildvcs=true -ldflags='-s -w' -o "$work/$name/$binary" ./tools/curator
	cp LICENSE NOTICE README.md CHANGELOG.md docs/cli.md docs/licences.md "$work/$name"
	sbom "$work/$name/$binary" "$work/dist/$name.cdx.json"
	# The same commit gives the same bytes.
	tar -C "$work" --sort=name --mtime="@$time" --owner=0 --group=0 --numeric-owner -cf - "$name" | gzip -9n >"$work/dist/$name.tar.gz"
done
(cd "$work/dist" && sha256sum -- *.tar.gz *.json >checksums.txt)
mv "$work/dist"/* "$dist"
ls -l "$dist"
