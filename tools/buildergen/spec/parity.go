package spec

// Absence is why something of Java is not here.
type Absence string

// The reasons.
const (
	// Present things are here.
	Present Absence = ""
	// Deprecated things are so in Java, too.
	Deprecated Absence = "deprecated"
	// Threads has what is there for threads and executors.
	Threads Absence = "threads"
	// Needless things are said by the language, or by another method.
	Needless Absence = "needless"
	// Internal things are public in Java for Curator's own packages.
	Internal Absence = "internal"
	// Unsupported things cannot be done.
	Unsupported Absence = "unsupported"
)

// Absences has the reasons with what they mean, in the order in which they are explained.
var Absences = []struct {
	Absence
	Meaning string
}{
	{Deprecated, "it is deprecated in Java; the remark says what to use"},
	{Threads, "it is about threads, executors or thread factories; a context ends what waits, and listeners, watchers and work in the background have goroutines of their own"},
	{Needless, "the language, or another method, does it"},
	{Internal, "it is public in Java for Curator's own packages"},
	{Unsupported, "it cannot be done"},
}

// Parity says what stands for one method of Java, or for several.
type Parity struct {
	// Java has Type.method, with its parameters where methods of one name differ. "*" for
	// a type is every builder; Type.* stands for what the type has besides. Several are
	// separated by semicolons, and of the second on the type is left out if it is the same.
	Java string
	// Ours has the identifiers that stand for it, separated by commas: those of other
	// packages than framework with the package's name. It is empty if it is absent.
	Ours   string
	Absent Absence
	Remark string
}

// Section is a part of the table.
type Section struct {
	Title string
	// Op is the operation whose entry, steps and terminal stand ahead of Rows; "" for none.
	Op string
	// Tx says that it is the operation's part in transactions.
	Tx   bool
	Rows []Parity
}

// Newer has the Java names that came after Curator 5.4.
var Newer = []string{
	"enableCompression", "zookeeperCompatibility", "compressionEnabled", "getZookeeperCompatibility",
	"uncompressed", "undecompressed", "CuratorClosedException",
}
