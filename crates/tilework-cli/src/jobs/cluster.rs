//! `--scheduler`: tasks that the workers of a Dask cluster do.
//!
//! Only Python speaks with Dask, so the package for Python does: `python -m tilework._scheduler` connects and says what the workers
//! are, gets the plan, and says how far it is. What is planned, finished and said stays here.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Command, Stdio};

use serde::Deserialize;
use serde_json::json;
use tilework::{Error, Result};
use tilework_stores::job::Job;
use tilework_stores::run::Done;

use crate::args::HowArgs;

/// A program in Python that is connected to a scheduler. It ends with this value.
pub(super) struct Cluster {
    program: Child,
    answers: BufReader<std::process::ChildStdout>,
    address: String,
    found: Workers,
    /// What each task may hold.
    memory: Option<u64>,
}

/// What the workers are.
#[derive(Default, Deserialize)]
struct Workers {
    /// Threads of all of them.
    threads: u64,
    /// Half of what a thread of the smallest may have, if they are limited.
    memory: Option<u64>,
    /// The version of the package.
    version: String,
    /// The workers that have another version, or none.
    lacking: std::collections::BTreeMap<String, Option<String>>,
}

/// A line of the program.
#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum Answer {
    Lacks(String),
    Unreachable(String),
    Cluster(Workers),
    Progress { pass: usize, done: u64, of: u64 },
    Done { written: u64, kept: u64 },
    Failed(String),
}

impl Drop for Cluster {
    fn drop(&mut self) {
        // It may have ended long ago.
        let _ = self.program.kill();
        let _ = self.program.wait();
    }
}

impl Cluster {
    /// The cluster that is asked for, if one is, and how tasks run on it: with the memory of its workers, each on one thread.
    pub(super) fn of(how: &HowArgs) -> Result<(HowArgs, Option<Cluster>)> {
        let Some(address) = &how.scheduler else { return Ok((how.clone(), None)) };
        let mut cluster = Cluster::open(address)?;
        if cluster.found.threads == 0 && how.memory.is_none() {
            return Err(Error::new(format!("{address} has no workers"))
                .field("--scheduler")
                .rule("a task is as large as the memory of a worker allows")
                .accepts("a worker that `dask worker` starts; or --memory, and the tasks wait for one"));
        }
        cluster.memory = how.memory.or(cluster.found.memory);
        let how = HowArgs { memory: cluster.memory, threads: Some(1), scheduler: how.scheduler.clone() };
        Ok((how, Some(cluster)))
    }

    /// How many tasks run at a time.
    pub(super) fn threads(&self) -> u64 {
        self.found.threads.max(1)
    }

    fn open(address: &str) -> Result<Cluster> {
        let named = std::env::var_os("TILEWORK_PYTHON");
        let programs = match &named {
            Some(named) => vec![named.clone()],
            None => vec!["python3".into(), "python".into()],
        };
        for program in programs {
            let started = Command::new(program)
                .args(["-m", "tilework._scheduler", address])
                // A folder `tilework` where the user stands is not the package.
                .env("PYTHONSAFEPATH", "1")
                .stdin(Stdio::piped())
                .stdout(Stdio::piped())
                .stderr(Stdio::null())
                .spawn();
            let Ok(mut program) = started else { continue };
            let Some(answers) = program.stdout.take() else { continue }; // it is piped
            let answers = BufReader::new(answers);
            let (address, found) = (address.to_owned(), Workers::default());
            let mut cluster = Cluster { program, answers, address, found, memory: None };
            match cluster.answer() {
                Ok(Answer::Cluster(found)) => {
                    cluster.found = found;
                    cluster.check()?;
                    return Ok(cluster);
                }
                Ok(Answer::Unreachable(why)) => {
                    return Err(Error::new(format!("no scheduler answers at {}: {why}", cluster.address))
                        .field("--scheduler")
                        .rule("the scheduler runs before the command begins")
                        .accepts("the address that `dask scheduler` prints, such as tcp://host:8786"));
                }
                // Python without the package, or without Dask.
                Err(_) | Ok(_) => {}
            }
        }
        Err(Error::new("no Python that has tilework and distributed")
            .field("--scheduler")
            .rule("the command speaks with Dask through its package for Python")
            .accepts(
                "`pip install tilework distributed`, with TILEWORK_PYTHON=/path/of/python where that is not python3; or \
                 tw.rechunk(…, client=…) in Python; or --save-plan, and run-tasks --part on each machine",
            ))
    }

    /// Whether all have the same version.
    fn check(&self) -> Result<()> {
        let own = env!("CARGO_PKG_VERSION");
        let other = |whose: &str, version: &Option<String>| {
            let has = version.as_ref().map_or("no tilework".to_owned(), |found| format!("tilework {found}"));
            Err(Error::new(format!("{whose} has {has}"))
                .field("--scheduler")
                .rule(format!("the plan is of tilework {own}, here and on the workers"))
                .accepts(format!("`pip install tilework=={own}` there")))
        };
        if self.found.version != own {
            return other("the Python that speaks with Dask", &Some(self.found.version.clone()));
        }
        self.found.lacking.iter().next().map_or(Ok(()), |(worker, version)| other(worker, version))
    }

    fn answer(&mut self) -> Result<Answer> {
        let mut line = String::new();
        let lost = |why: &str| {
            Error::new(format!("the program that speaks with {} has ended: {why}", self.address))
                .accepts("the same command again, which goes on where this one was")
        };
        match self.answers.read_line(&mut line) {
            Ok(0) => Err(lost("it said nothing")),
            Ok(_) => serde_json::from_str(&line).map_err(|error| lost(&error.to_string())),
            Err(error) => Err(lost(&error.to_string())),
        }
    }

    /// Has the workers do all tasks of a job, and calls `progress` with the pass, and what of it is done.
    ///
    /// # Errors
    /// What a worker could not do, and a scheduler that is lost.
    pub(super) fn run(
        &mut self,
        job: &Job,
        tasks: &[u64],
        progress: &mut dyn FnMut(usize, u64, u64),
    ) -> Result<Done> {
        let asked = json!({ "plan": job.to_json()?, "tasks": tasks, "memory": self.memory });
        let written = self.program.stdin.take().map(|mut input| writeln!(input, "{asked}"));
        written.transpose().map_err(|error| Error::new(format!("{}: {error}", self.address)))?;
        loop {
            match self.answer()? {
                Answer::Progress { pass, done, of } => progress(pass, done, of),
                Answer::Done { written, kept } => return Ok(Done { written, kept }),
                Answer::Failed(why) | Answer::Unreachable(why) | Answer::Lacks(why) => {
                    return Err(Error::new(format!("{}: {why}", self.address))
                        .rule("a task that fails is tried three times more")
                        .accepts("the same command again, which goes on where this one was"));
                }
                Answer::Cluster(_) => {}
            }
        }
    }
}
