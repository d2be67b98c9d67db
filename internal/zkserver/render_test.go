package zkserver_test

import (
	"fmt"
	"slices"
	"strings"

	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/zkserver/rawclient"
)

// codeName returns how a transcript names an error code.
func codeName(code jute.Code) string {
	if code == 0 {
		return "ok"
	}
	return fmt.Sprintf("error %d", code)
}

// describe returns how a transcript names a request.
func describe(op jute.Op, body rawclient.Body) string {
	name := jute.OpName(op)
	if name == "" {
		name = fmt.Sprintf("operation %d", op)
	}
	switch b := body.(type) {
	case nil:
		return name
	case multiBody:
		var ops []string
		for _, o := range b {
			ops = append(ops, describe(o.op, o.body))
		}
		return name + " [" + strings.Join(ops, "; ") + "]"
	case *jute.CreateRequest:
		return fmt.Sprintf("%s %q %s flags %d acl %v", name, b.Path, data(b.Data), b.Flags, b.ACL)
	case *jute.CreateTTLRequest:
		return fmt.Sprintf("%s %q %s flags %d acl %v ttl %d", name, b.Path, data(b.Data), b.Flags, b.ACL, b.TTL)
	case *jute.SetDataRequest:
		return fmt.Sprintf("%s %q %s version %d", name, b.Path, data(b.Data), b.Version)
	default:
		return fmt.Sprintf("%s %+v", name, b)
	}
}

func data(b []byte) string {
	switch {
	case b == nil:
		return "null"
	case len(b) > 40:
		return fmt.Sprintf("%d bytes", len(b))
	default:
		return fmt.Sprintf("%q", b)
	}
}

func (p *player) stat(s jute.Stat) string {
	times := ""
	switch {
	case s.Ctime == 0 && s.Mtime == 0:
		times = ", no times"
	case s.Ctime == 0 || s.Mtime < s.Ctime || !p.was(s.Czxid, s.Ctime) || !p.was(s.Mzxid, s.Mtime):
		times = ", odd times"
	}
	return fmt.Sprintf("{c %s, m %s, p %s, version %d, cversion %d, aversion %d, owner %s, length %d, children %d%s}",
		p.zxid(s.Czxid), p.zxid(s.Mzxid), p.zxid(s.Pzxid), s.Version, s.Cversion, s.Aversion,
		p.session(s.EphemeralOwner), s.DataLength, s.NumChildren, times)
}

// was notes when a transaction was, and tells whether that is what it was before.
func (p *player) was(zxid, when int64) bool {
	before, known := p.times[zxid]
	p.times[zxid] = when
	return !known || before == when
}

// body returns what a reply says.
func (p *player) body(op jute.Op, f rawclient.Frame) string {
	if f.Err != 0 && len(f.Body) == 0 {
		return ""
	}
	d := jute.NewDecoder(f.Body)
	text := p.decode(op, d)
	if d.Err() != nil {
		return fmt.Sprintf(" %q", f.Body)
	}
	if rest := d.Rest(); len(rest) > 0 {
		text += fmt.Sprintf(" and %q", rest)
	}
	if text == "" {
		return ""
	}
	return " " + text
}

func (p *player) decode(op jute.Op, d *jute.Decoder) string {
	switch op {
	case jute.OpCreate, jute.OpSync:
		return fmt.Sprintf("%q", d.String())
	case jute.OpCreate2, jute.OpCreateContainer, jute.OpCreateTTL:
		return fmt.Sprintf("%q %s", d.String(), p.decodeStat(d))
	case jute.OpExists, jute.OpSetData, jute.OpSetACL:
		return p.decodeStat(d)
	case jute.OpGetData:
		return data(d.Buffer()) + " " + p.decodeStat(d)
	case jute.OpGetChildren, jute.OpGetEphemerals:
		return decodeNames(d)
	case jute.OpGetChildren2:
		return decodeNames(d) + " " + p.decodeStat(d)
	case jute.OpGetACL:
		var r jute.GetACLResponse
		r.Decode(d)
		return fmt.Sprint(sortACL(r.ACL), " ", p.stat(r.Stat))
	case jute.OpAddWatch, jute.OpError:
		return fmt.Sprintf("code %d", d.Int32())
	case jute.OpGetAllChildrenNumber:
		return fmt.Sprint(d.Int32())
	case jute.OpWhoAmI:
		return decodeUsers(d)
	case jute.OpMulti, jute.OpMultiRead:
		return p.decodeMulti(d)
	}
	return ""
}

func (p *player) decodeStat(d *jute.Decoder) string {
	var s jute.Stat
	s.Decode(d)
	return p.stat(s)
}

// decodeNames reads a vector of strings, whose order no server promises.
func decodeNames(d *jute.Decoder) string {
	var r jute.GetChildrenResponse
	rest := d.Rest()
	if r.Decode(d); d.Err() == nil && jute.NewDecoder(rest).Int32() == -1 {
		return "null"
	}
	slices.Sort(r.Children)
	return fmt.Sprintf("%q", r.Children)
}

// sortACL sorts neighbours that permit the same: the identities of a client that stand for
// "auth" come in any order.
func sortACL(list []jute.ACL) []jute.ACL {
	for i := range list {
		for k := i; k > 0 && list[k-1].Perms == list[k].Perms && list[k-1].ID.ID > list[k].ID.ID; k-- {
			list[k-1], list[k] = list[k], list[k-1]
		}
	}
	return list
}

func decodeUsers(d *jute.Decoder) string {
	var users []string
	for range min(d.Int32(), 100) {
		users = append(users, d.String()+":"+d.String())
	}
	slices.Sort(users)
	return fmt.Sprintf("%q", users)
}

func (p *player) decodeMulti(d *jute.Decoder) string {
	var results []string
	for {
		var h jute.MultiHeader
		if h.Decode(d); d.Err() != nil {
			return ""
		}
		if h.Done {
			return fmt.Sprintf("[%s] ends with type %d, err %d", strings.Join(results, "; "), h.Type, h.Err)
		}
		results = append(results, strings.TrimSpace(fmt.Sprintf("type %d err %d %s", h.Type, h.Err, p.decode(h.Type, d))))
	}
}

// multiBody is the body of a multi.
type multiBody []multiOp

type multiOp struct {
	op   jute.Op
	body rawclient.Body
}

// Append appends the operations and the end to b.
func (m multiBody) Append(b []byte) []byte {
	for _, o := range m {
		b = (&jute.MultiHeader{Type: o.op, Err: -1}).Append(b)
		b = o.body.Append(b)
	}
	return (&jute.MultiHeader{Type: -1, Done: true, Err: -1}).Append(b)
}
