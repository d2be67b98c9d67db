// Package migration has the Go of docs/migration.md, as tests.
package migration
