// Package nemesis attacks a run: its servers, its network, its workers, their sessions and their
// nodes, by chance from a seed. Several lanes attack at the same time, each one fault after the
// other, so that faults meet each other. The servers are one lane: most of them run at any time.
//
// The seed decides which faults are made, in which order, on whom and for how long. It does not
// decide what the system makes of them: two runs with one seed are two different runs.
package nemesis
