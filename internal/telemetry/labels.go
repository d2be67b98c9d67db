package telemetry

import (
	"fmt"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	semconv "go.opentelemetry.io/otel/semconv/v1.41.0"

	"github.com/go-curator/curator/tracing"
)

// labels are all attributes that metrics can have, so that no path, id, token or error text becomes
// one. Empty ones are left out.
type labels struct {
	kind, name, outcome, end, reason    string
	system, operation, server           string
	errorType                           string
	state, expirationCause, watchedType string
	ioDirection                         string
	atomicName                          string
	queue, queueOutcome                 string
	election                            string
	nodeName                            string
	cache                               string
}

func (l labels) attributes() []attribute.KeyValue {
	var attrs []attribute.KeyValue
	add := func(key attribute.Key, value string) {
		if value != "" {
			attrs = append(attrs, key.String(value))
		}
	}
	add(tracing.AttrLockKind, l.kind)
	add(tracing.AttrLockName, l.name)
	add(tracing.AttrLockOutcome, l.outcome)
	add(tracing.AttrLockEnd, l.end)
	add(tracing.AttrLossReason, l.reason)
	add(semconv.DBSystemNameKey, l.system)
	add(semconv.DBOperationNameKey, l.operation)
	add(semconv.ServerAddressKey, l.server)
	add(semconv.ErrorTypeKey, l.errorType)
	add(tracing.AttrState, l.state)
	add(tracing.AttrExpirationCause, l.expirationCause)
	add(tracing.AttrWatchType, l.watchedType)
	add(semconv.NetworkIODirectionKey, l.ioDirection)
	add(tracing.AttrAtomicName, l.atomicName)
	add(tracing.AttrQueueName, l.queue)
	add(tracing.AttrQueueOutcome, l.queueOutcome)
	add(tracing.AttrLeaderName, l.election)
	add(tracing.AttrNodeName, l.nodeName)
	add(tracing.AttrCacheName, l.cache)
	return attrs
}

// options are labels in the form that instruments take.
type options struct {
	add    []metric.AddOption
	record []metric.RecordOption
}

// optionCache has the options of all labels that were used; there are few.
type optionCache struct {
	mu  sync.RWMutex
	all map[labels]options
}

func (c *optionCache) of(l labels) options {
	c.mu.RLock()
	o, ok := c.all[l]
	c.mu.RUnlock()
	if ok {
		return o
	}
	set := metric.WithAttributeSet(attribute.NewSet(l.attributes()...))
	o = options{add: []metric.AddOption{set}, record: []metric.RecordOption{set}}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.all[l] = o
	return o
}

// maxName is the longest name in metrics, in bytes.
const maxName = 128

// CheckName returns an error unless the name, which a user has set with the named option, may
// become an attribute of metrics.
func CheckName(option, name string) error {
	if name == "" || len(name) > maxName || !utf8.ValidString(name) || strings.ContainsFunc(name, unicode.IsControl) {
		return fmt.Errorf("%s(%q) is no text of one line and 1 to %d bytes", option, name, maxName)
	}
	return nil
}

// system is the db.system.name of operations.
const system = "zookeeper"
