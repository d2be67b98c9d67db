package atomics_test

import (
	"slices"
	"testing"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/recipes/atomics"
	"github.com/go-curator/curator/recipes/locks"
	"github.com/go-curator/curator/retry"
	"github.com/go-curator/curator/tracing"
)

// A change is a span above its requests, and its tries are counted: by the name alone.
func TestTelemetry(t *testing.T) {
	suite.Virtual(t, func(t *testing.T, b *suite.Backend) {
		spans, metrics := suite.NewSpans(), suite.NewMetrics()
		e := newEnv(t, b, framework.WithTracing(spans.Option(), metrics.Option()))
		e.write(seven)
		lock := suite.Got(locks.NewInterProcessMutex(e.client, e.path+"-lock")).OK(e.t)
		named := e.newLong(e.client, retry.None(), atomics.WithName("orders"), atomics.WithPromotedToLock(lock, often))
		suite.Got(named.Increment(t.Context())).OK(e.t)
		suite.Got(e.newLong(e.client, retry.None()).Increment(t.Context())).OK(e.t)
		e.contend(2)
		suite.Got(named.Increment(t.Context())).OK(e.t)
		_, err := named.Add(t.Context(), 1<<63-1)
		e.wantErr(err, atomics.ErrOverflow, false)

		spans.WantTree(t, `
			curator.atomic.update name=orders path=/counter tries=1
				getData client path=/counter
				setData client path=/counter
			curator.atomic.update path=/counter tries=1
				getData client path=/counter
				setData client path=/counter
			curator.atomic.update name=orders path=/counter promoted_tries=1 tries=1
				setData client path=/counter status_code=-103 type=bad_version !Error
				getData client path=/counter
				setData client path=/counter status_code=-103 type=bad_version !Error
				curator.lock.do kind=mutex path=/counter-lock
					curator.lock.acquire#1 contenders_ahead=0 kind=mutex outcome=acquired path=/counter-lock reentrant=false token=* try=false @enqueued @granted
						create client path=/counter-lock/lock-
					curator.lock.release held_time=* kind=mutex outcome=released path=/counter-lock token=* link->#1
						delete client path=/counter-lock/lock
				getData client path=/counter
				setData client path=/counter
			curator.atomic.update name=orders path=/counter tries=1 type=_OTHER !Error
				getData client path=/counter
			`)
		var points []string
		for _, p := range metrics.Points(t) {
			if len(p) > len(tracing.MetricAtomicTries) && p[:len(tracing.MetricAtomicTries)] == tracing.MetricAtomicTries {
				points = append(points, p)
			}
		}
		want := []string{"curator.atomic.tries{curator.atomic.name=orders} 3", "curator.atomic.tries{} 1"}
		if !slices.Equal(points, want) {
			t.Errorf("points %q, want %q", points, want)
		}
	})
}
