package discoveryhttp

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/go-curator/curator/recipes/discovery"
)

// service is a ServiceProvider without the type of its payloads.
type service interface {
	Name() string
	// choose returns an instance that can be asked by the scheme and is none of the hosts.
	choose(scheme string, not []string) (target, error)
}

// target is an instance to send a request to.
type target struct {
	host   string // with the port
	failed func() // notes an error of the instance
}

// provider is what is needed of a discovery.ServiceProvider.
type provider[T any] interface {
	Name() string
	Choose(usable func(discovery.ServiceInstance[T]) bool) (discovery.ServiceInstance[T], error)
	NoteError(discovery.ServiceInstance[T])
}

type chosen[T any] struct{ provider[T] }

func (c chosen[T]) choose(scheme string, not []string) (target, error) {
	var host string // of the last instance that was looked at
	instance, err := c.Choose(func(instance discovery.ServiceInstance[T]) bool {
		host = hostOf(instance, scheme)
		return host != "" && !slices.Contains(not, host)
	})
	switch {
	case errors.Is(err, discovery.ErrNoInstance):
		return target{}, fmt.Errorf("%w; one for %s needs an address and a port for that", err, scheme)
	case err != nil:
		return target{}, err // it names the service
	}
	return c.target(instance, host), nil
}

func (c chosen[T]) target(instance discovery.ServiceInstance[T], host string) target {
	return target{host, func() { c.NoteError(instance) }}
}

// hostOf returns address and port of the instance, or "" if it has none for the scheme. What
// others have registered may be no address at all.
func hostOf[T any](instance discovery.ServiceInstance[T], scheme string) string {
	port := instance.Port
	if scheme == "https" {
		port = instance.SSLPort
	}
	if port < 1 || port > 65535 || !isAddress(instance.Address) {
		return ""
	}
	return net.JoinHostPort(instance.Address, strconv.Itoa(port))
}

// isAddress tells whether an address is that of an IP or of a host, with nothing of a URL in it.
func isAddress(address string) bool {
	if _, err := netip.ParseAddr(address); err == nil {
		return true
	}
	return address != "" && !strings.ContainsFunc(address, func(r rune) bool {
		return r <= ' ' || r == 0x7f || strings.ContainsRune(`:/\?#@%[]<>"`, r)
	})
}
