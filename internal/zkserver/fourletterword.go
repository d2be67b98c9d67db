package zkserver

import "slices"

// fourLetterWord is a command in place of the first frame.
type fourLetterWord string

// Error makes the word the error of reading a frame.
func (w fourLetterWord) Error() string { return "four-letter word " + string(w) }

// knownWords are those that ZooKeeper 3.8 knows.
var knownWords = []fourLetterWord{
	"ruok", "isro", "srvr", "stat", "cons", "wchs", "conf", "mntr", "envi",
	"crst", "dirs", "dump", "gtmk", "hash", "srst", "stmk", "wchc", "wchp",
}

// known tells whether the word is one.
func (w fourLetterWord) known() bool { return slices.Contains(knownWords, w) }
