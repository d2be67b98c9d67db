package framework

import (
	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/recipeapi"
)

// createOp is one create on its way, over several tries.
type createOp struct {
	c         *Client
	p         *createParams
	full      string
	data      []byte
	acl       []jute.ACL
	dir, name string // with protection
	list      bool

	// doubt is the beginning of the name of a node that an earlier try may have made,
	// on the session doubtSession.
	doubt        string
	doubtSession int64

	result recipeapi.Created
	stat   jute.Stat // of the same node
}

// note keeps the node as the result.
func (cr *createOp) note(path string, stat jute.Stat, session int64, siblings []string) {
	cr.stat, cr.result = stat, cr.created(path, stat, session, siblings)
}

// created returns a node that was created or found as the recipes see it.
func (cr *createOp) created(path string, stat jute.Stat, session int64, siblings []string) recipeapi.Created {
	return recipeapi.Created{
		Path: path, Czxid: stat.Czxid, Owner: stat.EphemeralOwner, Session: session,
		Open: readable(cr.acl), Siblings: siblings,
	}
}
