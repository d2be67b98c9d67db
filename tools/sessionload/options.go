package main

import (
	"flag"
	"fmt"
	"io"
	"strings"
	"time"
)

type options struct {
	clients  int
	servers  int
	timeouts []time.Duration
	proofs   []string
	window   time.Duration // zero is two session timeouts
}

func parse(args []string, output io.Writer) (options, error) {
	var o options
	flags := flag.NewFlagSet("sessionload", flag.ContinueOnError)
	flags.SetOutput(output)
	flags.IntVar(&o.clients, "clients", 1000, "the number of clients")
	flags.IntVar(&o.servers, "servers", 1, "the number of servers of the ensemble")
	flags.DurationVar(&o.window, "window", 0, "how long to measure (default two session timeouts)")
	timeouts := flags.String("timeouts", "10s,40s", "the session `timeouts`, separated by commas; servers grant 4s to 40s")
	proofs := flags.String("proofs", "check,sync", "the `ways` to prove a session, check or sync, separated by commas")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	switch {
	case flags.NArg() > 0:
		return o, fmt.Errorf("unknown argument %q", flags.Arg(0))
	case o.clients < 1:
		return o, fmt.Errorf("-clients must be at least 1, not %d", o.clients)
	case o.servers < 1:
		return o, fmt.Errorf("-servers must be at least 1, not %d", o.servers)
	case o.window < 0:
		return o, fmt.Errorf("-window must not be below 0: %v", o.window)
	}
	for text := range strings.SplitSeq(*timeouts, ",") {
		d, err := time.ParseDuration(strings.TrimSpace(text))
		if err != nil {
			return o, fmt.Errorf("-timeouts: %w", err)
		}
		o.timeouts = append(o.timeouts, d)
	}
	for proof := range strings.SplitSeq(*proofs, ",") {
		if proof = strings.TrimSpace(proof); proof != "check" && proof != "sync" {
			return o, fmt.Errorf("-proofs: %q is neither check nor sync", proof)
		}
		o.proofs = append(o.proofs, proof)
	}
	return o, nil
}
