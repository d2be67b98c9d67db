package modeled

import (
	"fmt"

	"github.com/go-curator/curator/framework/codec"
	"github.com/go-curator/curator/internal/zkclient"
)

// path returns the path, or what is wrong with the framework.
func (m ModeledFramework[T]) path() (string, error) {
	if err := m.spec.check(); err != nil {
		return "", err
	}
	path, err := m.spec.Path.Path()
	if err != nil {
		return "", err
	}
	_, err = zkclient.Of(m.client).ServerPath(path)
	return path, err
}

// encode returns the path, and the data of a model before it is compressed.
func (m ModeledFramework[T]) encode(model T) (path string, data []byte, err error) {
	if path, err = m.path(); err != nil {
		return "", nil, err
	}
	if data, err = m.spec.Codec.Encode(model); err != nil {
		return "", nil, fmt.Errorf("encode the model of %s: %w", path, err)
	}
	return path, data, nil
}

// decode returns the model of what is stored at a path, and whether the node is a mere parent, one
// without data. Data is decompressed if the spec or the client compresses it.
func (m ModeledFramework[T]) decode(path string, stored []byte) (model T, parent bool, err error) {
	data, err := m.plain(path, stored)
	parent = err == nil && len(data) == 0
	if err == nil {
		model, err = m.spec.Codec.Decode(data)
	}
	if err != nil {
		var none T
		return none, parent, fmt.Errorf("%w: %s: %w", codec.ErrDecode, path, err)
	}
	return model, parent, nil
}

// plain returns data as the codec has it.
func (m ModeledFramework[T]) plain(path string, stored []byte) ([]byte, error) {
	if len(stored) == 0 {
		return nil, nil
	}
	api := zkclient.Of(m.client)
	switch {
	case m.spec.Compressed:
		return api.Decompress(path, stored)
	case m.spec.Uncompressed:
		return stored, nil
	}
	full, err := api.ServerPath(path)
	if err != nil {
		return nil, err
	}
	return api.Data(full, stored, zkclient.AsConfigured)
}
