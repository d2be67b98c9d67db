package tree

import "github.com/go-curator/curator/internal/jute"

// Paths returns the paths that a request names, as the client has sent them; a multi names
// those of its operations. Those of requests that put watches back are left out.
func Paths(op jute.Op, body []byte) []string {
	switch op {
	case jute.OpMulti, jute.OpMultiRead:
		bodies := multiBodies
		if op == jute.OpMultiRead {
			bodies = multiReadBodies
		}
		ops, _ := split(jute.NewDecoder(body), bodies)
		var paths []string
		for _, o := range ops {
			paths = append(paths, Paths(o.op, o.body)...)
		}
		return paths
	case jute.OpPing, jute.OpClose, jute.OpAuth, jute.OpSetWatches, jute.OpSetWatches2, jute.OpWhoAmI,
		jute.OpCreateSession:
		return nil
	default:
		d := jute.NewDecoder(body)
		if path := d.String(); d.Err() == nil {
			return []string{path}
		}
		return nil
	}
}
