package main

import (
	"slices"
	"strings"

	"github.com/spf13/pflag"
)

// splitRunArgs returns PATH, and CMD with its arguments. dash is the index of the argument after --,
// -1 without a --.
func (p *program) splitRunArgs(name string, set *pflag.FlagSet, args []string, dash int) (path string, argv []string, err error) {
	switch {
	case dash < 0:
		return "", nil, usage("%s", noDash(name, set, p.args))
	case dash == 0:
		return "", nil, usage("no PATH before the --: curator %s PATH -- %s", name, quote(args))
	case dash > 1:
		return "", nil, usage("there must be only one PATH before the --, not %s", quote(args[:dash]))
	case dash == len(args):
		return "", nil, usage("no command after the --: curator %s %s -- CMD", name, quote(args))
	}
	return args[0], args[1:], nil
}

// noDash returns a message with what a command line without -- should be.
func noDash(name string, set *pflag.FlagSet, args []string) string {
	command := slices.Index(args, name)
	args = slices.Delete(slices.Clone(args), command, command+1)
	var ours []string
	path := false
	for i := 0; i < len(args); i++ {
		n := flagLen(set, args[i])
		if n == 0 && path {
			return "there must be a -- before the command: curator " + name + " " + quote(ours) + " -- " + quote(args[i:])
		}
		path = path || n == 0
		n = min(max(n, 1), len(args)-i)
		ours = append(ours, args[i:i+n]...)
		i += n - 1
	}
	if !path {
		ours = append(ours, "PATH")
	}
	return "there must be a -- and a command: curator " + name + " " + quote(ours) + " -- CMD"
}

// flagLen returns the number of arguments that the flag arg takes, itself included, 0 if arg is not
// a flag of set.
func flagLen(set *pflag.FlagSet, arg string) int {
	name, _, whole := strings.Cut(arg, "=")
	var flag *pflag.Flag
	if long, ok := strings.CutPrefix(name, "--"); ok {
		flag = set.Lookup(long)
	} else if short, ok := strings.CutPrefix(name, "-"); ok && short != "" {
		flag = set.ShorthandLookup(short[:1])
		whole = whole || len(short) > 1
	}
	switch {
	case flag == nil:
		return 0
	case whole || flag.NoOptDefVal != "":
		return 1
	}
	return 2
}

const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_@%+=:,./-"

// quote returns arguments as a command line of a shell.
func quote(args []string) string {
	words := make([]string, len(args))
	for i, arg := range args {
		words[i] = arg
		if arg == "" || strings.Trim(arg, plain) != "" {
			words[i] = "'" + strings.ReplaceAll(arg, "'", `'\''`) + "'"
		}
	}
	return strings.Join(words, " ")
}
