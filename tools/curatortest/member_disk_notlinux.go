//go:build !linux

package curatortest

import "errors"

// limitFiles fails: only Linux can limit another process.
func limitFiles(int, bool) error { return errors.ErrUnsupported }
