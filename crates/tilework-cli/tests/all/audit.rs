//! Dumps of a compiler at the command line.

use std::fs;
use std::path::PathBuf;

use crate::common::{Ran, command, run, run_with, seen, words};
use serde_json::Value;

const DUMPS: &str = "../tilework-audit/tests/dumps";

fn snapshot(name: &str, runs: &[&[&str]]) {
    let text: Vec<String> = runs.iter().map(|args| seen(args)).collect();
    let mut settings = insta::Settings::clone_current();
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| insta::assert_snapshot!(name, text.join("\n")));
}

fn dump(name: &str) -> String {
    format!("{DUMPS}/{name}")
}

/// The file of a dump whose name ends so.
fn file(folder: &str, end: &str) -> PathBuf {
    let entries = fs::read_dir(dump(folder)).expect("the folder is there");
    let mut paths = entries.map(|entry| entry.expect("an entry").path());
    paths.find(|path| path.to_string_lossy().ends_with(end)).expect("such a file")
}

#[test]
fn the_report_says_what_matters_first_in_eighty_columns() {
    snapshot("audit_particles", &[&["audit", &dump("particles")]]);
    snapshot(
        "audit_short",
        &[&["audit", "--top", "1", &dump("conv")], &["audit", "--ascii", "--top", "1", &dump("tr")]],
    );
    let told = run(&["audit", "--top", "0", &dump("tr"), "--width", "200"]).stdout;
    assert_eq!(told.trim_end().lines().count(), 2, "{told}");
    for width in [20, 40, 80, 120] {
        let told = run(&["audit", "--width", &width.to_string(), &dump("")]);
        assert!(told.stdout.lines().all(|line| line.chars().count() <= width), "{width}");
    }
}

#[test]
fn a_message_on_standard_input_is_audited() {
    let message = "Ran out of memory in memory space hbm. Used 9.50G of 8.00G hbm. Exceeded hbm capacity by 1.50G.\n\
                   \n  Largest program allocations in hbm:\n\n  1. Size: 4.00G\n     \
                   Shape: s32[1048576,8,4]{2,1,0:T(8,128)}\n     Unpadded size: 128.00M\n     \
                   Extra memory due to padding: 3.88G (32.0x expansion)\n     XLA label: %fusion.1 = s32[1048576]\n";
    let Ran { stdout, code, .. } = run_with(command(&["audit"]), message.as_bytes());
    assert_eq!(code, 0);
    let words = stdout.split_whitespace().collect::<Vec<&str>>().join(" ");
    assert!(words.contains("4 GiB for 128 MiB of data: 3.88 GiB (97 %) are padding"), "{words}");
    assert!(words.contains("without this padding, 5.62 GiB would do"), "{words}");
    assert!(words.contains("dimension 2 is 4, tiled to 128: 32 times"), "{words}");
}

#[test]
fn the_exit_code_says_whether_there_is_too_much_padding() {
    let code = |limit: &str| run(&["audit", &dump("tr"), "--fail-over", limit]).code;
    // 22.5 % of the main memory at the peak is padding.
    assert_eq!((code("22%"), code("23%"), code("22.4"), code("100%")), (1, 0, 1, 0));
    assert_eq!(code("101%"), 2);
    assert_eq!(run(&["audit", &dump(""), "--fail-over", "50%"]).code, 1);
    let Ran { stderr, code, .. } = run(&["audit", "nothing.txt"]);
    assert!(code == 2 && stderr.contains("nothing.txt"), "{stderr}");
    assert_eq!(run(&["audit", "src"]).code, 2);
    assert_eq!(run_with(command(&["audit"]), b"no shapes here\n").code, 2);
    // One path that cannot be read does not keep the others from being told.
    let Ran { stdout, code, .. } = run(&["audit", "nothing.txt", &dump("tr")]);
    assert!(code == 2 && stdout.starts_with("jit_tr: at the peak"), "{stdout}");
}

