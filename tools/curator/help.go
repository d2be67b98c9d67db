package main

const rootHelp = `Curator runs commands under the locks of Apache Curator, which are nodes in a
ZooKeeper ensemble. It shows who holds locks, and reads and changes nodes.

Name the ensemble with --connect, or with --ensemble, which takes it from a
section of the configuration file. Without these flags the ensemble is that of
CURATOR_CONNECT, by default 127.0.0.1:2181. The configuration file is
$XDG_CONFIG_HOME/curator/config, by default ~/.config/curator/config;
CURATOR_CONFIG names another file. The keys of a section are the flags of the
ensemble, and auth for credentials:

  # a comment
  [prod]
  connect = zk1,zk2,zk3/app
  tls-ca = prod-ca.pem
  auth = digest:ops:secret

A relative file name in a section is relative to the directory of the
configuration file. A file with credentials or a private key must not be
readable by users other than its owner. No flag takes a password, because other
users can see the arguments of a process.
` + exitHelp

const exitHelp = `
Exit statuses
  0    done
  1    no: there is no such node, holder, token or version, the node exists
       already, the ensemble is not healthy, or the user did not confirm
  64   usage: something is wrong with the command line, the environment or a
       file that they name
  69   the ensemble cannot be reached or did not answer, or curator cannot
       listen at an address
  70   internal error
  74   the output cannot be written, for example because the disk is full
  75   not acquired: others hold the lock (-E sets another status)
  76   the lock was lost while CMD ran, whatever CMD exited with
  77   not permitted
  124  CMD was ended because of --max-hold
  126  CMD cannot be run
  127  CMD was not found
  128+n  the signal n ended curator or CMD
  any other status is that of CMD`

const lockHelp = `Takes the lock at PATH, runs CMD, and releases the lock when CMD has ended. The
lock is an InterProcessMutex of Apache Curator: it also excludes programs that
use an InterProcessMutex at the same path.
` + runHelp

const rlockHelp = `Takes the read lock at PATH, runs CMD, and releases the lock when CMD has ended.
Several processes can hold the read lock at the same time, but only while nobody
holds the write lock (curator wlock). The two locks are an
InterProcessReadWriteLock of Apache Curator. A reader waits for the writers that
came before it.
` + runHelp

const wlockHelp = `Takes the write lock at PATH, runs CMD, and releases the lock when CMD has
ended. While one process holds it, no other holds the write lock or the read
lock (curator rlock). The two locks are an InterProcessReadWriteLock of Apache
Curator.
` + runHelp

const semaphoreHelp = `Takes one of the leases of the semaphore at PATH, runs CMD, and returns the
lease when CMD has ended. -n is the number of leases. All users of a semaphore
must give the same number; nothing checks that. The semaphore is an
InterProcessSemaphoreV2 of Apache Curator.
` + runHelp

const electHelp = `Takes part in the election at PATH, runs CMD when elected, and gives the
leadership up when CMD has ended. If the leadership is lost first, CMD is ended.
To take part again, run the command again. The other participants use
LeaderSelector of Apache Curator or this command; --id is the id that they see.
` + runHelp

const runHelp = `
The environment of CMD has
  CURATOR_LOCK_PATH      PATH
  CURATOR_FENCING_TOKEN  a number that is higher with every grant of the lock
  CURATOR_LOCKS_HELD     the locks that are held around CMD, so that a curator
                         inside CMD does not wait for one of them

By default everyone can read the lock's node. It has the name of CMD without
its arguments, the name of this host and the id of this process. Others see
these while they wait for the lock.

No lock can prevent the following: if this process is stopped (by kill -STOP, or
because the machine sleeps), or if CMD cannot be killed, CMD may still run after
somebody else got the lock. If that matters, let CMD send CURATOR_FENCING_TOKEN
with each request, and let the receiver refuse a token that is lower than one
that it has seen.

The lock can be lost while CMD runs: the session expires, no server can be
reached for too long, or the lock's node is deleted. Then CMD's whole process
group gets SIGTERM, and SIGKILL after --grace. If no server can be reached,
SIGKILL comes earlier where needed, before anybody else can get the lock. If
this process itself ends by kill -9, the group gets SIGKILL at once.

The lock is held until CMD's whole process group has ended, processes in the
background included. A process that may run longer must leave the group, for
example by setsid(1). If a signal ended CMD itself, the rest of its group is
ended as well. SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGWINCH,
SIGTSTP and SIGCONT are passed on to the group. Before CMD runs, each of the
first four ends the wait for the lock.

During the wait, a line on the terminal shows who holds the lock, our place in
the queue, and how long we have waited. Without a terminal this is logged after
some seconds, and again each time the wait has become twice as long.

On a terminal CMD runs in the foreground. Ctrl-Z stops both CMD and this
process. If they stay stopped, the lock is lost after --session-timeout, and CMD
is ended when the job is continued. If a signal ends CMD, curator restores the
settings of the terminal.
` + exitHelp

const lockExample = `  curator lock /locks/backup -- pg_dump -f /backup/db.sql db
  curator lock --try -E 0 /locks/nightly -- ./nightly.sh
  curator lock --timeout 30s --connect zk1,zk2,zk3 /locks/deploy -- make deploy
  curator lock --embedded /locks/build -- make   # only for this machine`

const rlockExample = `  curator rlock /locks/catalog -- ./report.sh`

const wlockExample = `  curator wlock --timeout 1m /locks/catalog -- ./import.sh`

const semaphoreExample = `  curator semaphore -n 3 /limits/transcode -- ffmpeg -i in.mov out.mp4`

const electExample = `  curator elect /leaders/scheduler -- ./scheduler
  curator elect --id web-7 /leaders/scheduler -- ./scheduler`
