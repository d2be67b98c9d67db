package migration_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/go-curator/curator/framework/zk"
)

// The programs of docs/from-go-zookeeper.md as they are written for go-zookeeper/zk.

func oldConnect(ctx context.Context) error {
	conn, events, err := zk.Connect(strings.Split(connectString, ","), 10*time.Second)
	if err != nil {
		return err
	}
	defer conn.Close()
	for event := range events {
		if event.State == zk.StateHasSession {
			break
		}
	}
	return runOn(ctx, conn)
}

func oldChange(conn *zk.Conn) error {
	data, stat, err := conn.Get("/config")
	if err == zk.ErrNoNode {
		return nil // not configured
	}
	if err != nil {
		return err
	}
	_, err = conn.Set("/config", edited(data), stat.Version)
	if err == zk.ErrBadVersion {
		return conflict()
	}
	return err
}

func oldCreate(conn *zk.Conn) error {
	parent := ""
	for _, name := range []string{"jobs", "new"} {
		parent += "/" + name
		if _, err := conn.Create(parent, nil, 0, zk.WorldACL(zk.PermAll)); err != nil && err != zk.ErrNodeExists {
			return err
		}
	}
	path, err := conn.Create(parent+"/job-", data, zk.FlagSequence, zk.WorldACL(zk.PermAll))
	if err != nil {
		return err
	}
	fmt.Println(path) // /jobs/new/job-0000000000
	return nil
}

func oldMulti(conn *zk.Conn) error {
	results, err := conn.Multi(
		&zk.CheckVersionRequest{Path: "/config", Version: version},
		&zk.CreateRequest{Path: "/jobs/9", Data: data, Acl: zk.WorldACL(zk.PermAll)},
		&zk.SetDataRequest{Path: "/last", Data: []byte("9"), Version: -1},
		&zk.DeleteRequest{Path: "/jobs/8", Version: -1})
	if err != nil {
		return err
	}
	fmt.Println(results[1].String)
	return nil
}

func oldConfig(conn *zk.Conn) error {
	for {
		data, _, changed, err := conn.GetW("/config")
		if err != nil {
			return err
		}
		use(data)
		if event := <-changed; event.Err != nil {
			return event.Err
		}
	}
}

func oldWorkers(conn *zk.Conn) error {
	for {
		names, _, changed, err := conn.ChildrenW("/workers")
		if err != nil {
			return err
		}
		for _, name := range names {
			data, _, err := conn.Get("/workers/" + name)
			if err != nil {
				return err // also when it has left meanwhile
			}
			use(data)
		}
		if event := <-changed; event.Err != nil {
			return event.Err
		}
	}
}

func oldLock(ctx context.Context, conn *zk.Conn) error {
	lock := zk.NewLock(conn, "/locks/orders", zk.WorldACL(zk.PermAll))
	if err := lock.Lock(); err != nil {
		return err
	}
	defer lock.Unlock()

	return export(ctx)
}

func oldTryLock(ctx context.Context, conn *zk.Conn, host string) error {
	_, err := conn.Create("/lock", []byte(host), zk.FlagEphemeral, zk.WorldACL(zk.PermAll))
	if err == zk.ErrNodeExists {
		holder, _, err := conn.Get("/lock")
		if err != nil {
			return err
		}
		if string(holder) != host {
			return busy()
		}
	} else if err != nil {
		return err
	}
	return export(ctx)
}

func oldElection(ctx context.Context, conn *zk.Conn) error {
	mine, err := conn.Create("/leaders/billing/n-", nil, zk.FlagEphemeralSequential, zk.WorldACL(zk.PermAll))
	if err != nil {
		return err
	}
	for {
		names, _, changed, err := conn.ChildrenW("/leaders/billing")
		if err != nil {
			return err
		}
		if slices.Sort(names); "/leaders/billing/"+names[0] == mine {
			return export(ctx)
		}
		<-changed
	}
}

func oldRegister(conn *zk.Conn, events <-chan zk.Event) error {
	for event := range events {
		if event.State != zk.StateHasSession {
			continue
		}
		_, err := conn.Create("/services/10.0.0.7:8080", data, zk.FlagEphemeral, zk.WorldACL(zk.PermAll))
		if err != nil && err != zk.ErrNodeExists {
			return err
		}
	}
	return nil
}

func ownAgain(conn *zk.Conn) error {
	const path = "/services/10.0.0.7:8080"
	_, err := conn.Create(path, data, zk.FlagEphemeral, zk.WorldACL(zk.PermAll))
	if err != zk.ErrNodeExists {
		return err
	}
	exists, stat, err := conn.Exists(path)
	if err != nil || exists && stat.EphemeralOwner == conn.SessionID() {
		return err
	}
	if err := conn.Delete(path, -1); err != nil && err != zk.ErrNoNode {
		return err
	}
	_, err = conn.Create(path, data, zk.FlagEphemeral, zk.WorldACL(zk.PermAll))
	return err
}

func oldPrivate(conn *zk.Conn) error {
	if err := conn.AddAuth("digest", []byte("app:secret")); err != nil {
		return err
	}
	_, err := conn.Create("/private", data, 0, zk.AuthACL(zk.PermAll))
	return err
}

// runOn is run for a program that is written for go-zookeeper/zk.
var runOn = func(context.Context, *zk.Conn) error { return nil }

func edited(data []byte) []byte { return append(data, '!') }
