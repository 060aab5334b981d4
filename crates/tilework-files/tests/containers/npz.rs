//! npz and npy, as NumPy writes them and as nobody should.

use std::io::Write;

use flate2::write::DeflateEncoder;
use flate2::{Compression, Crc};
use tilework::Element;
use tilework_files::container::{Container, Content, Format};

use crate::common::{Folder, Tested, error, seen, shake};

/// An npy file.
fn npy(descr: &str, fortran_order: &str, shape: &str, data: &[u8]) -> Vec<u8> {
    let text = format!("{{'descr': '{descr}', 'fortran_order': {fortran_order}, 'shape': {shape}, }}");
    let length = (10 + text.len() + 1).next_multiple_of(64) - 10;
    let head = format!("{text:<width$}\n", width = length - 1);
    [b"\x93NUMPY\x01\x00", &(length as u16).to_le_bytes()[..], head.as_bytes(), data].concat()
}

/// A member, and what a liar changes in it.
#[derive(Clone)]
struct Member {
    name: &'static str,
    bytes: Vec<u8>,
    deflated: bool,
    comment: &'static str,
    /// Said instead of the true number of unpacked bytes.
    says: Option<u64>,
    wide: bool,
}

fn member(name: &'static str, bytes: Vec<u8>) -> Member {
    Member { name, bytes, deflated: false, comment: "", says: None, wide: false }
}

/// A zip file, written field by field; `wide` members have their sizes in fields of zip64.
fn zip(members: &[Member]) -> Vec<u8> {
    let (mut out, mut list) = (Vec::new(), Vec::new());
    for member in members {
        let mut crc = Crc::new();
        crc.update(&member.bytes);
        let mut data = member.bytes.clone();
        if member.deflated {
            let mut encoder = DeflateEncoder::new(Vec::new(), Compression::default());
            encoder.write_all(&member.bytes).expect("memory");
            data = encoder.finish().expect("memory");
        }
        let (packed, bytes) = (data.len() as u64, member.says.unwrap_or(member.bytes.len() as u64));
        let start = out.len() as u64;
        let mut extra = Vec::new();
        if member.wide {
            extra.extend([&1_u16.to_le_bytes()[..], &24_u16.to_le_bytes()].concat());
            [bytes, packed, start].iter().for_each(|number| extra.extend(number.to_le_bytes()));
        }
        let number = |number: u64| if member.wide { u32::MAX } else { number as u32 }.to_le_bytes();
        let common = [
            &[20, 0, 0, 0, if member.deflated { 8 } else { 0 }, 0, 0, 0, 0x21, 0][..],
            &crc.sum().to_le_bytes(),
            &number(packed),
            &number(bytes),
            &(member.name.len() as u16).to_le_bytes(),
            &(extra.len() as u16).to_le_bytes(),
        ]
        .concat();
        out.extend([&b"PK\x03\x04"[..], &common, member.name.as_bytes(), &extra, &data].concat());
        list.extend(
            [&b"PK\x01\x02\x14\x00"[..], &common, &(member.comment.len() as u16).to_le_bytes()].concat(),
        );
        list.extend([0; 8]);
        list.extend(number(start));
        list.extend([member.name.as_bytes(), &extra, member.comment.as_bytes()].concat());
    }
    let (start, count) = (out.len() as u64, members.len() as u64);
    out.extend(&list);
    if members.iter().any(|member| member.wide) {
        let end = out.len() as u64;
        out.extend([&b"PK\x06\x06"[..], &44_u64.to_le_bytes(), &[45, 0, 45, 0], &[0; 8]].concat());
        [count, count, list.len() as u64, start].iter().for_each(|number| out.extend(number.to_le_bytes()));
        out.extend([&b"PK\x06\x07"[..], &[0; 4], &end.to_le_bytes(), &[1, 0, 0, 0]].concat());
        out.extend([&b"PK\x05\x06"[..], &[0; 4], &[0xff; 12], &[0; 2]].concat());
    } else {
        let counts = [(count as u16).to_le_bytes(), (count as u16).to_le_bytes()].concat();
        out.extend([&b"PK\x05\x06"[..], &[0; 4], &counts, &(list.len() as u32).to_le_bytes()].concat());
        out.extend([&(start as u32).to_le_bytes()[..], &[0; 2]].concat());
    }
    out
}

