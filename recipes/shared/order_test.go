package shared

import (
	"testing"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/retry"
)

// What a server that lags behind says replaces nothing newer, whatever its version; the
// node may have been deleted and made again.
func TestOrder(t *testing.T) {
	client := suite.Got(framework.NewClient("localhost:1", retry.None())).OK(t)
	c := suite.Got(NewCount(client, "/count", 7)).OK(t)
	for _, step := range []struct {
		data    byte
		zxid    int64
		version int32
		want    int
	}{
		{1, 0, 0, 1}, {2, 20, 5, 2}, {3, 19, 4, 2}, {4, 20, 5, 2}, {5, 30, 0, 5}, {6, 29, 9, 5},
	} {
		err := c.value.decode([]byte{0, 0, 0, step.data}, framework.Stat{Mzxid: step.zxid, Version: step.version}, 0)
		if err != nil || c.Count() != step.want {
			t.Errorf("after %+v the count is %d, %v", step, c.Count(), err)
		}
	}
}
