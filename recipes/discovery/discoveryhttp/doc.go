// Package discoveryhttp has net/http find its servers by package discovery: the host of a
// URL is the name of a service.
//
//	orders, err := registry.Provider("orders", discovery.ProviderConfig[Meta]{})
//	...
//	transport, err := discoveryhttp.NewTransport(nil, orders)
//	...
//	client := &http.Client{Transport: transport}
//	response, err := client.Get("http://orders/v1/orders/7")
//
// # Which requests
//
// A request goes to an instance of a service if the scheme of its URL is http or https, the
// host is the name of a service of the transport, in upper or lower case, and there is no port.
// All other requests go to the base transport unchanged. So a name that is not a service's is
// looked up in DNS, and fails there.
//
// http goes to the Port of the instance, and https to its SSLPort. An instance that has no
// address or not that port is passed over. The path, the query and the Host header stay as they
// were; the Host header is the name of the service unless the request has another one. For https
// the certificate must be valid for the address of the instance, unless the base transport
// has a TLSClientConfig with a ServerName.
//
// # Failures
//
// A request without a response is noted as an error of the instance
// (discovery.ServiceProvider.NoteError). There are three exceptions: its context has ended, because
// nothing says then whose fault that is; its body could not be read; the base transport has not
// tried to connect, because the request is invalid. An instance that takes connections and
// never answers is therefore noted only if the base transport has a limit of its own, such as
// http.Transport.ResponseHeaderTimeout. A response is no error, whatever its status.
//
// A request whose failure is noted goes to another instance, as long as there is one that has not
// had it:
//
//   - always, if it was never sent, because the connection or its TLS handshake failed, and its
//     body was not read or can be had again by GetBody;
//   - at most twice, if it may have been sent, and net/http would repeat it: its method is GET,
//     HEAD, OPTIONS or TRACE, or it has the header Idempotency-Key or X-Idempotency-Key, and it
//     has no body or GetBody.
//
// Every other request fails with the error of the base transport. It may have been processed.
//
// # What is not guaranteed
//
// The instances are those that the provider knows, so a request may meet one that has gone.
// No request fails because instances come and go if they go in order: unregister an instance, wait
// until the clients have heard of that and have their answers, and then shut its server down. When
// an instance dies, the requests that it has not answered fail unless they may be repeated. So may
// one that was sent, on a connection that was kept, before the death of the instance was noticed.
// A request fails with [discovery.ErrNoInstance] if there is no instance, or none that is not
// down; it does not wait for one.
//
// The base transport must call the hooks of package httptrace, as http.Transport does and what
// wraps it. With another one only failures to dial are noted and lead to another instance.
//
// Redirects, cookies and the Response.Request are about the URL with the name of the service.
// What an instance says of its own address in a Location header goes to the base transport.
//
// # Concurrency
//
// A Transport may be used by several goroutines. It has no goroutines of its own. It does not own
// the providers and the base transport: start the providers before, and close them after.
package discoveryhttp
