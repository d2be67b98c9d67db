package sasl

// WithVector fixes what an exchange would choose or know by itself, for test vectors.
func (d *Digest) WithVector(cnonce, uri string) *Digest {
	d.cnonce, d.uri = func() string { return cnonce }, uri
	return d
}

// Directives reads a list of directives, and keeps the first of each name.
func Directives(b []byte) (map[string]string, error) {
	list, err := parseDirectives(b)
	values := map[string]string{}
	for _, d := range list {
		if _, there := values[d.name]; !there {
			values[d.name] = d.value
		}
	}
	return values, err
}
