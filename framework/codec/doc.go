// Package codec turns values into the data of nodes and back. Recipes with typed values take a
// [Codec]: shared, queue, modeled, discovery and cache.
//
// An error of Decode is returned by the recipe, or logged where no call waits for it, as one
// that matches [ErrDecode]. The recipe goes on with the other nodes.
//
// Java has an interface for each recipe: QueueSerializer, ModelSerializer, InstanceSerializer.
package codec
