package tree

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// The nodes of the quota of a path are below the path's name in /zookeeper/quota.
const (
	limitsName = "/zookeeper_limits"
	statsName  = "/zookeeper_stats"
)

// Exceeded is a limit of a quota that more is used of than it allows.
type Exceeded struct {
	Path  string // that the quota is on
	Limit string // count, bytes, countHardLimit or byteHardLimit
	Used  int64
	Max   int64
}

// quotas keeps the statistics of quotas as ZooKeeper 3.8 does that does not enforce them, its
// default: what is above a limit is done all the same.
type quotas struct {
	paths    map[string]struct{} // those with limits; nil if there never were any
	touched  []string            // those that were written below since the last news
	exceeded map[Exceeded]struct{}
}

// quotaOf returns the path whose quota has limits, or statistics, at path.
func quotaOf(path, name string) (string, bool) {
	below, ok := strings.CutPrefix(path, quotaPath)
	if !ok {
		return "", false
	}
	return strings.CutSuffix(below, name)
}

// of returns the longest path with a quota that is path or above it; "" if there is none.
// The root has no quota.
func (q *quotas) of(path string) string {
	if len(q.paths) == 0 {
		return ""
	}
	for ; path != ""; path = path[:strings.LastIndexByte(path, '/')] {
		if _, ok := q.paths[path]; ok {
			return path
		}
	}
	return ""
}

// created takes note of a new node, and returns what undoes that, or nil.
func (q *quotas) created(ns nodes, path string, n *node) (undo func()) {
	if on, ok := quotaOf(path, limitsName); ok {
		undo = q.limit(on, true)
	}
	size := int64(len(n.data)) // as ZooKeeper counts it: before it writes the data itself
	if on, ok := quotaOf(path, statsName); ok {
		n.data = usage(ns, on).format()
	}
	return both(q.add(ns, path, 1, size), undo)
}

// deleted takes note of the end of a node, which is not among the nodes any more, and returns
// what undoes that, or nil.
func (q *quotas) deleted(ns nodes, path string, n *node) (undo func()) {
	if on, ok := quotaOf(path, limitsName); ok {
		undo = q.limit(on, false)
	}
	return both(q.add(ns, path, -1, -int64(len(n.data))), undo)
}

// written takes note of a node's new data, and returns what undoes that, or nil.
func (q *quotas) written(ns nodes, path string, before, after []byte) (undo func()) {
	return q.add(ns, path, 0, int64(len(after)-len(before)))
}

// both returns a function that calls those that are not nil, or nil.
func both(first, second func()) func() {
	switch {
	case first == nil:
		return second
	case second == nil:
		return first
	}
	return func() {
		first()
		second()
	}
}

// limit says whether a path has limits, and returns what undoes that.
func (q *quotas) limit(path string, has bool) (undo func()) {
	_, had := q.paths[path]
	set := func(has bool) {
		if !has {
			delete(q.paths, path)
			return
		}
		if q.paths == nil {
			q.paths = map[string]struct{}{}
		}
		q.paths[path] = struct{}{}
	}
	set(has)
	return func() { set(had) }
}

// add changes the statistics of the quota that path is under, and returns what undoes that, or
// nil. Statistics that are missing, or that cannot be read, stay as they are.
func (q *quotas) add(ns nodes, path string, count, bytes int64) (undo func()) {
	on := q.of(path)
	if on == "" {
		return nil
	}
	n := ns.get(quotaPath + on + statsName)
	if n == nil {
		return nil
	}
	stat, ok := parseQuotaStat(n.data)
	if !ok {
		return nil
	}
	before := n.data
	stat[quotaCount], stat[quotaBytes] = stat.get(quotaCount)+count, stat.get(quotaBytes)+bytes
	n.data = stat.format()
	q.touched = append(q.touched, on)
	return func() { n.data = before }
}

// usage returns what is used by a node and all below it.
func usage(ns nodes, path string) quotaStat {
	stat := quotaStat{quotaCount: 0, quotaBytes: 0}
	var count func(path string)
	count = func(path string) {
		n := ns.get(path)
		if n == nil {
			return
		}
		stat[quotaCount]++
		stat[quotaBytes] += int64(len(n.data))
		for name := range n.children {
			count(path + "/" + name)
		}
	}
	count(path)
	return stat
}

// news returns the limits that have been exceeded since it was called last, and were not
// before.
func (q *quotas) news(ns nodes) (news []Exceeded) {
	for _, on := range q.touched {
		limits, used := ns.get(quotaPath+on+limitsName), ns.get(quotaPath+on+statsName)
		if limits == nil || used == nil {
			continue
		}
		most, ok := parseQuotaStat(limits.data)
		stat, readable := parseQuotaStat(used.data)
		if !ok || !readable {
			continue
		}
		for limit, counted := range map[string]string{
			quotaCount: quotaCount, quotaCountHard: quotaCount, quotaBytes: quotaBytes, quotaBytesHard: quotaBytes,
		} {
			news = append(news, q.judge(on, limit, stat.get(counted), most.get(limit))...)
		}
	}
	q.touched = nil
	return news
}

// judge returns a limit if it is exceeded and was not before.
func (q *quotas) judge(path, limit string, used, most int64) []Exceeded {
	key := Exceeded{Path: path, Limit: limit}
	if most < 0 || used <= most {
		delete(q.exceeded, key)
		return nil
	}
	if _, known := q.exceeded[key]; known {
		return nil
	}
	if q.exceeded == nil {
		q.exceeded = map[Exceeded]struct{}{}
	}
	q.exceeded[key] = struct{}{}
	return []Exceeded{{path, limit, used, most}}
}

// limitsRoot tells whether a node would put limits on the root. To create it ends the process
// of a ZooKeeper 3.8.0.
func limitsRoot(path string) bool { return path == quotaPath+limitsName }

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
