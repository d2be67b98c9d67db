package discoverygrpc

// NewBuilderOf is NewBuilder for lists of instances that a test has made.
func NewBuilderOf[T any](open func(name string) (Instances[T], error), config Config[T]) *Builder[T] {
	return newBuilder(func(name string) (instances[T], error) {
		list, err := open(name)
		if err != nil {
			return nil, err
		}
		return list, nil
	}, config)
}

// Instances is what a Builder needs of a service.
type Instances[T any] interface{ instances[T] }
