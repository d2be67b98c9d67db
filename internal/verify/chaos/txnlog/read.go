package txnlog

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/adler32"
	"os"
	"path/filepath"
	"slices"
)

const (
	magic      = 0x5a4b4c47 // ZKLG
	version    = 2
	fileHeader = 4 + 4 + 8
	endOfEntry = 'B'
)

// Committed returns what the servers with these data folders have committed, in the order of the
// zxids. A transaction counts if more than half of the servers have logged it: a server that was cut
// off may keep some that were never committed, in the files from before it took a snapshot of
// another server. Those that were dropped all the same are returned apart.
func Committed(dataDirs []string) (committed, dropped []Txn, err error) {
	logged := map[int64]int{}
	byZxid := map[int64]Txn{}
	for _, dir := range dataDirs {
		files, err := filepath.Glob(filepath.Join(dir, "version-2", "log.*"))
		if err != nil {
			return nil, nil, err
		}
		own := map[int64]bool{}
		for _, file := range files {
			content, err := os.ReadFile(file)
			if err != nil {
				return nil, nil, err
			}
			txns, err := parse(content)
			if err != nil {
				return nil, nil, fmt.Errorf("%s: %w", file, err)
			}
			for _, t := range txns {
				byZxid[t.Zxid] = t
				own[t.Zxid] = true
			}
		}
		for zxid := range own {
			logged[zxid]++
		}
	}
	var all []Txn
	for zxid, t := range byZxid {
		if 2*logged[zxid] > len(dataDirs) {
			all = append(all, t)
		}
	}
	slices.SortFunc(all, func(a, b Txn) int { return cmp.Compare(a.Zxid, b.Zxid) })
	committed, dropped = splitDropped(all)
	return committed, dropped, nil
}

// parse returns the transactions of one file. It ends at the first entry that is not whole: the rest
// was reserved, or was being written when the server was killed.
func parse(content []byte) (txns []Txn, err error) {
	if len(content) < fileHeader {
		return nil, nil // the server was killed when it had created the file
	}
	if m, v := binary.BigEndian.Uint32(content), binary.BigEndian.Uint32(content[4:]); m == 0 && v == 0 {
		return nil, nil
	} else if m != magic || v != version {
		return nil, errors.New("this is no transaction log of version 2")
	}
	for rest := content[fileHeader:]; ; {
		record, size := entry(rest)
		if record == nil {
			return txns, nil
		}
		rest = rest[size:]
		t, err := decode(record)
		if err != nil {
			return nil, err
		}
		txns = append(txns, t)
	}
}

// entry returns the first entry of rest and its size with everything around it, or nil.
func entry(rest []byte) (record []byte, size int) {
	const before = 8 + 4 // checksum, length
	if len(rest) < before {
		return nil, 0
	}
	sum, length := binary.BigEndian.Uint64(rest), int(binary.BigEndian.Uint32(rest[8:]))
	if length <= 0 || len(rest) < before+length+1 || rest[before+length] != endOfEntry {
		return nil, 0
	}
	record = rest[before : before+length]
	if uint64(adler32.Checksum(record)) != sum {
		return nil, 0
	}
	return record, before + length + 1
}
