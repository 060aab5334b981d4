//! Every operation on descriptions against the plain set of addresses: index by index, dot product by dot product.

use std::collections::BTreeSet;

use proptest::prelude::*;
use tilework::directml::*;

/// All offsets in index order: the naive reference.
fn addresses(sizes: &[u32], strides: &[u64]) -> Vec<u64> {
    let mut offsets = vec![0];
    for (&size, &stride) in sizes.iter().zip(strides) {
        offsets = offsets.iter().flat_map(|&at| (0..u64::from(size)).map(move |i| at + i * stride)).collect();
    }
    offsets
}

fn places(desc: &BufferTensorDesc) -> Vec<u64> {
    addresses(desc.sizes(), &desc.effective_strides())
}

fn any_type() -> impl Strategy<Value = DataType> {
    (1_u32..=13).prop_map(|number| DataType::from_number(number).unwrap())
}

/// Tensors of up to 256 elements: packed, packed in another order, broadcast, padded, overlapping, with a larger total.
fn any_desc() -> impl Strategy<Value = BufferTensorDesc> {
    let dims =
        proptest::collection::vec((prop_oneof![Just(1_u32), 1..=4_u32], 0..=9_u32, any::<u8>()), 1..=5);
    (any_type(), dims, 0..4_u8, 0..4_u64, any::<bool>()).prop_map(|(data_type, dims, kind, extra, owned)| {
        let sizes: Vec<u32> = dims.iter().take(4).map(|dim| dim.0).collect();
        let desc = BufferTensorDesc::new(data_type, &sizes).unwrap();
        let desc = match kind {
            0 => desc,
            1 => {
                let mut order: Vec<usize> = (0..sizes.len()).collect();
                order.sort_by_key(|&dim| dims[dim].2);
                let mut strides = vec![0; sizes.len()];
                let mut running = 1;
                for dim in order {
                    strides[dim] = running;
                    running *= sizes[dim];
                }
                desc.with_strides(&strides).unwrap()
            }
            _ => desc.with_strides(&dims.iter().take(4).map(|dim| dim.1).collect::<Vec<_>>()).unwrap(),
        };
        let desc = if extra == 0 {
            desc
        } else {
            desc.with_declared_total(desc.minimum_bytes() + 8 * extra).unwrap()
        };
        if owned { desc.with_flags(TensorFlags::OWNED_BY_DML) } else { desc }
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn sizes_and_words_are_those_of_the_set_of_addresses(desc in any_desc()) {
        let all = places(&desc);
        let set: BTreeSet<u64> = all.iter().copied().collect();
        let last = *set.last().unwrap();
        let words = desc.words().unwrap();
        prop_assert_eq!(words.elements, all.len() as u64);
        prop_assert_eq!(words.minimum_elements, last + 1);
        prop_assert_eq!(words.unique, Some(set.len() == all.len()));
        prop_assert_eq!(words.gaps, (set.len() as u64) < last + 1);
        let strides = desc.effective_strides();
        let broadcast: Vec<usize> = (0..desc.rank()).filter(|&dim| desc.sizes()[dim] > 1 && strides[dim] == 0).collect();
        prop_assert_eq!(&words.broadcast_dims, &broadcast);
        let bits = u64::from(desc.data_type().bits());
        let bytes = ((last + 1) * bits).div_ceil(8).next_multiple_of(4);
        prop_assert_eq!(desc.minimum_bytes(), bytes);
        prop_assert_eq!(buffer_size_bytes(desc.data_type(), desc.sizes(), desc.strides()).unwrap(), bytes);
        let slack = if desc.total_bytes() > bytes { desc.total_bytes() * 8 / bits - last - 1 } else { 0 };
        prop_assert_eq!(words.slack, slack);
        prop_assert_eq!(words.packed, set.len() == all.len() && set.len() as u64 == last + 1 && slack == 0);
        // Where nothing overflows, the reference implementation is right.
        if desc.data_type().bits() >= 8 {
            let wrapped = buffer_size_bytes_wrapping_like_directmlx(desc.data_type(), desc.sizes(), desc.strides());
            prop_assert_eq!(wrapped, bytes);
        }
    }

    #[test]
    fn a_layout_holds_the_same_addresses_and_leads_back(desc in any_desc()) {
        let layout = desc.lower().unwrap();
        let mut offsets = Vec::new();
        layout.for_each_in_index_order(|_, offset| offsets.push(offset));
        prop_assert_eq!(&offsets, &places(&desc));
        prop_assert!(layout.bytes() <= desc.total_bytes());
        let lifted = BufferTensorDesc::lift(&layout, desc.data_type()).unwrap();
        prop_assert_eq!(lifted.offset, 0);
        prop_assert!(lifted.desc.same_view(&desc).unwrap().is_yes());
        prop_assert_eq!(places(&lifted.desc), places(&desc));
        // Totals survive but for a half element at the end.
        prop_assert!(lifted.desc.total_bytes() <= desc.total_bytes());
        prop_assert!(desc.total_bytes() - lifted.desc.total_bytes() < 8);
        let again = BufferTensorDesc::lift(&lifted.desc.lower().unwrap(), desc.data_type()).unwrap();
        prop_assert_eq!(again, lifted);
    }

    #[test]
    fn a_view_has_the_addresses_of_the_original_and_a_copy_has_no_strides(
        desc in any_desc(), cuts in proptest::collection::vec(0..8_usize, 1..4)
    ) {
        // Some sizes with the same product.
        let mut rest = desc.elements() as u32;
        let mut sizes = Vec::new();
        for cut in cuts {
            let divisors: Vec<u32> = (1..=rest).filter(|&d| rest.is_multiple_of(d)).collect();
            let size = divisors[cut % divisors.len()];
            sizes.push(size);
            rest /= size;
        }
        sizes.push(rest);
        let all = places(&desc);
        let answer = desc.reshape(&sizes).unwrap();
        let affine = {
            // What strides there would have to be: the offset of each unit index.
            let mut below: u32 = sizes.iter().product();
            let strides: Option<Vec<u64>> = sizes.iter().map(|&size| {
                below /= size;
                if size == 1 { Some(0) } else { all[below as usize].checked_sub(all[0]) }
            }).collect();
            strides.filter(|strides| addresses(&sizes, strides) == all)
        };
        match &answer {
            ViewOrCopy::View(view) => {
                prop_assert_eq!(places(view), all);
                prop_assert_eq!(view.flags(), desc.flags());
                prop_assert_eq!(view.data_type(), desc.data_type());
                prop_assert!(view.total_bytes() <= desc.total_bytes());
                prop_assert!(desc.strides().is_some() || view.strides().is_none());
            }
            ViewOrCopy::Copy(needed) => {
                prop_assert_eq!(affine, None, "{} could be a view", desc);
                let (outer, inner) = needed.dims;
                let strides = desc.effective_strides();
                prop_assert!(outer < inner && desc.sizes()[outer] > 1 && desc.sizes()[inner] > 1);
                prop_assert!(desc.sizes()[outer + 1..inner].iter().all(|&size| size == 1));
                prop_assert_eq!(u128::from(strides[inner]) * u128::from(desc.sizes()[inner]), needed.wanted);
                prop_assert_ne!(u128::from(strides[outer]), needed.wanted);
            }
        }
        // The core finds strides exactly where the pair of dimensions says so.
        let wide: Vec<u64> = sizes.iter().map(|&size| size.into()).collect();
        let strided = desc.lower().unwrap().reshape(&wide).unwrap().to_strides().is_ok();
        prop_assert_eq!(strided, answer.copy().is_none());
        let flat = desc.reshape(&[desc.elements() as u32]).unwrap();
        prop_assert_eq!(flat.copy().cloned(), desc.collapse());
    }

    #[test]
    fn folding_flattening_and_coalescing_keep_the_order_of_the_elements(desc in any_desc(), rank in 1..5_usize) {
        for answer in [desc.fold(rank, Fold::Leading), desc.fold(rank, Fold::Trailing), desc.flatten(rank.min(desc.rank()))] {
            if let ViewOrCopy::View(view) = answer.unwrap() {
                prop_assert_eq!(places(&view), places(&desc));
            }
        }
        let least = desc.coalesce().unwrap();
        prop_assert_eq!(places(&least), places(&desc));
        // No two neighbours are one run any more.
        let strides = least.effective_strides();
        prop_assert!((1..least.rank()).all(|dim| strides[dim - 1] != strides[dim] * u64::from(least.sizes()[dim])));
        prop_assert!(least.rank() == 1 || !least.sizes().contains(&1));
    }

    #[test]
    fn permuting_permutes_indices(desc in any_desc(), keys in proptest::collection::vec(any::<u8>(), 4)) {
        let mut order: Vec<usize> = (0..desc.rank()).collect();
        order.sort_by_key(|&dim| keys[dim]);
        let view = desc.permute(&order).unwrap();
        let layout = desc.lower().unwrap().permute(&order).unwrap();
        prop_assert!(layout.same_function(&view.lower().unwrap()).is_yes());
        prop_assert_eq!(view.total_bytes(), desc.total_bytes());
        let mut back = vec![0; order.len()];
        for (new, &old) in order.iter().enumerate() {
            back[old] = new;
        }
        prop_assert!(view.permute(&back).unwrap().same_view(&desc).unwrap().is_yes());
        // The strides of a transposed output: what is read in one order is written packed in the other.
        let wanted = transpose_as_output_strides(desc.sizes(), &order).unwrap();
        let output = BufferTensorDesc::new(desc.data_type(), desc.sizes()).unwrap().with_strides(&wanted).unwrap();
        let written = output.permute(&order).unwrap();
        prop_assert_eq!(places(&written), (0..desc.elements()).collect::<Vec<_>>());
        let simple = simplify_transpose(desc.sizes(), &order).unwrap();
        let simply = transpose_as_output_strides(&simple.sizes, &simple.order).unwrap();
        let wide: Vec<u64> = simply.iter().map(|&stride| stride.into()).collect();
        prop_assert_eq!(addresses(&simple.sizes, &wide), places(&output));
        prop_assert_eq!(simple.order.iter().map(|&axis| simple.sizes[axis]).collect::<Vec<_>>(), simple.out_sizes);
    }

    #[test]
    fn slices_and_sub_views_are_parts_at_an_offset(desc in any_desc(), from in 0..4_u64, step in 1..3_u64) {
        for dim in 0..desc.rank() {
            let size = u64::from(desc.sizes()[dim]);
            let from = from % size;
            let view = desc.slice(dim, from..size, step).unwrap();
            let layout = desc.lower().unwrap().slice(dim, from..size, step).unwrap();
            let mut offsets = Vec::new();
            layout.for_each_in_index_order(|_, offset| offsets.push(offset));
            let found: Vec<u64> = places(&view.desc).iter().map(|at| at + view.offset).collect();
            prop_assert_eq!(found, offsets);
            prop_assert_eq!(view.desc.declared_total(), None);
        }
        let first: Vec<u32> = desc.sizes().iter().map(|&size| from as u32 % size).collect();
        let count: Vec<u32> = desc.sizes().iter().zip(&first).map(|(size, first)| size - first).collect();
        let view = desc.sub_view(&first, &count).unwrap();
        let mut sliced = (desc.clone(), 0);
        for (dim, (&first, &count)) in first.iter().zip(&count).enumerate() {
            let part = sliced.0.slice(dim, first.into()..u64::from(first + count), 1).unwrap();
            sliced = (part.desc, sliced.1 + part.offset);
        }
        prop_assert_eq!(view.offset, sliced.1);
        prop_assert_eq!(places(&view.desc), places(&sliced.0));
    }

    #[test]
    fn broadcasting_repeats_and_more_dimensions_change_nothing(desc in any_desc(), added in 0..3_usize) {
        let mut target: Vec<u32> = vec![2; added];
        target.extend(desc.sizes().iter().map(|&size| if size == 1 { 3 } else { size }));
        let view = desc.broadcast_to(&target, 0).unwrap();
        let wide: Vec<u64> = target.iter().map(|&size| size.into()).collect();
        let layout = desc.lower().unwrap().broadcast(&wide).unwrap();
        prop_assert!(layout.same_function(&view.lower().unwrap()).is_yes());
        prop_assert_eq!(view.minimum_bytes(), desc.minimum_bytes());
        let packed = BufferTensorDesc::new(desc.data_type(), desc.sizes()).unwrap();
        let view = packed.broadcast_to(&target, 0).unwrap();
        for strides in [
            broadcast_strides_like_onnx_runtime(desc.sizes(), &target).unwrap(),
            broadcast_strides_like_tensorflow(desc.sizes(), &target).unwrap(),
        ] {
            prop_assert!(view.with_strides(&strides).unwrap().same_view(&view).unwrap().is_yes());
        }
        prop_assert_eq!(common_sizes(&[desc.sizes(), &target]).unwrap(), target);
        for align in [Align::Leading, Align::Trailing] {
            let more = desc.with_min_rank(desc.rank() + added, align).unwrap();
            prop_assert_eq!(places(&more), places(&desc));
            prop_assert_eq!(more.total_bytes(), desc.total_bytes());
            prop_assert!(more.truncate(desc.rank(), align).unwrap().same_view(&desc).unwrap().is_yes());
        }
        for dim in 0..=desc.rank() {
            let more = desc.unsqueeze(dim).unwrap();
            prop_assert_eq!(places(&more), places(&desc));
            prop_assert!(more.squeeze(&[dim]).unwrap().same_view(&desc).unwrap().is_yes());
        }
        prop_assert_eq!(places(&desc.squeeze(&[]).unwrap()), places(&desc));
    }

    #[test]
    fn collapsed_pairs_are_the_same_broadcast(pairs in proptest::collection::vec((1..4_u32, 0..3_u8), 1..5), short in 0..3_usize) {
        let x: Vec<u32> = pairs.iter().map(|pair| if pair.1 == 1 { 1 } else { pair.0 }).collect();
        let y: Vec<u32> = pairs.iter().map(|pair| if pair.1 == 2 { 1 } else { pair.0 }).skip(short.min(pairs.len())).collect();
        let pair = collapse_pair(&x, &y).unwrap();
        let whole = common_sizes(&[&x, &y]).unwrap();
        let offsets = |sizes: &[u32], target: &[u32]| {
            let strides = broadcast_strides_like_onnx_runtime(sizes, target).unwrap();
            addresses(target, &strides.into_iter().map(u64::from).collect::<Vec<_>>())
        };
        prop_assert_eq!(offsets(&pair.x, &pair.result), offsets(&x, &whole));
        prop_assert_eq!(offsets(&pair.y, &pair.result), offsets(&y, &whole));
    }

    #[test]
    fn low_parts_lie_at_the_start_of_the_whole(desc in any_desc(), narrow in any_type()) {
        match desc.low_parts(narrow) {
            Ok(low) => {
                let parts = u64::from(desc.data_type().bits() / narrow.bits());
                prop_assert_eq!(places(&low), places(&desc).iter().map(|at| at * parts).collect::<Vec<_>>());
                prop_assert!(low.minimum_bytes() <= desc.minimum_bytes());
            }
            Err(_) => prop_assert!(!desc.data_type().bits().is_multiple_of(narrow.bits())),
        }
        if let Ok(emulated) = desc.emulate_64_bit_like_onnx_runtime() {
            prop_assert_eq!(emulated.total_bytes(), desc.minimum_bytes());
            prop_assert_eq!(desc.emulate_64_bit_like_tensorflow().unwrap().total_bytes(), desc.minimum_bytes() - 4);
        }
    }

    #[test]
    fn names_of_layouts_are_those_whose_strides_fit(desc in any_desc()) {
        let names = desc.layout_names();
        for name in ["HW", "WH", "DHW", "WDH", "NCHW", "NHWC", "CHWN"] {
            if name.len() == desc.rank() {
                let strides = order_strides(desc.sizes(), &letters_of(name).unwrap(), name).unwrap();
                let same = desc.with_strides(&strides).is_ok_and(|other| other.same_view(&desc).unwrap().is_yes());
                prop_assert_eq!(names.contains(&name), same, "{}: {}", name, desc);
            }
        }
    }

    #[test]
    fn text_json_and_c_lead_back(desc in any_desc(), power in 3..9_u32) {
        let desc = desc.with_alignment(1 << power).unwrap();
        prop_assert_eq!(&BufferTensorDesc::parse(&desc.to_string()).unwrap(), &desc);
        let found = read_json(&desc.to_json()).unwrap();
        prop_assert_eq!(found.len(), 1);
        prop_assert_eq!(found[0].clone().read().unwrap().build().unwrap(), desc.clone());
        let c = desc.to_c();
        let back = Desc::from_c(&c, desc.sizes(), desc.strides()).unwrap().build().unwrap();
        prop_assert_eq!(back.to_c().TotalTensorSizeInBytes, c.TotalTensorSizeInBytes);
        prop_assert_eq!((back.sizes(), back.strides(), back.flags(), back.alignment()),
            (desc.sizes(), desc.strides(), desc.flags(), desc.alignment()));
    }

    #[test]
    fn anything_can_be_checked_and_legal_values_are_legal(
        number in 0..16_u32, flags in 0..3_u32, count in proptest::option::of(any::<i64>()),
        sizes in proptest::collection::vec(prop_oneof![1..5_i64, Just(0), any::<i64>(), 1..1_i64 << 33], 0..10),
        strides in proptest::option::of(proptest::collection::vec(prop_oneof![0..9_i64, any::<i64>(), 0..1_i64 << 33], 0..10)),
        total in proptest::option::of(prop_oneof![0..100_u64, any::<u64>()]), alignment in prop_oneof![0..40_u64, any::<u64>()],
        offset in prop_oneof![0..100_u64, any::<u64>()], buffer in proptest::option::of(any::<u64>()),
        range in proptest::option::of(any::<u64>()), level in 0..15_usize,
    ) {
        let mut desc = Desc {
            data_type: TypeField::from_number(number), flags, dimension_count: count,
            sizes: sizes.into(), strides: strides.map(Into::into), total, alignment,
        };
        let level = FeatureLevel::all().nth(level).unwrap();
        let binding = Binding { offset, range, buffer };
        let found = check(&desc, level, Some(&binding));
        for violation in &found {
            prop_assert!(!violation.to_string().is_empty() && !violation.limit.is_empty());
            let legal = violation.legal.as_deref().and_then(|legal| legal.parse::<u64>().ok());
            match (violation.rule, legal) {
                (Rule::TotalTensorSizeTooSmall | Rule::TotalTensorSizeNotMultipleOf4, Some(legal)) => desc.total = Some(legal),
                (Rule::GuaranteedBaseOffsetAlignment, Some(legal)) => desc.alignment = legal,
                _ => {}
            }
        }
        let repaired = check(&desc, level, None);
        let of = |rule| repaired.iter().any(|violation: &Violation| violation.rule == rule);
        prop_assert!(!of(Rule::TotalTensorSizeTooSmall) && !of(Rule::TotalTensorSizeNotMultipleOf4));
        prop_assert!(!of(Rule::GuaranteedBaseOffsetAlignment));
        match desc.build() {
            // What is built is right: its numbers can be asked for.
            Ok(built) => {
                prop_assert!(built.total_bytes() >= built.minimum_bytes());
                prop_assert!(built.minimum_bytes().is_multiple_of(4));
                let _ = (built.words(), built.coalesce(), built.layout_names(), remarks(&built, true));
                let _ = built.reshape(&[built.elements().min(u32::MAX.into()) as u32]);
                let _ = (built.with_explicit_strides(), built.emulate_64_bit_like_onnx_runtime());
            }
            Err(error) => prop_assert!(error.field_name().is_some()),
        }
    }

    #[test]
    fn any_text_is_read_or_refused(text in r#"[A-Z0-9a-z\[\], {}":]{0,40}|(FLOAT32|INT8|x) (NHWC )?\[[0-9,]{0,9}\]( (strides|total|flags) [\[\]0-9,]{0,9}){0,3}"#) {
        if let Ok(desc) = Desc::parse(&text) {
            prop_assert_eq!(Desc::parse(&desc.to_string()).unwrap(), desc);
        }
        let _ = read_json(&text);
    }
}
