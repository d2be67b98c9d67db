package model

// maxLag is how many transactions a server lags behind at most.
const maxLag = 10

// maxRoom is how many transactions one step may add to the log.
const maxRoom = 4

// tidy makes states equal that differ in nothing that matters any more, and keeps them small.
func (f *follower) tidy() {
	f.left = some(disconnects, 1, expiries, 1, cancels, 1, downgrades, 1)
	for c := range f.clients {
		cl, ss := &f.client[c], &f.session[c]
		cl.tries, cl.round = 0, 0
		if ss.half == 0 {
			f.giveBack(c)
		}
		if cl.phase == phaseIdle && ss.requests == 0 && ss.half == 0 {
			f.sleep(c)
		} else {
			f.limitLag(c)
		}
	}
	f.shorten()
	f.renumber()
}

// sleep forgets what does not matter to a client that waits for nothing.
func (f *follower) sleep(c uint8) {
	ss := &f.session[c]
	if ss.connected != 0 && ss.closed != 0 {
		f.part(c)
	}
	ss.data, ss.marker, ss.lostData, ss.lostMarker = 0, 0, 0, 0
	ss.applied, ss.seen, ss.expired = f.length, f.length, 0
}

// limitLag keeps the server of a client from lagging too far behind.
func (f *follower) limitLag(c uint8) {
	ss := &f.session[c]
	if f.length <= maxLag {
		return
	}
	least := f.length - maxLag
	switch next := f.nextHeard(c); {
	case ss.connected == 0:
		f.noteLag(ss.seen, least)
		ss.seen = max(ss.seen, least)
		ss.applied = max(ss.applied, ss.seen)
	case ss.half == 0:
		if next != 0 {
			least = min(least, next-1)
		}
		f.noteLag(ss.applied, least)
		ss.applied = max(ss.applied, least)
		ss.seen = max(ss.seen, min(least, ss.applied))
	}
}

// noteLag notes that a server that lags more is left out, if it is behind the least position that it may
// be at.
func (f *follower) noteLag(at, least uint8) {
	if at < least {
		f.cuts |= cutLag
	}
}
