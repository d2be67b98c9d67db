package interop_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// hashesFile has migrations, a tab, and what the installed Curator's ExtractingCuratorOp.addToDigest
// makes of them. Package migrations tests its own hashes with it.
var hashesFile = filepath.Join("..", "..", "recipes", "migrations", "testdata", "hashes.txt")

func TestMigrationHashes(t *testing.T) {
	t.Parallel()
	kept, err := os.ReadFile(hashesFile)
	if err != nil {
		t.Fatal(err)
	}
	var migrations []string
	for line := range strings.Lines(string(kept)) {
		migration, _, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		migrations = append(migrations, migration)
	}
	p := compiled(t)
	cmd := p.command("Migrations")
	cmd.Args = append(cmd.Args[:1:1], append([]string{"-Dfile.encoding=UTF-8", "-Dorg.slf4j.simpleLogger.defaultLogLevel=error"}, cmd.Args[1:]...)...)
	var log bytes.Buffer
	cmd.Stdin, cmd.Stderr = strings.NewReader(strings.Join(migrations, "\n")+"\n"), &log
	endWithParent(cmd)
	runtime.LockOSThread() // see jvm.run
	defer runtime.UnlockOSThread()
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, &log)
	}
	hashes := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
	if len(hashes) != len(migrations) {
		t.Fatalf("%d answers to %d questions", len(hashes), len(migrations))
	}
	var now strings.Builder
	for i, hash := range hashes {
		fmt.Fprintf(&now, "%s\t%s\n", migrations[i], hash)
	}
	if *rewriteNames {
		if err := os.WriteFile(hashesFile, []byte(now.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if now.String() != string(kept) {
		t.Errorf("Java has other hashes than %s, see -rewrite:\n%s", hashesFile, now.String())
	}
}
