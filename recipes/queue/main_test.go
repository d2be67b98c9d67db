package queue_test

import (
	"fmt"
	"os"
	"testing"

	"github.com/go-curator/curator/internal/suite"
)

// connectString is that of the examples' server.
var connectString string

func TestMain(m *testing.M) {
	if os.Getenv(consumerVariable) != "" {
		fmt.Fprintln(os.Stderr, "consumer:", consumerMain())
		os.Exit(1)
	}
	suite.MainWithServer(m, &connectString)
}
