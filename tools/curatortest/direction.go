package curatortest

import "fmt"

// Direction is a direction of the network.
type Direction int

// The directions.
const (
	Both Direction = iota
	ToServer
	ToClient
)

// String returns the direction's name.
func (d Direction) String() string {
	switch d {
	case Both:
		return "Both"
	case ToServer:
		return "ToServer"
	case ToClient:
		return "ToClient"
	default:
		return fmt.Sprintf("Direction(%d)", int(d))
	}
}

// checkDirection fails the test and returns false if d is not one of the directions.
func checkDirection(tb TB, call string, d Direction) bool {
	if d >= Both && d <= ToClient {
		return true
	}
	tb.Helper()
	tb.Fatalf("%s: the direction is %v: it must be Both, ToServer or ToClient", call, d)
	return false
}
