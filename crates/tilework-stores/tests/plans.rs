//! Plans on small random grids, run and counted element by element.

use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

use proptest::prelude::*;
use tilework::{Element, Layout, Result};
use tilework_stores::plan::{Assumed, Between, End, Hold, Pass, Plan, Wanted};
use tilework_stores::run::{Run, share};
use tilework_stores::{Cost, Cut, Form, Grid, Held, Make, Memory, Read, Shards, Write};

/// What a store in memory is asked for, and how many bytes are held at a time.
#[derive(Default)]
struct Count {
    gets: AtomicU64,
    bytes: AtomicU64,
    puts: AtomicU64,
    held: AtomicI64,
    most: AtomicI64,
}

impl Count {
    fn hold(&self, bytes: usize) {
        let held = self.held.fetch_add(bytes as i64, Ordering::SeqCst) + bytes as i64;
        self.most.fetch_max(held, Ordering::SeqCst);
    }
}

struct Counted<'a> {
    store: &'a Memory,
    count: &'a Count,
}

/// Bytes that are counted as long as they live.
struct Live<'a>(Vec<u8>, &'a Count);

impl AsRef<[u8]> for Live<'_> {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

impl Drop for Live<'_> {
    fn drop(&mut self) {
        self.1.held.fetch_sub(self.0.len() as i64, Ordering::SeqCst);
    }
}

impl Read for Counted<'_> {
    fn shards(&self) -> &Shards {
        Read::shards(self.store)
    }

    fn get(&self, piece: u64) -> Result<Held<'_>> {
        let bytes = self.store.piece(piece).expect("a piece that is there");
        self.count.gets.fetch_add(1, Ordering::SeqCst);
        self.count.bytes.fetch_add(bytes.len() as u64, Ordering::SeqCst);
        self.count.hold(bytes.len());
        Ok(Held::kept(Live(bytes, self.count)))
    }
}

impl Write for Counted<'_> {
    fn shards(&self) -> &Shards {
        Read::shards(self.store)
    }

    fn put(&self, piece: u64, make: Make) -> Result<()> {
        assert_eq!(self.store.piece(piece), None, "piece {piece} is written twice");
        self.count.puts.fetch_add(1, Ordering::SeqCst);
        let layout = Read::shards(self.store).layout(piece)?;
        self.count.hold(layout.bytes() as usize);
        let outcome = self.store.put(piece, make);
        self.count.held.fetch_sub(layout.bytes() as i64, Ordering::SeqCst);
        outcome
    }

    fn has(&self, piece: u64) -> Result<bool> {
        self.store.has(piece)
    }
}

/// Which number the element at this index has, never 0.
fn number(sizes: &[u64], index: &[u64]) -> u32 {
    1 + sizes.iter().zip(index).fold(0, |number, (size, at)| number * size + at) as u32
}

/// Compares every place of every piece with what it should hold.
fn check(store: &Memory) {
    let shards = Read::shards(store);
    let sizes = shards.grid().sizes();
    let mut seen = 0;
    for piece in 0..shards.grid().count() {
        let (region, layout) =
            (shards.grid().region(piece).expect("a piece"), shards.layout(piece).expect("a layout"));
        let bytes = store.piece(piece).expect("every piece is written");
        let mut wanted = vec![shards.fill() as u32; layout.size() as usize];
        Layout::row_major(&region.size, 32).expect("small").for_each_in_index_order(|index, _| {
            let whole: Vec<u64> = index.iter().zip(&region.start).map(|(at, start)| at + start).collect();
            wanted[layout.offset(index).expect("within") as usize] = number(&sizes, &whole);
            seen += 1;
        });
        let found: Vec<u32> =
            bytes.chunks(4).map(|four| u32::from_le_bytes(four.try_into().expect("4"))).collect();
        assert_eq!(found, wanted, "piece {piece} of {:?}", shards.grid());
    }
    assert_eq!(seen, sizes.iter().product::<u64>());
}

/// A store with all pieces.
fn filled(shards: Shards) -> Memory {
    let sizes = shards.grid().sizes();
    let store = Memory::new(shards.clone());
    for piece in 0..shards.grid().count() {
        let (region, layout) =
            (shards.grid().region(piece).expect("a piece"), shards.layout(piece).expect("a layout"));
        store
            .put(piece, &mut |bytes| {
                Layout::row_major(&region.size, 32).expect("small").for_each_in_index_order(|index, _| {
                    let whole: Vec<u64> =
                        index.iter().zip(&region.start).map(|(at, start)| at + start).collect();
                    let place = 4 * layout.offset(index).expect("within") as usize;
                    bytes[place..place + 4].copy_from_slice(&number(&sizes, &whole).to_le_bytes());
                });
                Ok(())
            })
            .expect("memory");
    }
    store
}

