package locks

// identity is what a context carries a lease under, whatever object it was made by.
type identity struct {
	client     any
	full, kind string
}
