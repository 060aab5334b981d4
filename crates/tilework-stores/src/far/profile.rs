//! The files in which everybody's tools keep credentials for S3: `~/.aws/credentials` and `~/.aws/config`.

use std::collections::HashMap;
use std::path::PathBuf;

use tilework::{Error, Result};

/// What the files say under one name.
#[derive(Default)]
pub(super) struct Profile(HashMap<String, String>);

/// What a program is asked for in its environment.
pub(super) type Env<'a> = &'a dyn Fn(&str) -> Option<String>;

impl Profile {
    /// The profile that `AWS_PROFILE` names, or the default one, which need not be there.
    ///
    /// # Errors
    /// A profile that no file has.
    pub(super) fn read(env: Env) -> Result<Profile> {
        let home = || env("HOME").or_else(|| env("USERPROFILE"));
        let file = |name: &str, usual: &str| {
            let path = env(name)
                .map(PathBuf::from)
                .or_else(|| Some(PathBuf::from(home()?).join(".aws").join(usual)));
            path.and_then(|path| std::fs::read_to_string(path).ok()).unwrap_or_default()
        };
        let asked = env("AWS_PROFILE").or_else(|| env("AWS_DEFAULT_PROFILE"));
        let name = asked.as_deref().unwrap_or("default");
        let mut found = Profile::default();
        let of_config = [format!("profile {name}"), name.to_owned()];
        let is_there = [
            found.add(&file("AWS_CONFIG_FILE", "config"), &of_config),
            found.add(&file("AWS_SHARED_CREDENTIALS_FILE", "credentials"), &of_config[1..]),
        ];
        match asked {
            Some(name) if !is_there.contains(&true) => Err(Error::new(format!("AWS_PROFILE={name:?}"))
                .rule("neither ~/.aws/config nor ~/.aws/credentials has a profile of this name")
                .accepts("the name of one of theirs")),
            _ => Ok(found),
        }
    }

    /// Adds what a file says under one of these names. Returns whether it has one.
    fn add(&mut self, text: &str, names: &[String]) -> bool {
        let (mut is_within, mut found) = (false, false);
        for line in text.lines() {
            if let Some(name) = line.trim().strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
                let name: Vec<&str> = name.split_whitespace().collect();
                is_within = names.contains(&name.join(" "));
                found |= is_within;
            } else if let (true, Some((key, value))) = (is_within, line.split_once('='))
                && !line.starts_with(|c: char| c.is_whitespace() || matches!(c, '#' | ';'))
            {
                // What is indented belongs to the line before.
                self.0.insert(key.trim().to_ascii_lowercase(), value.trim().to_owned());
            }
        }
        found
    }

    pub(super) fn value(&self, key: &str) -> Option<&str> {
        self.0.get(key).map(String::as_str)
    }

    /// What another program has to be asked for.
    pub(super) fn other_way(&self) -> Option<&'static str> {
        ["sso_session", "sso_start_url", "credential_process", "role_arn", "login_session"]
            .into_iter()
            .find(|key| self.0.contains_key(*key))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// What was written under a name is found there, between whatever else the file has.
        #[test]
        fn values_are_found_between_anything(
            sections in prop::collection::vec(("[ab]", prop::collection::vec(("[kl]", "[!-~]{0,4}"), 0..4)), 0..5),
            noise in prop::collection::vec("([#; \t]\\PC{0,8}|[^\\[=]{0,8})", 1..5),
        ) {
            let mut noise = noise.iter().cycle();
            let (mut text, mut wanted, mut has) = (String::new(), HashMap::new(), false);
            for (name, entries) in &sections {
                let mut add = |line: &str| text.extend([line, "\n", noise.next().map_or("", String::as_str), "\n"]);
                add(&format!(" [ {name}\t]"));
                has |= name == "a";
                for (key, value) in entries {
                    add(&format!("{key} ={value} "));
                    if name == "a" {
                        wanted.insert(key.clone(), value.clone());
                    }
                }
            }
            let mut found = Profile::default();
            prop_assert_eq!(found.add(&text, &["a".to_owned()]), has);
            prop_assert_eq!(found.0, wanted);
        }

        #[test]
        fn any_text_is_a_file_of_profiles(text in "\\PC*|([\\[\\]=#; \n]|[ab])*") {
            Profile::default().add(&text, &["a".to_owned()]);
        }
    }

    #[test]
    fn a_profile_is_what_both_files_say_under_its_name() -> Result<()> {
        let folder = std::env::temp_dir().join(format!("tilework-profile-{}", std::process::id()));
        let write = |name: &str, text: &str| {
            std::fs::create_dir_all(&folder)
                .and_then(|()| std::fs::write(folder.join(name), text))
                .expect("written");
            folder.join(name).to_string_lossy().into_owned()
        };
        let config = write(
            "config",
            "[default]\nregion = a\n[profile  x]\nregion=b # c\ns3 =\n  max = 1\nrole_arn=r\n",
        );
        let credentials =
            write("credentials", "[x]\naws_access_key_id = K\n# no = 1\n[y]\naws_access_key_id = Y\n");
        let of = |profile: Option<&str>| {
            Profile::read(&|name| match name {
                "AWS_CONFIG_FILE" => Some(config.clone()),
                "AWS_SHARED_CREDENTIALS_FILE" => Some(credentials.clone()),
                "AWS_PROFILE" => profile.map(str::to_owned),
                _ => None,
            })
        };
        let x = of(Some("x"))?;
        assert_eq!((x.value("region"), x.value("aws_access_key_id")), (Some("b # c"), Some("K")));
        assert_eq!((x.value("max"), x.value("# no"), x.other_way()), (None, None, Some("role_arn")));
        assert_eq!(of(None)?.value("region"), Some("a"));
        assert_eq!(of(Some("y"))?.value("aws_access_key_id"), Some("Y"));
        assert!(of(Some("z")).is_err_and(|error| error.to_string().contains("\"z\"")));
        let _ = std::fs::remove_dir_all(&folder);
        Ok(())
    }
}
