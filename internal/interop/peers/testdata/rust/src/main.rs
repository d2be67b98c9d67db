//! Has zookeeper-client do what a test asks for: see kazoo_peer.py.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::sync::Mutex;
use zookeeper_client as zk;
use zookeeper_client::{Acls, Client, CreateMode, LockPrefix, OneshotWatcher, OwnedLockClient};

type Failure = Box<dyn std::error::Error + Send + Sync>;

struct Peer {
    client: Client,
    locks: Mutex<HashMap<String, OwnedLockClient>>,
    watches: Mutex<HashMap<String, OneshotWatcher>>,
}

#[tokio::main]
async fn main() -> Result<(), Failure> {
    let args: Vec<String> = std::env::args().collect();
    let timeout = Duration::from_millis(args[2].parse()?);
    let client = Client::connector().with_session_timeout(timeout).connect(&args[1]).await?;
    let peer = Arc::new(Peer { client, locks: Default::default(), watches: Default::default() });
    let output = Arc::new(Mutex::new(tokio::io::stdout()));
    let mut lines = BufReader::new(tokio::io::stdin()).lines();
    while let Some(line) = lines.next_line().await? {
        let (peer, output) = (peer.clone(), output.clone());
        tokio::spawn(async move {
            let words: Vec<&str> = line.split(' ').collect();
            let text = match peer.run(&words[1..]).await {
                Ok(text) => format!("{} ok {}\n", words[0], text),
                Err(err) => format!("{} error {}\n", words[0], err.to_string().replace('\n', " ")),
            };
            let mut output = output.lock().await;
            if output.write_all(text.as_bytes()).await.and(output.flush().await).is_err() {
                std::process::exit(1);
            }
        });
    }
    std::process::exit(0);
}

impl Peer {
    async fn run(&self, request: &[&str]) -> Result<String, Failure> {
        let client = &self.client;
        let none = String::new();
        match request {
            ["session"] => Ok(format!("{:x}", client.session_id().0)),
            ["create", path, data, mode] => self.create(path, data, mode).await,
            ["get", path] => {
                let (data, stat) = client.get_data(path).await?;
                Ok(format!("{} {}", stat.version, String::from_utf8(data)?))
            }
            ["set", path, data, version] => Ok(client.set_data(path, data.as_bytes(), expected(version)?).await?.version.to_string()),
            ["delete", path, version] => client.delete(path, expected(version)?).await.map(|_| none).map_err(Failure::from),
            ["children", path] => {
                let mut children = client.list_children(path).await?;
                children.sort();
                Ok(children.join(" "))
            }
            ["owner", path] => {
                Ok(client.check_stat(path).await?.map_or("none".to_string(), |stat| format!("{:x}", stat.ephemeral_owner)))
            }
            ["watch", path] => {
                let (_, _, watcher) = client.get_and_watch_data(path).await?;
                self.watches.lock().await.insert(path.to_string(), watcher);
                Ok(none)
            }
            ["fired", path] => {
                let watcher = self.watches.lock().await.remove(*path).ok_or("no watch")?;
                watcher.changed().await;
                Ok(none)
            }
            ["lock", path, mark, data] => {
                let lock = self.lock(path, mark, data).await?;
                let node = lock.lock_path().to_string();
                self.locks.lock().await.insert(format!("{path}{mark}"), lock);
                Ok(node)
            }
            ["unlock", path, mark] => {
                let lock = self.locks.lock().await.remove(&format!("{path}{mark}")).ok_or("no lock")?;
                self.unlock(lock).await.map(|_| none)
            }
            ["add", path, times] => self.add(path, times.parse()?).await,
            ["round", path, counter, times] => self.round(path, counter, times.parse()?).await.map(|_| none),
            ["offer", path, data] => self.create(&format!("{path}/qn-"), data, "sequential").await,
            ["take", path] => self.take(path).await,
            _ => Err(format!("no request: {request:?}").into()),
        }
    }

    async fn create(&self, path: &str, data: &str, mode: &str) -> Result<String, Failure> {
        let acls = Acls::anyone_all();
        if let Some((parent, _)) = path.rsplit_once('/').filter(|(parent, _)| !parent.is_empty()) {
            match self.client.mkdir(parent, &CreateMode::Persistent.with_acls(acls)).await {
                Ok(()) | Err(zk::Error::NodeExists) => {}
                Err(err) => return Err(err.into()),
            }
        }
        let mode = match mode {
            "persistent" => CreateMode::Persistent,
            "ephemeral" => CreateMode::Ephemeral,
            "sequential" => CreateMode::PersistentSequential,
            "both" => CreateMode::EphemeralSequential,
            _ => return Err(mode.into()),
        };
        let (_, sequence) = self.client.create(path, data.as_bytes(), &mode.with_acls(acls)).await?;
        let number = if sequence.into_i64() < 0 { String::new() } else { sequence.to_string() };
        Ok(format!("{path}{number}"))
    }

    /// The lock is the client's own, with the names of Curator's nodes.
    async fn lock(&self, path: &str, mark: &str, data: &str) -> Result<OwnedLockClient, Failure> {
        let acls = Acls::anyone_all();
        let options = zk::LockOptions::new(acls).with_ancestor_options(CreateMode::Persistent.with_acls(acls))?;
        Ok(self.client.lock(LockPrefix::new_curator(path, mark)?, data.as_bytes(), options).await?.into_owned())
    }

    /// Dropping the lock deletes its node in the background. This waits until the server has done it.
    async fn unlock(&self, lock: OwnedLockClient) -> Result<(), Failure> {
        let node = lock.lock_path().to_string();
        let (_, stat, watcher) = self.client.get_and_watch_data(&node).await?;
        drop(lock);
        if stat.ephemeral_owner == self.client.session_id().0 {
            watcher.changed().await;
        }
        Ok(())
    }

    async fn add(&self, path: &str, times: usize) -> Result<String, Failure> {
        let mut number = 0;
        for _ in 0..times {
            loop {
                let (data, stat) = self.client.get_data(path).await?;
                number = i64::from_be_bytes(data.as_slice().try_into()?) + 1;
                match self.client.set_data(path, &number.to_be_bytes(), Some(stat.version)).await {
                    Ok(_) => break,
                    Err(zk::Error::BadVersion) => {}
                    Err(err) => return Err(err.into()),
                }
            }
        }
        Ok(number.to_string())
    }

    async fn round(&self, path: &str, counter: &str, times: usize) -> Result<(), Failure> {
        for _ in 0..times {
            let lock = self.lock(path, "lock-", "round").await?;
            let (data, _) = self.client.get_data(counter).await?;
            let number = String::from_utf8(data)?.parse::<i64>()? + 1;
            self.client.set_data(counter, number.to_string().as_bytes(), None).await?;
            self.unlock(lock).await?;
        }
        Ok(())
    }

    async fn take(&self, path: &str) -> Result<String, Failure> {
        let mut children = self.client.list_children(path).await?;
        children.sort();
        for name in children {
            let item = format!("{path}/{name}");
            let data = match self.client.get_data(&item).await {
                Ok((data, _)) => data,
                Err(zk::Error::NoNode) => continue,
                Err(err) => return Err(err.into()),
            };
            match self.client.delete(&item, None).await {
                Ok(()) => return Ok(String::from_utf8(data)?),
                Err(zk::Error::NoNode) => {}
                Err(err) => return Err(err.into()),
            }
        }
        Ok("none".to_string())
    }
}

/// The version that a node must have; -1 stands for any.
fn expected(version: &str) -> Result<Option<i32>, Failure> {
    let version = version.parse()?;
    Ok((version >= 0).then_some(version))
}
