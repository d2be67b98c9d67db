package main

const rootHelp = `Curator runs commands under the locks of Apache Curator, which are kept in a
ZooKeeper ensemble.

The ensemble is the one of --connect; else of the section that --ensemble
names, else of CURATOR_CONNECT, else 127.0.0.1:2181. Sections are in
$XDG_CONFIG_HOME/curator/config, by default ~/.config/curator/config, or the
file that CURATOR_CONFIG names; their keys are the flags of the ensemble:

  # a comment
  [prod]
  connect = zk1,zk2,zk3/app
  tls-ca = prod-ca.pem
  auth = digest:ops:secret

Files are looked for beside the configuration. A file with credentials or a
key must be readable by its owner only. No password is ever a flag, because
the arguments of a process can be seen by others.
` + exitHelp

const exitHelp = `
Exit statuses
  0    done
  1    no: there is no such node, holder, token or version, or somebody said no
  64   usage: something is wrong with the command line, the environment or a
       file that they name
  69   no ensemble can be reached, or it did not answer
  70   internal error
  74   standard output cannot be written, as when its disk is full
  75   not acquired: others have it (-E sets another status)
  76   the lock was lost while CMD ran, whatever CMD exited with
  77   not permitted by the servers
  124  CMD was ended by --max-hold
  126  CMD cannot be run
  127  CMD was not found
  128+n  a signal n asked this command to end, or ended CMD
  else that of CMD`

const lockHelp = `Takes the lock at PATH, runs CMD, and releases the lock when CMD has ended. The
lock is an InterProcessMutex of Apache Curator: programs that use one at the
same path are kept out as well.
` + runHelp

const rlockHelp = `Takes the read lock at PATH, runs CMD, and releases the lock when CMD has ended.
Many can hold the read lock, while nobody holds the write lock (curator wlock).
Together they are an InterProcessReadWriteLock of Apache Curator. A reader waits
for the writers that came before it.
` + runHelp

const wlockHelp = `Takes the write lock at PATH, runs CMD, and releases the lock when CMD has
ended. While it is held nobody else holds the write lock or the read lock
(curator rlock). Together they are an InterProcessReadWriteLock of Apache
Curator.
` + runHelp

const semaphoreHelp = `Takes one of the leases of the semaphore at PATH, runs CMD, and gives the lease
back when CMD has ended. There are as many leases as -n says: all users of a
semaphore must say the same, which nobody checks. It is an
InterProcessSemaphoreV2 of Apache Curator.
` + runHelp

const electHelp = `Stands for election at PATH, runs CMD when elected, and steps down when CMD has
ended. It leads until CMD ends or the leadership does; to stand again, run it
again. Participants are those of LeaderSelector of Apache Curator; the --id is
the one that they see.
` + runHelp

const runHelp = `
CMD finds in its environment
  CURATOR_LOCK_PATH      PATH
  CURATOR_FENCING_TOKEN  a number that rises with every grant
  CURATOR_LOCKS_HELD     the paths that are held around it, so that a curator
                         inside CMD does not wait for the one it runs under

The lock's node can by default be read by everyone. It has CMD's name (none of
its arguments), the name of this host and the id of this process. Others see
them while they wait for the lock.

What no lock can do: if this process is stopped (kill -STOP, a machine that
sleeps) or CMD cannot be killed, CMD may go on after the lock has gone to
somebody else. Where that matters, let CMD send CURATOR_FENCING_TOKEN along and
the receiver refuse a token that is lower than one it has seen.

If the lock is lost while CMD runs (the session expired, the servers could not
be reached for too long, its node was deleted), CMD's whole process group gets
SIGTERM, and SIGKILL after --grace, or earlier: before anybody else can get the
lock, while that is still ahead. After a kill -9 of this process the group gets
SIGKILL at once.

The lock is held until CMD's whole process group has ended, also what CMD leaves
in the background; what is to outlive it must leave the group, as with
setsid(1). If CMD itself was ended by a signal, the rest of its group is ended,
too. SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGWINCH, SIGTSTP and
SIGCONT are passed on to the group. While the lock is waited for, the first four
of them give the place in the queue up.

While it waits, a line on the terminal says who has the lock, our place in the
queue, and how long we have waited. Without a terminal that is logged after some
seconds, and again after each time that it has taken twice as long.

On a terminal CMD has the foreground. Ctrl-Z stops it and this process together:
the lock is then lost after --session-timeout, and CMD is ended when the job is
continued later. If a signal ends CMD, the terminal gets the settings back that
it had before.
` + exitHelp

const lockExample = `  curator lock /locks/backup -- pg_dump -f /backup/db.sql db
  curator lock --try -E 0 /locks/nightly -- ./nightly.sh
  curator lock --timeout 30s --connect zk1,zk2,zk3 /locks/deploy -- make deploy
  curator lock --embedded /locks/build -- make   # no ensemble: this machine`

const rlockExample = `  curator rlock /locks/catalog -- ./report.sh`

const wlockExample = `  curator wlock --timeout 1m /locks/catalog -- ./import.sh`

const semaphoreExample = `  curator semaphore -n 3 /limits/transcode -- ffmpeg -i in.mov out.mp4`

const electExample = `  curator elect /leaders/scheduler -- ./scheduler
  curator elect --id web-7 /leaders/scheduler -- ./scheduler`
