//! Input that means harm: names that command the terminal, lines that name files, texts of megabytes.

use crate::common::{Ran, command, run, run_with};
use serde_json::Value;

/// An escape, a bell, C1 and DEL, a direction that is turned round, no width, and the end of a line.
const HOSTILE: &str = "x\u{1b}[2J\u{7}\u{9b}31m\u{7f}\u{202e}\u{200b}\u{2028}y";

/// What is left of it.
const SHOWN: &str = "x␛[2J␇�31m␡���y";

/// A folder of one test's own, which vanishes with it.
struct Folder(std::path::PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let path = std::env::temp_dir().join(format!("tilework-hostile-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).expect("a folder");
        Folder(path)
    }

    fn file(&self, name: &str, content: &[u8]) -> String {
        let path = self.0.join(name);
        std::fs::write(&path, content).expect("a file");
        path.to_string_lossy().into_owned()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Whether a terminal would obey anything in the text but the ends of lines.
fn commands(text: &str) -> bool {
    text.lines().any(|line| tilework::printable(line) != line)
}

#[test]
fn no_command_prints_what_a_terminal_would_obey() {
    let folder = Folder::new("terminal");
    let module = format!(
        "HloModule {HOSTILE}, z\nENTRY %{HOSTILE} (p: f32[200,3]) -> f32[3,200] {{\n  \
         %{HOSTILE} = f32[200,3]{{1,0:T(8,128)}} parameter(0), metadata={{op_name=\"a\\033]0;{HOSTILE}\" source_file=\"{HOSTILE}\" source_line=3}}\n  \
         %c = f32[200,3]{{0,1:T(8,128)}} copy(%{HOSTILE}), metadata={{op_name=\"\\033[31m\"}}\n  {HOSTILE}\n}}\n"
    )
    .replace("\u{2028}", ""); // which no line of the test may hold
    let dump = folder.file("dump.txt", module.as_bytes());
    let named = folder.file(&HOSTILE.replace('\u{9b}', ""), module.as_bytes());
    let descriptor =
        folder.file("d.json", format!("{{\"DataType\":\"{HOSTILE}\",\"Sizes\":[1]}}").as_bytes());
    let at = format!("@{descriptor}");
    let missing = format!("/nowhere/{HOSTILE}\nerror: nothing");
    let at_missing = format!("@{missing}");
    let word = format!("--{HOSTILE}");
    let runs: &[&[&str]] = &[
        &["audit", &dump],
        &["audit", &dump, "--csv"],
        &["audit", &dump, "--html"],
        &["audit", &dump, "--json"],
        &["audit", &dump, &named],
        &["audit", &named, &descriptor],
        &["audit", &dump, "--what-if", "{0,1:T(4,128)}"],
        &["audit", &dump, "--what-if", HOSTILE],
        &["audit", &dump, "--target", HOSTILE],
        &["audit", &dump, "--top", HOSTILE],
        &["audit", &missing],
        &["audit", &missing, "--json"],
        &["show", HOSTILE],
        &["show", HOSTILE, "--json"],
        &["show", &at],
        &["show", &at_missing],
        &["parse", &format!("f32[2] {HOSTILE}")],
        &["parse", "--from-format", "text", HOSTILE],
        &["parse", "--from-format", "text", &at_missing],
        &["index", "f32[2]", HOSTILE],
        &["locate", "f32[2]", HOSTILE],
        &["compare", HOSTILE, "f32[2]"],
        &["compare", "f32[2]", HOSTILE],
        &["plan", "f32[2]", HOSTILE],
        &["plan", "f32[2]", "f32[2]", "--fill", HOSTILE],
        &["suggest", HOSTILE],
        &["block", HOSTILE, "8"],
        &["block", "f32[8]", HOSTILE],
        &["suggest", "f32[2,3]", "--tile", HOSTILE],
        &["check", &descriptor, &missing],
        &["check", &descriptor, "--json"],
        &["check", &descriptor, "--feature-level", HOSTILE],
        &["view", HOSTILE, "--nhwc"],
        &["convert", &missing, "out"],
        &["convert", &dump, &missing, "--from", "u8[2]", "--trailing"],
        &["convert", &dump, "out", "--from", HOSTILE],
        &["convert", &dump, "out", "--dtype", HOSTILE],
        &["bench", HOSTILE, "f32[2]"],
        &["completions", HOSTILE],
        &[&word],
        &[HOSTILE],
        &["show", "f32[2]", &word],
        &["show", "--color", HOSTILE],
    ];
    for args in runs {
        for look in [&[][..], &["--ascii"]] {
            let Ran { stdout, stderr, .. } = run(&[args, look].concat());
            assert!(!stdout.is_empty() || !stderr.is_empty(), "{args:?}");
            assert!(!commands(&stdout) && !commands(&stderr), "{args:?}: {stdout:?} {stderr:?}");
        }
        // Colours are ours.
        let Ran { stdout, stderr, .. } = run(&[args, &["--color", "always"][..]].concat());
        for part in stdout.split('\u{1b}').skip(1).chain(stderr.split('\u{1b}').skip(1)) {
            let own = part.strip_prefix('[').and_then(|part| part.split_once('m')).map(|(code, _)| code);
            let is_own =
                own.is_some_and(|code| code.len() <= 4 && !code.contains(|c: char| c.is_ascii_alphabetic()));
            assert!(is_own && !part.starts_with("[2J"), "{args:?}: {part:?}");
        }
    }
    let told = run(&["audit", &dump]).stdout;
    assert!(told.contains(&SHOWN.replace("���y", "��y")), "{told}");
    assert!(told.contains("␛[31m"), "{told}");
}

#[test]
fn json_reads_back_as_what_was_given_and_holds_nothing_that_a_terminal_obeys() {
    let Ran { stdout, .. } = run(&["show", HOSTILE, "--json"]);
    assert!(!commands(&stdout), "{stdout:?}");
    let object: Value = serde_json::from_str(&stdout).expect("JSON");
    assert_eq!(object["error"]["text"], HOSTILE);
}

#[test]
fn a_caret_stands_below_its_place_whatever_stands_before_it() {
    for look in [&[][..], &["--ascii"]] {
        for wrong in ['\u{1b}', '\u{7f}', '\u{9b}', '\u{202e}', '…', '→', 'é', '@'] {
            let Ran { stderr, .. } =
                run(&[&["show", &format!("(f32[2],\t f32[{wrong}])")][..], look].concat());
            let lines: Vec<&str> = stderr.lines().collect();
            let caret = lines[2].chars().position(|c| c == '^').expect("a caret");
            let shown = lines[1].chars().nth(caret).expect("something above it");
            let is_right = tilework::printable(&wrong.to_string()).contains(shown);
            assert!(is_right || !look.is_empty() && "?~".contains(shown), "{stderr}");
            assert_eq!(lines[1].chars().nth(caret + 1), Some(']'), "{stderr}");
        }
    }
    // The line is cut on the left, and the sign for that is as wide in ASCII.
    let long = format!("f32[2]{{0:T({}0)}}", "1,".repeat(60));
    for look in [&[][..], &["--ascii"]] {
        let Ran { stderr, .. } = run(&[&["show", &long][..], look].concat());
        let lines: Vec<&str> = stderr.lines().collect();
        let caret = lines[2].chars().position(|c| c == '^').expect("a caret");
        assert_eq!(lines[1].chars().nth(caret), Some('0'), "{stderr}");
    }
}

#[test]
fn lines_of_standard_input_never_open_files() {
    let folder = Folder::new("lines");
    let secret = folder.file("secret.json", b"{\"DataType\":\"FLOAT32\",\"Sizes\":[4711]}");
    let input = format!("@{secret}\n@/dev/zero\nf32[2]\n");
    let runs: &[&[&str]] = &[
        &["show"],
        &["show", "--json"],
        &["parse", "-"],
        &["compare", "f32[2]", "-"],
        &["plan", "f32[2]", "-"],
        &["suggest"],
        &["block", "f32[2]", "-"],
        &["index", "f32[2]", "-"],
        &["locate", "f32[2]", "-"],
    ];
    for args in runs {
        let Ran { stdout, stderr, code } = run_with(command(args), input.as_bytes());
        assert_eq!(code, 2, "{args:?}");
        assert!(!stdout.contains("4711") && !stderr.contains("4711"), "{args:?}: {stdout}{stderr}");
        assert!(stderr.contains("line 1: ") && stderr.contains("line 2: "), "{args:?}: {stderr}");
    }
    // As an argument it is a file.
    let Ran { stdout, code, .. } = run(&["parse", &format!("@{secret}")]);
    assert_eq!((stdout.as_str(), code), ("FLOAT32 [4711]\n", 0));
}

#[cfg(unix)]
#[test]
fn an_argument_opens_files_and_pipes_and_waits_for_nothing_else() {
    let folder = Folder::new("pipes");
    let fifo = folder.0.join("fifo");
    let made = std::process::Command::new("mkfifo").arg(&fifo).status().expect("mkfifo runs");
    assert!(made.success());
    let fifo = fifo.to_string_lossy();
    for args in [
        &["show", &format!("@{fifo}")][..],
        &["check", &fifo],
        #[cfg(feature = "proto")]
        &["parse", "--from-format", "text", "@/dev/zero"],
        &["show", "@/dev/zero"],
        &["check", "/dev/zero"],
        &["show", "@/"],
    ] {
        let Ran { stderr, code, .. } = run(args);
        assert_eq!(code, 2, "{args:?}: {stderr}");
        assert!(
            args.iter().any(|arg| arg.contains("fifo"))
                || stderr.contains("a device")
                || stderr.contains("a folder")
        );
    }
    let descriptor = b"{\"DataType\":\"FLOAT32\",\"Sizes\":[5,7]}";
    let Ran { stdout, code, .. } = run_with(command(&["parse", "@/dev/stdin"]), descriptor);
    assert_eq!((stdout.as_str(), code), ("FLOAT32 [5,7]\n", 0));
    // A pipe that does not end is read up to the limit.
    let endless = vec![b' '; (64 << 20) + 10];
    let Ran { stderr, code, .. } = run_with(command(&["parse", "@/dev/stdin"]), &endless);
    assert_eq!(code, 2);
    assert!(stderr.contains("more than 67108864 bytes"), "{stderr}");
}

#[test]
fn a_message_about_a_long_text_is_short_and_shows_the_place() {
    let long = "9".repeat(1 << 20 >> 1);
    for text in [
        format!("f32[{long}]"),
        format!("f32[2]{{0:T({long})}} {long}"),
        format!("f32[2]{{0:{long}}}"),
        format!("{long}[2]"),
        format!("FLOAT32 [{long}]"),
        format!("FLOAT32 [2] {long}"),
        format!("{{\"DataType\":\"{long}\",\"Sizes\":[1]}}"),
        format!("{{\"{long}\":1}}"),
        format!("f32[2]{{0:{}T(0)}}{}", " ".repeat(9), "x".repeat(9999)),
    ] {
        let Ran { stderr, .. } = run_with(command(&["show"]), format!("{text}\n").as_bytes());
        assert!(!stderr.is_empty() && stderr.len() < 4000, "{} {}", &text[..20], stderr.len());
        let Ran { stdout, .. } = run_with(command(&["show", "--json"]), format!("{text}\n").as_bytes());
        assert!(stdout.len() < 20_000, "{} {}", &text[..20], stdout.len());
    }
    // The place is in the text that is given with it, and is what is wrong.
    let text = format!("({}f32[2]{{0:T(0)}})", "f32[2], ".repeat(10_000));
    let Ran { stdout, stderr, .. } = run_with(command(&["show", "--json"]), text.as_bytes());
    let object: Value = serde_json::from_str(&stdout).expect("JSON");
    let error = &object["error"];
    let span = [0, 1].map(|side| error["span"][side].as_u64().expect("a place") as usize);
    assert_eq!(&error["text"].as_str().expect("a text")[span[0]..span[1]], "0", "{stdout}");
    assert!(stdout.len() < 4096, "{}", stdout.len());
    let lines: Vec<&str> = stderr.lines().collect();
    let caret = lines[2].find('^').expect("a caret") - lines[1].find('…').expect("it is cut");
    assert_eq!(lines[1].chars().skip_while(|&c| c != '…').nth(caret), Some('0'), "{stderr}");
    // clap repeats arguments as well.
    let word = "y".repeat(100_000);
    for args in [
        &["show", "--color", &word][..],
        &["audit", "--top", &word],
        &[&word],
        &["show", &format!("--{word}")],
    ] {
        let Ran { stderr, code, .. } = run(args);
        assert_eq!(code, 2);
        assert!(stderr.len() < 2000, "{}", stderr.len());
    }
}
