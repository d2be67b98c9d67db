package spec

import "slices"

// Recipes is the part of the table about the recipes. Each package, or several, have a file of
// their own.
var Recipes = slices.Concat(sharedValues)
