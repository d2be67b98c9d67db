package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"time"

	"github.com/go-curator/curator/tools/bench/internal/measure"
	"github.com/go-curator/curator/tools/curatortest"
)

// containerCheck is ZooKeeper's default. That of package curatortest is shorter.
const containerCheck = time.Minute

// startZooKeeper returns a function that starts servers with production settings. It returns the
// addresses of the servers themselves, without curatortest's proxies. Unsynced servers answer before
// their log is on the disk.
func startZooKeeper(unsynced bool) func(n int) (addresses []string, stop func() error, err error) {
	opts := []curatortest.Option{
		curatortest.WithProductionSettings(),
		curatortest.WithTickTime(tickTime), curatortest.WithContainerCheckInterval(containerCheck),
	}
	if unsynced {
		opts = append(opts, curatortest.WithoutForceSync())
	}
	return func(n int) (addresses []string, stop func() error, err error) {
		ensemble, err := curatortest.NewReal(n, opts...)
		if err != nil {
			return nil, nil, err
		}
		for i := range n {
			address, err := ownAddress(ensemble.Member(i).ConnectString())
			if err != nil {
				return nil, nil, errors.Join(err, ensemble.Close())
			}
			addresses = append(addresses, address)
		}
		return addresses, ensemble.Close, nil
	}
}

// runningServers is startZooKeeper for the running servers in connect. It ignores n.
func runningServers(connect string) func(n int) (addresses []string, stop func() error, err error) {
	return func(int) (addresses []string, stop func() error, err error) {
		return strings.Split(connect, ","), func() error { return nil }, nil
	}
}

// ownAddress asks a server for its own address, without the proxy.
func ownAddress(proxy string) (string, error) {
	answer, err := fourLetterWord(proxy, "conf")
	if err != nil {
		return "", err
	}
	for line := range strings.Lines(answer) {
		if port, ok := strings.CutPrefix(strings.TrimSpace(line), "clientPort="); ok {
			return net.JoinHostPort("127.0.0.1", port), nil
		}
	}
	return "", fmt.Errorf("the server does not report its address: %q", answer)
}

// serverVersion asks a server for its version.
func serverVersion(address string) (string, error) {
	answer, err := fourLetterWord(address, "srvr")
	if err != nil {
		return "", err
	}
	_, rest, _ := strings.Cut(answer, "Zookeeper version: ")
	version, _, ok := strings.Cut(rest, "-")
	if !ok {
		return "", fmt.Errorf("the server does not report its version: %q", answer)
	}
	return version, nil
}

// fourLetterWord sends a server a four-letter command, and returns the answer.
func fourLetterWord(address, word string) (string, error) {
	conn, err := net.DialTimeout("tcp", address, time.Second)
	if err != nil {
		return "", err
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(10 * time.Second)); err != nil {
		return "", err
	}
	if _, err := io.WriteString(conn, word); err != nil {
		return "", err
	}
	answer, err := io.ReadAll(conn)
	return string(answer), err
}

// warmServer sends requests to the servers until their JVMs have compiled the code that they run most.
func warmServer(ctx context.Context, address string, d time.Duration) error {
	l := &local{address: address, open: opens(dialDriver, alike([]lockKind{bare}, newFloorList))}
	locks, err := l.locks(ctx, 8, 8, bare, 0, func(i int) string { return fmt.Sprintf("/bench/server-warm-up/%d", i) })
	if err == nil {
		_, err = cycle(ctx, locks, d, measure.NewRecorders(len(locks)))
	}
	return errors.Join(err, l.close())
}
