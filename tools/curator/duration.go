package main

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// duration is the value of a flag that takes a duration, in bounds: what nobody means is
// refused. Zero is good if least is zero.
type duration struct {
	value       *time.Duration
	least, most time.Duration
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
	case v == 0 && d.least > 0:
		return errors.New("it must be more than zero")
	case v < d.least:
		return fmt.Errorf("it must be at least %v", d.least)
	case v > 0 && v < time.Millisecond:
		return errors.New("it must be at least 1ms")
	case v > d.most:
		return fmt.Errorf("it must be at most %v", d.most)
	}
	*d.value = v
	return nil
}
