// Package acl has tests of the nodes that recipes create, those of all recipes in one table, on the embedded server
// and on a real one: of their ACLs, and of servers that remove the containers above them before they are there. It
// has no code of its own. A new recipe, and a recipe that creates a new kind of node, belongs into the table.
package acl
