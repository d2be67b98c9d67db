package shared

import (
	"testing"

	"github.com/go-curator/curator/framework"
)

// What a server that lags behind says replaces nothing newer, whatever its version; the
// node may have been deleted and made again.
func TestOrder(t *testing.T) {
	r := &CountReader{known: VersionedValue[int]{Value: 7, Version: -1, Zxid: -1}}
	for _, step := range []struct {
		data    byte
		zxid    int64
		version int32
		want    int
	}{
		{1, 0, 0, 1}, {2, 20, 5, 2}, {3, 19, 4, 2}, {4, 20, 5, 2}, {5, 30, 0, 5}, {6, 29, 9, 5},
	} {
		err := r.take([]byte{0, 0, 0, step.data}, framework.Stat{Mzxid: step.zxid, Version: step.version})
		if err != nil || r.Count() != step.want {
			t.Errorf("after %+v the count is %d, %v", step, r.Count(), err)
		}
	}
}
