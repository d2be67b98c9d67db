package framework_test

import (
	"crypto/tls"
	"fmt"
	"log"
	"os"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/retry"
)

func ExampleWithSASL() {
	os.Setenv("ORDERS_PASSWORD", "correct horse battery staple") // stands for the environment that the program is started with
	login, err := framework.DigestMD5("orders", os.Getenv("ORDERS_PASSWORD"))
	if err != nil {
		log.Fatal(err)
	}
	client, err := framework.NewClient("zk1:2281,zk2:2281,zk3:2281", retry.ExponentialBackoff(time.Second, 3),
		framework.WithSASL(login), framework.WithTLS(&tls.Config{}))
	if err != nil {
		log.Fatal(err)
	}
	acl := []framework.ACL{{Perms: framework.PermAll, Scheme: "sasl", ID: "orders"}}
	fmt.Println(client.State(), acl[0].ID)
	// Output: LATENT orders
}
