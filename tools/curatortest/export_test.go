package curatortest

// Address is where the server itself listens, behind the proxy: for benchmarks of it.
func (m *Member) Address() string { return m.setup.address() }
