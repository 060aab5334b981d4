//! Shardings against what JAX says of them, and those that are refused.

use tilework::Result;
use tilework::sharding::{Mesh, Sharding};

/// What JAX 0.10.2 says of random specs: mesh | spec | sizes | what it hands XLA | where the part of each device starts
/// (`NamedSharding.devices_indices_map`).
const CASES: &str = include_str!("shardings.txt");

fn numbers(text: &str) -> Vec<u64> {
    text.split(',').map(|number| number.trim().parse().expect("a number")).collect()
}

/// The parts of all devices.
fn parts(sharding: &Sharding, sizes: &[u64], devices: u64) -> Result<Vec<(Vec<u64>, Vec<u64>)>> {
    let part =
        |device| Ok(sharding.part(sizes, device)?.map(|part| (part.start, part.size)).expect("a device"));
    (0..devices).map(part).collect()
}

#[test]
fn jax_places_the_same_parts_and_hands_xla_the_same_text() -> Result<()> {
    for line in CASES.lines() {
        let [mesh, spec, sizes, hlo, starts] = line.split('|').collect::<Vec<_>>()[..] else {
            panic!("{line}")
        };
        let (mesh, sizes) = (Mesh::parse(mesh.trim())?, numbers(sizes));
        let sharding = Sharding::parse(spec.trim(), Some(&mesh))?;
        assert_eq!(sharding.to_string(), hlo.trim(), "{line}");
        let named: Vec<String> = mesh.axes().iter().map(|(name, size)| format!("'{name}': {size}")).collect();
        let printed = format!(
            "NamedSharding(mesh=Mesh({}, axis_types=(Auto,)), spec={}, memory_kind=device)",
            named.join(", "),
            spec.trim()
        );
        assert_eq!(Sharding::parse(&printed, None)?, sharding, "{line}");
        assert_eq!(sharding.uneven(&sizes)?, None);
        let starts: Vec<Vec<u64>> = starts.split_whitespace().map(numbers).collect();
        assert_eq!(sharding.devices(), Some(starts.len() as u64), "{line}");
        let found = parts(&sharding, &sizes, mesh.devices())?;
        for (device, (start, size)) in found.iter().enumerate() {
            assert_eq!(
                (start, size),
                (&starts[device], &sharding.part_sizes(&sizes)?),
                "{line}: device {device}"
            );
        }
        // The text for XLA says the same, but for how many devices have all of an array.
        let again = Sharding::parse(hlo.trim(), None)?;
        assert_eq!(again.to_string(), hlo.trim());
        assert_eq!(parts(&again, &sizes, mesh.devices())?, found, "{line}");
        // Each part is held by those devices that have it.
        for place in places(&sharding.parts(sizes.len())?) {
            let holders = sharding.holders(&place)?;
            assert_eq!(
                holders.len() as u64,
                mesh.devices() / sharding.parts(sizes.len())?.iter().product::<u64>()
            );
            for device in holders {
                let at: Vec<u64> =
                    place.iter().zip(sharding.part_sizes(&sizes)?).map(|(at, each)| at * each).collect();
                assert_eq!(found[device as usize].0, at, "{line}");
            }
        }
    }
    Ok(())
}

/// All indices of these sizes.
fn places(sizes: &[u64]) -> Vec<Vec<u64>> {
    sizes.iter().fold(vec![vec![]], |before, &size| {
        before.iter().flat_map(|place| (0..size).map(|at| [&place[..], &[at]].concat())).collect()
    })
}

#[test]
fn xla_texts_are_read_and_printed() -> Result<()> {
    for (text, printed) in [
        ("{devices=[2,4]<=[8]}", "{devices=[2,4]<=[8]}"),
        ("{devices=[4,2]<=[2,4]T(1,0)}", "{devices=[4,2]<=[2,4]T(1,0)}"),
        ("{devices=[4,2]<=[2,1,2,2]T(2,3,1,0)}", "{devices=[4,2]<=[2,4]T(1,0)}"),
        ("{devices=[2,2]3,1,2,0}", "{devices=[2,2]3,1,2,0}"),
        (
            "{devices=[2,1,2]0,1,2,3 last_tile_dim_replicate}",
            "{devices=[2,1,2]0,1,2,3 last_tile_dim_replicate}",
        ),
        (
            "{devices=[2,1,4]<=[8] last_tile_dims={replicated}}",
            "{devices=[2,1,4]<=[8] last_tile_dim_replicate}",
        ),
        ("sharding={replicated}, ", "{replicated}"),
        ("{maximal device=3}", "{maximal device=3}"),
        ("{devices=[2]<=[2] metadata={op_name=\"a}\"}}", "{devices=[2]<=[2]}"),
        ("{devices=[1]<=[1]}", "{devices=[1]<=[1]}"),
    ] {
        let sharding = Sharding::parse(text, None)?;
        assert_eq!(sharding.to_string(), printed, "{text}");
        assert_eq!(Sharding::parse(printed, None)?, sharding);
    }
    let listed = Sharding::parse("{devices=[2,1,2]3,1,2,0 last_tile_dim_replicate}", None)?;
    let part = listed.part(&[4, 4], 2)?.expect("a device");
    assert_eq!((part.start, part.size, part.copy), (vec![2, 0], vec![2, 4], 0));
    assert_eq!((listed.holders(&[0, 0])?, listed.part(&[4, 4], 4)?), (vec![3, 1], None));
    Ok(())
}