#[test]
fn objects_say_what_is_documented() {
    let Ran { stdout, code, .. } = run(&["audit", "--json", &dump("")]);
    assert_eq!((code, stdout.lines().count()), (0, 1));
    let found: Value = serde_json::from_str(&stdout).expect("JSON");
    let conv = &found["programs"][0];
    assert_eq!(conv["program"], "jit_conv");
    assert_eq!(conv["peak"]["allocated_bytes"], 422_408_192);
    assert_eq!(conv["spaces"][1]["name"], "vmem");
    let worst = &found["programs"][1]["shapes"][0];
    assert_eq!((&worst["waste_bytes"], &worst["names"][0]), (&144_000_000.into(), &"copy.10".into()));
    assert_eq!(worst["smallest"]["allocated_bytes"], 9_601_024);
    assert_eq!(worst["causes"][0]["from"], 8);
    let documented = fs::read_to_string("../../docs/json.md").expect("the document");
    for list in ["buffers", "moves", "shapes", "spaces", "contradictions", "moved", "peak"] {
        let element = if conv[list].is_array() { &conv[list][0] } else { &conv[list] };
        for field in element.as_object().map(|object| object.keys()).into_iter().flatten() {
            assert!(documented.contains(&format!("`{field}`")), "{list}: {field} is not documented");
        }
    }
    for field in conv.as_object().expect("an object").keys() {
        assert!(documented.contains(&format!("`{field}`")), "{field} is not documented");
    }
}

#[test]
fn the_page_is_whole_and_loads_nothing() {
    let Ran { stdout, code, .. } = run(&["audit", "--html", "--top", "2", &dump("")]);
    assert!(code == 0 && stdout.starts_with("<!doctype html>") && stdout.trim_end().ends_with("</html>"));
    for tag in ["svg", "g", "title", "details", "table", "section", "pre", "text"] {
        let (open, close) = (format!("<{tag}"), format!("</{tag}>"));
        let opened = stdout.split(&open).skip(1).filter(|rest| rest.starts_with([' ', '>'])).count();
        assert_eq!(opened, stdout.matches(&close).count(), "{tag}");
    }
    assert!(!stdout.contains("http:") && !stdout.contains("https:") && !stdout.contains(" src="));
    // One script, which is ours: names in the dump are text.
    assert!(stdout.matches("<script").count() == 1 && stdout.contains("default-src 'none'"));
    let said = stdout.split("<script").next().expect("what is before it");
    assert!(!said.contains("NaN") && !said.contains("inf\""), "a number that is none");
    // Every buffer of the particles' main memory is in the picture over time, however few shapes are told.
    assert!(stdout.contains("slice-start.3{0}\n(f32[300000,3]{0,1:T(4,128)})"), "a small buffer is missing");
}

#[test]
fn two_dumps_are_compared() {
    snapshot(
        "audit_change",
        &[&["audit", "--top", "3", &dump("conv"), &dump("tr")], &["audit", &dump("tr"), &dump("tr")]],
    );
    let Ran { stdout, .. } = run(&["audit", "--json", &dump("conv"), &dump("tr")]);
    let found: Value = serde_json::from_str(&stdout).expect("JSON");
    assert_eq!(found["before"]["programs"][0]["program"], "jit_conv");
    assert_eq!(found["shapes"][0]["before_waste"], 205_520_896);
    // Two files of one program are read together.
    let [a, b] = ["-buffer-assignment.txt", "-live-range.txt"].map(|end| file("tr", end));
    let Ran { stdout, .. } = run(&["audit", &a.to_string_lossy(), &b.to_string_lossy()]);
    assert!(stdout.contains("at the peak"), "{stdout}");
}

#[test]
fn the_table_has_every_buffer() {
    let Ran { stdout, .. } = run(&["audit", "--csv", &dump("particles")]);
    let lines: Vec<&str> = stdout.lines().collect();
    assert_eq!(lines.len(), 74);
    assert!(lines[1].starts_with("jit_particles,copy.10,\"s32[300000,8]{1,0:T(8,128)}\",0,1,153600000,9600000,144000000,true,26,30,"), "{}", lines[1]);
}

#[test]
fn files_are_told_by_what_is_in_them() {
    let text = fs::read(file("tr", "-buffer-assignment.txt")).expect("a file");
    let other = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("some.log");
    fs::write(&other, &text).expect("a file for a test");
    let words = run(&["audit", &other.to_string_lossy()]).stdout;
    let input = run_with(command(&["audit", "-"]), &text).stdout;
    let [words, input] = [words, input].map(|text| text.split_whitespace().collect::<Vec<&str>>().join(" "));
    let said = |text: &str| text.split_once(": ").map(|(_, said)| said.to_owned());
    assert!(words.contains("all buffers together take 2.39 MiB for 1.82 MiB of data"), "{words}");
    assert_eq!(said(&words), said(&input));
}

#[test]
fn a_page_says_what_would_be_and_what_a_change_did() {
    let what_if = run(&["audit", "--html", &dump(""), "--what-if", "{0,1:T(8,128)}"]);
    assert!(
        what_if.code == 0 && what_if.stdout.contains("<pre class=\"change\">What if "),
        "{}",
        what_if.stdout
    );
    let two = run(&["audit", "--html", &dump(""), &dump("particles")]);
    assert!(two.code == 0 && two.stdout.starts_with("<!doctype html>"));
    assert_eq!(
        (two.stdout.matches("<pre class=\"change\">").count(), two.stdout.matches("</html>").count()),
        (1, 1)
    );
}