fn data(count: usize) -> Vec<u8> {
    (0..count).map(|at| (at * 37 % 251) as u8).collect()
}

#[test]
fn stored_deflated_and_large_members_are_read() -> Tested {
    let folder = Folder::new();
    let array = npy("<f4", "False", "(3, 5)", &data(60));
    let long = npy("|i1", "True", "(500, 40000)", &data(20_000_000));
    for wide in [false, true] {
        let plain = Member { wide, ..member("a.npy", array.clone()) };
        let packed = Member { deflated: true, name: "b.npy", ..plain.clone() };
        // Too large to be unpacked in memory.
        let large = Member { bytes: long.clone(), name: "c/d.npy", ..packed.clone() };
        let note = Member {
            comment: "tilework.layout=bf16[3,5]{1,0:T(2,2)}",
            ..member("n.npy", npy("<V2", "False", "(24,)", &data(48)))
        };
        let mut members = vec![plain, packed, note];
        members.extend(wide.then_some(large));
        let container = Container::open(&folder.write("x.npz", &zip(&members)))?;
        let expected = [
            ("a", "f32[3,5]{1,0}", data(60)),
            ("b", "f32[3,5]{1,0}", data(60)),
            ("n", "bf16[3,5]{1,0:T(2,2)}", data(48)),
            ("c/d", "s8[500,40000]{0,1}", data(20_000_000)),
        ];
        let expected = expected.map(|(name, text, bytes)| (name.to_owned(), text.to_owned(), bytes));
        assert!(seen(&container) == expected[..members.len()], "{wide}");
        assert_eq!(container.format(), Format::Npz);
    }
    Ok(())
}

#[test]
fn what_is_no_array_of_numbers_is_listed_and_never_loaded() -> Tested {
    let folder = Folder::new();
    let members = [
        member("o.npy", npy("|O", "False", "(2,)", b"\x80\x04cos\nsystem\n.")),
        member("u.npy", npy("<U3", "False", "(1,)", &data(12))),
        member("v.npy", npy("<V2", "False", "(2,)", &data(4))),
        member("readme.txt", b"hello".to_vec()),
    ];
    let path = folder.write("x.npz", &zip(&members));
    let whys = |container: &Container| {
        let tensors = container.tensors().iter();
        let all = tensors.map(|tensor| match &tensor.content {
            Content::Unread { why, .. } => why.to_string(),
            other => other.kind().to_owned(),
        });
        all.collect::<Vec<String>>()
    };
    let found = whys(&Container::open(&path)?);
    for (found, expected) in found.iter().zip([
        "objects are pickled",
        "an array is of numbers of one type",
        "its type is known; accepted: --dtype TYPE",
        "in an npz file",
    ]) {
        assert!(found.contains(expected), "{found}");
    }
    assert_eq!(whys(&Container::open_as(&path, Some(Element::Bf16))?)[2], "bf16");
    Ok(())
}

/// The bytes of each number of `width` bytes the other way round.
fn reversed(bytes: &[u8], width: usize) -> Vec<u8> {
    bytes.chunks(width).flat_map(|number| number.iter().rev().copied()).collect()
}

