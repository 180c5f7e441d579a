//! What `torchrun` and `scripts/launch` tell a process of its job.

use crate::error::{Error, Result};

/// The place of this process among those of a job, and where they meet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobEnvironment {
    /// `RANK`: the number of this process, from 0.
    pub rank: u32,
    /// `WORLD_SIZE`: the number of processes.
    pub world_size: u32,
    /// `LOCAL_RANK`: the number of this process on its machine; `RANK` if it is not set.
    pub local_rank: u32,
    /// `MASTER_ADDR`: the machine of the process of rank 0.
    pub address: String,
    /// `MASTER_PORT`: the port of the store there.
    pub port: u16,
    /// `TORCHELASTIC_USE_AGENT_STORE`: the launcher serves the store, a new one for each attempt.
    pub launcher_serves: bool,
}

impl JobEnvironment {
    /// Reads the environment anew: a process may set it by itself.
    pub fn read() -> Result<JobEnvironment> {
        JobEnvironment::parse(&|name| std::env::var(name).ok().filter(|value| !value.is_empty()))
    }

    fn parse(variable: &dyn Fn(&str) -> Option<String>) -> Result<JobEnvironment> {
        let needed = |name: &str| {
            variable(name).ok_or_else(|| {
                Error::invalid_state(format!(
                    "the environment variable {name} is not set; start the program with torchrun or scripts/launch, or \
                     set RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT"
                ))
            })
        };
        let rank = number("RANK", &needed("RANK")?)?;
        let world_size = number("WORLD_SIZE", &needed("WORLD_SIZE")?)?;
        if rank >= world_size {
            return Err(Error::invalid_state(format!(
                "RANK={rank} is not below WORLD_SIZE={world_size}; ranks count from 0"
            )));
        }
        let local_rank = match variable("LOCAL_RANK") {
            Some(text) => number("LOCAL_RANK", &text)?,
            None => rank,
        };
        let text = needed("MASTER_PORT")?;
        let port = text.trim().parse().ok().filter(|port| *port != 0);
        let port = port.ok_or_else(|| {
            Error::invalid_state(format!("MASTER_PORT={text} is not a number from 1 to 65535"))
        })?;
        Ok(JobEnvironment {
            rank,
            world_size,
            local_rank,
            address: needed("MASTER_ADDR")?,
            port,
            launcher_serves: variable("TORCHELASTIC_USE_AGENT_STORE").as_deref() == Some("True"),
        })
    }
}

fn number(name: &str, text: &str) -> Result<u32> {
    let number = text.trim().parse::<u32>().ok().filter(|number| *number < 1 << 24);
    number.ok_or_else(|| {
        Error::invalid_state(format!("{name}={text} is not a number from 0 to 16777215"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(pairs: &[(&str, &str)]) -> Result<JobEnvironment> {
        JobEnvironment::parse(&|name| {
            pairs.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned())
        })
    }

    const WHOLE: [(&str, &str); 4] =
        [("RANK", "1"), ("WORLD_SIZE", "4"), ("MASTER_ADDR", "host"), ("MASTER_PORT", "29500")];

    #[test]
    fn a_job_is_read() {
        let job = parse(&WHOLE).unwrap();
        assert_eq!((job.rank, job.world_size, job.local_rank), (1, 4, 1));
        assert_eq!((job.address.as_str(), job.port), ("host", 29500));
        assert!(!job.launcher_serves);
        let more = [("LOCAL_RANK", "0"), ("TORCHELASTIC_USE_AGENT_STORE", "True")];
        let job = parse(&[&WHOLE[..], &more[..]].concat()).unwrap();
        assert_eq!((job.local_rank, job.launcher_serves), (0, true));
    }

    #[test]
    fn what_is_missing_or_malformed_is_named() {
        for missing in 0..WHOLE.len() {
            let mut pairs = WHOLE.to_vec();
            let (name, _) = pairs.remove(missing);
            let message = parse(&pairs).unwrap_err().message().to_owned();
            assert!(message.contains(name) && message.contains("torchrun"), "{message}");
        }
        for (name, value) in
            [("RANK", "4"), ("RANK", "-1"), ("WORLD_SIZE", "many"), ("MASTER_PORT", "0")]
        {
            let pairs = [&[(name, value)], &WHOLE[..]].concat();
            let message = parse(&pairs).unwrap_err().message().to_owned();
            assert!(message.contains(&format!("{name}={value}")), "{message}");
        }
    }
}
