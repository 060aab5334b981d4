//! How the command behaves as a process: input, output, exit codes, widths, colours, time.

use std::ffi::OsString;
use std::process::Stdio;

use crate::common::{Ran, command, run, run_with};
use serde_json::Value;

const TILED: &str = "f32[3,5]{1,0:T(2,2)}";

/// Shapes of every kind, for what holds of all of them.
const SHAPES: [&str; 20] = [
    TILED,
    "f32[]",
    "f32[]{:T(128)}",
    "f32[0,3]",
    "f32[17]",
    "bf16[64,300]{1,0:T(8,128)(2,1)}",
    "bf16[2048,1,2048,128]{0,1,3,2:T(4,128)(2,1)}",
    "s32[8388608,8,4]{2,1,0:T(8,128)}",
    "s8[1000000000,1000000000]{0,1:T(8,128)(4,1)}",
    "f32[2,7,8,11,10]{4,3,2,1,0:T(*,*,2,*,3)}",
    "f32[4,6]{1,0:T(2,3)(*,4)(2,1)}",
    "f32[7]{0:T(3)(2)}",
    "f32[2,3]{0,1:pad(3,5)=zero}",
    "f32[2,3]{strides(0,-1),base(4),size(16)}",
    "f32[100,100,100,100]{strides(7919,7907,7901,7883)}",
    "f32[1000003,1009]{1,0:T(101,37)(*,53)(17,11)(*,13)(7,5)}",
    "u8[4,4]{0,1:T(2,2)L(64)E(8)S(5)SC(0:1,2)M(16)}",
    "(f32[2], token[], (bf16[3,5]{1,0:T(8,128)}, opaque[]), f32[?])",
    "f32[2,2,2,2,2,2,2,2,2,2,2,2]{11,10,9,8,7,6,5,4,3,2,1,0:T(2,2,2,2,2,2,2,2)}",
    "f32[<=8,?]",
];

#[test]
fn no_line_is_wider_than_the_width() {
    for shape in SHAPES {
        for width in [20, 27, 40, 61, 80, 81, 120, 200] {
            for look in ["--ascii", "--color=never"] {
                let Ran { stdout, code, .. } = run(&["show", shape, "--width", &width.to_string(), look]);
                assert_eq!(code, 0);
                for line in stdout.lines() {
                    assert!(
                        line.chars().count() <= width,
                        "{} columns of {width}: {line}",
                        line.chars().count()
                    );
                }
            }
        }
    }
}

#[test]
fn suggestions_for_every_kind_of_array_fit_the_width() {
    for shape in SHAPES {
        for target in ["--target=tpu-v3", "--target=tenstorrent", "--tile=T(*,4)(2,1)"] {
            for width in ["27", "80"] {
                let Ran { stdout, stderr, code } = run(&["suggest", shape, target, "--width", width]);
                assert_eq!((code, stdout.is_empty()), if stderr.is_empty() { (0, false) } else { (2, true) });
                assert!(
                    stdout.lines().all(|line| line.chars().count() <= width.parse().unwrap()),
                    "{shape}: {stdout}"
                );
            }
        }
    }
}

#[test]
fn the_width_comes_from_the_option_then_columns_then_80() {
    let widest = |run: Ran| run.stdout.lines().map(|line| line.chars().count()).max().unwrap_or(0);
    let shape = "f32[1000,1000]{1,0:T(8,128)}";
    assert!((70..=80).contains(&widest(run(&["show", shape]))));
    let mut narrow = command(&["show", shape]);
    narrow.env("COLUMNS", "50");
    assert!((40..=50).contains(&widest(run_with(narrow, b""))));
    let mut wide = command(&["show", shape, "--width", "150"]);
    wide.env("COLUMNS", "50");
    assert!((130..=150).contains(&widest(run_with(wide, b""))));
}

#[test]
fn ascii_is_ascii() {
    for shape in SHAPES {
        assert!(run(&["show", "--ascii", shape]).stdout.is_ascii(), "{shape}");
    }
    assert!(run(&["show", "--ascii", "f32[3,5]{1,0:T(0,2)}"]).stderr.is_ascii());
}

