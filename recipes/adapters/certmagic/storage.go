package curatorcertmagic

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/url"
	"slices"
	"strings"
	"sync"

	"github.com/caddyserver/certmagic"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/framework/paths"
	"github.com/go-curator/curator/recipes/locks"
)

// valueMark ends the names of nodes with values. Escaped names of keys do not have it.
const valueMark = "="

// Option is an option of NewStorage.
type Option func(*Storage) error

// WithACL sets the ACL of every node that the storage creates: values, locks, and the directories that are
// missing, those above the path of the storage included. A node that exists keeps its ACL, and the nodes of a
// namespace get the client's. The list must permit the hosts of the fleet to read, create, write and delete. An empty
// list, an entry that no server accepts, and one that permits nothing are refused with framework.ErrInvalidACL.
//
// Without the option nodes get the client's ACL: see framework.WithDefaultACL. If that is not set either, everyone
// can read the private keys.
func WithACL(acl ...framework.ACL) Option {
	acl = slices.Clone(acl)
	return func(s *Storage) error {
		s.acl = acl
		s.options = append(s.options, locks.WithACL(acl...)) // NewStorage has it checked
		return nil
	}
}

// WithLockOptions sets options of the locks, such as locks.WithName. They hold for the locks alone: a locks.WithACL
// among them leaves the values, and so the private keys, to the client's ACL. Use WithACL for both.
func WithLockOptions(opts ...locks.MutexOption) Option {
	return func(s *Storage) error {
		s.options = append(s.options, opts...)
		return nil
	}
}

// Storage is a certmagic.Storage in ZooKeeper. NewStorage makes it. Errors of its methods are
// *fs.PathError, with the key as path.
//
// Java: none.
type Storage struct {
	client     *framework.Client
	keys, lock string // the directories of keys and of locks
	options    []locks.MutexOption
	acl        []framework.ACL // nil for the client's

	mu    sync.Mutex
	holds map[string]*hold // of this process, by name
}

var (
	_ certmagic.Storage          = (*Storage)(nil)
	_ certmagic.TryLocker        = (*Storage)(nil)
	_ certmagic.LockLeaseRenewer = (*Storage)(nil)
)

// NewStorage returns the storage at path. It does no I/O. All hosts of a fleet must use the same path.
// Errors: framework.ErrInvalidPath, framework.ErrInvalidOption, framework.ErrInvalidACL, framework.ErrNotStarted
// for a nil client.
//
// Java: none.
func NewStorage(client *framework.Client, path string, opts ...Option) (*Storage, error) {
	s := &Storage{
		client: client, keys: paths.Make(path, "keys"), lock: paths.Make(path, "locks"),
		holds: map[string]*hold{},
	}
	for i, o := range opts {
		if o == nil {
			return nil, fmt.Errorf("%w: option %d of %d is nil", framework.ErrInvalidOption, i+1, len(opts))
		}
		if err := o(s); err != nil {
			return nil, fmt.Errorf("%w: %w", framework.ErrInvalidOption, err)
		}
	}
	if _, err := locks.NewInterProcessMutex(client, path, s.options...); err != nil {
		return nil, err
	}
	return s, nil
}

// String returns "ZooKeeper:/certmagic/keys". CertMagic logs it.
func (s *Storage) String() string {
	if s == nil {
		return "ZooKeeper:"
	}
	return "ZooKeeper:" + s.keys
}

// Store sets the value of a key, and makes the key if it does not exist. A value that is too large for a
// request is refused with framework.ErrTooLarge. Other errors: fs.ErrInvalid for a key that is not a
// valid path, see fs.ValidPath; ctx's; the server's. When ctx ends before the reply, the value may be stored.
func (s *Storage) Store(ctx context.Context, key string, value []byte) error {
	node, err := s.node(key)
	if err == nil {
		create := s.client.Create().CreatingParentContainersIfNeeded().OrSetData().Uncompressed().WithData(value)
		if s.acl != nil {
			create = create.WithACL(s.acl...).WithACLOnParents()
		}
		_, err = create.ForPath(ctx, node+valueMark)
	}
	return failed("store", key, err)
}

// Load returns the value of a key. Errors: fs.ErrNotExist, fs.ErrInvalid for a key that is not a
// valid path, ctx's, the server's.
func (s *Storage) Load(ctx context.Context, key string) ([]byte, error) {
	var value []byte
	node, err := s.synced(ctx, key)
	if err == nil {
		value, err = s.client.GetData().Undecompressed().ForPath(ctx, node+valueMark)
	}
	return value, failed("load", key, err)
}

// Delete deletes a key, and all keys of which it is a prefix. It is no error if there are none. When it fails
// some of them may be deleted. A key that somebody stores meanwhile may stay.
func (s *Storage) Delete(ctx context.Context, key string) error {
	node, err := s.node(key)
	if err == nil {
		err = s.client.Delete().Quietly().ForPath(ctx, node+valueMark)
	}
	if err == nil {
		err = s.client.Delete().DeletingChildrenIfNeeded().Quietly().ForPath(ctx, node)
	}
	return failed("delete", key, err)
}

