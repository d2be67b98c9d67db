package main

const lockHelp = `Takes the lock at PATH, runs CMD, and releases the lock when CMD has ended. The lock is
an InterProcessMutex of Apache Curator: programs that use one at the same path are kept
out as well.

CMD finds in its environment
  CURATOR_LOCK_PATH      PATH
  CURATOR_FENCING_TOKEN  a number that rises with every grant of the lock
  CURATOR_LOCKS_HELD     the locks that are held around it, so that a curator lock
                         inside CMD does not wait for the one it runs under

Who may read the lock's node, which by default is everyone, sees CMD's name (none of its
arguments), the name of this host and the id of this process; so does who is refused the
lock meanwhile, on standard error.

What no lock can do: if this process is stopped (kill -STOP, a machine that sleeps) or CMD
cannot be killed, CMD may go on after the lock has gone to somebody else. Where that
matters, let CMD send CURATOR_FENCING_TOKEN along and the receiver refuse a token that is
lower than one it has seen. The same holds after a kill -9 of this process: on Linux it
takes CMD's own process along, but not what that has started.

If the lock is lost while CMD runs (the session expired, the servers could not be reached
for too long, its node was deleted), CMD's whole process group gets SIGTERM, and SIGKILL
after --grace, or earlier: before anybody else can get the lock, while that is still ahead.

The lock is held until CMD's whole process group has ended, also what CMD leaves in the
background; what is to outlive it must leave the group, as with setsid(1). If CMD itself
was ended by a signal, the rest of its group is ended, too. SIGINT, SIGTERM, SIGHUP,
SIGQUIT, SIGUSR1, SIGUSR2, SIGWINCH, SIGTSTP and SIGCONT are passed on to the group. While
the lock is waited for, the first four of them give the place in the queue up.

On a terminal CMD has the foreground. Ctrl-Z stops it and this process together: the lock
is then lost after --session-timeout, and CMD is ended when the job is continued later.

Exit codes
  CMD's own, or 128+n if signal n ended it; else
  64   usage: something is wrong with the command line
  69   no ensemble can be reached, or none answered before the lock was seen
  70   internal error
  75   not acquired: others hold the lock (-E sets another code)
  76   the lock was lost while CMD ran, whatever CMD exited with
  77   not permitted by the servers
  124  CMD was ended by --max-hold
  126  CMD cannot be run
  127  CMD was not found`

const lockExample = `  curator lock /locks/backup -- pg_dump -f /backup/db.sql db
  curator lock --try -E 0 /locks/nightly -- ./nightly.sh     # in cron: another host has it
  curator lock --timeout 30s --connect zk1,zk2,zk3 /locks/deploy -- make deploy
  curator lock --embedded /locks/build -- make               # no ensemble: this machine only`
