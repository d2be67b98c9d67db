// Package txnlog reads the transaction logs of ZooKeeper servers: what an ensemble has committed, in
// its order. The format is that of org.apache.zookeeper.server.persistence.FileTxnLog, version 2.
package txnlog
