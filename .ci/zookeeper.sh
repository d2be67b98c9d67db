#!/usr/bin/env bash
# Installs a release of ZooKeeper: .ci/zookeeper.sh VERSION DIRECTORY. It is for the public
# workflows; make setup installs Debian's package.
set -euo pipefail
version=$1 directory=$2

name=apache-zookeeper-$version-bin
url=https://archive.apache.org/dist/zookeeper/zookeeper-$version/$name.tar.gz
cd "$directory"
curl -fsSLO --retry 3 "$url"
curl -fsSLO --retry 3 "$url.sha512"
sha512sum --check "$name.tar.gz.sha512"
tar xzf "$name.tar.gz"
