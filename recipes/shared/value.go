package shared

// VersionedValue is a value and what orders it.
//
// Java: VersionedValue.
type VersionedValue[T any] struct {
	Value   T
	Version int32 // of the node's data; -1 while the value is a seed
	Zxid    int64 // of the change that set the value, the node's mzxid; -1 while it is a seed
}