#[test]
fn numbers_with_the_most_significant_byte_first_are_reversed() -> Tested {
    let folder = Folder::new();
    let large = data(20_000_000);
    for deflated in [false, true] {
        let of = |name, descr, shape, width, bytes: &[u8]| Member {
            deflated,
            ..member(name, npy(descr, "False", shape, &reversed(bytes, width)))
        };
        let mut members = vec![
            of("f.npy", ">f4", "(3, 5)", 4, &data(60)),
            of("c.npy", ">c16", "(2,)", 8, &data(32)),
            of("h.npy", ">f2", "(3,)", 2, &data(6)),
            // Too large for memory, and no whole number of the parts that are read.
            of("large.npy", ">i8", "(2500000,)", 8, &large),
            of("b.npy", ">i1", "(3,)", 1, &data(3)),
        ];
        members.push(Member {
            comment: "tilework.layout=f16[3,5]{1,0:T(2,2)}",
            ..of("n.npy", ">f2", "(24,)", 2, &data(48))
        });
        let container = Container::open(&folder.write("x.npz", &zip(&members)))?;
        let expected = [
            ("f", "f32[3,5]{1,0}", &data(60)),
            ("c", "c128[2]{0}", &data(32)),
            ("h", "f16[3]{0}", &data(6)),
            ("large", "s64[2500000]{0}", &large),
            ("b", "s8[3]{0}", &data(3)),
            ("n", "f16[3,5]{1,0:T(2,2)}", &data(48)),
        ];
        let expected = expected.map(|(name, text, bytes)| (name.to_owned(), text.to_owned(), bytes.clone()));
        assert!(seen(&container) == expected, "deflated: {deflated}");
        // The large one is in a file while it is used.
        let memory: Vec<u64> = container.tensors().iter().map(|tensor| container.memory(tensor)).collect();
        assert_eq!(memory, [60, 32, 6, 0, if deflated { 3 } else { 0 }, 48], "deflated: {deflated}");
        assert!(seen(&container) == expected, "a second time, deflated: {deflated}");
    }
    let path = folder.write("w.npy", &npy(">f4", "True", "(3, 5)", &reversed(&data(60), 4)));
    assert_eq!(seen(&Container::open(&path)?), [("w".into(), "f32[3,5]{0,1}".into(), data(60))]);
    Ok(())
}

#[test]
fn a_member_of_another_method_is_the_bytes_that_are_there() -> Tested {
    let folder = Folder::new();
    for name in ["a.npy", "a.txt"] {
        let mut bytes = zip(&[Member { deflated: true, says: Some(5000), ..member(name, data(60)) }]);
        // Bzip2, in the list.
        let list = bytes.windows(4).rposition(|word| word == b"PK\x01\x02").expect("a list");
        bytes[list + 10] = 12;
        let container = Container::open(&folder.write("x.npz", &bytes))?;
        let found = seen(&container);
        assert!(found[0].1.starts_with("unread") && found[0].2.len() < 100, "{found:?}");
    }
    Ok(())
}

