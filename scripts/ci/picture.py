#!/usr/bin/env python3
"""The map of a trace as a PNG: which call sites held the allocated memory, over time.

    picture.py TRACE --png map.png --legend map.md

The card with the highest peak is shown. From left to right each change has the same width, so that a long start
does not hide the rest; a column is the moment in its stretch at which most was allocated, so no peak is lost. The
colours are the sites that held most at the peak, and the legend names them.
The events come from `memtrace export --to csv`; a trace without events has no picture, and the status is 1.
"""
import argparse
import array
import csv
import io
import os
import struct
import subprocess
import sys
import zlib

WIDTH, HEIGHT, LEFT, BOTTOM, TOP = 800, 300, 88, 20, 12
PAPER, INK, GRID = (255, 255, 255), (60, 60, 60), (225, 225, 225)
# A colour, and the sign that stands for it in Markdown; the last is of all other sites.
COLOURS = [((214, 57, 57), "🟥"), ((66, 106, 200), "🟦"), ((79, 158, 79), "🟩"), ((240, 190, 50), "🟨"),
           ((140, 85, 175), "🟪"), ((236, 130, 40), "🟧"), ((133, 88, 60), "🟫"), ((150, 150, 150), "⬜")]
OTHERS = len(COLOURS) - 1
UNKNOWN = -1  # the site of memory whose event is not in the trace
PALETTE = [PAPER, INK, GRID] + [colour for colour, _ in COLOURS]
# 3 x 5 points a sign, a row in three bits, for what stands at the axes.
GLYPHS = {"0": "75557", "1": "26227", "2": "71747", "3": "71717", "4": "55711", "5": "74717", "6": "74757", "7": "71122",
          "8": "75757", "9": "75717", ".": "00002", " ": "00000", "B": "65656", "G": "74557", "K": "55655", "M": "57755",
          "T": "72222", "i": "20222", "s": "34216", "m": "00755", "u": "00557", "n": "00655"}


def units(size):
    for unit in ("B", "KiB", "MiB", "GiB"):
        if size < 1024:
            break
        size /= 1024
    else:
        unit = "TiB"
    return "%.0f B" % size if unit == "B" else "%.2f %s" % (size, unit)


def seconds(nanoseconds):
    return "%.3g s" % (nanoseconds / 1e9) if nanoseconds >= 10**9 else "%.3g ms" % (nanoseconds / 1e6)


class Card:
    """What changed the allocated memory of a device: time, bytes and the site, an entry a change."""

    def __init__(self):
        self.times, self.changes, self.sites = array.array("q"), array.array("q"), array.array("l")
        self.names, self.live = {}, {}
        self.now = self.peak = self.peak_at = 0

    def add(self, row):
        change = int(row["allocated"]) - self.now
        key = row["pool"], row["address"]
        if not change:
            return
        if row["op"] == "free" or change < 0:
            site, own = self.live.pop(key, (UNKNOWN, 0))
            own = -own
        else:
            name = row["line"] or row["site"] or row["owner"] or "?"
            site, own = self.names.setdefault(name, len(self.names)), min(int(row["size"] or 0), change)
            self.live[key] = site, own
        at = int(row["t_ns"])
        self.move(at, site, own)
        self.move(at, UNKNOWN, change - own)  # what happened in events that are not in the trace

    def move(self, at, site, change):
        if not change:
            return
        self.times.append(at)
        self.changes.append(change)
        self.sites.append(site)
        self.now += change
        if self.now > self.peak:
            self.peak, self.peak_at = self.now, len(self.times)

    def largest(self):
        """(site, bytes) at the peak, the largest first."""
        held = {}
        for i in range(self.peak_at):
            held[self.sites[i]] = held.get(self.sites[i], 0) + self.changes[i]
        return sorted(((site, size) for site, size in held.items() if size > 0), key=lambda pair: (-pair[1], pair[0]))

    def columns(self, width, colour_of):
        """For each column the bytes of each colour at its highest moment."""
        held, total, i = [0] * len(COLOURS), 0, 0
        columns = []
        for column in range(width):
            until = len(self.changes) * (column + 1) // width
            best, best_total = list(held), total
            while i < until:
                held[colour_of.get(self.sites[i], OTHERS)] += self.changes[i]
                total += self.changes[i]
                i += 1
                if total > best_total:
                    best, best_total = list(held), total
            columns.append(best)
        return columns