#[test]
fn every_link_of_a_page_leads_somewhere() {
    let page = run(&["audit", "--html", &dump("")]).stdout;
    let page = page.split("<script").next().expect("what is before it");
    let names: Vec<&str> = page.split("href=\"#").skip(1).filter_map(|rest| rest.split('"').next()).collect();
    assert!(names.len() > 10, "{names:?}");
    for name in names {
        assert_eq!(page.matches(&format!("id=\"{name}\"")).count(), 1, "{name}");
    }
    assert!(!page.contains("tilework.html"), "nobody said where the page in the browser is");
    let mut asked = command(&["audit", "--html", &dump("")]);
    asked.env("TILEWORK_PAGE", "https://example.org/");
    let page = run_with(asked, b"").stdout;
    assert!(page.contains("<a href=\"https://example.org/#1l="), "{page}");
}

#[test]
fn what_if_tells_the_program_as_it_would_be() {
    snapshot(
        "audit_what_if",
        &[
            &["audit", "--top", "2", &dump(""), "--what-if", "{0,1:T(8,128)}"],
            &["audit", &dump("particles"), "--what-if", "{0}", "--what-if", "f32[3]{0:T(128)}"],
            &["audit", &dump("particles"), "--what-if", "f32[2,3]{0}"],
        ],
    );
    let both = ["s32[300000,8]{0,1:T(8,128)}", "f32[300000,8]{0,1:T(8,128)}"];
    let args = ["audit", "--json", &dump("particles"), "--what-if", both[0], "--what-if", both[1]];
    let Ran { stdout, code, .. } = run(&args);
    let found: Value = serde_json::from_str(&stdout).expect("JSON");
    assert_eq!((code, &found["what_if"]), (0, &Value::from(&both[..])));
    assert_eq!(found["before"]["programs"][0]["peak"]["waste_bytes"], 147_310_189);
    assert_eq!(found["after"]["programs"][0]["peak"]["waste_bytes"], 3_311_213);
    // The exit code is about the program as it would be.
    let limited =
        |more: &[&str]| run(&[&["audit", &dump("particles"), "--fail-over", "50%"], more].concat()).code;
    assert_eq!((limited(&[]), limited(&["--what-if", both[0], "--what-if", both[1]])), (1, 0));
}

#[test]
fn a_program_without_tiles_is_told_as_a_machine_lays_it_out() {
    let program = "module @jit_f {\n  %0 = stablehlo.add %a, %b : tensor<2621440x1x2xbf16>\n}\n";
    let told = |args: &[&str]| run_with(command(args), program.as_bytes()).stdout;
    let words = |text: String| text.split_whitespace().collect::<Vec<&str>>().join(" ");
    assert!(
        words(told(&["audit"])).contains("none of") || words(told(&["audit"])).contains("has no padding")
    );
    let tenstorrent = words(told(&["audit", "--target", "tt"]));
    assert!(
        tenstorrent.contains(
            "takes 5 GiB for 10 MiB of data, because dimension 1 is 1, tiled to 32: 32 times, and dimension 2 is 2, \
             tiled to 32: 16 times. 1 shape without tiles is counted as tenstorrent usually lays it out."
        ),
        "{tenstorrent}"
    );
    assert!(words(told(&["audit", "--tile", "T(2,2)"])).contains("takes 20 MiB for 10 MiB of data"));
    let found: Value = serde_json::from_str(&told(&["audit", "--json", "--target", "tt"])).expect("JSON");
    assert_eq!(
        (&found["assumed"]["target"], &found["assumed"]["shapes"]),
        (&"tenstorrent".into(), &1.into())
    );
}

#[test]
#[cfg(feature = "proto")]
fn a_folder_with_serialised_modules_says_what_the_texts_say() {
    let of = |folder: &str, ends: &[&str]| {
        let folder =
            std::env::temp_dir().join(format!("tilework-serialised-{}-{folder}", std::process::id()));
        fs::create_dir_all(&folder).expect("a folder");
        for end in ends {
            let from = dump("../twins/loop") + "/loop" + end;
            fs::copy(from, folder.join(format!("module_0000.jit_loop.after_optimizations{end}")))
                .expect("a copy");
        }
        let report = run(&["audit", "--json", &folder.to_string_lossy()]).stdout;
        let _ = fs::remove_dir_all(&folder);
        serde_json::from_str::<Value>(&report).expect("one object")
    };
    let texts = ["-buffer-assignment.txt", "-live-range.txt", ".txt"];
    let text = of("text", &texts);
    let both = of("both", &[&texts[..], &[".hlo.pb"]].concat());
    assert_eq!(text, both);
    let serialised = of("serialised", &[".hlo.pb"]);
    for field in ["sentence", "total", "peak", "spaces", "shapes", "moved", "sources", "computations"] {
        assert_eq!(text["programs"][0][field], serialised["programs"][0][field], "{field}");
    }
    assert_eq!(serialised["programs"].as_array().map(Vec::len), Some(1));
    assert_eq!(serialised["programs"][0]["buffers"][0]["dump_line"], 0);
}

