package main

import (
	"bytes"
	"context"

	"github.com/go-curator/curator/tools/curator/internal/output"
)

// write prints each result that differs from the one before it.
func (v *liveView) write(ctx context.Context) error {
	var before []byte
	for {
		select {
		case <-v.news:
		case <-ctx.Done():
			return ctx.Err()
		}
		found, _, err := v.latest()
		if err != nil {
			return err
		}
		if found == nil {
			continue // only the connection has changed
		}
		text, err := output.JSONLine(found.document)
		if err != nil {
			return err
		}
		if bytes.Equal(text, before) {
			continue
		}
		if err := v.append(text, *found, before == nil); err != nil {
			return err
		}
		before = text
	}
}

// append prints one of several results: JSON on one line, YAML after a line ---, tables with an
// empty line between them.
func (v *liveView) append(text []byte, r result, first bool) error {
	switch v.format {
	case asJSON:
		v.stdout.printf("%s", text)
	case asYAML:
		document, err := output.YAML(text)
		if err != nil {
			return err
		}
		v.stdout.printf("---\n%s", document)
	default:
		if !first {
			v.stdout.printf("\n")
		}
		if err := v.table(r.rows()); err != nil {
			return err
		}
	}
	return v.stdout.err
}
