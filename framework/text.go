package framework

import (
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// These are the texts of the package's values in logs and failed tests. The LogValue of a number is
// its name, because a slog.JSONHandler would write the number.

// String returns Java's name, such as EPHEMERAL_SEQUENTIAL.
func (m CreateMode) String() string {
	switch m {
	case Persistent:
		return "PERSISTENT"
	case PersistentSequential:
		return "PERSISTENT_SEQUENTIAL"
	case Ephemeral:
		return "EPHEMERAL"
	case EphemeralSequential:
		return "EPHEMERAL_SEQUENTIAL"
	case Container:
		return "CONTAINER"
	case PersistentWithTTL:
		return "PERSISTENT_WITH_TTL"
	case PersistentSequentialWithTTL:
		return "PERSISTENT_SEQUENTIAL_WITH_TTL"
	}
	return fmt.Sprintf("CreateMode(%d)", int(m))
}

// LogValue returns the text of String.
func (m CreateMode) LogValue() slog.Value { return slog.StringValue(m.String()) }

// String returns the name of the constant, such as NodeDataChanged, which is also Java's.
func (t EventType) String() string {
	switch t {
	case NodeCreated:
		return "NodeCreated"
	case NodeDeleted:
		return "NodeDeleted"
	case NodeDataChanged:
		return "NodeDataChanged"
	case NodeChildrenChanged:
		return "NodeChildrenChanged"
	case WatchReset:
		return "WatchReset"
	case DataWatchRemoved:
		return "DataWatchRemoved"
	case ChildWatchRemoved:
		return "ChildWatchRemoved"
	case PersistentWatchRemoved:
		return "PersistentWatchRemoved"
	}
	return fmt.Sprintf("EventType(%d)", int(t))
}

// LogValue returns the text of String.
func (t EventType) LogValue() slog.Value { return slog.StringValue(t.String()) }

// String returns the method that reads the part: "getData", "getChildren" or "exists".
func (p ReadPart) String() string {
	switch p {
	case ReadData:
		return "getData"
	case ReadChildren:
		return "getChildren"
	case ReadStat:
		return "exists"
	}
	return fmt.Sprintf("ReadPart(%d)", int(p))
}

// LogValue returns the text of String.
func (p ReadPart) LogValue() slog.Value { return slog.StringValue(p.String()) }

// String returns Java's name, PERSISTENT_RECURSIVE or PERSISTENT.
func (m AddWatchMode) String() string {
	switch m {
	case PersistentRecursive:
		return "PERSISTENT_RECURSIVE"
	case PersistentWatch:
		return "PERSISTENT"
	}
	return fmt.Sprintf("AddWatchMode(%d)", int(m))
}

// LogValue returns the text of String.
func (m AddWatchMode) LogValue() slog.Value { return slog.StringValue(m.String()) }

// String returns Java's name: Any, Data or Children.
func (t WatcherType) String() string {
	switch t {
	case AnyWatcher:
		return "Any"
	case DataWatcher:
		return "Data"
	case ChildrenWatcher:
		return "Children"
	}
	return fmt.Sprintf("WatcherType(%d)", int(t))
}

// LogValue returns the text of String.
func (t WatcherType) LogValue() slog.Value { return slog.StringValue(t.String()) }

// String returns Java's name, such as STARTED.
func (s ClientState) String() string {
	switch s {
	case Latent:
		return "LATENT"
	case Started:
		return "STARTED"
	case Stopped:
		return "STOPPED"
	}
	return fmt.Sprintf("ClientState(%d)", int(s))
}

// LogValue returns the text of String.
func (s ClientState) LogValue() slog.Value { return slog.StringValue(s.String()) }

// String returns the letters of the permissions as ZooKeeper's shell has them: "cdrwa" for
// all, "r" for PermRead, "-" for none. Bits that are no permissions follow as a number.
func (p Perm) String() string {
	var text []byte
	for i, perm := range [...]Perm{PermCreate, PermDelete, PermRead, PermWrite, PermAdmin} {
		if p&perm != 0 {
			text = append(text, "cdrwa"[i])
		}
	}
	if rest := uint32(p &^ PermAll); rest != 0 {
		text = fmt.Appendf(text, "+%#x", rest)
	}
	if len(text) == 0 {
		return "-"
	}
	return string(text)
}

// LogValue returns the text of String.
func (p Perm) LogValue() slog.Value { return slog.StringValue(p.String()) }

// String returns scheme, id and permissions as ZooKeeper's shell has them, "world:anyone:cdrwa".
// An id that does not fit on a line is quoted.
func (a ACL) String() string { return a.Scheme + ":" + oneLine(a.ID) + ":" + a.Perms.String() }

// LogValue returns the text of String.
func (a ACL) LogValue() slog.Value { return slog.StringValue(a.String()) }

// String returns the event on one line, "NodeDataChanged /config (zxid 0x2a)".
func (e WatchedEvent) String() string {
	text := e.Type.String() + " " + oneLine(e.Path)
	if e.Zxid != 0 {
		text += fmt.Sprintf(" (zxid 0x%x)", uint64(e.Zxid))
	}
	return text
}

// LogValue returns a group of type, path and, if it is known, zxid.
func (e WatchedEvent) LogValue() slog.Value {
	attrs := []slog.Attr{slog.String("type", e.Type.String()), slog.String("path", e.Path)}
	if e.Zxid != 0 {
		attrs = append(attrs, slog.String("zxid", fmt.Sprintf("0x%x", uint64(e.Zxid))))
	}
	return slog.GroupValue(attrs...)
}

// String returns all fields on one line, "czxid=0x2a mzxid=0x2b ... version=1 ...". Transactions
// and the session are hexadecimal, as in ZooKeeper's logs, and times are in UTC.
func (s Stat) String() string {
	return fmt.Sprintf("czxid=0x%x mzxid=0x%x pzxid=0x%x ctime=%s mtime=%s version=%d cversion=%d aversion=%d ephemeralOwner=%s dataLength=%d numChildren=%d",
		uint64(s.Czxid), uint64(s.Mzxid), uint64(s.Pzxid), timeText(s.Ctime), timeText(s.Mtime), s.Version, s.Cversion, s.Aversion,
		sessionText(s.EphemeralOwner), s.DataLength, s.NumChildren)
}

// timeText returns a time of the server's, which has milliseconds.
func timeText(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }

// oneLine returns text, quoted if that is needed to have it on one line.
func oneLine(text string) string {
	if strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return strconv.Quote(text)
	}
	return text
}
