// Package fleet starts the workers of a run as processes of their own, in Go, Java and Python,
// takes their events, and stops, kills and restarts them.
package fleet
