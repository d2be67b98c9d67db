package main

import (
	"context"
	"fmt"

	"github.com/go-curator/curator/internal/zkconn"
)

// rule is what a client takes for a proof that its session lives.
type rule string

const (
	beatRule    rule = "beat"    // two requests in a row that its leader has answered
	answersRule rule = "answers" // any answer, also that of a server that has lost its leader
)

func parseRule(name string) (rule, error) {
	switch r := rule(name); r {
	case beatRule, answersRule:
		return r, nil
	default:
		return "", fmt.Errorf("-rule %q: neither %s nor %s", name, beatRule, answersRule)
	}
}

// startContext returns the context with which a client is started so that it goes by a rule.
func startContext(ctx context.Context, r rule) context.Context {
	if r == answersRule {
		return zkconn.TrustAnswers(ctx)
	}
	return ctx
}