#[test]
#[cfg(feature = "proto")]
fn what_of_a_serialised_module_cannot_be_read_is_told_by_its_place() {
    let bytes = fs::read(dump("../twins/tr") + "/tr.hlo.pb").expect("the file is there");
    let ran = run_with(command(&["audit", "-"]), &bytes[..700]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(
        ran.stdout.contains("standard input: 1 message at byte (700): the message breaks off"),
        "{}",
        ran.stdout
    );
}

#[test]
fn of_files_that_are_named_the_last_stage_is_read_too() {
    let files: Vec<String> = ["conv", "tr"]
        .iter()
        .flat_map(|folder| {
            let entries = fs::read_dir(dump(folder)).expect("the folder is there");
            entries.map(|entry| entry.expect("an entry").path().to_string_lossy().into_owned())
        })
        .collect();
    assert_eq!(files.len(), 10);
    // A file that is named twice is read once.
    let mut args = vec!["audit", "--json", &files[0]];
    args.extend(files.iter().map(String::as_str));
    let found: Value = serde_json::from_str(&run(&args).stdout).expect("JSON");
    let programs = found["programs"].as_array().expect("a list");
    let names: Vec<&Value> = programs.iter().map(|program| &program["program"]).collect();
    assert_eq!(names, ["jit_conv", "jit_tr"]);
    assert!(programs.iter().all(|program| program["basis"] == "assignment" && !program["peak"].is_null()));
}

#[test]
fn a_machine_that_is_asked_about_says_what_is_too_little() {
    let text = "BufferAssignment:\nallocation 0: size 21474836480, color 0, preallocated-temp:\n \
                value: <1 a @0> (size=21474836480,offset=0): f32[5368709120]{0:T(1024)}\n";
    let told = |target: &str| {
        let Ran { stdout, code, .. } = run_with(command(&["audit", "--target", target]), text.as_bytes());
        assert_eq!(code, 0);
        stdout.split_whitespace().collect::<Vec<&str>>().join(" ")
    };
    let small = told("v5e");
    assert!(small.contains("needs 20 GiB and a device of tpu-v5e has 16 GiB, 4 GiB too little"), "{small}");
    for fits in ["v4", "tpu"] {
        assert!(!told(fits).contains("too little"), "{}", told(fits));
    }
}

#[test]
fn logs_are_compared_tabled_and_never_fail_a_limit() {
    let log = "../../samples/logs/onednn.log";
    let half: String =
        fs::read_to_string(log).expect("is there").lines().take(19).map(|line| format!("{line}\n")).collect();
    let folder = std::env::temp_dir().join(format!("tilework-logs-{}", std::process::id()));
    fs::create_dir_all(&folder).expect("a folder");
    let (after, profile) = (folder.join("after.log"), folder.join("profile.json"));
    fs::write(&after, half).expect("written");
    let after = after.to_string_lossy().into_owned();
    let words = |args: &[&str]| {
        let ran = run(args);
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        (ran.stdout.split_whitespace().collect::<Vec<&str>>().join(" "), ran.stderr)
    };
    let (compared, _) = words(&["audit", log, &after]);
    assert!(compared.contains("reorders fall from 37.9 ms of 83.0 ms to 18.1 ms of 37.7 ms"), "{compared}");
    assert!(compared.contains("reorders 18 → 9, 9 less"), "{compared}");
    // An engine and its profile are parts of one thing, and no before and after.
    fs::write(
        &profile,
        r#"[{"count":1},{"name":"conv1 + relu1","timeMs":9.5,"averageMs":0.095,"percentage":60}]"#,
    )
    .expect("written");
    let (engine, _) = words(&["audit", "../../samples/logs/engine.json", &profile.to_string_lossy()]);
    assert!(engine.contains("4 reformats among 7 operations"), "{engine}");
    fs::remove_dir_all(&folder).expect("removed");
    let table = run(&["audit", "--csv", log]).stdout;
    let lines: Vec<&str> = table.lines().collect();
    assert!(lines[0].starts_with("log,kind,move,count,nanoseconds"), "{table}");
    assert!(
        lines[1].contains(",onednn,,3,10081410,19267584,38535168,0,f32,aBcd16b,8x64x56x56,f32,abcd,"),
        "{table}"
    );
    assert!(lines.iter().all(|line| line.split(',').count() == lines[0].split(',').count()), "{table}");
    let (_, said) = words(&["audit", "--fail-over", "1%", "--top", "0", log]);
    assert!(said.contains("changes no exit code"), "{said}");
}

#[test]
fn the_page_says_what_would_make_the_peak_smaller_and_what_devices_have_alike() {
    let page = run(&["audit", "--html", "--target", "v5e", "../tilework-audit/tests/compiled/kept"]).stdout;
    for words in [
        "What would make the peak smaller",
        "5 arrays of 8 steps of a loop",
        "x and y with 32 in dimension 0",
    ] {
        assert!(page.contains(words), "{words}");
    }
    let folder = std::env::temp_dir().join(format!("tilework-devices-{}", std::process::id()));
    fs::create_dir_all(&folder).expect("a folder");
    let entry = "ENTRY %main (t: f32[5000,130]) -> f32[] {\n  %t = f32[5000,130]{1,0";
    let name = "metadata={op_name=\"t<b>\"}";
    let before = format!(
        "HloModule m, num_partitions=4\n\n{entry}}} parameter(0), sharding={{replicated}}, {name}\n}}\n"
    );
    let after = format!(
        "HloModule m, is_scheduled=true, num_partitions=4\n\n{entry}:T(8,128)}} parameter(0), {name}\n  %c = f32[5000,130]{{0,1:T(8,128)}} copy(%t)\n}}\n"
    );
    for (stage, text) in [("before", before), ("after", after)] {
        fs::write(folder.join(format!("module_0000.m.cl_1.{stage}_optimizations.txt")), text)
            .expect("written");
    }
    let page = run(&["audit", "--html", "--target", "v5e", &folder.to_string_lossy()]).stdout;
    fs::remove_dir_all(&folder).expect("removed");
    assert!(page.contains("Arguments that several of the 4 devices have"), "{page}");
    assert!(page.contains("t&lt;b&gt;: f32[5000,130]") && !page.contains("t<b>"), "{page}");
    // Both sides of the copy are in the main memory: 5000 rows of 256, and 136 of 5120, of 4 bytes.
    let bytes = 4.0 * (5000.0 * 256.0 + 136.0 * 5120.0);
    assert!(page.contains(&format!("at least {:.2}\u{a0}µs", bytes / 819e9 * 1e6)), "{page}");
}

#[test]
fn the_name_of_a_new_file_is_not_taken_for_one_to_read() {
    let ran = run(&["audit", "samples/dump", "--html", "no/such.html"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (2, ""));
    assert!(words(&ran.stderr).contains("accepted: --html > no/such.html"), "{}", ran.stderr);
}

#[test]
fn a_part_of_a_dump_that_has_no_layouts_says_where_they_are() {
    let folder = std::env::temp_dir().join(format!("tilework-part-{}", std::process::id()));
    fs::create_dir_all(&folder).expect("a folder");
    let part = folder.join("module_0.f.after_optimizations-live-range.txt");
    fs::write(&part, "HloLiveRange (max 1):\n  InstructionSequence:\n    0:x\n").expect("a file");
    let ran = run(&["audit", &part.to_string_lossy()]);
    assert_eq!(ran.code, 2);
    assert!(words(&ran.stderr).contains("the folder that it is in"), "{}", ran.stderr);
    fs::remove_dir_all(&folder).expect("it is there");
}

#[test]
fn what_a_message_counts_twice_is_not_told_twice() {
    let message = "Ran out of memory in memory space hbm. Used 21.00G of 15.00G hbm.\n  program 15.00G\n  arguments 6.00G\n\
                   Output size 6.00G; shares 6.00G with arguments.\n  HLO temp 15.00G\n";
    let ran = run_with(command(&["audit"]), message.as_bytes());
    let said = words(&ran.stdout);
    assert!(said.contains("15 GiB temporaries and 6 GiB arguments. "), "{said}");
    // Nothing of it is listed, so it says how to get to know more.
    assert!(said.contains("--xla_dump_to=DIR"), "{said}");
    let said = words(
        &run_with(command(&["audit"]), b"Attempting to allocate 12.50G. There are 9.81G free.; (0x0x0_HBM0)")
            .stdout,
    );
    assert!(said.contains("jax.live_arrays()"), "{said}");
}
