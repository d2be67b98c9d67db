// Package demo has a fleet of workers that share locks and an election on an embedded server,
// and a story in which one of them is killed and another one is frozen. It is for people who
// want to see how locks change hands before they install anything:
//
//	fleet := demo.New(demo.Options{})
//	if err := fleet.Start(ctx); err != nil {
//		return err
//	}
//	defer fleet.Close(ctx)
//	fmt.Println("look at", fleet.ConnectString())
//	return fleet.Play(ctx)
//
// The workers are goroutines with a client and a session each. A worker that is killed closes
// its connection and never comes back; its session stays at the server until it expires, as that
// of a process after kill -9. A frozen one does nothing, and its connection is silent in both
// directions, as that of a process after kill -STOP.
//
// What is not guaranteed: the fleet keeps nothing on a disk, and its server lets everybody in who
// reaches its address.
//
// All methods of a Fleet may be called from several goroutines.
package demo
