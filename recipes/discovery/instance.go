package discovery

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/layout"
)

// ServiceType says how long an instance stays registered.
//
// Java: ServiceType.
type ServiceType int

// The types. The zero value is Dynamic.
const (
	// Dynamic instances are deleted with the session, and are registered again in the next one.
	Dynamic ServiceType = iota
	// Static instances stay until Unregister or Close.
	Static
	// Permanent instances stay after the Close of the ServiceDiscovery that registered them.
	Permanent
	// DynamicSequential instances are Dynamic, and their nodes have a number after the id,
	// which they keep when they are registered again.
	DynamicSequential
)

var typeNames = [...]string{Dynamic: "DYNAMIC", Static: "STATIC", Permanent: "PERMANENT", DynamicSequential: "DYNAMIC_SEQUENTIAL"}

// String returns Java's name, such as DYNAMIC_SEQUENTIAL.
func (t ServiceType) String() string {
	if !t.known() {
		return fmt.Sprintf("ServiceType(%d)", int(t))
	}
	return typeNames[t]
}

func (t ServiceType) known() bool { return t >= Dynamic && t <= DynamicSequential }

// parseServiceType is the reverse of String.
func parseServiceType(name string) (ServiceType, error) {
	for t, known := range typeNames {
		if known == name {
			return ServiceType(t), nil
		}
	}
	return 0, fmt.Errorf("%q is not a service type", name)
}

// mode returns the mode of the instance's node.
func (t ServiceType) mode() framework.CreateMode {
	switch t {
	case Static, Permanent:
		return framework.Persistent
	case DynamicSequential:
		return framework.EphemeralSequential
	default:
		return framework.Ephemeral
	}
}

// ServiceInstance is one instance of a service. It is a value. Register keeps a copy. A payload
// with pointers, slices or maps is shared, and must not be changed after that.
//
// Java: ServiceInstance.
type ServiceInstance[T any] struct {
	// Name is that of the service, and is required. It may have slashes: the node of "shop/orders"
	// is below that of "shop", and QueryForNames lists "shop". A slash at the beginning or the end
	// makes no difference. Do not use the name of a service as the beginning of another one's,
	// because then a node is among the instances that is none.
	Name string
	// ID is unique in the service; for "" Register chooses a UUID. It is the name of the node;
	// with DynamicSequential the node has a number after it.
	ID string
	// Address is a host's name or address; for "" Register uses LocalAddress.
	Address string
	Port    int // 0 is none, null in JSON
	SSLPort int // 0 is none
	Payload T
	// Registered is the time of the registration, in milliseconds and UTC; for zero Register
	// uses the present time.
	Registered time.Time
	Type       ServiceType
	URISpec    URISpec // the zero value is none
	// Disabled instances are registered but not offered by providers. See WithWatchInstances.
	Disabled bool
}

// URI returns the instance's URI by its URISpec, or "" if it has none. vars may be nil; they
// override the instance's variables, and may have other variables, too. Unknown variables are
// left out. The scheme is https for an instance with an SSLPort and http for others.
//
// Java: buildUriSpec.
func (i ServiceInstance[T]) URI(vars map[string]string) string {
	return i.URISpec.expand(func(b *strings.Builder, name string) {
		value, ok := vars[name]
		if !ok {
			value = i.variable(name)
		}
		b.WriteString(value)
	})
}

// variable returns what the instance gives for a variable.
func (i *ServiceInstance[T]) variable(name string) string {
	switch name {
	case "scheme":
		if i.SSLPort != 0 {
			return "https"
		}
		return "http"
	case "name":
		return i.Name
	case "id":
		return i.ID
	case "address":
		return i.Address
	case "port":
		return number(i.Port)
	case "ssl-port":
		return number(i.SSLPort)
	case "registration-time-utc":
		return strconv.FormatInt(unixMilli(i.Registered), 10)
	case "service-type":
		return strings.ToLower(i.Type.String())
	case "[":
		return "{"
	case "]":
		return "}"
	}
	return ""
}

// number returns a port, or "" for none.
func number(port int) string {
	if port == 0 {
		return ""
	}
	return strconv.Itoa(port)
}

// maxPort is the largest number of a port.
const maxPort = 1<<16 - 1

// check returns what is wrong with an instance that is to be registered.
func (i *ServiceInstance[T]) check() error {
	switch {
	case i.Name == "":
		return fmt.Errorf("%w: the instance has no Name", framework.ErrInvalidOption)
	case !i.Type.known():
		return fmt.Errorf("%w: the instance's Type is %v", framework.ErrInvalidOption, i.Type)
	case i.Port < 0 || i.Port > maxPort:
		return fmt.Errorf("%w: the instance's Port is %d", framework.ErrInvalidOption, i.Port)
	case i.SSLPort < 0 || i.SSLPort > maxPort:
		return fmt.Errorf("%w: the instance's SSLPort is %d", framework.ErrInvalidOption, i.SSLPort)
	}
	return nil
}

// fill fills in what was left open.
func (i *ServiceInstance[T]) fill() error {
	if i.ID == "" {
		i.ID = layout.NewUUID()
	}
	if i.Registered.IsZero() {
		i.Registered = time.Now()
	}
	i.Registered = milliseconds(i.Registered)
	if i.Address == "" {
		address, err := LocalAddress(nil)
		if err != nil {
			return fmt.Errorf("%w: the instance has no Address: %w", framework.ErrInvalidOption, err)
		}
		i.Address = address
	}
	return nil
}

// milliseconds is t without what JSON does not have.
func milliseconds(t time.Time) time.Time {
	if t.IsZero() {
		return t
	}
	return time.UnixMilli(t.UnixMilli()).UTC()
}

// unixMilli is the time in JSON, 0 for none.
func unixMilli(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}

// endpointText names an instance in errors.
func (i *ServiceInstance[T]) endpointText() string { return fmt.Sprintf("%s of %s", i.ID, i.Name) }

// endpoint is what tells two instances of a service apart.
type endpoint struct {
	id, address   string
	port, sslPort int
}

func (i *ServiceInstance[T]) endpoint() endpoint {
	return endpoint{i.ID, i.Address, i.Port, i.SSLPort}
}

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
