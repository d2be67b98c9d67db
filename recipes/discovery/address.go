package discovery

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
)

var errNoAddress = errors.New("no network interface has an address that others can reach")

// LocalAddress returns the first address of an active network interface that is neither
// loopback nor link-local, and for which use is true. A nil use accepts every address. IPv4
// comes before IPv6. It fails when there is no such address: set the instance's Address then.
// On a machine with several networks the first address may be unreachable for clients.
//
// Java: ServiceInstanceBuilder.getAllLocalIPs, LocalIpFilter.
func LocalAddress(use func(networkInterface string, address netip.Addr) bool) (string, error) {
	interfaces, err := net.Interfaces()
	if err != nil {
		return "", fmt.Errorf("local address: %w", err)
	}
	var fallback string
	for _, i := range interfaces {
		if i.Flags&net.FlagUp == 0 || i.Flags&net.FlagLoopback != 0 {
			continue
		}
		addresses, err := i.Addrs()
		if err != nil {
			return "", fmt.Errorf("local address: %w", err)
		}
		for _, a := range addresses {
			prefix, err := netip.ParsePrefix(a.String())
			if err != nil {
				continue // it is no IP address
			}
			address := prefix.Addr().Unmap()
			if !address.IsGlobalUnicast() || use != nil && !use(i.Name, address) {
				continue
			}
			if address.Is4() {
				return address.String(), nil
			}
			if fallback == "" {
				fallback = address.String()
			}
		}
	}
	if fallback == "" {
		return "", fmt.Errorf("local address: %w", errNoAddress)
	}
	return fallback, nil
}
