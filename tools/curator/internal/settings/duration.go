package settings

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// Duration is the value of a flag with a duration from Least to Most. Zero is valid if Least is
// zero; any other value below a millisecond is refused as a mistake.
type Duration struct {
	Value       *time.Duration
	Least, Most time.Duration
}

// String returns the value, "" for zero.
func (d Duration) String() string {
	if d.Value == nil || *d.Value == 0 {
		return ""
	}
	return d.Value.String()
}

// Type returns the name of the value in the help.
func (d Duration) Type() string { return "D" }

// Set parses the value.
func (d Duration) Set(text string) error {
	v, err := time.ParseDuration(text)
	switch {
	case err != nil && text != "" && strings.Trim(text, "0123456789.") == "":
		return fmt.Errorf("it needs a unit, such as %ss or %[1]sms", text)
	case err != nil:
		return errors.New("it is not a duration such as 500ms, 10s or 1h30m")
	case v < 0:
		return errors.New("it must not be negative")
	case v == 0 && d.Least > 0:
		return errors.New("it must be more than zero")
	case v < d.Least:
		return fmt.Errorf("it must be at least %v", d.Least)
	case v > 0 && v < time.Millisecond:
		return errors.New("it must be at least 1ms")
	case v > d.Most:
		return fmt.Errorf("it must be at most %v", d.Most)
	}
	*d.Value = v
	return nil
}
