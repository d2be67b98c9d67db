package tracing

// AttrNodeName is the attribute of a kept node's metric; see nodes.WithName.
const AttrNodeName = "curator.node.name"

// MetricNodeRecreations is the name of the metric of kept nodes.
const MetricNodeRecreations = "curator.node.recreations"
