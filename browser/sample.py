"""Made-up data for the report page, and the page filled with it: for what the program
cannot easily be brought to. All else is tested on pages that it writes (made.py).

python browser/sample.py report.html
"""

from __future__ import annotations

import array
import base64
import hashlib
import html
import json
import math
import random
import re
import sys
from pathlib import Path

PAGE = Path(__file__).resolve().parent.parent / "crates/pictures/src/report/page"

HOSTILE = [
    "<img src=x onerror=alert(1)>",
    "</script><script>alert(1)</script>",
    "{{scripts}}",
    'a "quoted" & <b>bold</b> id',
    "-->\u2028<!--",
]


def packed(kind: str, values) -> dict:
    """An array as the page reads it."""
    code = {"f32": "f", "u32": "I", "i32": "i", "u8": "B"}[kind]
    numbers = array.array(code, values)
    if sys.byteorder == "big":
        numbers.byteswap()
    return {kind: base64.b64encode(numbers.tobytes()).decode("ascii")}


def sample(n: int, links: int, clusters: int, seed: int = 1) -> dict:
    """Clusters in a plane, links mostly within them, a few suspects across."""
    random_ = random.Random(seed)
    normal = random_.gauss
    cluster = [random_.randrange(clusters) for _ in range(n)]
    centres = [
        (
            0.68 * math.cos(2 * math.pi * c / clusters),
            0.68 * math.sin(2 * math.pi * c / clusters),
        )
        for c in range(clusters)
    ]
    spread = 0.42 / math.sqrt(clusters)
    x = [centres[c][0] + normal(0, spread) for c in cluster]
    y = [centres[c][1] + normal(0, spread) for c in cluster]
    x[-1], y[-1] = 2.4, -0.3  # one far outside
    label = [c if random_.random() < 0.9 else random_.randrange(clusters) for c in cluster]
    for i in range(0, n, 25):
        label[i] = -1
    members = [[i for i in range(n) if cluster[i] == c] for c in range(clusters)]
    rows = []
    degree = [0] * n
    for _ in range(links):
        src = random_.randrange(n)
        false = random_.random() < 0.03
        dst = random_.randrange(n) if false else random_.choice(members[cluster[src]])
        while dst == src:
            dst = random_.randrange(n)
        degree[src] += 1
        degree[dst] += 1
        crossing = cluster[src] != cluster[dst]
        mu = random_.lognormvariate(-4, 1) if crossing else random_.lognormvariate(0, 0.5)
        weight = 1 + (random_.random() < 0.1) * random_.randrange(9)
        log_trust = weight * (math.log(mu) - math.log(weight)) + weight - mu if weight > mu else 0.0
        trust = math.exp(log_trust)
        chance = trust / (trust + 0.02)
        rows.append((trust, src, dst, weight, mu, int(crossing and chance < 0.85)))
    rows.sort()
    trust, src, dst, weight, mu, suspect = zip(*rows)
    ids = [f"node-{i:05d}" for i in range(n)]
    labels = [f"class {chr(97 + c)}" for c in range(clusters)]
    steps = list(range(0, 301, 5))
    values = [1.1 + 2.3 * math.exp(-s / 40) + 0.015 * normal(0, 1) for s in steps]
    held_out = [
        None if s % 10 else 0.42 + 0.3 * math.exp(-s / 30) + 0.0002 * max(0, s - 150) for s in steps
    ]
    known = [(h, s) for h, s in zip(held_out, steps) if h is not None]
    tops = ["0", "1", "2-3", "4-7", "8-15", "16-31", "32-63", "64+"]
    observed = [0] * len(tops)
    for d in degree:
        observed[min(len(tops) - 1, d.bit_length())] += 1
    candidates = [
        {
            "score": score,
            "beta": beta,
            "ridge": ridge,
            "behind": 0.01 + 0.02 * i + 0.03 * abs(math.log10(ridge + 0.1) - 0.4) ** 1.5,
            "standard_error": 0.004 + 0.002 * i,
            "chosen": score == "probability" and beta == 0.5 and ridge == 3,
        }
        for i, (score, beta) in enumerate(
            [
                ("probability", 0.5),
                ("moment", 0.5),
                ("moment", 1.0),
                ("likelihood", None),
            ]
        )
        for ridge in [0, 0.1, 0.3, 1, 3, 10, 30]
    ]
    return {
        "version": 1,
        "title": "citations",
        "made": "linkproof 0.1.0",
        "nodes": {
            "n": n,
            "x": packed("f32", x),
            "y": packed("f32", y),
            "ids": ids,
            "views": ["text", "image"],
            "view": packed("u8", [i % 3 == 0 for i in range(n)]),
            "degree": packed("u32", degree),
            "labels": labels,
            "label": packed("i32", label),
            "clusters": clusters,
            "cluster": packed("i32", cluster),
        },
        "layout": "principal components (PCA); 41% of the variance",
        "links": {
            "n": links,
            "shown": links,
            "src": packed("u32", src),
            "dst": packed("u32", dst),
            "weight": packed("f32", weight),
            "mu": packed("f32", mu),
            "trust": packed("f32", trust),
            "suspect": packed("u8", suspect),
        },
        "history": {
            "step": steps,
            "value": values,
            "held_out": held_out,
            "best_step": min(known)[1],
            "stop_reason": "patience",
        },
        "selection": {"criterion": "Poisson deviance", "candidates": candidates},
        "degrees": {
            "labels": tops,
            "observed": observed,
            "expected": [0.8 * o + 0.02 * n for o in observed],
        },
        "weights": {
            "labels": [str(w) for w in range(1, 10)],
            "observed": [sum(1 for w in weight if w == v) for v in range(1, 10)],
            "expected": [links * 0.75 * 0.24**v for v in range(9)],
        },
        "facts": [
            ["nodes", f"{n:,}"],
            ["links", f"{links:,}"],
            ["suspects", f"{sum(suspect):,}"],
            ["score", "probability"],
            ["beta", "0.5"],
            ["ridge", "3"],
            ["dimensions", "64"],
        ],
        "notes": [
            "25 nodes have no label.",
            "Weights were taken as they are.",
        ],
        "command": ["linkproof", "fit", "--links", "links.csv"],
        "command_line": "linkproof fit --links links.csv --features x.npy --select"
        " --out model",
        "inputs": [
            ["links.csv", "9f86d081884c7d659a2feaa0c55ad015" * 2],
            ["x.npy", "0" * 64],
        ],
        "parameters": {
            "dim": 64,
            "score": "probability",
            "beta": 0.5,
            "hidden": [256, 256],
        },
    }


