package framework

import (
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/zkclient"
)

// CreateMode is the kind of a node.
//
// Java: CreateMode.
type CreateMode int

// The modes. The zero value is Persistent.
const (
	// Persistent nodes stay until they are deleted.
	Persistent CreateMode = iota
	// Ephemeral nodes are deleted at the end of the session that created them.
	Ephemeral
	// PersistentSequential nodes get a number after their name.
	PersistentSequential
	// EphemeralSequential nodes get a number and are deleted at the end of the session.
	EphemeralSequential
	// Container nodes are removed by the server after their last child was deleted.
	Container
	// PersistentWithTTL nodes are removed by the server when they have no children and
	// were not written for a time; see CreateBuilder.WithTTL.
	PersistentWithTTL
	// PersistentSequentialWithTTL nodes get a number, too.
	PersistentSequentialWithTTL
)

// wire returns the mode as it is sent, and whether there is such a mode.
func (m CreateMode) wire() (mode zkclient.Mode, ok bool) {
	modes := [...]zkclient.Mode{
		Persistent: zkclient.Persistent, Ephemeral: zkclient.Ephemeral,
		PersistentSequential: zkclient.PersistentSequential, EphemeralSequential: zkclient.EphemeralSequential,
		Container: zkclient.Container, PersistentWithTTL: zkclient.PersistentWithTTL,
		PersistentSequentialWithTTL: zkclient.PersistentSequentialWithTTL,
	}
	if m < 0 || int(m) >= len(modes) {
		return 0, false
	}
	return modes[m], true
}

// Stat describes a node, in ZooKeeper's terms.
type Stat struct {
	Czxid, Mzxid, Pzxid     int64     // of the create, of the last change, of the last change of the children
	Ctime, Mtime            time.Time // of the create and of the last change, by the server's clock
	Version, Cversion       int32     // of the data and of the children
	Aversion                int32     // of the ACL
	EphemeralOwner          int64     // the session of an ephemeral node, else zero
	DataLength, NumChildren int32
}

func newStat(s jute.Stat) Stat { return zkclient.UserStat[Stat](&s) }

// localAddress is the text of the local IP address, the default data of Curator's nodes.
var localAddress = sync.OnceValue(func() []byte {
	addresses, err := net.InterfaceAddrs()
	if err == nil {
		for _, a := range addresses {
			if ip, ok := a.(*net.IPNet); ok && ip.IP.IsGlobalUnicast() && ip.IP.To4() != nil {
				return []byte(ip.IP.String())
			}
		}
	}
	return []byte("127.0.0.1")
})

func storeStat(to *Stat, stat jute.Stat) {
	if to != nil {
		*to = newStat(stat)
	}
}

// ClientState is the phase of a client's life. Java: CuratorFrameworkState.
type ClientState int

// The phases.
const (
	// Latent clients have not been started.
	Latent ClientState = iota
	// Started clients have been started and not closed.
	Started
	// Stopped clients have been closed.
	Stopped
)

// noCopy has go vet find copies of what contains it.
type noCopy struct{}

func (*noCopy) Lock()   {}
func (*noCopy) Unlock() {}

func sessionText(id int64) string { return fmt.Sprintf("0x%x", uint64(id)) }

// OpResult is the outcome of one operation of a transaction or a batch.
//
// Java: CuratorTransactionResult.
type OpResult struct {
	Op   string // "create", "delete", "setData", "check"
	Path string // the actual path for a create
	// Stat is the node's after a setData or a create. In a transaction the server sends it only
	// for creates of containers and of nodes with a time to live.
	Stat Stat
	// Err is the reason why the operation was not applied, nil if it was applied. When a
	// transaction fails, Err of the failed operation has the reason, and Err of all others is
	// ErrRolledBack.
	Err error
}
