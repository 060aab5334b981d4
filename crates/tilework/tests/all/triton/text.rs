//! Texts: names, spellings, what is refused, and the words about what is read.

use tilework::dialect::{self, Confidence, Described, Known, Reading};
use tilework::triton::{Side, Type};
use tilework::{Element, Result};

use super::parse;

#[test]
fn registers_have_the_hardwares_names() {
    let blocked = "#ttg.blocked<{sizePerThread = [1], threadsPerWarp = [4], warpsPerCTA = [4], order = [0]}>";
    let said = tilework::dialect::read_one(&format!("tensor<16xf32, {blocked}>")).unwrap();
    let names = said.axes().expect("it has names").to_string();
    assert_eq!(names, "block,warp,lane,register");
    let layout = said.layout().unwrap();
    assert_eq!(layout.rank(), 4);
    assert_eq!(said.axes().unwrap().in_formula(&layout.formula()), "4·warp + lane");
    let memory = "tensor<4x8xf32, #ttg.shared_linear<{offset = [[0, 1], [0, 2], [0, 4], [1, 2], [2, 4]]}, alignment = 16>>";
    assert!(tilework::dialect::read_one(memory).unwrap().axes().is_none());
}

#[test]
fn a_type_says_what_it_is_a_type_of() {
    let blocked =
        "blocked<{sizePerThread = [1, 2], threadsPerWarp = [8, 4], warpsPerCTA = [1, 1], order = [1, 0]}>";
    let swizzled = "swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>";
    for (text, dims, element, side, name) in [
        (
            format!("tensor<16x8xf16, #ttg.{blocked}>"),
            [16, 8],
            Element::F16,
            Some(Side::Registers),
            "blocked",
        ),
        (
            format!("!ttg.memdesc<8x32xi8, #ttg.{swizzled}, #ttg.shared_memory>"),
            [8, 32],
            Element::S8,
            Some(Side::Memory),
            "swizzled_shared",
        ),
    ] {
        let found = parse(&text);
        assert_eq!((found.dims(), found.element()), (&dims[..], element), "{text}");
        assert_eq!((found.side(), found.encoding_name()), (side, name), "{text}");
    }
}

#[test]
fn older_texts_mean_what_newer_ones_do() -> Result<()> {
    let same = [
        (
            "tensor<64x128xf16, #triton_gpu.blocked<{sizePerThread = [8, 1], threadsPerWarp = [8, 4], warpsPerCTA = [1, 4], order = [0, 1], CTAsPerCGA = [1, 2], CTASplitNum = [1, 2], CTAOrder = [1, 0]}>>",
            "tensor<64x128xf16, #ttg.blocked<{sizePerThread = [8, 1], threadsPerWarp = [8, 4], warpsPerCTA = [1, 4], order = [0, 1], CGALayout = [[0, 1]]}>>",
        ),
        (
            // Four blocks for two pieces: CTADuplication in LinearLayoutConversionsTest.cpp.
            "tensor<32xf16, #triton_gpu.blocked<{sizePerThread = [1], threadsPerWarp = [4], warpsPerCTA = [4], order = [0], CTAsPerCGA = [4], CTASplitNum = [2], CTAOrder = [0]}>>",
            "tensor<32xf16, #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [4], warpsPerCTA = [4], order = [0], CGALayout = [[1], [0]]}>>",
        ),
        (
            "tensor<64x64xf16, #triton_gpu.shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0], hasLeadingOffset = false}>>",
            "tensor<64x64xf16, #ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}>>",
        ),
        (
            "!tt.memdesc<64x128xf16, #triton_gpu.shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [0, 1], hasLeadingOffset = true}>>",
            "!ttg.memdesc<64x128xf16, #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = true, elementBitWidth = 16}>, #ttg.shared_memory>",
        ),
        (
            "tensor<64x64xf32, #triton_gpu.amd_mfma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [2, 2], instrShape = [32, 32], isTransposed = false}>>",
            "tensor<64x64xf32, #ttg.amd_mfma<{version = 2, warpsPerCTA = [2, 2], instrShape = [32, 32, 8], isTransposed = false}>>",
        ),
    ];
    for (older, newer) in same {
        let [older, newer] = [parse(older), parse(newer)];
        assert_eq!(older.linear_layout()?, newer.linear_layout()?, "{older}");
        assert_eq!(older.lower()?, newer.lower()?);
        assert_eq!(parse(&older.to_string()), older);
    }
    Ok(())
}

#[test]
fn elements_are_mlirs_types_and_pointers() -> Result<()> {
    for (element, bits) in
        [("f8E4M3FN", 8), ("i1", 8), ("ui16", 16), ("complex<f32>", 64), ("!tt.ptr<f16, 1>", 64)]
    {
        let text = format!(
            "tensor<8x{element}, #ttg.linear<{{register = [[1], [2], [4]], lane = [], warp = [], block = []}}>>"
        );
        let ty = parse(&text);
        assert_eq!(ty.to_string(), text);
        assert_eq!((ty.lower()?.bits(), ty.lower()?.dims()), (bits, &[1, 1, 1, 8][..]));
    }
    Ok(())
}

