package model

import (
	"fmt"
	"strings"
)

// algorithm is what a contender does. All of it is a reaction: to its user, a reply, an event, or a
// change of the connection.
type algorithm interface {
	// kind is that of the nodes that client c creates.
	kind() nodeKind
	start(w *world, c uint8)
	reply(w *world, c uint8, r request, alive nodeSet)
	event(w *world, c uint8, e event, n uint8)
	// disconnected is called when the connection breaks, deadline when the local deadline passes.
	disconnected(w *world, c uint8)
	deadline(w *world, c uint8)
	// reconnected is called when the session goes on, sessionOver when another one has begun.
	reconnected(w *world, c uint8)
	sessionOver(w *world, c uint8)
	// moves tells what the user may do now.
	moves(s *State, c uint8, do func(move))
	move(w *world, c uint8, m move)
	// needs returns the watches that are still of use.
	needs(s *State, c uint8) (data, marker nodeSet)
	isJava() bool
	isLatch() bool
	// putsBack reports whether the watches are put back by setWatches after a reconnect.
	putsBack() bool
}

// event is what a watch tells.
type event uint8

const (
	nodeCreated event = iota // of a marker, or of "ready"
	nodeDeleted
	nodeChanged
)

var eventNames = []string{"NodeCreated", "NodeDeleted", "NodeDataChanged"}

// move is what a user does.
type move uint8

const (
	moveRelease move = iota
	moveReleaseRead
	moveDowngrade
	moveCancel
	moveHandOver
	moveClose
	moveStepDown
	moveLeave
	moveGiveUp
	moveHurry
)

var moveNames = []string{
	"releases", "releases its read lease", "downgrades", "gives up", "hands its hold over to another goroutine",
	"is closed", "steps down", "leaves", "gives up entering",
	"does not wait for the others any more",
}

// fault returns what a move takes from the budget, or faults.
func (m move) fault() fault {
	switch m {
	case moveDowngrade:
		return downgrades
	case moveCancel:
		return cancels
	case moveHandOver:
		return handOvers
	case moveStepDown:
		return stepDowns
	case moveGiveUp:
		return giveUps
	case moveHurry:
		return hurries
	}
	return faults
}

// ofSystem reports whether the user must make the move at some time: it is not a fault, and not
// a wish that may never come.
func (m move) ofSystem() bool {
	return m == moveRelease || m == moveReleaseRead || m == moveLeave
}

// world is a State and what acts on it.
type world struct {
	*State
	cfg       *Config
	sessions  uint8
	clients   uint8
	ofSession [maxClients][]uint8 // the clients of a session
	slot      [maxClients]uint8   // the index of a client in that list
	alike     []uint8             // contenders that may change places
	blank     State               // what decode begins with
	violation string
	cuts      cuts // what a replay has left out
	tracing   bool
	notes     []string
}

func newWorld(cfg *Config) *world {
	w := &world{cfg: cfg, clients: uint8(len(cfg.Contenders))}
	for c := range w.clients {
		si := cfg.sessionOf(c)
		w.slot[c] = uint8(len(w.ofSession[si]))
		w.ofSession[si] = append(w.ofSession[si], c)
		w.sessions = max(w.sessions, si+1)
	}
	for n := range w.blank.node {
		w.blank.node[n] = node{owner: none, session: none}
	}
	return w
}

// alike returns the largest group of contenders with the same algorithm and a session each.
func (cfg *Config) alike() (largest []uint8) {
	if cfg.Sessions != nil || cfg.lastNumber {
		return nil
	}
	for _, a := range cfg.Contenders {
		var group []uint8
		for c, b := range cfg.Contenders {
			if a == b {
				group = append(group, uint8(c))
			}
		}
		if len(group) > len(largest) {
			largest = group
		}
	}
	return largest
}

func (w *world) algorithm(c uint8) algorithm { return w.cfg.Contenders[c] }

func (w *world) sessionOf(c uint8) *session { return &w.session[w.cfg.sessionOf(c)] }

// first returns the state in which nobody has begun.
func (w *world) first() State {
	s := State{dir: 1, dirEnd: 1, seq: w.cfg.firstNumber, left: w.cfg.Faults}
	for i := range s.client {
		s.client[i] = client{own: none, ahead: none, reader: none, ready: none}
	}
	for i := range w.sessions {
		s.session[i].connected = 1
	}
	for i := range s.node {
		s.node[i] = node{owner: none, session: none}
	}
	return s
}

// violate records what is wrong, if the configuration asks for it.
func (w *world) violate(letter, text string) {
	if w.violation == "" && w.cfg.asksFor(letter) {
		w.violation = letter + ": " + text
	}
}