#[test]
fn no_list_is_made_of_more_devices_than_memory_holds() -> Result<()> {
    let mesh = Mesh::parse("x=4000000000000")?;
    for text in ["P()", "{devices=[1,4000000000000]<=[4000000000000] last_tile_dim_replicate}"] {
        let sharding = Sharding::parse(text, Some(&mesh))?;
        let error = sharding.holders(&vec![0; sharding.rank().unwrap_or(1)]).expect_err("too many");
        assert_eq!(error.found(), "a part on 4000000000000 devices", "{text}");
    }
    Ok(())
}

#[test]
fn parts_of_sizes_that_do_not_divide_are_rounded_up() -> Result<()> {
    let sharding = Sharding::parse("{devices=[4]<=[4]}", None)?;
    let of = |size| -> Result<Vec<u64>> {
        Ok(parts(&sharding, &[size], 4)?.into_iter().map(|(_, size)| size[0]).collect())
    };
    assert_eq!(
        (of(10)?, of(5)?, of(1)?, of(0)?),
        (vec![3, 3, 3, 1], vec![2, 2, 1, 0], vec![1, 0, 0, 0], vec![0; 4])
    );
    assert_eq!(sharding.uneven(&[10])?, Some((0, 10, 4)));
    Ok(())
}

#[test]
fn what_is_no_sharding_is_refused_where_it_goes_wrong() {
    let mesh = Mesh::parse("x=2,y=4").expect("a mesh");
    for (text, at, found) in [
        ("{devices=[2,4]<=[9]}", 14, "9 devices for 8 parts"),
        ("{devices=[2,4]}", 14, "unexpected `}`"),
        ("{devices=[2,2]0,1,2,2}", 14, "device 2 twice"),
        ("{devices=[2,2]0,1,2}", 14, "3 devices for 4 parts"),
        ("{devices=[0]<=[0]}", 9, "no parts"),
        ("{devices=[2,4]<=[2,4]T(0,0)}", 22, "the order [0, 0]"),
        ("{devices=[9223372036854775807,9]<=[8]}", 9, "more devices"),
        ("{devices=[99999999999999999999]<=[8]}", 10, "does not fit"),
        ("{devices=[2,4]<=[8] last_tile_dims={manual}}", 36, "a last dimension that is `manual`"),
        ("{manual}", 1, "{manual} says no parts"),
        ("{{replicated}, {replicated}}", 1, "unexpected `{`"),
        ("{maximal device=x}", 16, "unexpected `x`"),
        ("{replicated", 11, "the sharding ends here"),
        ("{replicated} {", 13, "unexpected `{`"),
        ("{devices=[2]<=[2] metadata={", 27, "unexpected `{`"),
        ("P('x', 'q')", 7, "there is no axis `q` in the mesh x=2,y=4"),
        ("P('x', ('y', 'x'))", 13, "axis `x` a second time"),
        ("P(3)", 2, "this is no axis"),
        ("P('x', unreduced={'y'})", 17, "an argument that is no dimension"),
        ("P(P.UNCONSTRAINED)", 2, "a dimension that the compiler may cut"),
        ("Q('x')", 0, "this is no sharding"),
        ("P('x'", 5, "the text ends here"),
        ("NamedSharding(mesh=Mesh('x': 0), spec=P('x'))", 29, "this is no size"),
        ("NamedSharding(spec=P('x'))", 0, "no mesh is said"),
        ("", 0, "this is no sharding"),
    ] {
        let error = Sharding::parse(text, Some(&mesh)).expect_err(text);
        assert!(error.found().contains(found), "{text}: {error}");
        assert_eq!(error.span().map(|span| span.start), Some(at), "{text}: {error}");
    }
    assert!(Sharding::parse("P('x')", None).is_err_and(|error| error.to_string().contains("x=2,y=4")));
    for (text, at) in [
        ("", 0),
        ("x", 1),
        ("x=", 2),
        ("x=0", 0),
        ("x=2,x=2", 4),
        ("x=2,", 4),
        ("x=9999999999,y=9999999999", 13),
    ] {
        let error = Mesh::parse(text).expect_err(text);
        assert_eq!(error.span().map(|span| span.start), Some(at), "{text}: {error}");
    }
    let sharding = Sharding::parse("P('x')", Some(&mesh)).expect("a sharding");
    assert!(sharding.part(&[4, 4], 0).is_err());
    assert_eq!(
        sharding.widened(2).map(|wide| wide.to_string()),
        Ok("{devices=[2,1,4]<=[8] last_tile_dim_replicate}".into())
    );
    assert!(Sharding::parse("P('x', 'y')", Some(&mesh)).is_ok_and(|sharding| sharding.widened(1).is_err()));
}
