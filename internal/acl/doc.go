// Package acl has tests of the ACLs of the nodes that recipes create: those of all recipes in one table, on the
// embedded server and on a real one. It has no code of its own. A new recipe, and a recipe that creates a new
// kind of node, belongs into the table.
package acl
