package main

import (
	"math/rand/v2"

	"github.com/go-curator/curator/tools/curatortest"
)

// places has the servers by their roles in a round.
type places struct {
	leader, faulty   *curatortest.Member
	holders, waiters []*curatortest.Member
	first            *curatortest.Member // the server that the holders connect to first; nil for any
}

// place chooses the roles of the servers.
func (s scenario) place(on *servers, random *rand.Rand) places {
	at := s.placeHolders(on, random)
	if s.moves {
		at.holders, at.first = on.Members(), at.faulty
	}
	return at
}

func (s scenario) placeHolders(on *servers, random *rand.Rand) places {
	leader := on.Leader()
	var followers []*curatortest.Member
	for _, m := range on.Members() {
		if m != leader {
			followers = append(followers, m)
		}
	}
	i := random.IntN(len(followers))
	faulty, other := followers[i], followers[1-i]
	switch s.holders {
	case onLeader:
		return places{leader: leader, faulty: leader, holders: []*curatortest.Member{leader}, waiters: followers}
	case everywhere:
		return places{leader: leader, faulty: leader, holders: on.Members(), waiters: on.Members()}
	default:
		return places{leader: leader, faulty: faulty, holders: []*curatortest.Member{faulty}, waiters: []*curatortest.Member{leader, other}}
	}
}
