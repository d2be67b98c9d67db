package tree

import (
	"slices"

	"github.com/go-curator/curator/internal/jute"
)

// Client is a connection of a client, as far as a State knows it.
type Client struct {
	Session    *Session  // whose requests these are; Do needs one
	Identities []jute.ID // the identities that the client has proven

	// Notify is called for each watch event, in order, before the call returns that causes
	// it. It must not call the State. It must not be nil when the client sets a watch.
	Notify func(event int32, path string)
}

// Identify adds an identity that the client has proven.
func (c *Client) Identify(id jute.ID) {
	if !slices.Contains(c.Identities, id) {
		c.Identities = append(c.Identities, id)
	}
}
