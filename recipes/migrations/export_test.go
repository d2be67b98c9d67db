package migrations

// HashOf is hashOf.
var HashOf = hashOf
