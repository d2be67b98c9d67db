package discovery

import (
	"fmt"
	"strings"

	"github.com/go-curator/curator/framework"
)

// URISpec is a template for URIs: "{scheme}://{address}:{port}". The zero value is no template.
// It is immutable.
//
// Java: UriSpec.
type URISpec struct{ parts []uriPart }

// uriPart is a text, or the name of a variable.
type uriPart struct {
	Value    string
	Variable bool
}

// ParseURISpec parses a template. The variables of an instance are scheme, name, id, address,
// port, ssl-port, registration-time-utc, service-type, in lower case, and [ and ] for braces;
// spaces around a name are dropped. Errors: framework.ErrInvalidOption for braces that do not
// match.
//
// Java: UriSpec(String).
func ParseURISpec(text string) (URISpec, error) {
	spec := URISpec{parts: []uriPart{}}
	add := func(value string, variable bool) {
		if value != "" {
			spec.parts = append(spec.parts, uriPart{value, variable})
		}
	}
	for rest := text; rest != ""; {
		i := strings.IndexAny(rest, "{}")
		if i < 0 {
			add(rest, false)
			break
		}
		if rest[i] == '}' {
			return URISpec{}, fmt.Errorf("%w: the URI template %q has a } without a {", framework.ErrInvalidOption, text)
		}
		add(rest[:i], false)
		rest = rest[i+1:]
		end := strings.IndexAny(rest, "{}")
		switch {
		case end < 0:
			return URISpec{}, fmt.Errorf("%w: the URI template %q has a { without a }", framework.ErrInvalidOption, text)
		case rest[end] == '{':
			return URISpec{}, fmt.Errorf("%w: the URI template %q has a { inside of a variable", framework.ErrInvalidOption, text)
		}
		if name := rest[:end]; name != "" {
			spec.parts = append(spec.parts, uriPart{strings.TrimSpace(name), true})
		}
		rest = rest[end+1:]
	}
	return spec, nil
}

// IsZero reports whether it is no template.
func (s URISpec) IsZero() bool { return s.parts == nil }

// String returns the template.
func (s URISpec) String() string {
	return s.expand(func(b *strings.Builder, name string) {
		b.WriteByte('{')
		b.WriteString(name)
		b.WriteByte('}')
	})
}

// expand returns the text in which what put writes stands in place of each variable.
func (s URISpec) expand(put func(b *strings.Builder, name string)) string {
	var b strings.Builder
	for _, part := range s.parts {
		if part.Variable {
			put(&b, part.Value)
		} else {
			b.WriteString(part.Value)
		}
	}
	return b.String()
}
