package discovery_test

import (
	"testing"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/recipes/discovery"
)

// The same cases are tried with Java in internal/interop.
func TestURI(t *testing.T) {
	i := instance{Name: "orders", ID: "a", Address: "10.0.0.7", Port: 8080, Registered: time.UnixMilli(7)}
	tls := i
	tls.SSLPort = 8443
	for _, c := range []struct {
		template string
		instance instance
		vars     map[string]string
		want     string
	}{
		{"{scheme}://{address}:{port}", i, nil, "http://10.0.0.7:8080"},
		{"{scheme}://{address}:{ssl-port}", tls, nil, "https://10.0.0.7:8443"},
		{"{scheme}://{ssl-port}", i, map[string]string{"scheme": "gopher"}, "gopher://"},
		{"{name}/{id}/{registration-time-utc}/{service-type}", i, nil, "orders/a/7/dynamic"},
		{"{[}{ name }{]}{unknown}{other}", i, map[string]string{"other": "x"}, "{orders}x"},
		{"plain", i, nil, "plain"},
		{"", i, nil, ""},
	} {
		spec, err := discovery.ParseURISpec(c.template)
		c.instance.URISpec = spec
		if got := c.instance.URI(c.vars); err != nil || got != c.want {
			t.Errorf("%s: %q, %v, want %q", c.template, got, err, c.want)
		}
	}
	if got := i.URI(nil); got != "" || !i.URISpec.IsZero() {
		t.Errorf("without a template: %q", got)
	}
	if got := parse(t, "{[}{ name }x").String(); got != "{[}{name}x" {
		t.Errorf("the template is %s", got)
	}
	for _, bad := range []string{"{", "}", "a}b", "{a", "{a{b}}", "{a}}"} {
		suite.Got(discovery.ParseURISpec(bad)).Fails(t, framework.ErrInvalidOption)
	}
}

func TestServiceType(t *testing.T) {
	if got := discovery.ServiceType(7).String(); got != "ServiceType(7)" {
		t.Error(got)
	}
}
