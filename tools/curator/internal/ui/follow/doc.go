// Package follow keeps the recipes below a node up to date, and tells subscribers of what changes:
// one cache of the tree and one look at the servers, however many there are. All subscribers get
// the same frames, which are made once. A subscriber that is slow gets a whole state in place of
// the frames that it has missed.
//
// A Follower is safe for concurrent use. What it tells lags behind the servers: by the way of a
// change, and by up to a quarter of a second while changes come in without a pause. While there is
// no connection it tells since when what it shows is old.
package follow
