package kazoosuite_test

import "strings"

// expectation is the outcome of a test that does not pass, and the reason.
type expectation struct{ outcome, why string }

// expected has all tests that do not pass. A name that ends in a dot is a module or a class.
var expected = map[string]expectation{
	"test_client.TestClient.test_update_host_list":                   {fail, oneStops},
	"test_eventlet_handler.TestEventletClient.test_update_host_list": {fail, oneStops},
	"test_gevent_handler.TestGeventClient.test_update_host_list":     {fail, oneStops},
	"test_connection.TestReadOnlyMode.test_read_only":                {fail, "two of three servers stop"},
	"test_client.TestReconfig.":                                      {fail, "reconfig is not enabled on a server that is alone"},
	"test_client.TestSSLClient.test_create":                          {fail, "the embedded server has no TLS"},
	"test_sasl.TestLegacySASLDigestAuthentication.":                  {fail, noSASL},
	"test_sasl.TestSASLDigestAuthentication.":                        {fail, noSASL},
	"test_sasl.TestSASLGSSAPIAuthentication.":                        {skip, "there is no Kerberos"},
	"test_build.": {skip, "looks at the environment of kazoo's CI"},
}

const (
	oneStops = "one of several servers stops"
	noSASL   = "the embedded server has no SASL"
)

// expectationOf returns what is expected of a test, and under which name.
func expectationOf(test string) (want expectation, name string) {
	for name := range expected {
		if test == name || strings.HasSuffix(name, ".") && strings.HasPrefix(test, name) {
			return expected[name], name
		}
	}
	return expectation{outcome: pass}, ""
}
