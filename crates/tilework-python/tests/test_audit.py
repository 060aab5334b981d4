"""What a compiler's layouts cost: the reports of the command line, from whatever holds a program in Python."""

from __future__ import annotations

import gzip
import html.parser
import json
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tilework as tw

DUMPS = Path(__file__).parent.parent.parent / "tilework-audit" / "tests" / "dumps"
PARTICLES = DUMPS / "particles"
WORST = "s32[300000,8]{1,0:T(8,128)}"
MESSAGE = f"Ran out of memory in memory space hbm.\n  1. Size: 146.48M\n     Shape: {WORST}\n"


class Compiled:
    """What `jax.jit(f).lower(x).compile()` gives, as far as an audit looks at it."""

    def __init__(self, text: str | None) -> None:
        self.text = text

    def as_text(self) -> str | None:
        return self.text


def module() -> str:
    return next(PARTICLES.glob("*after_optimizations.txt")).read_text(encoding="utf-8")


def test_a_folder_is_read_as_one_program_with_its_peak() -> None:
    found = tw.audit(PARTICLES)
    (program,) = found.programs
    assert program["program"].startswith("jit_") and program["basis"] == "assignment"
    assert program["peak"] is not None
    assert program["peak"]["allocated_bytes"] > 10 * program["peak"]["data_bytes"]
    assert found.padding_share == program["padding_share"] > 0.9
    assert found.sentence == program["sentence"] and WORST in found.sentence
    assert found.unread == []


def test_the_report_is_told_on_lines_of_the_width_with_as_many_of_each_kind() -> None:
    found = tw.audit(PARTICLES)
    report = str(found)
    assert report == found.report() == found.report(80, 5)
    assert report.startswith(found.sentence[:40])
    for width in (20, 40, 80, 200):
        assert max(map(len, found.report(width=width).splitlines())) <= width
    assert len(found.report(top=1)) < len(report) < len(found.report(top=1000))
    assert str(tw.audit(PARTICLES, top=1)) == found.report(top=1)
    assert " ".join(found.report(top=0).split()) == found.sentence
    assert "--top" not in report and "top 10" in report


def test_what_holds_a_program_is_read_alike() -> None:
    text = module()
    wanted = tw.audit(text).programs
    assert wanted[0]["basis"] == "instructions"
    holders: list[Any] = [
        text.encode(),
        bytearray(text.encode()),
        memoryview(text.encode()),
        gzip.compress(text.encode()),
        Compiled(text),
        ValueError(text),
        [text],
        (Compiled(text),),
    ]
    for holder in holders:
        assert tw.audit(holder).programs == wanted
    assert len(tw.audit([text, Compiled(text)]).programs) == 2
    assert len(tw.audit([DUMPS / "tr", PARTICLES, MESSAGE]).programs) == 3


def test_the_files_of_a_folder_are_read_as_the_folder_is() -> None:
    assert tw.audit(sorted(PARTICLES.glob("*"))).programs == tw.audit(PARTICLES).programs
    with pytest.raises(FileNotFoundError, match="no-such"):
        tw.audit([PARTICLES, Path("no-such")])


def test_a_file_of_a_dump_is_read_by_its_path(tmp_path: Path) -> None:
    file = tmp_path / "a b é.txt"
    file.write_text(module(), encoding="utf-8")
    assert tw.audit(file).programs[0]["instructions"] == tw.audit(module()).programs[0]["instructions"] > 0


@pytest.mark.parametrize("name", ["loop", "particles", "tr"])
def test_a_serialised_module_is_read_as_its_text_is(name: str) -> None:
    folder = DUMPS.parent / "twins" / name
    serialised = folder / f"{name}.hlo.pb"
    found, wanted = tw.audit(serialised), tw.audit(folder)
    assert tw.audit(serialised.read_bytes()).programs == found.programs and found.unread == []
    for field in ("total", "padding_share", "instructions"):
        assert found.programs[0][field] == wanted.programs[0][field]


def test_a_message_is_read_from_the_exception_that_has_it() -> None:
    found = tw.audit(RuntimeError(MESSAGE))
    assert found.programs[0]["basis"] == "message" and found.padding_share == 0.9375
    assert repr(found) == f"<{found.sentence}>"


