package zkconn

import "fmt"

// Auth is a credential. Formatted it shows the scheme only.
type Auth struct {
	Scheme string
	Auth   []byte
}

// Format writes the scheme, whatever the verb.
func (a Auth) Format(f fmt.State, _ rune) { _, _ = fmt.Fprintf(f, "{%s ***}", a.Scheme) }
