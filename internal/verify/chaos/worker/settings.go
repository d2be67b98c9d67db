package worker

import (
	"encoding/json"
	"fmt"
	"os"
	"time"
)

// Variable is the environment variable that has a worker's settings.
const Variable = "CURATOR_CHAOS_WORKER"

// Settings are what a worker is told.
type Settings struct {
	Name          string        // of the process, in events
	Connect       string        // the servers
	Root          string        // the path below which all nodes are
	Store         string        // the address of the store that checks tokens
	Session       time.Duration // the session timeout
	SessionPolicy bool          // leases outlive the loss of a connection
	Seed          uint64
	Workloads     []string
	Pause         time.Duration // the mean pause between two operations of a goroutine
}

// Told returns the settings of this process, if it is a worker.
func Told() (s Settings, is bool, err error) {
	text := os.Getenv(Variable)
	if text == "" {
		return s, false, nil
	}
	if err := json.Unmarshal([]byte(text), &s); err != nil {
		return s, true, fmt.Errorf("%s: %w", Variable, err)
	}
	return s, true, nil
}

// Environment returns the entry of the environment that tells a process its settings.
func (s Settings) Environment() (string, error) {
	text, err := json.Marshal(s)
	return Variable + "=" + string(text), err
}