// Exists reports whether a key has a value or is a directory. When the server does not answer, and for a key
// that is not a valid path, it returns false, and logs the error.
func (s *Storage) Exists(ctx context.Context, key string) bool {
	_, err := s.Stat(ctx, key)
	if err != nil && !errors.Is(err, fs.ErrNotExist) && s != nil && s.client != nil {
		s.client.Logger().Warn("whether a key exists is not known: taken for no", "key", key, "error", err)
	}
	return err == nil
}

// Stat describes a key. Modified is by the clock of the server; for a directory it is the time at which
// the directory was made. Errors as those of Load.
func (s *Storage) Stat(ctx context.Context, key string) (certmagic.KeyInfo, error) {
	var stat framework.Stat
	node, err := s.synced(ctx, key)
	if err != nil {
		return certmagic.KeyInfo{}, failed("stat", key, err)
	}
	for _, isValue := range []bool{true, false} {
		at := node
		if isValue {
			at += valueMark
		}
		there, err := s.client.CheckExists().StoringStatIn(&stat).ForPath(ctx, at)
		if err != nil {
			return certmagic.KeyInfo{}, failed("stat", key, err)
		}
		if there {
			info := certmagic.KeyInfo{Key: key, Modified: stat.Mtime, IsTerminal: isValue}
			if isValue {
				info.Size = int64(stat.DataLength)
			}
			return info, nil
		}
	}
	return certmagic.KeyInfo{}, failed("stat", key, fs.ErrNotExist)
}

// List returns the keys below a prefix, directories included, in order: with recursive all, otherwise those
// one level below. A prefix that has a value and no keys below it has none. The prefix "" means all keys. It
// returns fs.ErrNotExist if there is no such key. Other errors as those of Load.
func (s *Storage) List(ctx context.Context, prefix string, recursive bool) ([]string, error) {
	var node string
	var err error
	if prefix == "" && s != nil && s.client != nil {
		node, err = s.keys, s.sync(ctx)
	} else {
		node, err = s.synced(ctx, prefix)
	}
	if err != nil {
		return nil, failed("list", prefix, err)
	}
	keys, err := s.list(ctx, nil, node, prefix, recursive)
	if errors.Is(err, framework.ErrNoNode) {
		if prefix == "" {
			return nil, nil
		}
		_, err := s.Stat(ctx, prefix) // it may have a value
		return nil, err
	}
	return keys, failed("list", prefix, err)
}

// list appends the keys below a directory.
func (s *Storage) list(ctx context.Context, keys []string, node, prefix string, recursive bool) ([]string, error) {
	names, err := s.client.GetChildren().ForPath(ctx, node)
	if err != nil {
		return keys, err
	}
	isDirectory := map[string]bool{}
	for _, child := range names {
		escaped, isValue := strings.CutSuffix(child, valueMark)
		name, err := url.QueryUnescape(escaped)
		if err != nil || nodeName(name) != escaped {
			continue // it is not ours
		}
		isDirectory[name] = isDirectory[name] || !isValue
	}
	for _, name := range slices.Sorted(maps.Keys(isDirectory)) {
		key := strings.TrimPrefix(prefix+"/"+name, "/")
		keys = append(keys, key)
		if !recursive || !isDirectory[name] {
			continue
		}
		keys, err = s.list(ctx, keys, node+"/"+nodeName(name), key, recursive)
		if err != nil && !errors.Is(err, framework.ErrNoNode) { // it was deleted meanwhile
			return keys, err
		}
	}
	return keys, nil
}

// node returns the node of a key as a directory.
func (s *Storage) node(key string) (string, error) {
	switch {
	case s == nil || s.client == nil:
		return "", fmt.Errorf("%w: the storage was not made by NewStorage", framework.ErrNotStarted)
	case key == "." || !fs.ValidPath(key):
		return "", fs.ErrInvalid
	}
	node := s.keys
	for name := range strings.SplitSeq(key, "/") {
		node += "/" + nodeName(name)
	}
	return node, nil
}

// synced is node for reads, which are to see what other hosts have stored.
func (s *Storage) synced(ctx context.Context, key string) (string, error) {
	node, err := s.node(key)
	if err == nil {
		err = s.sync(ctx)
	}
	return node, err
}

func (s *Storage) sync(ctx context.Context) error { return s.client.Sync().ForPath(ctx, s.keys) }

// recordSuffix ends the name of the node that a lock with locks.WithLockDelay has beside its own.
const recordSuffix = ".holder"

// nodeName makes a znode's name of a part of a key or of the name of a lock, and different ones of different
// names. None of them is that of the record of a lock.
func nodeName(name string) string {
	escaped := url.QueryEscape(name)
	if strings.Trim(escaped, ".") == "" { // not allowed by ZooKeeper
		escaped = strings.ReplaceAll(escaped, ".", "%2E")
	}
	if before, ok := strings.CutSuffix(escaped, recordSuffix); ok {
		escaped = before + "%2E" + recordSuffix[1:]
	}
	return escaped
}

// failed wraps an error, and says fs.ErrNotExist where ZooKeeper says that there is no node.
func failed(op, key string, err error) error {
	if err == nil {
		return nil
	}
	if errors.Is(err, framework.ErrNoNode) {
		err = fmt.Errorf("%w: %w", fs.ErrNotExist, err)
	}
	return &fs.PathError{Op: op, Path: key, Err: err}
}
