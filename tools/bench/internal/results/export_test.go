package results

// Significant is for tests.
var Significant = significant
