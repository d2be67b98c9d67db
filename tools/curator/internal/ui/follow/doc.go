// Package follow keeps the recipes below a node up to date, and sends changes to subscribers,
// with one cache of the tree and one poll of the servers for any number of subscribers. All
// subscribers get the same frames, which are made once. A slow subscriber gets a whole state
// instead of the frames that it has missed.
//
// A Follower is safe for concurrent use. Its frames lag behind the servers: by the time of an
// event and a read, and by up to a quarter of a second while changes come in without a pause.
// While there is no connection its frames say since when they are old.
package follow
