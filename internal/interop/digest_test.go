package interop_test

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/go-curator/curator/framework"
)

// DigestACL has the bytes of Java's DigestAuthenticationProvider.generateDigest.
func TestDigestACL(t *testing.T) {
	t.Parallel()
	var questions, log bytes.Buffer
	var want []string
	for _, user := range []string{"super", "a:b", ":", "üser", "日本", "", "with space", "a/b=c", strings.Repeat("x", 1000)} {
		for _, password := range []string{"admin", "", "a:b", "pässword\n", "\x00", "😀", strings.Repeat("y", 1000)} {
			fmt.Fprintln(&questions, base64.StdEncoding.EncodeToString([]byte(user+":"+password)))
			acl := framework.DigestACL(user, password)
			if acl.Scheme != "digest" || acl.Perms != framework.PermAll {
				t.Errorf("%q, %q: %s", user, password, acl)
			}
			want = append(want, base64.StdEncoding.EncodeToString([]byte(acl.ID)))
		}
	}
	cmd := compiled(t).command("Digests")
	cmd.Args = append([]string{cmd.Args[0], "-Dfile.encoding=UTF-8"}, cmd.Args[1:]...) // old servers take that of the machine
	cmd.Stdin, cmd.Stderr = &questions, &log
	endWithParent(cmd)
	runtime.LockOSThread() // see jvm.run
	defer runtime.UnlockOSThread()
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, &log)
	}
	got := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
	if len(got) != len(want) {
		t.Fatalf("%d answers to %d questions\n%s", len(got), len(want), &log)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("%d: Java has %s, we have %s, in base 64", i, got[i], want[i])
		}
	}
}
