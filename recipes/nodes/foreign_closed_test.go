package nodes_test

import (
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/suite"
)

// keys is a compression whose keys are behind another client, which may be closed.
type keys struct{ closed atomic.Bool }

func (*keys) Compress(_ string, data []byte) ([]byte, error) { return data, nil }

func (k *keys) Decompress(path string, data []byte) ([]byte, error) {
	if k.closed.Load() {
		return nil, fmt.Errorf("the key of %s: %w", path, framework.ErrClosed)
	}
	return data, nil
}

// An ErrClosed that is not of the group's client does not end the group.
func TestMembersBehindAForeignErrClosed(t *testing.T) {
	suite.Virtual(t, func(t *testing.T, b *suite.Backend) {
		k := &keys{}
		g := &group{newEnv(t, b, framework.WithCompressionProvider(k), framework.WithCompression())}
		a := g.joined(g.client, "a", "1")
		k.closed.Store(true)
		g.joined(g.operator, "b", "2")
		elapse(suite.SessionTimeout)
		k.closed.Store(false)
		elapse(100 * suite.SessionTimeout)
		g.until(a, "a=1 b=2")
	})
}
