package service

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os/exec"
	"path/filepath"
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
