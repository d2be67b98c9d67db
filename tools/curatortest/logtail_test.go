package curatortest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The end of a log has the exception that has ended the server, however often the server was asked for its mode meanwhile.
func TestLogTail(t *testing.T) {
	dir := t.TempDir()
	exception := "java.io.IOException: Unreasonable length = 16451\n" + strings.Repeat("\tat org.apache.zookeeper.Method(File.java:1)\n", 30)
	asked := strings.Repeat("INFO Processing srvr command from /127.0.0.1:1\n", 100)
	log := strings.Repeat("INFO starting\n", 100) + exception + asked + "ERROR Exiting\n"
	if err := os.WriteFile(filepath.Join(dir, "log"), []byte(log), 0o600); err != nil {
		t.Fatal(err)
	}
	tail := logTail(dir)
	if lines := strings.Count(tail, "\n") + 1; !strings.Contains(tail, exception) || !strings.HasSuffix(tail, "ERROR Exiting") || lines != logLines {
		t.Errorf("%d lines: %s", lines, tail)
	}
}
