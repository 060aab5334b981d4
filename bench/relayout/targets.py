"""What random plans come to: by family, the losses, and the targets."""

from report import TOLERANCE, mean, ratio

PLACES = ("L2", "L3", "DRAM")
LEAD, OF_MEMCPY, FIRST = 1.7, {"DRAM": 0.90, "L3": 0.55, "L2": 0.55}, 0.8

# Without peers, so many of the slowest are listed.
SLOWEST = 10


def summary(records):
    for threads in sorted({record["threads"] for record in records}):
        rows = [record for record in records if record["threads"] == threads]
        measured = [record for record in rows if record["engine"] is not None]
        others = sum(record["others"] for record in rows) / len(rows)
        yield f"\n**{threads} thread{'s' if threads > 1 else ''}**, {len(rows)} plans; others took {others:.1f} processors\n"
        if measured:
            yield from _families(measured)
            yield from _targets(measured)
            yield from _losses(measured)
        yield from _failures(rows)


def _families(rows):
    led = any(row["lead"] for row in rows)
    words = ["family", "plans", "of memcpy", "of streaming", *(f"in {place} (plans)" for place in PLACES)]
    if led:
        words += ["lead", "least", "lost"]
    yield f"| {' | '.join(words)} |"
    yield f"|---{'|--:' * (len(words) - 1)}|"
    names = list(dict.fromkeys(row["group"] for row in sorted(rows, key=lambda row: row["group"])))
    for name in [*names, "all"]:
        some = [row for row in rows if name in (row["group"], "all")]
        cells = [f"**{name}**" if name == "all" else name, str(len(some))]
        cells += [_mean(some, "engine"), _mean(some, "engine_of_stream")]
        for place in PLACES:
            here = [row for row in some if row["in"] == place]
            cells.append(f"{_mean(here, 'engine')} ({len(here)})" if here else "-")
        if led:
            leads = [row["lead"] for row in some if row["lead"]]
            cells += [_mean(some, "lead"), ratio(min(leads, default=None)), str(sum(lead < 1 - TOLERANCE for lead in leads))]
        yield f"| {' | '.join(cells)} |"


def _targets(rows):
    yield "\n| target | wanted | found | |\n|---|--:|--:|---|"
    leads = [row["lead"] for row in rows if row["lead"]]
    if leads:
        lost = sum(lead < 1 - TOLERANCE for lead in leads)
        yield _target(f"each plan, of its best peer ({lost} of {len(leads)} below)", 1 - TOLERANCE, min(leads))
        yield _target("lead over the best peer, geometric mean", LEAD, mean(leads))
    for place, wanted in OF_MEMCPY.items():
        found = [row["engine"] for row in rows if row["in"] == place]
        if found:
            below = sum(value < wanted for value in found)
            yield _target(f"of memcpy in {place}, geometric mean ({below} of {len(found)} below)", wanted, mean(found))
    for place in PLACES:
        # Files of before have none.
        firsts = [row["first"] for row in rows if row["in"] == place and row.get("first")]
        if firsts:
            below = sum(value < FIRST for value in firsts)
            what = f"the first run in {place}, of the tenth ({below} of {len(firsts)} below, mean {mean(firsts):.2f})"
            yield _target(what, FIRST, min(firsts))


def _target(what, wanted, found):
    return f"| {what} | {wanted:.2f} | {found:.2f} | {'reached' if found >= wanted else 'missed'} |"


def _losses(rows):
    if not any(row["lead"] for row in rows):
        yield "\nThe slowest, of memcpy:\n"
        for row in sorted(rows, key=lambda row: row["engine"])[:SLOWEST]:
            yield f"- {ratio(row['engine'])}: {_told(row)}"
        return
    lost = sorted((row for row in rows if row["lead"] and row["lead"] < 1 - TOLERANCE), key=lambda row: row["lead"])
    yield f"\nSlower than the best peer: {len(lost) or 'none'}\n"
    for row in lost:
        figures = f"{ratio(row['engine'])} of memcpy, {row['best_name']} {ratio(row['best'])}"
        yield f"- {ratio(row['lead'])}: {_told(row)}: {figures}"


def _failures(rows):
    broken = [(row, name, why) for row in rows for name, why in row["failures"].items()]
    if broken:
        yield f"\nNot timed: {len(broken)}\n"
    for row, name, why in broken:
        yield f"- {_told(row)}, {name}: {why}"


def _told(row):
    return f"plan {row['plan']}, {row['group']}, `{row['from']}` to `{row['to']}` ({row['bytes'] / 2**20:.2f} MiB, {row['in']})"


def _mean(rows, key):
    values = [row[key] for row in rows if row[key]]
    return ratio(mean(values)) if values else "-"
