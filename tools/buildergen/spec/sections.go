package spec

import "slices"

// Sections has all sections of the table.
var Sections = slices.Concat([]Section{factory, client}, chains, rest, curatorClient, Recipes, async, curatorTest)

// Recipes has the sections about the recipes. The sections of each package are in a separate file.
var Recipes = slices.Concat(locks, cache, leader, nodes, queue, sharedValues, discovery, modeled)
