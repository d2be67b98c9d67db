package curatortest

// Address returns the address of the server itself, without the proxy, for benchmarks.
func (m *Member) Address() string { return m.setup.address() }

// OnFailure sets the test that fails. Without it, the test that started the servers fails.
func (e *Ensemble) OnFailure(tb TB) { e.tb = tb }