def read_cards(tool, trace):
    cards = {}
    environment = {key: value for key, value in os.environ.items() if key != "LD_PRELOAD"}
    with subprocess.Popen([tool, "export", trace, "--to", "csv"], env=environment, stdout=subprocess.PIPE) as ran:
        for row in csv.DictReader(io.TextIOWrapper(ran.stdout, encoding="utf-8", errors="replace", newline="")):
            if row["allocated"] and row["device"] and row["space"] == "device":
                cards.setdefault(int(row["device"]), Card()).add(row)
    if ran.returncode:
        raise OSError("%s export ended with %d" % (tool, ran.returncode))
    return cards


class Picture:
    def __init__(self):
        self.rows = [bytearray(WIDTH) for _ in range(HEIGHT)]

    def text(self, x, y, text):
        """At twice the size of the points; it ends in front of x."""
        x -= 8 * len(text)
        for glyph in text:
            for row, bits in enumerate(GLYPHS.get(glyph, "00000")):
                for column in range(3):
                    if int(bits) >> (2 - column) & 1:
                        for point in range(4):
                            self.rows[y + 2 * row + point // 2][x + 2 * column + point % 2] = 1
            x += 8

    def png(self):
        def chunk(kind, data):
            return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", WIDTH, HEIGHT, 8, 3, 0, 0, 0)) +
                chunk(b"PLTE", b"".join(bytes(colour) for colour in PALETTE)) +
                chunk(b"IDAT", zlib.compress(b"".join(b"\0" + bytes(row) for row in self.rows), 9)) + chunk(b"IEND", b""))


def draw(card, largest):
    picture = Picture()
    high = HEIGHT - TOP - BOTTOM
    for part in range(5):
        y = TOP + high * part // 4
        if part < 4:
            picture.rows[y][LEFT:] = bytes([2]) * (WIDTH - LEFT)
        if part % 2 == 0:
            picture.text(LEFT - 2, min(y, HEIGHT - BOTTOM - 4) - (4 if part else 0), units(card.peak * (4 - part) // 4))
    colour_of = {site: i for i, (site, _) in enumerate(largest[:OTHERS])}
    for x, held in enumerate(card.columns(WIDTH - LEFT, colour_of)):
        below = 0
        for colour, size in enumerate(held):
            # Where frees are missing a site seems to hold more than there was.
            for y in range(high * below // card.peak, min(high, high * (below + size) // card.peak)):
                picture.rows[HEIGHT - BOTTOM - 1 - y][LEFT + x] = 3 + colour
            below += size
    picture.rows[HEIGHT - BOTTOM][LEFT:] = bytes([1]) * (WIDTH - LEFT)
    picture.text(LEFT + 64, HEIGHT - 14, seconds(card.times[0]))
    picture.text(WIDTH - 2, HEIGHT - 14, seconds(card.times[-1]))
    return picture.png()


def legend(card, device, largest):
    names = {number: name for name, number in card.names.items()}
    names[UNKNOWN] = "events that are not in the trace"
    lines = ["Allocated on device %d over %d changes from %s to %s; at the peak of %s:" % (
        device, len(card.times), seconds(card.times[0]), seconds(card.times[-1]), units(card.peak)), ""]
    for i, (site, size) in enumerate(largest[:OTHERS]):
        text = names[site].replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace("@", "&#64;")
        lines.append("%s %s <code>%s</code>  " % (COLOURS[i][1], units(size), text[:200]))
    rest = largest[OTHERS:]
    if rest:
        lines.append("%s %s of %d others" % (COLOURS[OTHERS][1], units(sum(size for _, size in rest)), len(rest)))
    return "\n".join(lines) + "\n"


def make(tool, trace):
    """(PNG, legend), or None where the trace has no events."""
    cards = read_cards(tool, trace)
    if not any(card.peak for card in cards.values()):
        return None
    device, card = max(cards.items(), key=lambda pair: (pair[1].peak, -pair[0]))
    largest = card.largest()
    return draw(card, largest), legend(card, device, largest)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("trace")
    parser.add_argument("--png", required=True)
    parser.add_argument("--legend")
    parser.add_argument("--tool", default=os.environ.get("MEMTRACE_BIN") or "memtrace")
    asked = parser.parse_args()
    try:
        made = make(asked.tool, asked.trace)
    except OSError as error:
        print("picture: %s" % error, file=sys.stderr)
        return 3
    if made is None:
        print("picture: %s has no events, so there is no map" % asked.trace, file=sys.stderr)
        return 1
    with open(asked.png, "wb") as file:
        file.write(made[0])
    if asked.legend:
        with open(asked.legend, "w", encoding="utf-8") as file:
            file.write(made[1])
    return 0


if __name__ == "__main__":
    sys.exit(main())
