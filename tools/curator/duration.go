package main

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// duration is the value of a flag that takes a duration. Zero is allowed if it may be,
// and durations that nobody means never are.
type duration struct {
	value *time.Duration
	zero  bool
}

// String returns the value, "" for zero.
func (d duration) String() string {
	if d.value == nil || *d.value == 0 {
		return ""
	}
	return d.value.String()
}

// Type returns what the help calls the value.
func (d duration) Type() string { return "D" }

// Set parses the value.
func (d duration) Set(text string) error {
	v, err := time.ParseDuration(text)
	switch {
	case err != nil && text != "" && strings.Trim(text, "0123456789.") == "":
		return fmt.Errorf("it needs a unit: %ss or %[1]sms", text)
	case err != nil:
		return errors.New("it is not a duration such as 500ms, 10s or 1h30m")
	case v < 0:
		return errors.New("it is negative")
	case v == 0 && !d.zero:
		return errors.New("it must be more than zero")
	case v > 0 && v < time.Millisecond:
		return errors.New("it must be at least 1ms")
	}
	*d.value = v
	return nil
}