#[test]
fn a_zip_file_that_lies_is_refused() {
    let folder = Folder::new();
    let array = member("a.npy", npy("<f4", "False", "(3, 5)", &data(60)));
    let packed = Member { deflated: true, ..array.clone() };
    let bomb = Member { says: Some(1 << 31), ..packed.clone() };
    let other = |name| Member { name, ..array.clone() };
    for (members, expected) in [
        (vec![array.clone(), array.clone()], r#"the member "a.npy" twice"#),
        (vec![bomb], "deflate makes a byte of no more than 1032"),
        (vec![Member { says: Some(200), ..packed.clone() }], "72 bytes follow its header"),
        (vec![Member { says: Some(100), ..packed.clone() }], "the header is within the member"),
        (vec![Member { says: Some(200), ..array.clone() }], "a stored member has the same number"),
        (
            vec![member("a.npy", npy("<f4", "False", "(1000000000000000,)", &[]))],
            "its sizes say 4000000000000000 bytes",
        ),
        (vec![member("a.npy", npy("<f4", "False", "(4294967296, 4294967296)", &[]))], "a.npy"),
        (vec![member("a.npy", b"not npy".to_vec())], "the file does not begin with the bytes"),
        (vec![member("x/data.pkl", b"".to_vec()), other("b")], "a checkpoint of PyTorch"),
    ] {
        let said = error(&folder.write("x.npz", &zip(&members)));
        assert!(said.contains(expected), "{said}");
    }
    // Two members that are the same bytes: the second's place is that of the first.
    let mut same = zip(&[array.clone(), other("b.npy")]);
    let first = same.windows(4).rposition(|word| word == b"PK\x01\x02").expect("a list");
    same[first + 42..first + 46].copy_from_slice(&[0; 4]);
    let said = error(&folder.write("x.npz", &same));
    assert!(said.contains("its own header is there, with the same name"), "{said}");
    // A member within the bytes of another: a small file whose members are all the same large one.
    let inner = zip(&[other("b.npy")]);
    let end = inner.windows(4).position(|word| word == b"PK\x01\x02").expect("a list");
    let inner = &inner[..end];
    let outer = member("a.npy", npy("|u1", "False", &format!("({},)", inner.len()), inner));
    let mut nested = zip(&[outer, other("b.npy")]);
    let place = nested.windows(inner.len()).position(|part| part == inner).expect("it is within") as u32;
    let last = nested.windows(4).rposition(|word| word == b"PK\x01\x02").expect("a list");
    nested[last + 42..last + 46].copy_from_slice(&place.to_le_bytes());
    let said = error(&folder.write("x.npz", &nested));
    assert!(said.contains("no two members share bytes"), "{said}");
    let mut whole = zip(&[array]);
    whole.extend(b"x");
    assert!(error(&folder.write("x.npz", &whole)).contains("without the list of members"));
}

#[test]
fn a_wrong_checksum_is_found_when_the_array_is_read() -> Tested {
    let folder = Folder::new();
    for deflated in [false, true] {
        let array = Member { deflated, ..member("a.npy", npy("<f4", "False", "(3, 5)", &data(60))) };
        let mut bytes = zip(&[array]);
        let list = bytes.windows(4).rposition(|word| word == b"PK\x01\x02").expect("a list");
        bytes[list + 16] ^= 1;
        let container = Container::open(&folder.write("x.npz", &bytes))?;
        let error = container.data(&container.tensors()[0], &folder.0).err().expect("another checksum");
        assert!(error.to_string().contains("the zip file says"), "{error}");
    }
    Ok(())
}

#[test]
fn no_change_of_a_file_makes_it_panic() {
    let array = member("a.npy", npy("<f4", "False", "(2,)", &data(8)));
    let packed = Member { deflated: true, name: "b.npy", comment: "tilework.layout=f32[2]", ..array.clone() };
    shake(&Folder::new(), "x.npz", &zip(&[array.clone(), packed]));
    shake(&Folder::new(), "x.npz", &zip(&[Member { wide: true, ..array }]));
    shake(&Folder::new(), "x.npy", &npy("<f4", "False", "(2,)", &data(8)));
}

#[test]
fn an_npy_file_and_a_folder_of_them_are_containers() -> Tested {
    let folder = Folder::new();
    let path = folder.write("w.npy", &npy("<f4", "True", "(3, 5)", &data(60)));
    assert_eq!(seen(&Container::open(&path)?), [("w".into(), "f32[3,5]{0,1}".into(), data(60))]);
    folder.write("a%2Fb.npy", &npy("<f4", "False", "(24,)", &data(96)));
    folder.write("tilework.json", br#"{"tilework.layout": {"a/b": "f32[3,5]{1,0:T(2,2)}"}}"#);
    let expected = [
        ("a/b".into(), "f32[3,5]{1,0:T(2,2)}".into(), data(96)),
        ("w".into(), "f32[3,5]{0,1}".into(), data(60)),
    ];
    assert_eq!(seen(&Container::open(&folder.0)?), expected);
    folder.write("tilework.json", br#"{"tilework.layout": {"a/b": 1}}"#);
    assert!(error(&folder.0).contains("tilework.json: `1` at byte"));
    Ok(())
}
