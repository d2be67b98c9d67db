package main

import (
	"context"
	"fmt"

	"github.com/go-curator/curator/internal/zkconn"
)

// rule is how a client proves that its session still exists.
type rule string

const (
	beatRule    rule = "beat"    // by two requests, one after the other, that the leader has answered
	answersRule rule = "answers" // by any answer, also of a server that has lost its leader; this is wrong
)

func parseRule(name string) (rule, error) {
	switch r := rule(name); r {
	case beatRule, answersRule:
		return r, nil
	default:
		return "", fmt.Errorf("-rule must be %[2]s or %[3]s, not %[1]q", name, beatRule, answersRule)
	}
}

// startContext returns the context for the Start of a client that uses a rule.
func startContext(ctx context.Context, r rule) context.Context {
	if r == answersRule {
		return zkconn.TrustAnswers(ctx)
	}
	return ctx
}
