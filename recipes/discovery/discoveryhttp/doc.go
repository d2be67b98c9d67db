// Package discoveryhttp lets net/http find servers with package discovery: the host of a URL is
// the name of a service.
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
// All other requests go to the base transport unchanged. So the name of an unknown service is
// looked up in DNS, and fails there.
//
// http uses the Port of the instance, and https its SSLPort. An instance without an address or
// without that port is skipped. The path, the query and the Host header stay as they were; the
// Host header is the name of the service unless the request has another one. For https the
// certificate must be valid for the address of the instance, unless the base transport has a
// TLSClientConfig with a ServerName.
//
// # Failures
//
// A request without a response counts as an error of the instance
// (discovery.ServiceProvider.NoteError). There are these exceptions:
//
//   - the caller has canceled it, so the cause is unknown;
//   - its deadline has passed, which includes that of http.Client.Timeout, and the attempt had
//     less than half of the request's time, or waited for the request's own body;
//   - its body could not be read;
//   - the base transport has not tried to connect, because the request is invalid.
//
// The time of a request is that from RoundTrip to the deadline. An instance that accepts
// connections and never answers therefore counts as failed only if the requests have deadlines
// or the base transport has a timeout, such as http.Transport.ResponseHeaderTimeout. A response
// is no error, whatever its status.
//
// A request that failed by an error of the instance goes to another instance, as long as there
// is one that has not got it, and to ten instances at most:
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
// The instances are those that the provider knows, so a request may be sent to an instance that
// has ended.
//
// No request fails if instances end in order: unregister an instance, wait until the clients
// have seen this and have their answers, and then shut its server down. When an instance dies,
// its unanswered requests fail unless they may be repeated. A request that is sent on an idle
// connection before the death of the instance is noticed may fail, too.
//
// Instances that are down are asked behind all others. If all instances are down, the strategy of
// the provider chooses among them: what made them fail may be over, and only a request can show
// that. So an outage of all instances ends with its cause, and not when the DownTime has passed.
// See [discovery.ServiceProvider.Choose].
//
// A request fails with [discovery.ErrNoInstance] if there is no instance that can be asked; it
// does not wait for one. If the servers of a service may lose ZooKeeper all at the same time, see
// discovery.ProviderConfig.EmptyProtection.
//
// The base transport must call the hooks of package httptrace, as http.Transport and its
// wrappers do. With other transports only failures to dial count, and lead to another instance.
//
// Redirects, cookies and the Response.Request use the URL with the name of the service. A
// Location header with an instance's own address goes to the base transport.
//
// # Concurrency
//
// A Transport may be used by several goroutines. It has no goroutines. It does not own the
// providers and the base transport: start the providers before it is used, and close them
// afterwards.
package discoveryhttp
