package framework

import (
	"context"
	"fmt"
	"unicode/utf8"

	"github.com/go-curator/curator/internal/zkconn"
)

// AddAuth adds a credential to a running client: "digest", "user:password". Operations that
// begin after it has returned have the credential. On later connections the client sends it
// before all other requests, like those of [WithAuthorization]. The client and its views share
// it. A credential cannot be removed. If the client has the credential already, it is sent
// again, and kept once.
//
// ZooKeeper refuses an unknown scheme, and a credential that the scheme does not accept. Then
// the error matches [ErrAuthFailed], and the client does not keep the credential and continues
// to work. But the server ends the connection: requests that wait for an answer fail with
// ErrConnectionLoss, and under state.StandardErrorPolicy locks are lost. Digest accepts any
// password, because it only makes an identity that ACLs may name. If a server refuses a
// credential on a later connection that another server has accepted, the client tries the other
// servers. When all that can be reached have refused, operations return ErrAuthFailed, as with
// WithAuthorization.
//
// Other errors: [ErrInvalidOption] for an empty scheme or one that is not UTF-8, [ErrTooLarge],
// ctx's error, and errors that the retry policy does not repeat. After an error that is
// [MaybeApplied] the server may have accepted the credential, and the client may keep it.
// Adding it again does no harm. Errors, logs and spans do not contain the credential.
//
// AddAuth is safe for concurrent use, and keeps a copy of auth.
//
// Java: ZooKeeper.addAuthInfo, which does not wait for the server's answer, and ends the client if
// that is a refusal.
func (c *Client) AddAuth(ctx context.Context, scheme string, auth []byte) error {
	op := operation{name: "addAuth", wire: "auth", repeat: true}
	if scheme == "" || !utf8.ValidString(scheme) {
		return &OpError{Op: op.name, Err: fmt.Errorf("%w: the scheme is empty or not UTF-8", ErrInvalidOption)}
	}
	credential := zkconn.Auth{Scheme: scheme, Auth: append([]byte{}, auth...)}
	return c.run(ctx, op, func(ctx context.Context, conn *zkconn.Conn) error { return conn.AddAuth(ctx, credential) })
}
