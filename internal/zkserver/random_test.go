package zkserver_test

import (
	"fmt"
	"math/rand/v2"

	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/zkserver/rawclient"
)

// randomScripts returns scripts of requests by chance on few nodes, always the same for a
// seed: they come upon what nobody thought of.
func randomScripts(seed uint64, scripts, steps int) []script {
	var all []script
	for i := range scripts {
		r := &randomizer{Rand: rand.New(rand.NewPCG(seed, uint64(i))), root: fmt.Sprintf("/random%d-%d", seed, i)}
		s := script{name: r.root, steps: []step{connecting(0), connecting(1), connecting(2), create(0, r.root)}}
		for range steps {
			s.steps = append(s.steps, r.step())
		}
		all = append(all, s)
	}
	return all
}

// randomizer makes requests.
type randomizer struct {
	*rand.Rand
	root string
}

func pick[T any](r *randomizer, from ...T) T { return from[r.IntN(len(from))] }

func (r *randomizer) path() string {
	return r.root + pick(r, "", "/a", "/a", "/b", "/a/x", "/a/x", "/a/y", "/b/x", "/a/x/1", "/c", "/0000000001")
}

func (r *randomizer) version() int32 { return pick[int32](r, -1, -1, -1, 0, 1, 2) }

func (r *randomizer) data() []byte {
	return pick(r, nil, []byte{}, []byte("x"), []byte("yy"))
}

func (r *randomizer) acl() []jute.ACL {
	return pick(r, openACL, openACL, openACL, openACL, []jute.ACL{acl(31, "auth", "")},
		[]jute.ACL{acl(jute.PermRead|jute.PermCreate, "world", "anyone"), acl(31, "digest", digestOfAlice)},
		[]jute.ACL{acl(jute.PermAll&^jute.PermDelete, "world", "anyone")})
}

// digestOfAlice is the identity that "alice:secret" proves.
const digestOfAlice = "alice:aYXlLOpEooaV1cRAvUL1fp9Qt7E="

func (r *randomizer) create() multiOp {
	flags := pick[int32](r, 0, 0, 0, 1, 1, 2, 3, 4)
	op := pick(r, jute.OpCreate, jute.OpCreate2)
	if flags == jute.FlagContainer {
		op = jute.OpCreateContainer
	}
	return multiOp{op, &jute.CreateRequest{Path: r.path(), Data: r.data(), ACL: r.acl(), Flags: flags}}
}

func (r *randomizer) change() multiOp {
	switch r.IntN(10) {
	case 0, 1, 2, 3:
		return r.create()
	case 4, 5:
		return multiOp{jute.OpSetData, &jute.SetDataRequest{Path: r.path(), Data: r.data(), Version: r.version()}}
	case 6:
		return multiOp{jute.OpCheck, &jute.CheckVersionRequest{Path: r.path(), Version: r.version()}}
	default:
		return multiOp{jute.OpDelete, &jute.DeleteRequest{Path: r.path(), Version: r.version()}}
	}
}

func (r *randomizer) multi() multiBody {
	var ops multiBody
	for range 1 + r.IntN(4) {
		ops = append(ops, r.change())
	}
	return ops
}

func (r *randomizer) request() (jute.Op, rawclient.Body) {
	switch r.IntN(16) {
	case 0, 1, 2, 3:
		o := r.change()
		return o.op, o.body
	case 4, 5:
		return jute.OpMulti, r.multi()
	case 6, 7:
		return jute.OpExists, &jute.PathWatchRequest{Path: r.path(), Watch: true}
	case 8:
		return jute.OpGetData, &jute.PathWatchRequest{Path: r.path(), Watch: true}
	case 9:
		return pick(r, jute.OpGetChildren, jute.OpGetChildren2), &jute.PathWatchRequest{Path: r.path(), Watch: true}
	case 10:
		return jute.OpAddWatch, &jute.AddWatchRequest{Path: r.path(), Mode: pick[int32](r, 0, 1)}
	case 11:
		return pick(r, jute.OpRemoveWatches, jute.OpCheckWatches), &jute.WatchesRequest{Path: r.path(), Type: pick[int32](r, 1, 2, 3)}
	case 12:
		return jute.OpSetACL, &jute.SetACLRequest{Path: r.path(), ACL: r.acl(), Version: r.version()}
	case 13:
		return jute.OpGetACL, &jute.PathRequest{Path: r.path()}
	case 14:
		return pick(r, jute.OpGetEphemerals, jute.OpGetAllChildrenNumber), &jute.PathRequest{Path: r.path()}
	default:
		return jute.OpMultiRead, multiBody{
			{jute.OpGetData, &jute.PathWatchRequest{Path: r.path()}}, {jute.OpGetChildren, &jute.PathWatchRequest{Path: r.path()}},
		}
	}
}

func (r *randomizer) step() step {
	i := r.IntN(3)
	switch r.IntN(40) {
	case 0:
		return authenticate(i, "digest", "alice:secret")
	case 1:
		return connectingWith(i, "its session", resuming(i))
	case 2:
		again := connecting(i)
		end := ending(i, jute.OpClose, nil)
		return func(p *player) {
			end(p)
			again(p)
		}
	}
	op, body := r.request()
	return doing(i, op, body)
}
