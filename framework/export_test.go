package framework

// ParseEnsemble and ClientServers are what the tracker makes of a configuration.
var (
	ParseEnsemble = parseEnsemble
	ClientServers = Ensemble.clientServers
)
