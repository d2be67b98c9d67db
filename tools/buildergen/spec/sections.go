package spec

import "slices"

// Sections is the table.
var Sections = slices.Concat([]Section{factory, client}, chains, rest, Recipes)

// Recipes is the part of the table about the recipes. Each package has a file of its own.
var Recipes = slices.Concat(cache, leader, nodes, queue, sharedValues, discovery, modeled)
