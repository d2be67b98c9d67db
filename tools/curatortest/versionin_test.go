package curatortest

import "testing"

func TestVersionIn(t *testing.T) {
	for answer, want := range map[string]string{
		"Zookeeper version: 3.9.5-72c5a8b, built on 2025-12-01 10:00 UTC\nLatency": "3.9.5",
		"Zookeeper version: 3.5.10-fe5f9, built on 05/28/2022 17:05 GMT\nLatency":  "3.5.10",
		"Zookeeper version: 3.8.0, built on 2024\nLatency":                         "3.8.0",
		"This ZooKeeper instance is not currently serving requests\n":              "",
		"": "",
	} {
		if got := versionIn(answer); got != want {
			t.Errorf("%q: %q, want %q", answer, got, want)
		}
	}
}
