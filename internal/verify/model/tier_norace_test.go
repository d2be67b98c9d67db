//go:build !race

package model_test

import "github.com/go-curator/curator/internal/verify/model"

const tier = model.Test
