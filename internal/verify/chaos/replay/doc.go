// Package replay compares a run with the model: what the servers have committed about a mutex, and
// what its clients have noted, must be a path of internal/verify/model. If it is none, the client, the model
// or the notes are wrong.
package replay
