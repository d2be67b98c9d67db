package tree

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// quotaStat is the data of a quota's two nodes: limits, or what is used. -1 is no limit.
type quotaStat map[string]int64

// The names of what is counted. The hard limits are those that ZooKeeper enforces if it is
// told to.
const (
	quotaCount     = "count"
	quotaBytes     = "bytes"
	quotaCountHard = "countHardLimit"
	quotaBytesHard = "byteHardLimit"
)

// parseQuotaStat reads the data of a quota's node. It is false for what ZooKeeper cannot
// read either.
func parseQuotaStat(data []byte) (quotaStat, bool) {
	stat := quotaStat{}
	for pair := range strings.FieldsFuncSeq(string(data), func(r rune) bool { return r == ',' || r == ';' }) {
		name, text, ok := strings.Cut(pair, "=")
		value, err := strconv.ParseInt(text, 10, 64)
		if !ok || err != nil {
			return nil, false
		}
		stat[name] = value
	}
	return stat, true
}

// get returns a value, -1 if there is none.
func (s quotaStat) get(name string) int64 {
	if value, ok := s[name]; ok {
		return value
	}
	return -1
}

// format returns the data of a quota's node, in ZooKeeper's form.
func (s quotaStat) format() []byte {
	text := fmt.Sprintf("%s=%d,%s=%d", quotaCount, s.get(quotaCount), quotaBytes, s.get(quotaBytes))
	for _, name := range slices.Sorted(maps.Keys(s)) {
		if name != quotaCount && name != quotaBytes {
			text += fmt.Sprintf(";%s=%d", name, s[name])
		}
	}
	return []byte(text)
}
