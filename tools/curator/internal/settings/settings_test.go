package settings

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"
	"go.uber.org/goleak"

	"github.com/go-curator/curator/framework"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const config = `# ensembles

[dev]
connect = zk0
[prod]
connect = zk1,zk2/app
auth-file = prod.auth
session-timeout = 7s
namespace = shop
sasl = true
`

// complete parses args with a configuration file and an environment. Words in args that begin with @
// are names of files in dir.
func complete(t *testing.T, dir, config string, mode os.FileMode, env map[string]string, args ...string) (*Settings, error) {
	t.Helper()
	path := filepath.Join(dir, "curator", "config")
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	write(t, path, config, mode)
	s := New()
	set := pflag.NewFlagSet("", pflag.ContinueOnError)
	set.AddFlagSet(s.Flags())
	for i, arg := range args {
		if name, ok := strings.CutPrefix(arg, "@"); ok {
			args[i] = filepath.Join(dir, name)
		}
	}
	if err := set.Parse(args); err != nil {
		t.Fatal(err)
	}
	return s, s.Complete(func(name string) (string, bool) {
		if name == "XDG_CONFIG_HOME" {
			return dir, true
		}
		value, ok := env[name]
		return value, ok
	})
}

func write(t *testing.T, path, content string, mode os.FileMode) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
}

func TestComplete(t *testing.T) {
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "curator"), 0o700); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "curator", "prod.auth"), "# operators\n\ndigest:ops:a:b\n", 0o600)
	write(t, filepath.Join(dir, "flag.auth"), "digest:me:c\nip:::1\n", 0o400)
	env := map[string]string{EnvConnect: "zk9", EnvAuth: "digest:env:d"}
	for name, tt := range map[string]struct {
		env         map[string]string
		args        []string
		connect     string
		timeout     time.Duration
		credentials []credential
	}{
		"nothing":                    {nil, nil, DefaultConnect, 30 * time.Second, nil},
		"environment":                {env, nil, "zk9", 30 * time.Second, []credential{{"digest", "env:d"}}},
		"flags before environment":   {env, []string{"--connect=zk8", "--auth-file", "@flag.auth"}, "zk8", 30 * time.Second, []credential{{"digest", "me:c"}, {"ip", "::1"}}},
		"a section":                  {nil, []string{"--ensemble=prod"}, "zk1,zk2/app", 7 * time.Second, []credential{{"digest", "ops:a:b"}}},
		"a section, not environment": {env, []string{"--ensemble=prod"}, "zk1,zk2/app", 7 * time.Second, []credential{{"digest", "ops:a:b"}}},
		"flags before a section":     {nil, []string{"--ensemble=prod", "--session-timeout=1s", "--auth-file", "@flag.auth"}, "zk1,zk2/app", time.Second, []credential{{"digest", "me:c"}, {"ip", "::1"}}},
		"a section without auth":     {env, []string{"--ensemble=dev"}, "zk0", 30 * time.Second, []credential{{"digest", "env:d"}}},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := complete(t, dir, config, 0o644, tt.env, tt.args...)
			if err != nil {
				t.Fatal(err)
			}
			if s.Connect != tt.connect || s.sessionTimeout != tt.timeout || !slices.Equal(s.credentials, tt.credentials) {
				t.Errorf("connect %q, timeout %v, %d credentials", s.Connect, s.sessionTimeout, len(s.credentials))
			}
			if _, err := s.Options(); err != nil {
				t.Error(err)
			}
		})
	}
	s, err := complete(t, dir, "[p]\nconnect = zk1\nauth = digest:a:b\nauth = ip:::1\n", 0o600, nil, "--ensemble=p")
	if err != nil || len(s.credentials) != 2 {
		t.Errorf("%v, %d credentials", err, len(s.credentials))
	}
}

