#!/usr/bin/env bash
# Runs the test suite of kazoo on the embedded server: internal/kazoosuite. It installs kazoo, and what its tests
# import, at these versions, into KAZOODIR, without it ~/.cache/curator-kazoo, when they are not there yet: with pip,
# from the registry that pip is configured for. Its arguments are flags of the test.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

kazoo=2.11.0
others=(pytest==9.2.0 pytest-timeout==2.4.0 objgraph==3.6.2 pyjks==20.0.0 pyopenssl==26.0.0
	gevent==26.9.0 eventlet==0.41.3 pure-sasl==0.6.2)

dir=${KAZOODIR:-${XDG_CACHE_HOME:-$HOME/.cache}/curator-kazoo}
mkdir -p "$dir"
dir=$(cd "$dir" && pwd)
venv=$dir/$kazoo-$(printf '%s\n' "${others[@]}" | sha256sum | cut -c1-12)
python=$venv/bin/python
if ! "$python" -c 'import kazoo.tests, pytest, pytest_timeout, objgraph, jks, OpenSSL, gevent, eventlet, puresasl' 2>/dev/null; then
	python3 -m venv "$venv"
	"$python" -m pip install --quiet "kazoo==$kazoo" "${others[@]}"
fi
exec "${GO:-go}" test -count=1 -v -timeout 20m ./internal/kazoosuite -run '^TestSuite$' -python="$python" "$@"
