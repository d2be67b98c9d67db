package migrations_test

import (
	"encoding/base64"
	"encoding/hex"
	"net/url"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/recipes/migrations"
	"github.com/go-curator/curator/retry"
)

// modes are Java's names of the modes.
var modes = map[string]framework.CreateMode{
	"PERSISTENT": framework.Persistent, "PERSISTENT_SEQUENTIAL": framework.PersistentSequential,
	"EPHEMERAL": framework.Ephemeral, "EPHEMERAL_SEQUENTIAL": framework.EphemeralSequential,
	"CONTAINER": framework.Container, "PERSISTENT_WITH_TTL": framework.PersistentWithTTL,
	"PERSISTENT_SEQUENTIAL_WITH_TTL": framework.PersistentSequentialWithTTL,
}

// vector reads what a line of testdata/hashes.txt has; its syntax is explained in
// internal/interop/testdata/Migrations.java.
type vector struct {
	t      *testing.T
	client *framework.Client
}

func (v vector) migration(text string) (m migrations.Migration) {
	v.t.Helper()
	for op := range strings.FieldsSeq(text) {
		m = append(m, v.op(strings.Split(op, ":")))
	}
	return m
}

func (v vector) op(words []string) framework.Op {
	v.t.Helper()
	tx, path := v.client.TransactionOp(), v.text(words[1])
	switch words[0] {
	case "create":
		b := tx.Create().WithMode(modes[words[3]]).WithData(v.data(words[2]))
		if words[4] != "" {
			b = b.WithTTL(time.Duration(v.number(words[4])) * time.Millisecond)
		}
		if words[5] != "" {
			b = b.WithACL(v.acl(words[5])...)
		}
		return b.ForPath(path)
	case "setData":
		return tx.SetData().WithVersion(int32(v.number(words[3]))).ForPath(path, v.data(words[2]))
	case "delete":
		return tx.Delete().WithVersion(int32(v.number(words[2]))).ForPath(path)
	default:
		return tx.Check().WithVersion(int32(v.number(words[2]))).ForPath(path)
	}
}

func (v vector) acl(text string) (acl []framework.ACL) {
	v.t.Helper()
	for entry := range strings.SplitSeq(text, "+") {
		words := strings.Split(entry, "/")
		acl = append(acl, framework.ACL{
			Perms: framework.Perm(v.number(words[0])), Scheme: v.text(words[1]), ID: v.text(words[2]),
		})
	}
	return acl
}

func (v vector) text(escaped string) string {
	text, err := url.QueryUnescape(escaped)
	v.fatal(err)
	return text
}

func (v vector) data(text string) []byte {
	data, err := base64.StdEncoding.DecodeString(text)
	v.fatal(err)
	return data
}

func (v vector) number(text string) int64 {
	n, err := strconv.ParseInt(text, 10, 64)
	v.fatal(err)
	return n
}

func (v vector) fatal(err error) {
	v.t.Helper()
	if err != nil {
		v.t.Fatal(err)
	}
}

func newClient(t *testing.T, connectString string, opts ...framework.Option) *framework.Client {
	t.Helper()
	client := suite.Got(framework.NewClient(connectString, retry.OneTime(time.Millisecond), opts...)).OK(t)
	return client
}

// The hashes are Java's, with any chroot and namespace.
func TestHashes(t *testing.T) {
	kept := suite.Got(os.ReadFile("testdata/hashes.txt")).OK(t)
	for name, client := range map[string]*framework.Client{
		"plain":  newClient(t, "localhost:1"),
		"chroot": newClient(t, "localhost:1/some/root"),
	} {
		n := 0
		for line := range strings.Lines(string(kept)) {
			text, want, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
			n++
			hash, err := migrations.HashOf(client, vector{t, client}.migration(text))
			if err != nil || hex.EncodeToString(hash) != want {
				t.Errorf("%s: line %d, %s: %x, %v, want %s", name, n, text, hash, err, want)
			}
		}
		if n < 20 {
			t.Errorf("only %d vectors", n)
		}
	}
}

// Java's hash has the namespace in the path.
func TestHashNamespace(t *testing.T) {
	client := newClient(t, "localhost:1/root")
	view := client.UsingNamespace("some/space")
	hash := func(path string, by *framework.Client) string {
		t.Helper()
		hash := suite.Got(migrations.HashOf(client, migrations.Migration{by.TransactionOp().Create().WithData(nil).ForPath(path)})).OK(t)
		return string(hash)
	}
	if hash("/a", view) != hash("/some/space/a", client) {
		t.Error("the namespace is not in the hash")
	}
}
