package zkconn

import (
	"bufio"
	"encoding/binary"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-curator/curator/internal/zkconn/hosts"
)

// A server that answers all the time, so that the buffer always holds the beginning of the next
// frame, is not taken for silent.
func TestBusyServerIsNotTakenForSilent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := hosts.New([]string{"server:2181"}, nil, nil)
		client, server := net.Pipe()
		w := &muxConn{
			owner: &Conn{cfg: Config{SessionTimeout: 3 * time.Second}, hosts: h}, raw: client, shared: &shared{maxReply: 1 << 20},
			br: bufio.NewReaderSize(client, 32<<10), handshake: handshake{open: true, timeout: 3 * time.Second},
		}
		const body = 100
		frame := make([]byte, 4+body)
		binary.BigEndian.PutUint32(frame, body)
		go func() { // 10 frames a second, each write ends in the middle of a frame
			half := len(frame) / 2
			server.Write(frame[:half])
			for {
				time.Sleep(100 * time.Millisecond)
				if _, err := server.Write(append(append([]byte{}, frame[half:]...), frame[:half]...)); err != nil {
					return
				}
			}
		}()
		begin := time.Now()
		for i := range 100 {
			if _, _, err := w.readFrame(); err != nil {
				t.Errorf("after %v and %d frames, the last of them 100 ms ago: %v", time.Since(begin), i, err)
				break
			}
		}
		client.Close()
		server.Close()
		time.Sleep(time.Second)
	})
}
