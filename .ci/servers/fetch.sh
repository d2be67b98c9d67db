#!/usr/bin/env bash
# Fetches releases of ZooKeeper with Maven: .ci/servers/fetch.sh [RELEASE...], for example 3.9, without an
# argument all that pom.xml has. Each is in zookeeper-VERSION of SERVERSDIR, and is a ZOOKEEPER_HOME. Prints
# these directories. A release that is there is not fetched again, unless pom.xml has changed.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
servers=${SERVERSDIR:-${XDG_CACHE_HOME:-$HOME/.cache}/curator-servers}
mkdir -p "$servers"
servers=$(cd "$servers" && pwd) # tests run in the folders of their packages
plugin=org.apache.maven.plugins:maven-dependency-plugin:3.8.1

releases=$(sed -n 's:.*<id>\(.*\)</id>.*:\1:p' "$here/pom.xml")

# version prints the version that a release such as 3.9 or 3.9.5 stands for.
version() {
	local known
	for known in $releases; do
		if [ "$known" = "$1" ] || [ "${known%.*}" = "$1" ]; then
			echo "$known"
			return
		fi
	done
	echo "no release $1 of ZooKeeper in $here/pom.xml; it has: $(paste -sd ' ' <<<"$releases")" >&2
	return 1
}

fetch() {
	local directory=$servers/zookeeper-$1 new
	if cmp -s "$here/pom.xml" "$directory/pom.xml"; then
		return
	fi
	command -v mvn >/dev/null || {
		echo "releases of ZooKeeper are fetched with Maven: install mvn (Debian, Ubuntu: apt-get install maven)" >&2
		return 1
	}
	new=$(mktemp -d "$servers/new.XXXXXX")
	# Checksums that do not match fail.
	if ! mvn --batch-mode --quiet --strict-checksums --file "$here/pom.xml" --activate-profiles "$1" \
		"$plugin:copy-dependencies" "-DoutputDirectory=$new/lib" >"$new/log" 2>&1; then
		cat "$new/log" >&2
		rm -rf "$new"
		return 1
	fi
	cp "$here/pom.xml" "$new/"
	rm -rf "$directory" "$new/log"
	mv "$new" "$directory"
}

if [ $# -eq 0 ]; then
	# shellcheck disable=SC2086 # one word each
	set -- $releases
fi
for release; do
	version=$(version "$release")
	fetch "$version"
	echo "$servers/zookeeper-$version"
done