fn cut(size: u64) -> impl Strategy<Value = Cut> {
    let edges = proptest::collection::btree_set(1..size.max(2), 0..4);
    prop_oneof![
        (1..size + 3).prop_map(move |piece| Cut::every(size, piece).expect("a cut")),
        edges.prop_map(move |inner| {
            let edges = [0].into_iter().chain(inner.into_iter().filter(|&edge| edge < size)).chain([size]);
            Cut::at(edges.collect()).expect("edges that grow")
        }),
    ]
}

/// An array in pieces of 32 bits: row-major, the other way round, or tiled where all pieces have one size.
fn shards(sizes: &[u64]) -> impl Strategy<Value = Shards> + use<> {
    let cuts: Vec<_> = sizes.iter().map(|&size| cut(size)).collect();
    (cuts, 0..4_u8).prop_map(|(cuts, form)| {
        let grid = Grid::new(cuts).expect("small");
        let rank = grid.cuts().len();
        let pieces: Option<Vec<u64>> = grid.cuts().iter().map(Cut::regular).collect();
        let columns: Vec<usize> = (0..rank).collect();
        let columns = move |sizes: &[u64]| Layout::builder(sizes, 32)?.minor_to_major(&columns)?.build();
        let form = match (form, pieces) {
            (0, Some(pieces)) => Form::whole(Layout::row_major(&pieces, 32).expect("small")),
            (1, Some(pieces)) => {
                let tiled = Layout::builder(&pieces, 32)
                    .and_then(|layout| layout.tile(&vec![Some(2); rank])?.build());
                Form::whole(tiled.expect("small"))
            }
            (2, _) => Form::sized(columns),
            _ => Form::rows(32),
        };
        Shards::new(Element::U32, grid, form).expect("layouts of the pieces' sizes").with_fill(0xffff_fff0)
    })
}

fn pair() -> impl Strategy<Value = (Shards, Shards)> {
    proptest::collection::vec(1..9_u64, 1..4).prop_flat_map(|sizes| (shards(&sizes), shards(&sizes)))
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(400) })]

    #[test]
    fn every_element_is_written_once_from_the_right_place_within_the_memory_and_at_the_price(
        (from, to) in pair(),
        room in 0..2000_u64,
        (two, threads, window) in (any::<bool>(), 1..3_usize, 1..300_u64),
    ) {
        let source = filled(from);
        let ends = [Read::shards(&source), &to].map(|shards| {
            let bytes = shards.largest().expect("small").bytes();
            End::new(shards, Cost { memory: bytes, bytes, requests: 1, partial: false, coding: 0 }).expect("small")
        });
        let least = ends[0].cost.memory + ends[1].cost.memory;
        let wanted = Wanted {
            memory: least + room,
            assumed: Assumed { least: 1, ..Assumed::disk(2) },
            between: two.then_some(Between { mapped: false }),
        };
        let plan = Plan::new(&ends[0], &ends[1], &wanted).expect("it fits");
        let text = serde_json::to_string(&plan).expect("a plan is data");
        let plan: Plan = serde_json::from_str(&text).expect(&text);
        let mut stores = vec![source];
        for (number, pass) in plan.passes.iter().enumerate() {
            let shards = match number + 1 == plan.passes.len() {
                true => to.clone(),
                false => Shards::new(Element::U32, pass.to.grid.clone(), Form::rows(32)).expect("rows"),
            };
            prop_assert!(plan.price_of(pass).expect("a price").memory <= plan.memory.into());
            let mut made = None;
            // What the plan holds, and what it does not.
            for hold in [Hold::Sources, Hold::Targets] {
                let pass = &Pass { hold, ..pass.clone() };
                let (count, target) = (Count::default(), Memory::new(shards.clone()));
                let (from, to) = (Counted { store: &stores[number], count: &count }, Counted { store: &target, count: &count });
                let run = Run { pass, from: &from, to: &to, resume: false, window, touched: AtomicU64::new(0) };
                let tasks = pass.tasks().expect("blocks").count();
                // Several parts are the whole.
                for part in 0..3 {
                    run.tasks(share(tasks, part, 3), threads, &|_| {}).expect("it runs");
                }
                check(&target);
                let price = plan.price_of(pass).expect("a price");
                prop_assert_eq!(price.gets, u128::from(count.gets.load(Ordering::SeqCst)));
                prop_assert_eq!(price.puts, u128::from(count.puts.load(Ordering::SeqCst)));
                let read = u128::from(count.bytes.load(Ordering::SeqCst));
                // Padding of pieces of several sizes is counted as that of the largest.
                let is_padded = !pass.from.hangs_over && pass.from.order.is_none();
                prop_assert!(price.read == read || is_padded, "{} bytes read, not {read}", price.read);
                let most = count.most.load(Ordering::SeqCst) as u128;
                prop_assert!(most <= price.memory * threads as u128, "{most} bytes held, not {}", price.memory);
                made = Some(target);
            }
            stores.extend(made);
        }
    }
}

