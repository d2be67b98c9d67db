package curatortest

// Address is where the server itself listens, behind the proxy: for benchmarks of it.
func (m *Member) Address() string { return m.setup.address() }

// OnFailure has another test than the one that started the servers fail.
func (e *Ensemble) OnFailure(tb TB) { e.tb = tb }
