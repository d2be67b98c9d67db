// Package migration has the Go of docs/migration.md and docs/from-go-zookeeper.md, as tests.
package migration
