package ensemble_test

import (
	"context"
	"fmt"
	"log"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/framework/ensemble"
	"github.com/go-curator/curator/retry"
)

// A client finds its servers in a private DNS. With the system's own DNS no resolver is needed.
func ExampleNewSRVProvider() {
	ctx := context.Background()
	provider, err := ensemble.NewSRVProvider("_zookeeper._tcp.example.org", ensemble.WithResolver(privateDNS))
	if err != nil {
		log.Fatal(err)
	}
	client, err := framework.NewClient("", retry.ExponentialBackoff(time.Second, 3),
		framework.WithEnsembleProvider(provider),
		framework.WithResolver(privateDNS))
	if err != nil {
		log.Fatal(err)
	}
	if err := client.Start(ctx); err != nil {
		log.Fatal(err)
	}
	defer client.Close(ctx)

	exists, err := client.CheckExists().ForPath(ctx, "/zookeeper")
	fmt.Println(exists, err)
	// Output: true <nil>
}
