package framework

import (
	"context"
	"fmt"
	"unicode/utf8"

	"github.com/go-curator/curator/internal/zkconn"
)

// AddAuth adds a credential to a client that is running: "digest", "user:password". Operations that
// begin after it has returned have it, and so do later connections, on which it is presented ahead
// of everything else, as those of [WithAuthorization] are. The client and its views share it. A
// credential cannot be taken away again. One that the client has already is presented again, and
// kept once.
//
// ZooKeeper refuses a scheme that it does not know, and what the scheme does not accept. Then the
// error matches [ErrAuthFailed], the credential is not kept, and the client works on; but the
// server ends the connection, with all that this means: requests that wait for an answer fail with
// ErrConnectionLoss, and under state.StandardErrorPolicy locks are lost. For digest any password is
// accepted: it only makes an identity that ACLs may name. If a server refuses a credential on a
// later connection that another one has accepted, all operations return ErrAuthFailed.
//
// Other errors: [ErrInvalidOption] for an empty scheme or one that is not UTF-8, [ErrTooLarge],
// those of ctx, and what the retry policy leaves. After one that is [MaybeApplied] the server may
// have accepted the credential, and the client kept it; it does no harm to add it again. Errors,
// logs and spans do not tell the credential.
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