def script_names(page: str) -> list[str]:
    """The scripts in the order in which the page names them."""
    listed = re.search(r"<!-- The scripts, in this order:(.*?)-->", page, re.DOTALL)
    return listed.group(1).split()


def json_for_script(data: dict) -> str:
    """JSON that cannot end the script element that holds it."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    return re.sub("[<>&\u2028\u2029]", lambda found: f"\\u{ord(found.group()):04x}", text)


def fill(data: dict) -> str:
    """The page with its placeholders filled, all in one pass: what is filled in may
    itself hold the text of a placeholder."""
    page = (PAGE / "page.html").read_text(encoding="utf-8")
    read = lambda name: (PAGE / name).read_text(encoding="utf-8")
    parts = {
        "title": html.escape(data["title"]),
        "style": read("page.css"),
        "vendor": read("vendor/twgl.min.js"),
        "scripts": "\n".join(read(name) for name in script_names(page)),
        "data": json_for_script(data),
    }
    own = lambda found: parts.get(found.group(1), found.group())
    parts["policy"] = policy(re.sub(r"\{\{(style|vendor|scripts)\}\}", own, page))
    return re.sub(r"\{\{(\w+)\}\}", own, page)


def policy(page: str) -> str:
    """What the page may do: run its own scripts and style, by their digests."""

    def digests(element: str) -> str:
        found = re.findall(f"<{element}>(.*?)</{element}>", page, re.DOTALL)
        hashed = (base64.b64encode(hashlib.sha256(text.encode()).digest()) for text in found)
        return " ".join(f"'sha256-{digest.decode()}'" for digest in hashed)

    return (
        f"default-src 'none'; style-src {digests('style')}; script-src {digests('script')}; "
        "img-src data: blob:; base-uri 'none'; form-action 'none'"
    )


def large() -> dict:
    """As much as a report is meant to hold."""
    return sample(100_000, 500_000, 10)


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(fill(large()), encoding="utf-8")
