package service

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/go-curator/curator/tools/bench/internal/installed"
)

// Etcd starts a single etcd server, and waits until it serves.
func Etcd(ctx context.Context) (*Server, error) {
	program, err := installed.Program("etcd", "Debian, Ubuntu: apt-get install etcd-server")
	if err != nil {
		return nil, err
	}
	return plan{
		ports: 2,
		command: func(ctx context.Context, dir string, ports []int) *exec.Cmd {
			client, peer := "http://"+address(ports[0]), "http://"+address(ports[1])
			return exec.CommandContext(ctx, program,
				"--name=bench", "--data-dir="+filepath.Join(dir, "data"), "--log-level=warn", "--logger=zap",
				"--listen-client-urls="+client, "--advertise-client-urls="+client,
				"--listen-peer-urls="+peer, "--initial-advertise-peer-urls="+peer,
				"--initial-cluster=bench="+peer)
		},
		serves: etcdServes,
		stop:   syscall.SIGTERM,
	}.start(ctx)
}

// etcdServes asks the server for its health. The server then asks its leader.
func etcdServes(ctx context.Context, port int) (err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+address(port)+"/health", nil)
	if err != nil {
		return err
	}
	request.Close = true // no idle connection may be left
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, response.Body.Close()) }()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("health: %s", response.Status)
	}
	return nil
}

// Debian keeps the programs of a server outside of PATH, in a directory for each version.
const (
	installPostgreSQL = "Debian, Ubuntu: apt-get install postgresql"
	debianPrograms    = "/usr/lib/postgresql/*/bin"
)

// maxConnections is higher than the number of clients of any workload.
const maxConnections = 300

// PostgreSQL starts a PostgreSQL server and waits until it serves. The server has a superuser
// postgres, who needs no password on this machine. The server refuses to run as root, so if this
// process does, the server runs as the system's user postgres.
func PostgreSQL(ctx context.Context) (*Server, error) {
	programs, err := findPostgreSQL(debianPrograms)
	if err != nil {
		return nil, err
	}
	server, err := unprivileged("postgres")
	if err != nil {
		return nil, err
	}
	return plan{
		ports: 1,
		prepare: func(ctx context.Context, dir string) error {
			if err := server.own(dir); err != nil {
				return err
			}
			cmd := exec.CommandContext(ctx, programs.initdb, "--pgdata="+filepath.Join(dir, "data"),
				"--username=postgres", "--auth=trust", "--encoding=UTF8", "--locale=C")
			cmd.Dir = dir
			server.run(cmd)
			if out, err := cmd.CombinedOutput(); err != nil {
				return fmt.Errorf("%v: %w\n%s", cmd.Args, err, out)
			}
			return nil
		},
		command: func(ctx context.Context, dir string, ports []int) *exec.Cmd {
			cmd := exec.CommandContext(ctx, programs.postgres, "-D", filepath.Join(dir, "data"),
				"-p", strconv.Itoa(ports[0]), "-c", "listen_addresses=127.0.0.1",
				"-c", "unix_socket_directories=", "-c", "max_connections="+strconv.Itoa(maxConnections),
				// By default a client that has connected and sends nothing would delay the end of
				// the server by a minute.
				"-c", "authentication_timeout=2s")
			server.run(cmd)
			return cmd
		},
		serves: func(ctx context.Context, port int) error {
			return exec.CommandContext(ctx, programs.isReady, "--quiet", "--host=127.0.0.1", "--port="+strconv.Itoa(port)).Run()
		},
		stop: syscall.SIGINT, // after SIGTERM the server would wait for its clients
	}.start(ctx)
}

// postgreSQL has the programs of one version.
type postgreSQL struct{ initdb, postgres, isReady string }

// findPostgreSQL searches the directories that match a pattern, the highest version first, and then
// PATH.
func findPostgreSQL(pattern string) (postgreSQL, error) {
	dirs, err := filepath.Glob(pattern)
	if err != nil {
		return postgreSQL{}, err
	}
	slices.SortFunc(dirs, func(a, b string) int { return version(b) - version(a) })
	initdb, err := installed.Program("initdb", installPostgreSQL, dirs...)
	if err != nil {
		return postgreSQL{}, err
	}
	if initdb, err = filepath.EvalSymlinks(initdb); err != nil { // PATH may have links to only some of the programs
		return postgreSQL{}, err
	}
	postgres, err := installed.Program("postgres", installPostgreSQL, filepath.Dir(initdb))
	isReady, isReadyErr := installed.Program("pg_isready", installPostgreSQL, filepath.Dir(initdb))
	return postgreSQL{initdb, postgres, isReady}, errors.Join(err, isReadyErr)
}

// version returns the version in the name of the directory above the programs, 0 if it has none.
func version(dir string) int {
	major, _, _ := strings.Cut(filepath.Base(filepath.Dir(dir)), ".")
	n, err := strconv.Atoi(major)
	if err != nil {
		return 0
	}
	return n
}