def test_plain_values_have_the_fields_that_are_documented() -> None:
    found = tw.audit(PARTICLES)
    everything = found.to_dict()
    assert set(everything) == {"programs", "logs", "assumed", "unread"} and everything["programs"] == found.programs
    assert json.loads(json.dumps(everything)) == everything
    document = (Path(__file__).parent.parent.parent.parent / "docs" / "json.md").read_text(encoding="utf-8")
    for field in found.programs[0]:
        assert f"`{field}`" in document, field
    (short,) = found.to_dict(top=1)["programs"]
    assert len(short["shapes"]) == 1 < len(found.programs[0]["shapes"])
    assert short["total"] == found.programs[0]["total"]


def test_supposing_a_layout_leaves_the_audit_as_it_was() -> None:
    found = tw.audit(PARTICLES)
    before = found.to_dict()
    change = found.what_if(["s32[300000,8]{0,1:T(8,128)}", tw.Layout("f32[300000,8]{0,1:T(8,128)}")])
    assert found.to_dict() == before and change.before is found
    assert change.supposed == ["s32[300000,8]{0,1:T(8,128)}", "f32[300000,8]{0,1:T(8,128)}"]
    assert change.after.padding_share < 0.5 < found.padding_share
    assert str(change).startswith("What if s32[300000,8] lay as {0,1:T(8,128)} and")
    assert "memory at the peak falls" in str(change) and "memory at the peak falls" in change._repr_html_()
    said = change.to_dict()
    assert said["what_if"] == change.supposed
    assert said["before"] == before and said["after"] == change.after.to_dict() and said["shapes"]
    # From the start, and twice, it is the same.
    assert tw.audit(PARTICLES, what_if=change.supposed).to_dict() == change.after.to_dict()
    assert found.what_if(change.supposed).after.to_dict() == change.after.to_dict()
    # One alone is for the worst array of its rank.
    assert found.what_if("{0,1:T(8,128)}").supposed == ["s32[300000,8]{0,1:T(8,128)}"]


def test_two_audits_are_compared() -> None:
    before, after = tw.audit(WORST), tw.audit("s32[300000,8]{0,1:T(8,128)}")
    change = before.compare(after)
    assert change.before is before and change.after is after and change.supposed == []
    assert "falls from 146.48 MiB to 9.16 MiB" in change.report(width=200)
    assert "grows from" in after.compare(before).report(width=200)
    assert "what_if" not in change.to_dict() and change.to_dict()["shapes"][0]["before_waste"] == 144_000_000
    assert repr(change) == "<padding 94 % → 0 %>"


def test_a_target_lays_out_what_is_not_compiled() -> None:
    lowered = "%0 = stablehlo.add %a, %b : tensor<2621440x1x2xbf16>"
    assert tw.audit(lowered).padding_share == 0
    assert tw.audit(lowered, target="tenstorrent").padding_share == 1 - 1 / 512
    assert tw.audit(lowered, tiles="T(8,128)").padding_share == 1 - 1 / 512
    assert tw.audit(lowered, target="tpu").to_dict()["assumed"] == {"target": "tpu", "shapes": 1}


