package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/go-curator/curator/internal/verify/matrix"
	"github.com/go-curator/curator/internal/verify/mutants"
)

// crossing is the subcommand matrix.
func crossing() subcommand {
	return subcommand{"matrix", "run the tests with real servers on several releases of ZooKeeper", `
Matrix runs the tests against real servers on releases of ZooKeeper, and compares what fails with a table: on
an old release some cases must fail, each with an error that the table names. It exits with 1 if anything else
fails or is skipped, or if a case of the table does not fail. See package internal/verify/matrix. It prints
which release has which feature, as these tests have shown. With -keeper it does the same on the embedded
server as ClickHouse Keeper, without real servers.

	make matrix
	make matrix ZOOKEEPER=3.9
	make keeper
	go run ./tools/verify matrix -homes DIRECTORY,DIRECTORY -packages ./recipes/locks`, defineMatrix}
}

func defineMatrix(flags *flag.FlagSet) func(ctx context.Context, out, progress io.Writer) error {
	m := crossed{test: matrix.Run}
	homes(flags, &m.releases)
	keeper := flags.Bool("keeper", false, "test the embedded server as ClickHouse Keeper, in virtual time, in place of releases")
	names(flags, &m.packages, "packages", "run the tests of these packages only, without the table of features")
	flags.StringVar(&m.write, "write", "", "write the table of features into this file, between the lines "+matrixTable.begin+" and "+matrixTable.end)
	return func(ctx context.Context, out, progress io.Writer) error {
		all := matrix.Packages()
		switch {
		case *keeper && len(m.releases) > 0:
			return errors.New("-keeper: releases are named, too")
		case *keeper:
			m.releases, all = []matrix.Release{{Version: matrix.Keeper}}, matrix.KeeperPackages()
		case len(m.releases) == 0:
			return errors.New("-homes: no release is named")
		}
		if m.packages == nil {
			m.packages = all
		}
		m.whole = !*keeper && slices.Equal(m.packages, all)
		if m.write != "" && !m.whole {
			return errors.New("-write: the table needs all packages, and releases")
		}
		return m.run(ctx, out, progress)
	}
}

// matrixTable is where the table of features is in a page.
var matrixTable = section{"<!-- matrix: written by make matrix -->", "<!-- end of matrix -->"}

// crossed has the values of the flags.
type crossed struct {
	releases []matrix.Release
	packages []string
	whole    bool   // packages are all that have features
	write    string // the file for the table, or ""
	test     func(ctx context.Context, root string, r matrix.Release, packages []string, progress io.Writer) (matrix.Results, error)
}

// run tests the releases one after the other.
func (m crossed) run(ctx context.Context, out, progress io.Writer) error {
	root, err := mutants.Root(".")
	if err != nil {
		return err
	}
	table, err := matrix.Table()
	if err != nil {
		return err
	}
	var columns []matrix.Column
	var failed []error
	for _, release := range m.releases {
		results, err := m.test(ctx, root, release, m.packages, progress)
		if err != nil {
			return errors.Join(append(failed, fmt.Errorf("%s: %w", release.Version, err))...)
		}
		verdict := matrix.Judge(release.Version, results, table)
		if _, err := fmt.Fprintf(out, "%s: %d cases passed, %d failed with the error that they must get, %d problems, in %v\n",
			release.Version, verdict.Passed, len(verdict.Refused), len(verdict.Problems), results.Took.Round(time.Second)); err != nil {
			return err
		}
		if err := verdict.Err(); err != nil {
			failed = append(failed, fmt.Errorf("%s: %w", release.Version, err))
		}
		columns = append(columns, matrix.Column{Version: release.Version, Results: results, Verdict: verdict})
	}
	if err := errors.Join(failed...); err != nil || !m.whole {
		return err
	}
	page, err := matrix.Page(columns, matrix.Features())
	if err != nil {
		return err
	}
	if m.write != "" {
		return matrixTable.replace(m.write, page)
	}
	_, err = io.WriteString(out, page)
	return err
}
