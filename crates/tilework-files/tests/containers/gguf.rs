//! GGUF.

use tilework_copy::Inline;
use tilework_files::container::{Blocks, Change, Container, Content, Format, How, Job, Target, write};

use crate::common::{Folder, Tested, error, seen, shake};

/// A header that is written piece by piece, and the data behind it.
struct File {
    head: Vec<u8>,
    version: u32,
    tensors: u64,
    pairs: u64,
    alignment: usize,
}

impl File {
    fn new() -> File {
        File { head: Vec::new(), version: 3, tensors: 0, pairs: 0, alignment: 32 }
    }

    fn text(&mut self, text: &str) {
        self.head.extend((text.len() as u64).to_le_bytes());
        self.head.extend(text.as_bytes());
    }

    /// A key and its value, as the bytes of the file.
    fn pair(mut self, key: &str, kind: u32, value: &[u8]) -> File {
        self.text(key);
        self.head.extend([&kind.to_le_bytes()[..], value].concat());
        self.pairs += 1;
        self
    }

    fn said(self, key: &str, text: &str) -> File {
        self.pair(key, 8, &[&(text.len() as u64).to_le_bytes()[..], text.as_bytes()].concat())
    }

    /// `sizes` have the most minor first.
    fn tensor(mut self, name: &str, sizes: &[u64], kind: u32, offset: u64) -> File {
        self.text(name);
        self.head.extend((sizes.len() as u32).to_le_bytes());
        sizes.iter().for_each(|size| self.head.extend(size.to_le_bytes()));
        self.head.extend([&kind.to_le_bytes()[..], &offset.to_le_bytes()].concat());
        self.tensors += 1;
        self
    }

    fn bytes(&self, data: &[u8]) -> Vec<u8> {
        let counts = [self.tensors.to_le_bytes(), self.pairs.to_le_bytes()].concat();
        let mut out = [b"GGUF", &self.version.to_le_bytes()[..], &counts, &self.head].concat();
        out.resize(out.len().next_multiple_of(self.alignment), 0);
        out.extend(data);
        out
    }
}

fn data(count: usize) -> Vec<u8> {
    (0..count).map(|at| (at * 37 % 251) as u8).collect()
}

#[test]
fn elements_and_blocks_are_read_with_their_sizes() -> Tested {
    let folder = Folder::new();
    let strings =
        [&8_u32.to_le_bytes()[..], &2_u64.to_le_bytes(), &1_u64.to_le_bytes(), b"a", &0_u64.to_le_bytes()];
    for version in [2, 3] {
        let mut file = File::new()
            .said("general.name", "tiny")
            .pair("general.alignment", 4, &64_u32.to_le_bytes())
            .pair("tokens", 9, &strings.concat())
            .pair("floats", 9, &[&6_u32.to_le_bytes()[..], &1_u64.to_le_bytes(), &[0; 4]].concat())
            .pair("eps", 6, &1.5_f32.to_le_bytes())
            .pair("small", 1, &[0xff])
            .said("tilework.layout.n", "f32[3,5]{1,0:T(2,2)}")
            .tensor("w", &[5, 3], 0, 0)
            .tensor("q", &[64, 2], 2, 64)
            .tensor("k", &[256], 12, 192)
            .tensor("n", &[24], 0, 384)
            .tensor("old", &[4], 4, 512);
        (file.version, file.alignment) = (version, 64);
        let data = data(516);
        let container = Container::open(&folder.write("x.gguf", &file.bytes(&data)))?;
        let expected = [
            ("w", "f32[3,5]{1,0}", 0..60),
            ("q", "q4_0[2,64]", 64..64 + 72),
            ("k", "q4_K[256]", 192..192 + 144),
            ("n", "f32[3,5]{1,0:T(2,2)}", 384..480),
            ("old", "unread type 4", 512..516),
        ];
        let expected = expected.map(|(name, text, at)| (name.to_owned(), text.to_owned(), data[at].to_vec()));
        assert_eq!(seen(&container), expected);
        let pairs = [
            "general.name=tiny",
            "general.alignment=64",
            "tokens=2 values",
            "floats=1 values",
            "eps=1.5",
            "small=-1",
        ];
        let found: Vec<String> =
            container.metadata().iter().map(|(key, value)| format!("{key}={value}")).collect();
        assert_eq!(found, pairs);
        assert_eq!(container.format(), Format::Gguf);
    }
    Ok(())
}

