#!/usr/bin/env bash
# Fetches releases of ZooKeeper with Maven: .ci/servers/fetch.sh [RELEASE...], for example 3.9, without an
# argument all that pom.xml has. Each is in zookeeper-VERSION of SERVERSDIR, and is a ZOOKEEPER_HOME. Prints
# these directories. A release that is there is not fetched again, unless pom.xml has changed.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$here/../fill.sh"
servers=${SERVERSDIR:-${XDG_CACHE_HOME:-$HOME/.cache}/curator-servers}
mkdir -p "$servers"
servers=$(cd "$servers" && pwd) # tests run in the folders of their packages

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

jars() { dependencies "$here/pom.xml" "$1" "$2/lib"; }

if [ $# -eq 0 ]; then
	# shellcheck disable=SC2086 # one word each
	set -- $releases
fi
sum=$(sha256sum <"$here/pom.xml")
for release; do
	version=$(version "$release")
	fill "$servers/zookeeper-$version" "$sum" jars "$version"
	echo "$servers/zookeeper-$version"
done
