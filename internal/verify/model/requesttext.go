package model

var operationNames = map[operation]string{ //nolint:gosec // these are no credentials
	opCreate: "create", opMakeDir: "create (directory)", opDelete: "delete", opRelease: "release with marker",
	opDowngradeFresh: "create (reader)", opDowngrade: "create (reader in place of)", opSync: "sync", opOpen: "open the barrier",
	opGuest: "pass as a guest", opLast: "delete own and ready", opSweep: "delete ready, guarded", opJavaOpen: "create ready",
	opJavaSweep: "delete ready", opList: "getChildren", opWatch: "getData with watch",
	opWatchMarker: "watch on the marker", opWatchReady: "exists with watch (ready)", opReadReady: "exists (ready)",
	opUnwatch: "removeWatches", opUnwatchMarker: "removeWatches (marker)", opSetWatches: "setWatches", opRead: "getData",
}

var resultNames = []string{"", ": NoNode", ": NoNode (no directory)", ": NodeExists", ": refused"}

// String returns the request as a trace shows it.
func (r request) String() string {
	text := operationNames[r.op]
	if r.node < maxNodes {
		text += " " + nodeName(r.node)
	}
	return text
}

func (w *world) noteReply(si uint8, r request) {
	if w.tracing {
		text := "%s is answered: " + r.String() + resultNames[r.result]
		switch {
		case r.made != none:
			text += " -> " + nodeName(r.made)
		case r.op == opReadReady || r.op == opWatchReady:
			text += " -> " + nodeName(r.ready)
		}
		w.note(text, si, none)
	}
}