#[test]
fn names_are_those_that_lines_above_define() -> Result<()> {
    let module = r##"#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
        #loc2 = loc("/tmp/kernel.ttgir":5:12)
        #mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 8]}> // the product
        #shared = #ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}>
        #smem = #ttg.shared_memory
        tensor<128x64x!tt.ptr<f16>, #blocked>, !ttg.memdesc<128x64xf16, #shared, #smem, mutable>
        -> tensor<128xf32, #ttg.slice<{dim = 1, parent = #mma}>>, tensor<128x64xf16, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>>"##;
    assert_eq!(dialect::read(module)?.len(), 4);
    let printed: Vec<String> = dialect::read(module)?.iter().map(|found| found.said.to_string()).collect();
    assert_eq!(
        printed[1],
        "!ttg.memdesc<128x64xf16, #ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}>, #ttg.shared_memory, mutable>"
    );
    assert!(printed.iter().all(|text| parse(text).lower().is_ok()));
    assert_eq!(parse(&printed[0]).lower()?.bits(), 64);

    // Definitions alone, for an array of known sizes.
    let definitions: String = module.lines().take(5).collect::<Vec<&str>>().join("\n");
    let known = Known::array(&[128, 64], Element::F16);
    let found = Reading::knowing(known).read(&definitions)?;
    let names: Vec<_> = found.iter().map(|found| found.name.as_deref().unwrap_or("")).collect();
    assert_eq!(names, ["blocked", "mma", "shared"]);
    let error = dialect::read(&definitions).unwrap_err();
    assert_eq!(error.found(), "an encoding without a tensor");
    Ok(())
}

/// A text, and what its error says: what was found, the rule, or what would be accepted.
const REFUSED: &[(&str, &str)] = &[
    ("tensor<64x64xf16, #ttg.blockd<{order = [1, 0]}>>", "did you mean blocked?"),
    ("tensor<64xf16, #blocked>", "`#blocked` is not defined above"),
    ("#blockd = #ttg.shared_memory\ntensor<64xf16, #blocked>", "did you mean #blockd?"),
    ("tensor<?x64xf16, #ttg.blocked<{}>>", "known at run time only"),
    ("tensor<BLOCKx64xf16, #ttg.blocked<{}>>", "`BLOCKx64xf16` is a symbol"),
    (
        "tensor<64xf16, #ttg.blocked<{sizePerThread = [N], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>>",
        "`N` is a symbol",
    ),
    (
        "tensor<64xf16, #ttg.blocked<{sizePerThread = [3], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>>",
        "3 in sizePerThread is not a power of two",
    ),
    (
        "tensor<64xf16, #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>>",
        "sizePerThread has 2 numbers",
    ),
    (
        "tensor<64xf16, #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [1]}>>",
        "an order names every dimension once",
    ),
    (
        "tensor<64xf16, #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], order = [0]}>>",
        "blocked without warpsPerCTA",
    ),
    (
        "tensor<64xf16, #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0], vec = 1}>>",
        "`vec` is no parameter of blocked",
    ),
    (
        "tensor<64x64xf16, #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>>",
        "an encoding of 1 dimension for a tensor of 2 dimensions",
    ),
    (
        "!ttg.memdesc<64xf16, #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>, #ttg.shared_memory>",
        "blocked of a memdesc",
    ),
    ("tensor<64xf61, #ttg.blocked<{}>>", "did you mean f16?"),
    (
        "tensor<64x64xf16, #ttg.padded_shared<[32:+3] {order = [1, 0], shape = [64, 64]}>>",
        "must all be power of two",
    ),
    (
        "tensor<2x2xf16, #ttg.padded_shared<[2:+4] {offset = [[0, 1], [1, 1]], block = []}>>",
        "must move in one dimension",
    ),
    (
        "tensor<64x64xf16, #ttg.nvmma_shared<{swizzlingByteWidth = 96, transposed = false, elementBitWidth = 16}>>",
        "0, 32, 64 or 128",
    ),
    (
        "tensor<64xf16, #ttg.slice<{dim = 2, parent = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32], warpsPerCTA = [4, 1], order = [1, 0]}>}>>",
        "dimension 2 of a parent of 2 dimensions",
    ),
];