class Tags(html.parser.HTMLParser):
    """Which elements are open, and whether each is closed in its turn."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.outermost = 0

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.outermost += not self.open
        if tag not in ("br", "rect", "path"):
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: object) -> None:
        pass

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


@pytest.mark.parametrize("name", ["conv", "particles", "tr"])
def test_a_notebook_gets_one_element_with_styles_of_its_own_and_nothing_runs(name: str) -> None:
    page = tw.audit(DUMPS / name)._repr_html_()
    tags = Tags()
    tags.feed(page)
    assert tags.open == [] and tags.outermost == 1
    assert page.startswith('<div class="tilework-audit">')
    assert "<body" not in page and "<script" not in page and ":root" not in page and "<svg" in page
    style = page.split("<style>")[1].split("</style>")[0]
    for rule in filter(None, style.split("}")):
        assert all(selector.startswith(".tilework-audit") for selector in rule.split("{")[0].split(","))


def test_names_in_a_text_cannot_become_markup() -> None:
    text = 'HloModule <script>x</script>\nENTRY %m (x: f32[2]) -> f32[2] {\n  %x"><img = f32[200,3]{1,0:T(8,128)} add(%a)\n}\n'
    found = tw.audit(text)
    for page in (found._repr_html_(), found.compare(found)._repr_html_()):
        assert "<script" not in page and "<img" not in page


def test_the_name_of_a_file_is_no_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "dumps").mkdir()
    (tmp_path / "oom.txt").write_text(MESSAGE, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    for name, kind in {"dumps": "folder", "dumps/": "folder", "oom.txt": "file", str(tmp_path): "folder"}.items():
        with pytest.raises(tw.LayoutError, match=f"name of a {kind}") as caught:
            tw.audit(name)
        assert caught.value.accepted is not None and caught.value.accepted.startswith("pathlib.Path(")
    assert tw.audit(Path("oom.txt")).programs


def test_a_file_of_a_folder_that_cannot_be_opened_is_told_and_the_rest_is_read(tmp_path: Path) -> None:
    (tmp_path / "module_0000.a.after_optimizations.txt").write_text(module(), encoding="utf-8")
    locked = tmp_path / "module_0001.b.after_optimizations.txt.gz"
    locked.write_bytes(b"\x1f\x8b" + bytes(range(200)))
    found = tw.audit(tmp_path)
    assert len(found.programs) == 1
    (unread,) = found.unread
    assert unread["file"] == str(locked) and unread["reason"] and found.to_dict()["unread"] == [unread]
    assert "could not be read" in str(found) and locked.name in "".join(str(found).split())


def test_lines_that_cannot_be_read_are_told() -> None:
    found = tw.audit(module() + "\nHloModule broken\nENTRY %e {\n  %x = f32[3,{ add(%y)\n")
    assert found.unread and found.unread[0]["count"] >= 1 and found.unread[0]["file"] == "text"
    assert "what could not be read" in str(found)


MISTAKES: dict[str, tuple[Callable[[], Any], type[Exception], str]] = {
    "audit: nothing": (lambda: tw.audit(""), tw.LayoutError, "nothing that was read"),
    "audit: no shapes": (lambda: tw.audit("dmups/"), tw.LayoutError, "pathlib.Path"),
    "audit: an empty list": (lambda: tw.audit([]), tw.LayoutError, "nothing that was read"),
    "audit: no such file": (lambda: tw.audit(Path("/no/such/file")), FileNotFoundError, "/no/such/file"),
    "audit: a folder of other things": (lambda: tw.audit(Path(__file__).parent), tw.LayoutError, "xla_dump_to"),
    "audit: broken gzip": (lambda: tw.audit(b"\x1f\x8b" + bytes(range(200))), tw.LayoutError, "text"),
    "audit: None": (lambda: tw.audit(None), TypeError, "not NoneType"),  # type: ignore[arg-type]
    "audit: a number": (lambda: tw.audit(5), TypeError, "not int"),  # type: ignore[arg-type]
    "audit: a function": (lambda: tw.audit(module), TypeError, "compile()"),  # type: ignore[arg-type]
    "audit: a list in a list": (lambda: tw.audit([[WORST]]), TypeError, "not list"),  # type: ignore[list-item]
    "audit: no text of a program": (lambda: tw.audit(Compiled(None)), TypeError, "NoneType"),
    "audit: no such target": (lambda: tw.audit(WORST, target="tenstorent"), tw.LayoutError, "did you mean"),
    "audit: both": (lambda: tw.audit(WORST, target="tpu", tiles="T(8,128)"), tw.LayoutError, "tiles"),
    "audit: no tiles": (lambda: tw.audit(WORST, tiles=[]), tw.LayoutError, "without tiles"),
    "audit: bad tiles": (lambda: tw.audit(WORST, tiles="T(8,0)"), tw.LayoutError, "T(8,0)\n        ^"),
    "audit: top": (lambda: tw.audit(WORST, top=-1), tw.LayoutError, "top"),
    "audit: no number": (lambda: tw.audit(WORST, top=0.5), TypeError, "float"),  # type: ignore[arg-type]
    "what_if: no such array": (lambda: tw.audit(WORST).what_if("f32[7]{0:T(8)}"), tw.LayoutError, "no array f32[7]"),
    "what_if: no such rank": (lambda: tw.audit(WORST).what_if("{2,1,0}"), tw.LayoutError, "3 dimensions"),
    "what_if: does not fit": (lambda: tw.audit(WORST).what_if("s32[300000,8]{0}"), tw.LayoutError, "s32[300000,8]{0}"),
    "what_if: a number": (lambda: tw.audit(WORST).what_if(5), TypeError, "not int"),
    "what_if: a tuple": (lambda: tw.audit(WORST, what_if="(f32[2])"), tw.LayoutError, "no layout"),
    "compare: a text": (lambda: tw.audit(WORST).compare(WORST), TypeError, "Audit"),  # type: ignore[arg-type]
    "report: width": (lambda: tw.audit(WORST).report(width=-1), tw.LayoutError, "width"),
    "suggest: no layout": (lambda: tw.suggest("f32[3,5]{1,1}"), tw.LayoutError, "stands twice"),
    "suggest: a tuple": (lambda: tw.suggest("(f32[2], f32[3])"), tw.LayoutError, "not an array"),
    "suggest: no such target": (lambda: tw.suggest("f32[3]", "gpu"), tw.LayoutError, "accepted: tpu"),
    "suggest: no usual tiles": (lambda: tw.suggest("f32[3,5]", target="cpu"), tw.LayoutError, "target"),
    "suggest: both": (lambda: tw.suggest("f32[3,5]", "tpu", "T(8,128)"), tw.LayoutError, "tiles"),
    "suggest: top": (lambda: tw.suggest("f32[3,5]", top=-1), tw.LayoutError, "top"),
    "suggest: nothing": (lambda: tw.suggest(None), TypeError, "NoneType"),
    "suggest: another rank": (lambda: tw.suggest("f32[3,5]", what_if="{0}"), tw.LayoutError, ""),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_is_an_error_that_says_which(name: str) -> None:
    call, kind, words = MISTAKES[name]
    with pytest.raises(kind) as caught:
        call()
    assert words in str(caught.value)


def test_a_list_that_holds_itself_is_refused() -> None:
    endless: list[Any] = []
    endless.append(endless)
    with pytest.raises(TypeError):
        tw.audit(endless)


SHAPES = st.sampled_from(
    [WORST, "f32[2,3]{1,0}", "ENTRY %e {", "HloModule m", "allocation 0: size 5", "\n", "%a = ", "{", "("]
)


@given(st.one_of(st.text(), st.lists(st.one_of(SHAPES, st.text(max_size=5))).map("".join), st.binary()))
def test_no_text_does_more_than_raise_a_layout_error(text: str | bytes) -> None:
    try:
        found = tw.audit(text)
    except tw.LayoutError as error:
        assert error.found
    else:
        assert found.programs and str(found) and found._repr_html_() and 0 <= found.padding_share <= 1


def test_characters_that_utf_8_does_not_know_are_no_error() -> None:
    assert tw.audit(f"\udc80 {WORST} \ud800").padding_share == 0.9375


def test_other_threads_run_while_a_text_is_read() -> None:
    # Nobody takes the lock of the interpreter from the one who has it, so another thread runs only where it is given up.
    asked, ran = threading.Event(), threading.Event()

    def other() -> None:
        asked.wait()
        ran.set()

    thread = threading.Thread(target=other)
    thread.start()
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e6)
    try:
        asked.set()
        text = module() * 40
        for _ in range(10_000):
            tw.audit(text)
            if ran.is_set():
                break
        assert ran.is_set()
    finally:
        sys.setswitchinterval(interval)
        thread.join()


def test_suggestions_are_layouts() -> None:
    found = tw.suggest("s32[8388608,8,4]{2,1,0:T(8,128)}")
    assert found.given.nbytes == 32 << 30 and found.best.nbytes == 1 << 30
    assert found.best == found.layouts[0] and len(found.layouts) == 5
    assert [layout.nbytes for layout in found.layouts] == sorted(layout.nbytes for layout in found.layouts)
    assert len(tw.suggest("s32[8388608,8,4]{2,1,0:T(8,128)}", top=2).layouts) == 2
    said = found.to_dict()
    assert said["target"] == "tpu" and said["assumed"] is False
    assert said["layouts"][0]["allocated_bytes"] == found.best.nbytes
    assert "{0,2,1:T(4,128)} takes 1 GiB" in " ".join(str(found).split())
    assert max(map(len, str(found).splitlines())) <= 80
    assert str(found).splitlines()[0] in found._repr_html_()


def test_where_nothing_is_smaller_the_given_layout_is_the_best() -> None:
    found = tw.suggest("f32[16,128]{1,0:T(8,128)}")
    assert found.best == found.given and found.to_dict()["smaller"] == 0
    assert tw.suggest("f32[16,128]{1,0:T(8,128)}", top=0).best == found.given
    assert tw.suggest("f32[0,5]").best.nbytes == 0


def test_layouts_are_suggested_for_whatever_is_an_array() -> None:
    wanted = "f32[300000,8]{0,1:T(8,128)}"
    array = np.broadcast_to(np.float32(0), (300000, 8))
    for given_as in ("f32[300000,8]", tw.Layout("f32[300000,8]"), tw.xla.Shape("f32[300000,8]")):
        assert tw.suggest(given_as).best.text == wanted
    assert tw.suggest(np.zeros((30, 8), np.float32)).given.text == "f32[30,8]{1,0:T(8,128)}"
    with pytest.raises(tw.LayoutError):
        tw.suggest(tw.Layout("f32[16,256]{1,0:T(8,128)}")[1:, ::3])
    assert tw.suggest(array).to_dict()["shape"].startswith("f32[300000,8]")


def test_tiles_and_layouts_of_ones_own_are_told() -> None:
    found = tw.suggest("f32[100,3]", tiles=["T(32,32)", "T(8,128)"])
    assert {layout.nbytes for layout in found.layouts} >= {32 * 128 * 4}
    asked = tw.suggest("f32[100,3]{1,0:T(8,128)}", what_if=["{0,1:T(8,128)}", "f32[100,3]{1,0:T(4,128)}"])
    assert [layout.text for layout in asked.layouts] == ["f32[100,3]{0,1:T(8,128)}", "f32[100,3]{1,0:T(4,128)}"]
    assert asked.best == asked.layouts[0] and asked.to_dict()["target"] is None


def test_what_jax_lowers_and_compiles_is_audited() -> None:
    jax = pytest.importorskip("jax")
    lowered = jax.jit(lambda x: (x.T + 1).T @ x.T).lower(np.zeros((300, 8), np.float32))
    assert tw.audit(lowered).programs and tw.audit(lowered.compile()).programs[0]["instructions"] > 0
    assert tw.audit(lowered, target="tpu").padding_share > 0.25


def test_what_would_take_more_memory_than_it_may_is_a_memory_error(tmp_path: Path) -> None:
    text = "\n".join(f"f32[{size},3]{{1,0:T(8,128)}}" for size in range(20_000))
    with pytest.raises(MemoryError, match=r"more than 1048576 bytes.*memory=2097152"):
        tw.audit(text, memory=1 << 20)
    dump = tmp_path / "dump.txt"
    dump.write_text(text)
    with pytest.raises(MemoryError, match=r"dump\.txt"):
        tw.audit(dump, memory=1 << 20)
    found = tw.audit(text, memory=1 << 28)
    assert found.programs[0]["total"]["buffers"] == 20_000
    with pytest.raises((ValueError, OverflowError)):
        tw.audit(text, memory=-1)


def test_names_in_a_dump_command_no_terminal() -> None:
    name = "x\x1b[2J\x9b31m\u202ey"
    text = f"HloModule {name}, z\nENTRY %main (p: f32[200,3]) -> f32[2] {{\n  %p = f32[200,3]{{1,0:T(8,128)}} parameter(0)\n}}\n"
    found = tw.audit(text)
    for shown in (str(found), repr(found), found.sentence, found.report(), found._repr_html_()):
        assert "␛[2J�31m�y" in shown
        assert not set("\x1b\x9b\u202e") & set(shown)
    assert found.programs[0]["program"] == name
    with pytest.raises(tw.LayoutError) as raised:
        tw.Layout(f"f32[2]{name}")
    assert not set("\x1b\x9b\u202e") & set(str(raised.value))
