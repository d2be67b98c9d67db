package spec

// Absence is the reason for which a method of Java has no counterpart.
type Absence string

// The reasons.
const (
	// Present methods have a counterpart.
	Present Absence = ""
	// Deprecated methods are deprecated in Java.
	Deprecated Absence = "deprecated"
	// Threads has methods about threads and executors.
	Threads Absence = "threads"
	// Needless methods are replaced by the language, or by another method.
	Needless Absence = "needless"
	// Internal methods are public in Java only for Curator's own packages.
	Internal Absence = "internal"
	// Unsupported methods cannot be provided.
	Unsupported Absence = "unsupported"
)

// Absences has the reasons with their meanings, in the order of the page.
var Absences = []struct {
	Absence
	Meaning string
}{
	{Deprecated, "it is deprecated in Java; the remark says what to use"},
	{Threads, "it is about threads, executors or thread factories; here a context ends a wait, and listeners, watchers and background work have their own goroutines"},
	{Needless, "the language, or another method, does it"},
	{Internal, "it is public in Java only for Curator's own packages"},
	{Unsupported, "it cannot be done"},
}

// Parity is a row of the table: one or more methods of Java, and their counterpart.
type Parity struct {
	// Java has the form Type.method, with the parameters if methods of the same name differ. "*"
	// as the type stands for every builder, and Type.* for all methods of the type that no other row
	// names. Several methods are separated by semicolons; a type that is the same as before is left
	// out.
	Java string
	// Ours has the identifiers of the counterpart, separated by commas. They have the name of the
	// package unless that is framework. Ours is empty if Absent has a reason.
	Ours   string
	Absent Absence
	Remark string
}

// Section is a section of the table.
type Section struct {
	Title string
	// Op is the operation whose entry, steps and terminal are rows before Rows; "" for none.
	Op string
	// Tx says that the section is about the operation in transactions.
	Tx   bool
	Rows []Parity
}

// Newer has the names of Java that are newer than Curator 5.4.
var Newer = []string{
	"enableCompression", "zookeeperCompatibility", "compressionEnabled", "getZookeeperCompatibility",
	"uncompressed", "undecompressed", "CuratorClosedException",
}
