// Package codec turns values into the data of nodes and back. Recipes with typed values take a
// [Codec]: shared, queue, modeled, discovery and cache.
//
// The recipe returns an error of Decode, or logs it where no call waits for it. The error
// matches [ErrDecode]. The recipe continues with the other nodes.
//
// Java has an interface for each recipe: QueueSerializer, ModelSerializer, InstanceSerializer.
package codec
