package rolling

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/go-curator/curator/internal/verify/matrix"
)

// prefix is what the names of the folders of releases begin with.
const prefix = "zookeeper-"

// Cache returns the folder that make servers puts releases into: the same as .ci/servers/fetch.sh, on every system.
func Cache() (string, error) {
	if dir := os.Getenv("SERVERSDIR"); dir != "" {
		return dir, nil
	}
	dir := os.Getenv("XDG_CACHE_HOME")
	if dir == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			return "", err
		}
		dir = filepath.Join(home, ".cache")
	}
	return filepath.Join(dir, "curator-servers"), nil
}

// Find returns releases by their names in the order of names, such as 3.9 or 3.9.5. The name of a minor version
// stands for the newest patch of it that is in the folder.
func Find(folder string, names []string) ([]matrix.Release, error) {
	entries, err := os.ReadDir(folder)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	var all []string
	for _, e := range entries {
		if version, ok := strings.CutPrefix(e.Name(), prefix); ok && e.IsDir() {
			all = append(all, version)
		}
	}
	slices.SortFunc(all, newer)
	var found []matrix.Release
	for _, name := range names {
		i := slices.IndexFunc(all, func(version string) bool { return version == name || strings.HasPrefix(version, name+".") })
		if i < 0 {
			return nil, fmt.Errorf("there is no release %s of ZooKeeper in %s; there are %q, and make servers fetches more", name, folder, all)
		}
		found = append(found, matrix.Release{Version: all[i], Home: filepath.Join(folder, prefix+all[i])})
	}
	return found, nil
}

// newer compares versions, so that the newest comes first.
func newer(a, b string) int {
	as, bs := strings.Split(a, "."), strings.Split(b, ".")
	for i := range min(len(as), len(bs)) {
		m, errM := strconv.Atoi(as[i])
		n, errN := strconv.Atoi(bs[i])
		if errM != nil || errN != nil {
			return strings.Compare(bs[i], as[i])
		}
		if m != n {
			return cmp.Compare(n, m)
		}
	}
	return cmp.Compare(len(bs), len(as))
}
