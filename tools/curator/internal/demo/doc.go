// Package demo has a fleet of workers that share locks and an election on an embedded server,
// and a script in which one of them is killed and another one is frozen. It shows hand-overs of
// locks without an installation:
//
//	fleet := demo.New(demo.Options{})
//	if err := fleet.Start(ctx); err != nil {
//		return err
//	}
//	defer fleet.Close(ctx)
//	fmt.Println("look at", fleet.ConnectString())
//	return fleet.Play(ctx)
//
// The workers are goroutines with a client and a session each. A killed worker closes its
// connection and never returns; its session stays at the server until it expires, like the
// session of a process after kill -9. A frozen worker does nothing, and its connection is
// silent in both directions, like that of a process after kill -STOP.
//
// The fleet writes nothing to a disk, and its server accepts every client that reaches its
// address.
//
// All methods of a Fleet may be called from several goroutines.
package demo
