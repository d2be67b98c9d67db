package telemetry

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

const (
	rulesFile = "../../docs/alerts/curator.rules.yml"
	testsFile = "../../docs/alerts/curator.rules.test.yml"
)

// TestAlerts runs Prometheus' own tests of the alerts.
func TestAlerts(t *testing.T) {
	promtool, err := exec.LookPath("promtool")
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal("there is no promtool: make setup installs it")
		}
		t.Skip("there is no promtool: make setup installs it")
	}
	for _, args := range [][]string{{"check", "rules", rulesFile}, {"test", "rules", testsFile}} {
		if out, err := exec.CommandContext(t.Context(), promtool, args...).CombinedOutput(); err != nil {
			t.Errorf("promtool %s: %v\n%s", strings.Join(args, " "), err, out)
		}
	}
}

// rule is an alert.
type rule struct{ Alert, Expr string }

// rules returns the alerts.
func rules(t *testing.T) (all []rule) {
	t.Helper()
	var file struct {
		Groups []struct{ Rules []rule }
	}
	readYAML(t, rulesFile, &file)
	for _, group := range file.Groups {
		all = append(all, group.Rules...)
	}
	if len(all) < 10 {
		t.Errorf("%d alerts", len(all))
	}
	return all
}

func readYAML(t *testing.T, name string, file any) {
	t.Helper()
	text, err := os.ReadFile(name)
	if err == nil {
		err = yaml.Unmarshal(text, file)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// Each alert fires in a test.
func TestEachAlertIsTested(t *testing.T) {
	var file struct {
		Tests []struct {
			Cases []struct {
				Alert string `yaml:"alertname"`
				Fires []any  `yaml:"exp_alerts"`
			} `yaml:"alert_rule_test"`
		}
	}
	readYAML(t, testsFile, &file)
	fires := map[string]bool{}
	for _, test := range file.Tests {
		for _, c := range test.Cases {
			fires[c.Alert] = fires[c.Alert] || len(c.Fires) > 0
		}
	}
	for _, r := range rules(t) {
		if !fires[r.Alert] {
			t.Errorf("no test lets %s fire", r.Alert)
		}
	}
}