/// A chunk that is held in memory, as one that is decoded.
fn end(sizes: &[u64], pieces: &[u64]) -> Result<End> {
    let shards = Shards::new(
        Element::F32,
        Grid::regular(sizes, pieces)?,
        Form::whole(Layout::row_major(pieces, 32)?),
    )?;
    let bytes = shards.largest()?.bytes();
    End::new(&shards, Cost { memory: bytes, bytes, requests: 1, partial: false, coding: 0 })
}

#[test]
fn terabytes_are_planned_without_listing_their_pieces() -> Result<()> {
    // f32[time, y, x]: images of one time become series of all times. DESIGN.md says what that costs.
    let mut rows: Vec<Vec<String>> = vec![Vec::new(); 5];
    for (sizes, workers, memory) in
        [([1 << 16, 2048, 2048], 64, 4_u64 << 30), ([1 << 20, 4096, 6144], 1000, 8 << 30)]
    {
        let (from, to) = (end(&sizes, &[1, 2048, 2048])?, end(&sizes, &[sizes[0], 4, 4])?);
        let wanted = |between| Wanted { memory, assumed: Assumed::objects(workers), between };
        let one = Plan::new(&from, &to, &wanted(None))?;
        let two = Plan::new(&from, &to, &wanted(Some(Between { mapped: false })))?;
        let (one, price) = (one.price()?, two.price()?);
        let bytes = 4 * sizes.iter().map(|&size| u128::from(size)).product::<u128>();
        assert_eq!((two.passes.len(), price.read, price.written), (2, 2 * bytes, 2 * bytes));
        assert!(one.read > 50 * bytes && one.seconds > 10.0 * price.seconds);
        assert!(price.memory <= memory.into());
        let tera = |bytes: u128| match bytes as f64 / 1e12 {
            tera @ ..10.0 => format!("{tera:.1} TB"),
            tera @ ..1000.0 => format!("{tera:.0} TB"),
            tera => format!("{:.0} PB", tera / 1e3),
        };
        let millions = |count: u128| match count as f64 / 1e6 {
            count @ ..1.0 => format!("{count:.2} M"),
            count => format!("{count:.0} M"),
        };
        let time = |seconds: f64| match seconds {
            ..7200.0 => format!("{:.0} min", seconds / 60.0),
            ..172_800.0 => format!("{:.0} h", seconds / 3600.0),
            _ => format!("{:.0} days", seconds / 86_400.0),
        };
        let between = &two.passes[0].to.grid;
        let piece: u64 = 4 * between.cuts().iter().map(|cut| cut.largest()).product::<u64>();
        let cells = [
            format!("{}, in {}", tera(one.read), time(one.seconds)),
            format!("{} each", tera(price.read)),
            format!("{}, {}", millions(price.gets), millions(price.puts)),
            time(price.seconds),
            format!("{} of {} MiB", millions(between.count().into()), piece >> 20),
        ];
        rows.iter_mut().zip(cells).for_each(|(row, cell)| row.push(cell));
    }
    let said = include_str!("../../../DESIGN.md");
    for row in rows {
        let row = format!("| {} |", row.join(" | "));
        assert!(said.contains(&row), "DESIGN.md has no row that ends in {row}");
    }
    Ok(())
}

#[test]
fn aligned_pieces_need_one_pass_and_nothing_is_read_twice() -> Result<()> {
    let sizes = [1 << 14, 1 << 14];
    let (from, to) = (end(&sizes, &[1 << 10, 1 << 6])?, end(&sizes, &[1 << 6, 1 << 10])?);
    let wanted =
        Wanted { memory: 16 << 20, assumed: Assumed::disk(2), between: Some(Between { mapped: true }) };
    let plan = Plan::new(&from, &to, &wanted)?;
    assert_eq!((plan.passes.len(), plan.price()?.read), (1, 1 << 30));
    // Without room for a block every source piece is read for each of the 16 target pieces that it touches.
    let small = Wanted { memory: 600 << 10, between: None, ..wanted };
    assert_eq!(Plan::new(&from, &to, &small)?.price()?.read, 16 << 30);
    Ok(())
}

#[test]
fn what_no_task_can_hold_is_refused_with_the_numbers() -> Result<()> {
    let (from, to) = (end(&[1 << 20], &[1 << 20])?, end(&[1 << 20], &[1 << 10])?);
    let wanted =
        Wanted { memory: 1 << 20, assumed: Assumed::disk(2), between: Some(Between { mapped: true }) };
    let error = Plan::new(&from, &to, &wanted).expect_err("4 MiB in 1 MiB").to_string();
    assert!(error.contains("a source piece of 4194304") && error.contains("up to 1048576 bytes"), "{error}");
    assert!(Plan::new(&from, &end(&[5], &[5])?, &wanted).is_err());
    Ok(())
}