// exceed ends the exploration: a State has no room for what happens.
func (w *world) exceed(what string) {
	w.cuts |= cutRoom
	w.violation = "X: there are too many " + what + " for a state of the model"
}

// note tells the trace what happens: %c stands for the client c, %s for the session c, %n for the node.
func (w *world) note(text string, c, n uint8) {
	if !w.tracing {
		return
	}
	session := fmt.Sprintf("session %d", c)
	if w.cfg.Sessions == nil {
		session = fmt.Sprintf("C%d", c)
	}
	w.notes = append(w.notes, strings.NewReplacer("%c", fmt.Sprintf("C%d", c), "%s", session, "%n", nodeName(n)).Replace(text))
}

func nodeName(n uint8) string {
	if n == none {
		return "-"
	}
	return fmt.Sprintf("n%d", n)
}

// Contender is one of those who queue, with its algorithm.
type Contender = algorithm

// Config is what is explored.
type Config struct {
	Name       string
	About      string // what a mistake is
	Contenders []Contender
	Sessions   []uint8 // the session of each contender; nil for one each
	Faults     budget
	Expect     string // the letter of what must be found; "" if nothing must
	OnlyExpect bool   // look for nothing else
	large      bool   // left out of tier Race

	leases  int // of a semaphore
	barrier int // how many members open the barrier
	rounds  int // how often each contender begins
	retries int // how often a contender that has lost its node begins anew in one call

	withJavaBeside
	sessionRules
	numberRules
}

// withJavaBeside says what is not judged because Java does it so, and what Java does.
type withJavaBeside struct {
	// loosely: two beliefs are not judged, because one side does not notice that its node is gone.
	loosely   bool
	javaMay   bool // two beliefs are judged among those that are not Java's; of a barrier what Java breaks is not judged
	javaLast  bool // Java's members of a barrier begin when the others have ended
	javaSyncs bool // Java syncs before it looks for its node, which it does not
}

// sessionRules are what clocks, servers and clients do otherwise than usual, or wrongly.
type sessionRules struct {
	goodClocks   bool // no session ends before the local deadline has passed
	noDeadline   bool // a mistake: grants are not compared with the deadline
	noEventZxid  bool // events carry no zxid: servers before 3.9
	noCatchUp    bool // a client does not sync after a reconnect
	ownZxidsOff  bool // a mistake: the zxids of the wrapper's own replies do not count
	refuseMarker bool // the transaction of the marker is refused
}

// numberRules are about sequence numbers and tokens.
type numberRules struct {
	lastNumber    bool // the sequence numbers end, and the server repeats the last one
	firstNumber   uint8
	writerSecond  bool // of a writer and its downgraded reader the reader sorts first
	tokenOfNumber bool // a mistake: the token is the sequence number
	readerToken   bool // a mistake: a downgraded lease shows the czxid of its own node
}

const endOfNumbers = 0xf0 // the highest sequence number

func (cfg *Config) sessionOf(c uint8) uint8 {
	if cfg.Sessions == nil {
		return c
	}
	return cfg.Sessions[c]
}

func (cfg *Config) asksFor(letter string) bool {
	return !cfg.OnlyExpect || strings.HasPrefix(letter, cfg.Expect)
}

// cuts are what a search leaves out for want of room, of time or of likelihood.
type cuts uint8

const (
	cutOddity cuts = 1 << iota // more unlikely steps
	cutBack                    // states that are far back
	cutLag                     // servers that lag more than maxLag transactions
	cutLate                    // more than maxLate writes of a broken connection
	cutRoom                    // states that have no room for what happens
)

func (c cuts) names() (names []string) {
	for i, name := range []string{"unlikelier steps", "states far back", "servers that lag more", "more late writes", "larger states"} {
		if c&(1<<i) != 0 {
			names = append(names, name)
		}
	}
	return names
}

// hold records a grant, and judges it.
func (w *world) hold(c uint8, by string) {
	cl, ss := &w.client[c], w.sessionOf(c)
	w.note("      %c IS GRANTED %n by "+by, c, cl.own)
	cl.phase, cl.ahead, cl.watching, cl.members = phaseHeld, none, 0, 0
	cl.flags &^= markerSeen
	cl.held |= only(cl.own)
	cl.granted = ss.applied + 1 + b2i(ss.half != 0)
	if w.node[cl.own].first&everFirst == 0 {
		w.violate("B", "the node was never first")
	}
	if !w.aliveEnd.has(cl.own) || w.algorithm(c).kind() == lease {
		return
	}
	if w.highest > cl.own+1 && w.algorithm(c).kind() == exclusive && !w.cfg.tokenOfNumber {
		w.violate("T", "the token is lower than an earlier one")
	}
	if !w.cfg.tokenOfNumber {
		w.highest = max(w.highest, cl.own+1)
	}
}