// No error contains a secret.
func TestMistakesOfFiles(t *testing.T) {
	const secret = "swordfish"
	dir := t.TempDir()
	write(t, filepath.Join(dir, "public"), "digest:ops:"+secret, 0o640)
	write(t, filepath.Join(dir, "empty"), "# none\n", 0o600)
	write(t, filepath.Join(dir, "bad"), "digest:ops:"+secret+"\n"+secret+"\n", 0o600)
	write(t, filepath.Join(dir, "key"), secret, 0o644)
	for name, tt := range map[string]struct {
		config string
		mode   os.FileMode
		args   []string
		want   string
	}{
		"public credentials":     {"", 0o600, []string{"--auth-file", "@public"}, "chmod 600"},
		"no credentials":         {"", 0o600, []string{"--auth-file", "@empty"}, "has no credentials"},
		"not credentials":        {"", 0o600, []string{"--auth-file", "@bad"}, "line 2: it is not scheme:credential"},
		"public configuration":   {"[p]\nconnect=zk1\n[q]\nauth = digest:ops:" + secret, 0o644, []string{"--ensemble=p"}, "has credentials: users other than its owner"},
		"no such section":        {config, 0o600, []string{"--ensemble=test"}, "has no section [test]; it has: dev, prod"},
		"an unknown setting":     {"[p]\nconnect=zk1\npassword=" + secret, 0o600, []string{"--ensemble=p"}, `line 3: unknown key "password"`},
		"a bad value":            {"[p]\nconnect=zk1\nsession-timeout=5", 0o600, []string{"--ensemble=p"}, "line 3: session-timeout: it needs a unit"},
		"an empty value":         {"[p]\nconnect=\n", 0o600, []string{"--ensemble=p"}, "line 2: connect is empty"},
		"no ensemble":            {"[p]\nacl = open\n", 0o600, []string{"--ensemble=p"}, "the section [p] has no key connect"},
		"a section of a section": {"[p]\nconnect=zk1\nensemble=q", 0o600, []string{"--ensemble=p"}, `unknown key "ensemble"`},
		"no section":             {"connect=zk1\n[p]", 0o600, []string{"--ensemble=p"}, "line 1: the line is before the first [NAME]"},
		"a section twice":        {"[p]\n[p]", 0o600, []string{"--ensemble=p"}, "line 2: there is a section [p] already"},
		"no key":                 {"[p]\n" + secret, 0o600, []string{"--ensemble=p"}, "line 2: the line is neither"},
		"an unfinished section":  {"[p", 0o600, []string{"--ensemble=p"}, "line 1: a section must begin with [NAME]"},
		"a public key":           {"", 0o600, []string{"--tls-cert=/dev/null", "--tls-key", "@key"}, "chmod 600"},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := complete(t, dir, tt.config, tt.mode, nil, tt.args...)
			if err == nil {
				_, err = s.Options()
			}
			if err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), secret) {
				t.Errorf("error %v, want %q", err, tt.want)
			}
		})
	}
}

func TestParseACL(t *testing.T) {
	anyone := framework.ACL{Perms: framework.PermRead, Scheme: "world", ID: "anyone"}
	for text, want := range map[string][]framework.ACL{
		"open":           framework.OpenACLUnsafe(),
		"creator":        framework.CreatorAllACL(),
		"world:anyone:r": {anyone},
		"auth::cdrwa":    {{Perms: framework.PermAll, Scheme: "auth"}},
		"ip:::1:rw":      {{Perms: framework.PermRead | framework.PermWrite, Scheme: "ip", ID: "::1"}},
		"digest:a:b=:ad": {{Perms: framework.PermAdmin | framework.PermDelete, Scheme: "digest", ID: "a:b="}},
		"x509:CN=a,O=b:rc,world:anyone:r": {
			{Perms: framework.PermRead | framework.PermCreate, Scheme: "x509", ID: "CN=a,O=b"}, anyone,
		},
		"": nil, "world": nil, "world:anyone": nil, "world:anyone:": nil, "world:anyone:rx": nil, ":a:r": nil, ",": nil,
	} {
		if got, err := ParseACL(text); !slices.Equal(got, want) || (err == nil) != (want != nil) {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
}
