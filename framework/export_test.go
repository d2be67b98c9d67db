package framework

// ParseEnsemble and ClientServers are what the tracker makes of a configuration, and
// ParseConnectString what NewClient makes of its argument.
var (
	ParseEnsemble = parseEnsemble
	ClientServers = Ensemble.clientServers

	ParseConnectString = parseConnectString
)
