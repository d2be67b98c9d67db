package main

// The formats of --output.
const (
	asTable = "table"
	asJSON  = "json"
	asYAML  = "yaml"
)
