package results

// Significant is the unexported function significant.
var Significant = significant
