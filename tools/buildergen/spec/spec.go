// Package spec is the table from which the fluent builders of package framework are
// generated.
//
// One rule decides where a setting goes: a required setting is an argument of the operation's
// last call (Args), every other setting is a step (Mods). So a call without a required argument
// does not compile, and a missing step has a documented default.
package spec

// Op is one operation of the client. For each the generator writes <name>_gen.go,
// which calls one function written by hand in <name>.go:
//
//	func (p createParams) do(ctx context.Context, c *Client, path string) (string, error)
//
// with Args after path and Result before error. The generator refuses an Op, Arg or Mod
// without Doc.
type Op struct {
	Name     string // Go name: the Client method and the builder's prefix
	Java     string // the interface in org.apache.curator.framework.api
	Event    string // the operation's name in errors and events; Name when empty
	Doc      string // completes "<Name>Builder ..."
	Terminal string // ForPath when empty; ForEnsemble, ForOperations
	NoPath   bool   // the terminal takes no path
	Args     []Arg  // the parameters of the terminal after the path
	Result   string // the type of the terminal's result before error; "" for none
	Returns  string // completes "ForPath ..."
	Entry    string // receiver type of the method that starts the chain; Client when empty
	Start    []Arg  // arguments of that method
	Tx       string // name of the builder for transactions; "" when there is none
	Mods     []Mod
}

// Arg is a required argument.
type Arg struct{ Name, Type, Doc string }

// Mod is one optional step; it sets one field of the parameters.
type Mod struct {
	Name  string // Go method
	Java  string // the Java method, "" if Java has none
	Field string // field of the parameters; a field with a type gets a second field that says it was
	//           given, so that WithVersion(0) is not "no version" and WithData(nil) not "default data"
	Param string // name of the argument in the documentation; Field when empty
	Type  string // "" makes the step a flag
	Doc   string // completes "<Name> ..."
	Tx    bool   // the step also exists inside a transaction
}

// as returns the step with another Java method as its counterpart.
func (m Mod) as(java string) Mod {
	m.Java = java
	return m
}
