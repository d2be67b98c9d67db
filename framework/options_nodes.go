package framework

import (
	"errors"
	"fmt"

	"github.com/go-curator/curator/framework/schema"
	"github.com/go-curator/curator/internal/zkclient"
)

// WithDefaultData sets the data of creates that give none; nil means empty. The default is the
// local IP address as text, as in Java. It is the first public or private IPv4 address of the
// network interfaces; Java looks up the host's name.
func WithDefaultData(data []byte) Option {
	return option(func(c *config) error {
		c.client.DefaultData = append([]byte{}, data...)
		return nil
	})
}

// WithoutContainerParents makes CreatingParentContainersIfNeeded create persistent
// parents, for servers older than 3.5. Java: dontUseContainerParents.
func WithoutContainerParents() Option {
	return option(func(c *config) error {
		c.client.Containers = false
		return nil
	})
}

// WithDefaultACL sets the ACL of every node that the client creates and whose create gives none: parents,
// the nodes of a namespace, and the nodes of recipes without the recipe's own WithACL. Nodes that exist keep
// their ACL. Without this option every node is open to everyone. [DigestACL], [AuthACL] and [WorldACL] make
// entries.
//
// The entries must permit what the client does with its nodes itself, such as creating and deleting below its
// parents, else that fails with ErrNoAuth later. NewClient asks no server: it returns an error that matches
// ErrInvalidACL for an empty list, and for an entry that no server accepts or that permits nothing. If a server
// refuses the list, the creates fail with ErrInvalidACL: [CreatorAllACL] and [AuthACL] need credentials
// (WithAuthorization, or those of TLS or SASL). The option cannot be combined with WithACLProvider, which
// chooses by the path: ErrInvalidOption.
//
// Java: aclProvider, with an ACLProvider that returns the same list for every path.
func WithDefaultACL(acl ...ACL) Option {
	list := zkclient.NewACL(acl)
	return option(func(c *config) error {
		if err := list.Check(); err != nil {
			return fmt.Errorf("WithDefaultACL: %w", err)
		}
		c.acl.list = list
		return nil
	})
}

// WithACLProvider sets the ACL of creates that give none, by their paths. If p is an ACLDefaulter, too, it may
// leave paths to its default. Without this option every node is open to everyone. For one ACL for all paths
// there is WithDefaultACL; the two cannot be combined.
//
// Java: aclProvider.
func WithACLProvider(p ACLProvider) Option {
	return option(func(c *config) error {
		if p == nil {
			return errors.New("WithACLProvider: the provider is nil")
		}
		c.acl.provider = p
		return nil
	})
}

// WithCompressionProvider sets how data is compressed, by the steps Compressed and
// Decompressed or always, see WithCompression. The default is GzipCompressionProvider.
//
// Java: compressionProvider.
func WithCompressionProvider(p CompressionProvider) Option {
	return option(func(c *config) error {
		if p == nil {
			return errors.New("WithCompressionProvider: the provider is nil")
		}
		c.client.Compression = p
		return nil
	})
}

// WithCompression compresses and decompresses the data of every operation without a step that
// says otherwise. Uncompressed nodes can then be read only with Undecompressed. Nodes of locks
// and other recipes are not compressed.
//
// Java: enableCompression.
func WithCompression() Option {
	return option(func(c *config) error {
		c.client.CompressAll = true
		return nil
	})
}

// WithSchemaSet makes the client refuse every operation that the schemas do not permit, before
// it is sent. The error is a *schema.Violation. Paths are without the namespace, and data is
// checked before compression. Operations that a recipe or the client adds, such as creating
// parents or guaranteed deletes, are not checked, except the creation of a lock's nodes.
//
// Java: schemaSet.
func WithSchemaSet(set *schema.Set) Option {
	return option(func(c *config) error {
		if set == nil {
			return errors.New("WithSchemaSet: the set is nil")
		}
		c.client.Schemas = set
		return nil
	})
}

// WithMaxData sets the largest request, just under 1 MiB by default; it must not
// exceed the servers' jute.maxbuffer.
func WithMaxData(bytes int) Option {
	return option(func(c *config) error {
		if bytes < 1024 {
			return fmt.Errorf("WithMaxData(%d) is below 1024", bytes)
		}
		c.conn.MaxRequest = bytes
		return nil
	})
}

// WithMaxReply sets the largest answer that the client accepts, 16 MiB by default, at least 1
// MiB. It matters for lists of very many children; the servers' jute.maxbuffer limits nodes. A
// larger answer is dropped, and its request fails with ErrTooLarge. Other requests are not
// affected.
// Java: the system property jute.maxbuffer; there such an answer ends the connection.
func WithMaxReply(bytes int) Option {
	return option(func(c *config) error {
		if bytes < 1<<20 {
			return fmt.Errorf("WithMaxReply(%d) is below 1 MiB", bytes)
		}
		c.conn.MaxReply = bytes
		return nil
	})
}

// WithJuteMaxBuffer tells the client the servers' jute.maxbuffer, in bytes, at least 1024. The default is 0xfffff, as
// ZooKeeper's, or what WithMaxData permits if that is more. It sends nothing; it is what the client judges two sizes by.
//
// The end of a session is one transaction, which since ZooKeeper 3.6 has the paths of all ephemeral nodes of the
// session. No server limits it, but servers do not read one that is much larger than jute.maxbuffer: then the
// ensemble fails, and does not start again (ZOOKEEPER-4306). So the client counts the paths of its session's ephemeral
// nodes, 4 bytes and the path for each. From half of the limit on it warns in the log. A create by which they would take
// more than three quarters is refused with ErrTooLarge, before it is sent; so is a transaction or a batch that has such a
// create. Deletes, and creates of other nodes, are not affected. The count is never too low. What others delete may
// stay in it for a while: before it warns or refuses, the client asks the server for the list of its nodes
// (getEphemerals), unless it has had that within the last second, and a create that is to be refused waits for the
// answer, or for the end of ctx. Servers before 3.6 do not know that request, and close the connection behind it, once in
// a session; they have no such transaction, so nothing is refused. If servers close two connections in a row in place of
// the answer, nothing more is refused in that session, and the log warns of it. The limit is for one session: several
// clients may each have as many nodes.
//
// The second size is that of a list of children. From half of the limit, or of WithMaxReply if that is less, the client
// warns in the log, once for a node until its list is shorter again. It remembers 64 such nodes, and says nothing of
// others. Nothing is refused: other clients, such as those of Java, cannot read a list above their own limit.
//
// The metrics zookeeper.client.session.ephemerals.size, its limit, and zookeeper.client.children.size have the sizes.
//
// Java: the system property jute.maxbuffer of the servers; the client has nothing alike.
func WithJuteMaxBuffer(bytes int) Option {
	return option(func(c *config) error {
		if bytes < 1024 {
			return fmt.Errorf("WithJuteMaxBuffer(%d) is below 1024", bytes)
		}
		c.conn.MaxBuffer = bytes
		return nil
	})
}