/// The same of texts that are read, and have no layout.
const WITHOUT: &[(&str, &str)] = &[
    (
        "tensor<60x64xf32, #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32], warpsPerCTA = [4, 1], order = [1, 0]}>>",
        "60 is not a power of two",
    ),
    (
        "tensor<16x16xf32, #ttg.amd_wmma<{version = 1, isTranspose = false, warpsPerCTA = [1, 1]}>>",
        "the layout of amd_wmma is not known here",
    ),
    (
        "!ttg.memdesc<128x64xf32, #ttng.tensor_memory_encoding<blockM = 128, blockN = 64, colStride = 1>, #ttng.tensor_memory, mutable>",
        "tensor memory has 128 rows",
    ),
    (
        "tensor<8x8xf32, #ttg.shared_linear<{offset = [[0, 1], [1, 0]]}, alignment = 16>>",
        "an encoding of [2, 2] for [8, 8]",
    ),
    (
        "tensor<4xf32, #ttg.shared_linear<{offset = [[1], [2], [3]]}, alignment = 16>>",
        "is an xor of other steps",
    ),
    (
        "tensor<4xf32, #ttg.generic_linear<{register = [[1]], lane = [[2]], warp = [[3]], block = []}>>",
        "steps that depend on one another",
    ),
    (
        "tensor<4x64xf16, #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>>",
        "tiles of nvmma_shared have 8 rows of 64 elements",
    ),
    (
        "tensor<64x64xf32, #ttg.nvidia_mma<{versionMajor = 1, versionMinor = 0, warpsPerCTA = [2, 2], instrShape = [16, 16]}>>",
        "nvidia_mma of version 1",
    ),
    (
        "tensor<64x64xf16, #ttg.dot_op<{opIdx = 1, parent = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>, kWidth = 2}>>",
        "operand 1",
    ),
    (
        "tensor<64x64xf32, #ttg.amd_mfma<{version = 3, warpsPerCTA = [2, 2], instrShape = [64, 4, 4], isTransposed = true}>>",
        "instrShape [64, 4, 4]",
    ),
];

#[test]
fn what_cannot_be_read_or_lowered_is_refused_by_name() {
    for (text, says) in REFUSED {
        let error = Type::parse(text).expect_err(text).to_string();
        assert!(error.contains(says), "{text}: {error}");
    }
    for (text, says) in WITHOUT {
        let ty = parse(text);
        assert_eq!(parse(&ty.to_string()), ty);
        let error = ty.lower().expect_err(text).to_string();
        assert!(error.contains(says), "{text}: {error}");
    }
}

#[test]
fn a_text_is_tritons_or_mlirs_and_never_both() {
    let certain = |text: &str| {
        let certain = dialect::all().iter().filter(|own| (own.recognise)(text) == Some(Confidence::Certain));
        certain.map(|dialect| dialect.name).collect::<Vec<&str>>()
    };
    for (text, name) in [
        ("tensor<64x64xf16>", "mlir"),
        ("tensor<64x64xf16, #blocked>", "mlir"),
        ("tensor<2x!quant.uniform<i8:f32, 0.5:-1>, #ttg_like.x>", "mlir"),
        ("memref<64x64xf16, #ttg.shared_memory>", "mlir"),
        ("tensor<64x64xf16, #ttg.", "triton"),
        ("tensor<64x64xf16,#triton_gpu.slice<", "triton"),
        ("tensor <8x!tt.ptr<f16, 1>, #ttng.tensor_memory_encoding<blockM = 64>>", "triton"),
        ("!ttg.memdesc<64xf16, #shared, #smem>", "triton"),
        ("#shared = #ttg.swizzled_shared<{}>", "triton"),
        ("#loc = loc(unknown)\n#a = #ttg.linear<{}>\ntensor<4xf16, #a>", "triton"),
        ("#ttg.linear<{}>", "triton"),
    ] {
        assert_eq!(certain(text), [name], "{text}");
    }
    assert!(certain("#map = affine_map<(d0) -> (d0)>").is_empty());
}

#[test]
fn words_say_what_a_lane_holds_and_which_banks_meet() {
    let notes = |text: &str| {
        let ty = parse(text);
        ty.notes(&ty.lower().expect("a layout")).join("\n")
    };
    let blocked = notes(
        "tensor<64xf16, #ttg.slice<{dim = 0, parent = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>}>>",
    );
    assert!(
        blocked.contains("The tensor is held by 1 block of 4 warps of 32 lanes, each with 8 registers."),
        "{blocked}"
    );
    assert!(
        blocked
            .contains("held 16 times: lanes that differ in bits 3 and 4 alone, and all warps hold the same."),
        "{blocked}"
    );
    assert!(
        blocked.contains("Registers 0 to 7 of a lane hold neighbours along axis 0 of the tensor: 16 B."),
        "{blocked}"
    );
    assert!(
        blocked.contains("Lane 1 begins 8 elements after lane 0 along axis 0 of the tensor."),
        "{blocked}"
    );
    let shared = |max_phase: u64| {
        notes(&format!(
            "tensor<64x64xf16, #ttg.swizzled_shared<{{vec = 8, perPhase = 1, maxPhase = {max_phase}, order = [1, 0]}}>>"
        ))
    };
    let one = "Lanes that read 32 neighbours along dimension 1 meet no bank of memory twice.";
    assert!(shared(1).contains(one) && shared(8).contains(one));
    let way = |ways: u64| format!("along dimension 0 find up to {ways} words in one bank");
    assert!(shared(1).contains(&way(32)), "{}", shared(1));
    assert!(shared(8).contains(&way(4)), "{}", shared(8));
}
