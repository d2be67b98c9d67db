package browsertest

import (
	"fmt"
	"testing"
	"time"
)

func TestLook(t *testing.T) {
	f := newFleet(t, nil)
	f.fill()
	b := f.open(1280, 900, "recipes")
	b.untilText("Counters")
	time.Sleep(1500 * time.Millisecond)
	for i := range 14 {
		made := f.contender(fmt.Sprintf("job-%d", i), "/locks/nightly/_c_5f3e0000-0000-4000-8000-000000000000-lock-")
		time.Sleep(100 * time.Millisecond)
		next := f.contender(fmt.Sprintf("job-%d", i+20), "/locks/nightly/_c_5f3e0000-0000-4000-8000-000000000000-lock-")
		time.Sleep(time.Duration(50+i*37%200) * time.Millisecond)
		f.remove(made)
		time.Sleep(time.Duration(50+i*53%300) * time.Millisecond)
		f.remove(next)
	}
	for _, s := range []string{"light", "dark"} {
		b.scheme(s)
		for i, v := range []string{"recipes", "recipe?path=/locks/orders", "recipe?path=/limits/transcode", "history", "ensemble", "tree?path=/config/app", "tree?path=/queues/mail/queue-0000000001", "session?id=" + fmt.Sprintf("0x%x", f.client("orders-api").SessionID())} {
			b.show(v)
			time.Sleep(400 * time.Millisecond)
			b.picture(s + "-" + fmt.Sprint(i))
		}
	}
	n := f.open(390, 844, "recipes")
	time.Sleep(400 * time.Millisecond)
	for i, v := range []string{"recipes", "recipe?path=/locks/orders", "history", "ensemble", "tree?path=/config/app"} {
		n.show(v)
		time.Sleep(400 * time.Millisecond)
		n.picture("narrow-" + fmt.Sprint(i))
	}
}
