package locks

// identity is the key under which a context carries a lease. Lock objects of the same client, path
// and kind have the same one.
type identity struct {
	client     any
	full, kind string
}