#[test]
fn a_file_that_lies_is_refused_with_place_and_rule() {
    let folder = Folder::new();
    let with = |change: fn(&mut File)| {
        let mut file = File::new().tensor("w", &[5, 3], 0, 0);
        change(&mut file);
        file
    };
    let list = |kind: u32, count: u64| [&kind.to_le_bytes()[..], &count.to_le_bytes()].concat();
    let deep: Vec<u8> = (0..100).flat_map(|_| list(9, 1)).collect();
    for (file, expected) in [
        (with(|file| file.version = 1), "version 1 of GGUF; 2 or 3"),
        (with(|file| file.version = 3_u32.swap_bytes()), "most significant byte first"),
        (with(|file| file.tensors = 1 << 60), "1152921504606846976 tensors, at byte 8"),
        (
            with(|file| file.tensors = 2),
            r#"tensor "w" ends at byte 156 of the file, and "" begins at byte 96"#,
        ),
        (with(|file| file.pairs = 1 << 62), "pairs of keys and values, at byte 16"),
        (File::new().tensor("w", &[5, 4], 0, 0), "80 bytes from byte"),
        (File::new().tensor("w", &[1 << 40, 1 << 40], 0, 0), r#"tensor "w""#),
        (File::new().tensor("w", &[1 << 40, 1 << 40, 0], 2, 0), r#"tensor "w""#),
        (File::new().tensor("w", &[33], 2, 0), "a block has 32 elements, and a row whole blocks"),
        (File::new().tensor("w", &[1; 5], 0, 0), "5 dimensions; ggml has up to 4"),
        (File::new().tensor("w", &[1], 0, 16), "tensors begin at multiples of 32"),
        (File::new().tensor("w", &[1], 0, 1 << 40), "every tensor is within the file"),
        (File::new().tensor("w", &[1], 0, u64::MAX - 31), "every tensor is within the file"),
        (File::new().tensor("w", &[9], 0, 0).tensor("v", &[1], 0, 32), "no two tensors share bytes"),
        (File::new().tensor("w", &[1], 0, 0).tensor("w", &[1], 0, 32), r#"tensor "w" twice"#),
        (File::new().said("a", "b").said("a", "b"), r#"the key "a" twice"#),
        (File::new().pair("a", 13, &[]), "types of values are 0 to 12"),
        (File::new().pair("a", 9, &list(13, 0)), "types of values are 0 to 12"),
        (File::new().pair("a", 9, &list(0, 1 << 50)), "values of a list"),
        (File::new().pair("a", 9, &deep), "lists within each other"),
        (File::new().pair("general.alignment", 4, &[3, 0, 0, 0]), "a power of two"),
        (File::new().pair("general.alignment", 4, &[0; 4]), "a power of two"),
        (File::new().pair("a", 8, &(1_u64 << 62).to_le_bytes()), "the header is within the file"),
        (File::new().said("tilework.layout.w", "f32[4]").tensor("w", &[15], 0, 0), "its note"),
    ] {
        let said = error(&folder.write("x.gguf", &file.bytes(&data(60))));
        assert!(said.contains(expected), "{expected}: {said}");
    }
}

#[test]
fn no_change_of_a_file_makes_it_panic() {
    let file = File::new()
        .said("a", "b")
        .pair("general.alignment", 4, &8_u32.to_le_bytes())
        .pair("l", 9, &[&1_u32.to_le_bytes()[..], &3_u64.to_le_bytes(), b"abc"].concat())
        .said("tilework.layout.w", "f32[2,1]{0,1}")
        .tensor("w", &[2], 0, 0)
        .tensor("q", &[32], 2, 8);
    shake(&Folder::new(), "x.gguf", &File { alignment: 8, ..file }.bytes(&data(8 + 18)));
}

#[test]
fn mixed_rows_go_into_every_format_and_come_back() -> Tested {
    let folder = Folder::new();
    // 16 rows of 2 blocks.
    let bytes = File::new().tensor("w", &[64, 16], 2, 0).bytes(&data(16 * 2 * 18));
    let source = Container::open(&folder.write("x.gguf", &bytes))?;
    let tensor = &source.tensors()[0];
    let Content::Blocks(plain) = &tensor.content else { return Err("no blocks".into()) };
    for name in ["q4_0_4x4", "q4_0_4x8", "q4_0_8x8"] {
        for (format, file) in
            [(Format::Gguf, "m.gguf"), (Format::Npz, "m.npz"), (Format::Safetensors, "m.safetensors")]
        {
            let write_as = |from: &Container,
                            to: Blocks,
                            format,
                            file: &str|
             -> Result<Container, Box<dyn std::error::Error>> {
                let jobs = [Job { name: "w".into(), tensor: &from.tensors()[0], change: Change::Repack(to) }];
                let target = Target { format, folder: None, transposed: false };
                let how = How { pool: &Inline, memory: Some(1), check: true, progress: &|_| {} };
                write(from, &jobs, &target, &folder.0.join(file), &how)
                    .map_err(|error| format!("{error:?}"))?;
                Ok(Container::open(&folder.0.join(file))?)
            };
            let mixed = write_as(&source, plain.named(name)?, format, file)?;
            let found = seen(&mixed);
            assert_eq!(found[0].1, format!("{name}[16,64]"));
            assert!(found[0].2 != data(16 * 2 * 18));
            let Content::Blocks(own) = &mixed.tensors()[0].content else { return Err("no blocks".into()) };
            let back = write_as(&mixed, own.named("q4_0")?, Format::Gguf, "back.gguf")?;
            assert_eq!(seen(&back), seen(&source), "{name} {file}");
            assert!(Blocks::named(own, "q4_1_8x8").is_err() && Blocks::named(own, "q4_0_3x3").is_err());
        }
    }
    let few = File::new().tensor("w", &[32, 6], 2, 0).bytes(&data(6 * 18));
    let few = Container::open(&folder.write("x.gguf", &few))?;
    let Content::Blocks(blocks) = &few.tensors()[0].content else { return Err("no blocks".into()) };
    let error = blocks.named("q4_0_4x4").expect_err("6 rows").to_string();
    assert!(error.contains("6 rows for q4_0_4x4[6,32]"), "{error}");
    Ok(())
}