#[test]
fn colours_come_when_asked_for_and_only_then() {
    let colored = |args: &[&str], set: &[(&str, &str)]| {
        let mut command = command(args);
        command.envs(set.iter().copied());
        run_with(command, b"").stdout.contains('\u{1b}')
    };
    assert!(!colored(&["show", TILED], &[]));
    assert!(colored(&["show", TILED, "--color", "always"], &[]));
    assert!(colored(&["show", TILED, "--color", "always"], &[("NO_COLOR", "1")]));
    assert!(colored(&["show", TILED], &[("CLICOLOR_FORCE", "1")]));
    assert!(!colored(&["show", TILED], &[("CLICOLOR_FORCE", "0")]));
    assert!(!colored(&["show", TILED], &[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")]));
    assert!(!colored(&["show", TILED, "--color", "never"], &[("CLICOLOR_FORCE", "1")]));
    assert!(!colored(&["show", TILED, "--json"], &[("CLICOLOR_FORCE", "1")]));
}

#[test]
fn colour_changes_nothing_but_colour() {
    for shape in SHAPES {
        let plain = run(&["show", shape]).stdout;
        let colored = run(&["show", shape, "--color", "always"]).stdout;
        let mut bare = String::new();
        let mut rest = colored.as_str();
        while let Some(at) = rest.find('\u{1b}') {
            bare.push_str(&rest[..at]);
            let end = rest[at..].find('m').expect("an escape sequence ends");
            rest = &rest[at + end + 1..];
        }
        bare.push_str(rest);
        assert_eq!(bare, plain);
    }
}

#[test]
fn shapes_come_from_standard_input_one_a_line() {
    let input = b"# shapes\n\n  f32[2]  \r\nf32[\nf32[\xff]\nF32[3]\n";
    for args in [&["parse"][..], &["parse", "-"]] {
        let Ran { stdout, stderr, code } = run_with(command(args), input);
        assert_eq!(stdout, "f32[2]{0}\nf32[3]{0}\n");
        assert!(stderr.contains("line 4: ") && stderr.contains("line 5: byte 0xff is not UTF-8"), "{stderr}");
        assert_eq!(code, 2);
    }
    let Ran { stdout, code, .. } = run_with(command(&["index", TILED]), b"2,3\n0,0\n");
    assert_eq!((stdout.as_str(), code), ("17\n0\n", 0));
    let Ran { stdout, code, .. } = run_with(command(&["locate", TILED, "-"]), b"17\n9\n");
    assert_eq!((stdout.as_str(), code), ("2,3\npadding: tile 1, dimension 1\n", 0));
    let Ran { stdout, code, .. } =
        run_with(command(&["compare", "f32[6]", "-", "--json"]), b"f32[6]\nf32[7]\n");
    assert_eq!((stdout.lines().count(), code), (2, 1));
}

#[test]
fn options_may_stand_behind_indices_and_offsets() {
    let before = run(&["index", "--json", TILED, "2,3", "0,0"]).stdout;
    assert!(before.starts_with('{') && before.lines().count() == 2, "{before}");
    for args in [
        &["index", TILED, "2,3", "0,0", "--json"][..],
        &["index", TILED, "2,3", "--color", "never", "--json", "0,0"],
    ] {
        let Ran { stdout, stderr, code } = run(args);
        assert_eq!((stdout.as_str(), stderr.as_str(), code), (before.as_str(), "", 0), "{args:?}");
    }
    let before = run(&["locate", "--json", TILED, "17"]).stdout;
    assert_eq!(run(&["locate", TILED, "17", "--json"]).stdout, before);
    assert!(run(&["locate", TILED, "17", "--help"]).stdout.contains("Examples:"));
    let Ran { stderr, code, .. } = run(&["locate", TILED, "17", "--jsn"]);
    assert!(code == 2 && stderr.contains("unexpected argument '--jsn'"), "{stderr}");
    // Numbers may be negative, and behind `--` everything is a value.
    for args in
        [&["locate", TILED, "-1", "--json"][..], &["index", TILED, "--", "-1,2"], &["index", TILED, "-1,2"]]
    {
        let Ran { stdout, stderr, code } = run(args);
        assert!(code == 2 && format!("{stdout}{stderr}").contains("a negative number"), "{args:?}: {stderr}");
    }
    let Ran { stderr, code, .. } = run(&["locate", TILED, "--", "--json"]);
    assert!(code == 2 && stderr.contains("not a number"), "{stderr}");
}

#[test]
fn elements_that_share_places_are_pointed_out() {
    let shown = |text: &str| {
        run(&["show", text]).stdout.contains("The strides overlap: some places have more than one")
    };
    assert!(shown("f32[2,3]{strides(1,1)}") && shown("f32[3,3]{strides(2,2)}"));
    assert!(
        !shown("f32[2,3]{strides(4,1)}")
            && !shown("f32[2,3]{strides(0,1)}")
            && !shown("f32[2,3]{strides(-3,1)}")
    );
}

#[test]
fn every_place_located_is_the_place_of_its_element() {
    let offsets: String = (0..24).map(|offset| format!("{offset}\n")).collect();
    let places = run_with(command(&["locate", TILED]), offsets.as_bytes()).stdout;
    let mut elements = 0;
    for (offset, place) in places.lines().enumerate() {
        if !place.starts_with("padding") {
            assert_eq!(run(&["index", TILED, place]).stdout, format!("{offset}\n"));
            elements += 1;
        }
    }
    assert_eq!(elements, 15);
}

#[test]
fn a_megabyte_of_brackets_and_longer_lines_are_refused() {
    let brackets = vec![b'('; 1 << 20];
    let Ran { stderr, code, .. } = run_with(command(&["show"]), &brackets);
    assert!(code == 2 && stderr.starts_with("error: line 1: ") && stderr.len() < 1000, "{stderr}");
    let longer = [vec![b'('; 5 << 20], b"\nf32[2]\n".to_vec()].concat();
    let Ran { stdout, stderr, code } = run_with(command(&["parse"]), &longer);
    assert_eq!((stdout.as_str(), code), ("f32[2]{0}\n", 2));
    assert!(stderr.contains("line 1: a line longer than 1048576 bytes"), "{stderr}");
}

#[cfg(unix)]
#[test]
fn arguments_that_are_no_text_are_located() {
    use std::os::unix::ffi::OsStringExt;
    let bad = OsString::from_vec(b"f32\xff[2]".to_vec());
    let good = OsString::from("f32[2]");
    let word = |word: &str| OsString::from(word);
    for args in [
        vec![word("show"), bad.clone()],
        vec![word("index"), bad.clone(), word("0")],
        vec![word("index"), good.clone(), bad.clone()],
        vec![word("locate"), good.clone(), bad.clone()],
        vec![word("compare"), good.clone(), bad.clone()],
        vec![word("compare"), bad.clone(), good],
    ] {
        let Ran { stderr, code, .. } = run(&args);
        assert!(code == 2 && stderr.contains("byte 0xff is not UTF-8"), "{stderr}");
    }
}

#[test]
fn exit_codes_are_0_1_and_2() {
    let code = |args: &[&str]| run(args).code;
    assert_eq!(code(&["show", TILED]), 0);
    assert_eq!(code(&["show", TILED, "nonsense", TILED]), 2);
    let pair = ["f32[16,128]{1,0:T(8,128)}", "f32[2048]"];
    for (sense, expected) in [("function", 1), ("buffer", 1), ("reshape", 0), ("transpose", 0)] {
        assert_eq!(code(&["compare", pair[0], pair[1], "--sense", sense]), expected, "{sense}");
    }
    assert_eq!(code(&["compare", pair[0], "nonsense"]), 2);
    assert_eq!(code(&["--help"]), 0);
    assert_eq!(code(&["show", "--help"]), 0);
    assert_eq!(code(&["--version"]), 0);
    assert_eq!(code(&[]), 2);
    assert_eq!(code(&["show", "--nonsense"]), 2);
}

#[test]
fn a_question_not_decided_is_a_no_with_a_note() {
    let pair = ["f32[2,2,2,2,2,5,6]{6,5,4,3,2,1,0:T(2,*,4)}", "f32[2,2,2,2,2,5,6]{6,5,3,4,2,1,0:T(2,*,4)}"];
    let Ran { stdout, stderr, code } = run(&["compare", pair[0], pair[1], "--sense", "transpose"]);
    assert!(stdout.contains("transpose-bitcast  not decided: "), "{stdout}");
    assert!(stderr.starts_with("note: not decided, so the exit code is 1: "), "{stderr}");
    assert_eq!(code, 1);
}

#[test]
fn every_object_is_one_line_of_json_that_keeps_large_numbers() {
    for shape in SHAPES {
        let Ran { stdout, code, .. } = run(&["show", "--json", shape]);
        assert_eq!((stdout.lines().count(), code), (1, 0));
        let object: Value = serde_json::from_str(&stdout).expect("JSON");
        let canonical = run(&["parse", shape]).stdout;
        assert_eq!(object["shape"], canonical.trim_end());
    }
    let huge = "s8[1000000000,1000000000]{0,1:T(8,128)(4,1)}";
    let object: Value = serde_json::from_str(&run(&["show", "--json", huge]).stdout).expect("JSON");
    assert_eq!(object["array"]["layout"]["elements"].as_u64(), Some(1_000_000_000_000_000_000));
    let input = b"f32[2]\nnonsense\nf32[3]\n";
    let Ran { stdout, stderr, code } = run_with(command(&["show", "--json"]), input);
    let objects: Vec<Value> = stdout.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert_eq!((objects.len(), code), (3, 2));
    assert_eq!(
        (objects[1]["error"]["line"].as_u64(), &objects[1]["error"]["span"][0]),
        (Some(2), &Value::from(0))
    );
    assert!(stderr.starts_with("error: line 2: "));
}

#[test]
fn the_documented_objects_are_those_that_are_printed() {
    let document = include_str!("../../../../docs/json.md");
    for args in [
        &["index", "--json", TILED, "2,3"][..],
        &["locate", "--json", TILED, "17", "9"],
        &["parse", "--json", "F32[3,5]{1,0:(2,2)}"],
        &["show", "--json", "f32[3,5]{1,0:T(0,2)}"],
    ] {
        let Ran { stdout, .. } = run(args);
        assert!(document.contains(&stdout), "not in docs/json.md: {stdout}");
    }
    // Each field that can be printed has a row.
    let fields =
        |object: &Value| object.as_object().expect("an object").keys().cloned().collect::<Vec<String>>();
    let shown: Value = serde_json::from_str(&run(&["show", "--json", TILED]).stdout).expect("JSON");
    let compared: Value =
        serde_json::from_str(&run(&["compare", "--json", TILED, TILED]).stdout).expect("JSON");
    let planned: Value = serde_json::from_str(&run(&["plan", "--json", TILED, TILED]).stdout).expect("JSON");
    let suggested = run(&["suggest", "--json", "f32[300000,8,1]{2,1,0:T(8,128)}"]).stdout;
    let suggested: Value = serde_json::from_str(&suggested).expect("JSON");
    for object in [
        &suggested,
        &suggested["given"],
        &suggested["layouts"][0],
        &suggested["arrays"][0],
        &shown,
        &shown["array"],
        &shown["array"]["layout"],
        &shown["array"]["layout"]["causes"][0],
        &compared,
        &compared["moves"],
        &planned,
        &planned["copies"][0],
        &planned["copies"][0]["loops"][0],
    ] {
        for field in fields(object) {
            assert!(document.contains(&format!("`{field}`")), "{field}");
        }
    }
}

#[test]
fn the_readme_shows_what_the_command_prints() {
    let readme = include_str!("../../../../README.md");
    let Ran { stdout, .. } = run(&["show", TILED]);
    assert!(
        readme.contains(&format!("$ tilework show '{TILED}'\n{stdout}")),
        "README.md shows another picture"
    );
}

#[test]
fn a_closed_pipe_ends_it_quietly() {
    let mut child = command(&["show"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it starts");
    drop(child.stdout.take());
    let mut stdin = child.stdin.take().expect("a pipe");
    for _ in 0..10_000 {
        if std::io::Write::write_all(&mut stdin, format!("{TILED}\n").as_bytes()).is_err() {
            break;
        }
    }
    drop(stdin);
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    assert_eq!(output.status.code(), Some(0));
}

#[test]
#[cfg(feature = "completions")]
fn completions_know_every_command() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell", "nushell"] {
        let Ran { stdout, code, .. } = run(&["completions", shell]);
        assert_eq!(code, 0);
        for word in
            ["show", "index", "locate", "parse", "compare", "plan", "suggest", "block", "convert", "bench"]
        {
            assert!(stdout.contains(word), "{word} in {shell}");
        }
    }
}

#[test]
fn every_command_has_help_with_examples() {
    for name in
        ["show", "index", "locate", "parse", "compare", "plan", "block", "convert", "bench", "completions"]
    {
        let Ran { stdout, .. } = run(&[name, "--help"]);
        assert!(stdout.contains("Examples:\n  tilework "), "{name}");
    }
}

#[test]
fn no_shape_takes_long() {
    let ones = format!("f32[{}]", vec!["1"; 256].join(","));
    let stars = format!("f32[64]{{0:T(4){}}}", "(*,2)".repeat(60));
    let most_tiles = format!("f32[3,5]{{1,0:T(2,2){}}}", "(1,1)".repeat(60));
    let tuple = format!("({})", vec![TILED; 2000].join(", "));
    for shape in SHAPES.iter().copied().chain([&*ones, &*stars, &*most_tiles, &*tuple]) {
        // Whoever walks the elements of the largest does not end; `cargo xtask bench show` has the time.
        assert_eq!(run(&["show", shape]).code, 0, "{shape}");
    }
}

#[test]
fn without_a_command_a_shape_is_shown() {
    let shown = run(&["show", TILED]);
    assert_eq!(run(&[TILED]).stdout, shown.stdout);
    assert_eq!(run(&["--width", "80", TILED]).stdout, shown.stdout);
    let mistyped = run(&["shwo", TILED]);
    assert!(
        mistyped.code == 2 && mistyped.stderr.contains("unrecognized subcommand 'shwo'"),
        "{}",
        mistyped.stderr
    );
    assert!(run(&["f32[3"]).stderr.starts_with("error: "));
}

#[test]
fn without_a_command_standard_input_is_read_for_what_it_is() {
    let piped = |text: &str, options: &[&str]| run_with(command(options), text.as_bytes());
    assert_eq!(piped(&format!("# a remark\n{TILED}\n"), &[]).stdout, run(&["show", TILED]).stdout);
    let said = piped("RESOURCE_EXHAUSTED\nit has s32[300000,8]{1,0:T(8,128)}\n", &[]).stdout;
    assert!(said.contains("16 times"), "{said}");
    let checked = piped("{\"DataType\":\"FLOAT16\",\"Sizes\":[5,55],\"Strides\":[9]}", &["--json"]);
    assert_eq!((checked.code, checked.stdout.contains("StridesCount")), (1, true), "{}", checked.stdout);
    assert!(piped("f32[3,5]{1,1}", &[]).stderr.contains("stands twice"));
    // Anything else is looked through, and the names that it defines are put in.
    let prose = piped("step 3: moved f32[3,5]{0,1} to\nmemref<4xi8>, not f32[3,5]{0,1}\n", &[]).stdout;
    assert!(prose.contains("2 different layouts:") && prose.contains("line 2     memref<4xi8>"), "{prose}");
    assert!(
        prose.contains("of f32, 60\u{a0}B; 2 times") || prose.contains("of f32, 60 B; 2 times"),
        "{prose}"
    );
    assert!(prose.contains("formula    (i, j) is at i + 3·j"), "{prose}");
    let defined = "#map = affine_map<(a, b) -> (b, a)>\n%0 = alloc() : memref<4x6xf32, #map>\n";
    let found = piped(defined, &["--json"]).stdout;
    assert!(
        found.starts_with("{\"line\":2,\"start\":51,\"times\":1,\"text\":\"memref<4x6xf32, affine_map"),
        "{found}"
    );
    let nothing = run_with(command(&["find"]), b"there is\nnothing\n");
    assert!(
        nothing.code == 2 && nothing.stderr.contains("no layout stands in this text"),
        "{}",
        nothing.stderr
    );
    // Nothing at all is a question for help.
    assert!(piped("", &[]).code == 2 && piped("", &[]).stderr.contains("Usage:"));
}

#[test]
fn dimensions_have_names_where_they_are_given() {
    let shown = run(&["show", "f16[6,4,2]{1,2,0}", "--axes", "tokens,heads,d"]).stdout;
    for words in [
        "tokens is 6, heads is 4, d is 2",
        "dimension 1 (heads) is the most minor, then 2 (d), 0 (tokens)",
        "(tokens, heads, d) is at 8·tokens + heads + 4·d",
        "heads \\ d",
    ] {
        assert!(shown.contains(words), "{words}: {shown}");
    }
    // A cache of tokens and heads, and one of heads and tokens.
    let caches = ["f16[6,4,2]", "f16[4,6,2]"];
    let names = ["--axes", "NHD", "--axes", "HND"];
    let compared = run(&[&["compare"][..], &caches, &names].concat());
    let words = "N and H change places: N, H, D in A; H, N, D in B";
    assert!(compared.code == 1 && compared.stdout.contains(words), "{}", compared.stdout);
    let object = run(&[&["compare", "--json"][..], &caches, &names].concat()).stdout;
    let fields = r#""axes":["N","H","D"],"in_memory":[["N","H","D"],["H","N","D"]]"#;
    assert!(object.contains(fields), "{object}");
    let planned = run(&[&["plan"][..], &caches, &names].concat()).stdout;
    assert!(planned.contains("24 runs of 4 B"), "{planned}");
    // Without names they are arrays of other sizes.
    assert_eq!(run(&[&["plan"][..], &caches].concat()).code, 2);
    for (wrong, said) in [
        (&["show", "f16[6,4]", "--axes", "N"][..], "each dimension has a name"),
        (&["show", "f16[6,4]", "--axes", "N,N"], "N is there twice"),
        (&["compare", "f16[6,4]", "f16[4,6]", "--axes", "NH", "--axes", "HD"], "the same names"),
        (&["plan", "f16[6]", "f16[6]", "--axes", "N", "--axes", "N", "--axes", "N"], "once for each side"),
    ] {
        let ran = run(wrong);
        assert!(ran.code == 2 && ran.stderr.contains(said), "{wrong:?}: {}", ran.stderr);
    }
}

#[test]
fn braces_that_a_shell_took_apart_are_explained() {
    let cut = run(&["show", "f32[3,5]1", "f32[3,5]0"]);
    assert_eq!(cut.code, 2);
    assert!(cut.stderr.contains("accepted: 'f32[3,5]{1,0}', in quotes"), "{}", cut.stderr);
    assert!(!run(&["show", "f32[3,5]", "f32[3]"]).stderr.contains("quotes"));
}

#[test]
fn a_limit_that_is_passed_is_told_with_how_much_it_is() {
    let text = b"s32[300000,8]{1,0:T(8,128)}";
    let passed = run_with(command(&["audit", "--fail-over", "20%"]), text);
    assert_eq!(
        (passed.code, &*passed.stderr),
        (1, "standard input: 93.8 % of the memory is padding; --fail-over allows 20.0 %\n")
    );
    assert_eq!(run_with(command(&["audit", "--fail-over", "94%"]), text).code, 0);
}

#[test]
fn an_npy_file_is_shown_by_what_its_header_says() {
    let [by_file, by_shape] =
        ["@../../samples/weights.npy", "f32[64,300]{1,0}"].map(|subject| run(&["show", subject]));
    assert_eq!((by_file.code, by_file.stdout), (0, by_shape.stdout));
    for bare in ["../../samples/weights.npy", "no-such.npy"] {
        let ran = run(&["show", bare]);
        assert_eq!(ran.code, 2);
        assert!(ran.stderr.contains(&format!("accepted: @{bare}")), "{}", ran.stderr);
    }
}
