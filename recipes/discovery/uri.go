package discovery

import (
	"strconv"
	"strings"
)

// URI returns the instance's URI by its URISpec, or "" if it has none. vars may be nil; they
// override the instance's variables, and may have other variables, too. Unknown variables are
// left out. The scheme is https for an instance with an SSLPort and http for others.
//
// Java: buildUriSpec.
func (i ServiceInstance[T]) URI(vars map[string]string) string {
	var b strings.Builder
	for _, part := range i.URISpec.parts {
		if !part.Variable {
			b.WriteString(part.Value)
		} else if value, ok := vars[part.Value]; ok {
			b.WriteString(value)
		} else {
			b.WriteString(i.variable(part.Value))
		}
	}
	return b.String()
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
