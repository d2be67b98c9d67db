package curatortest

import (
	"cmp"
	"fmt"

	"github.com/go-curator/curator/internal/zkserver"
	"github.com/go-curator/curator/internal/zkserver/tree"
)

// WithRelease sets the release of ZooKeeper that the embedded server answers as: "3.8.0", the default,
// "3.8.6" or "3.9.5". docs/embedded-server.md has the differences. A program that is tested with an old and a
// new one will run on those between them. It changes what clients are answered, and the version in
// four-letter words; it adds nothing that the embedded server lacks. A real server refuses this option: see
// [WithHome].
func WithRelease(release string) Option {
	return option(func(c *config) {
		for _, r := range tree.Releases() {
			if r.String() == release {
				c.zookeeper.Release, c.only.embedded = r, cmp.Or(c.only.embedded, "WithRelease")
				return
			}
		}
		c.invalid("WithRelease", fmt.Sprintf("the embedded server does not know release %q; it knows %v", release, tree.Releases()))
	})
}

// WithKeeper makes an embedded server do two things as ClickHouse Keeper does them, up to its release 25.10.
// They show whether a program is safe on Keeper:
//
//   - Whenever a client connects, it gets a new session, whatever session it asks to continue, and is not
//     told that the old one is over. The old session, with its ephemeral nodes, lives on until its timeout.
//   - A request that Keeper does not know ends the connection without an answer: create2, createContainer,
//     createTTL, addWatch, setWatches, setWatches2, removeWatches, checkWatches, multiRead, getEphemerals,
//     getAllChildrenNumber, whoAmI and reconfig, also within a transaction.
//
// Everything else is as without the option. It is not all that is different on Keeper, see docs/platforms.md. Real servers
// refuse it. There is nothing like it in Java.
func WithKeeper() Option {
	return option(func(c *config) {
		c.only.embedded = cmp.Or(c.only.embedded, "WithKeeper")
		c.zookeeper.Keeper = zkserver.Keeper{NewSessions: true, DropUnknown: true}
	})
}
