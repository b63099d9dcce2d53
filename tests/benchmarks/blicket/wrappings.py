"""What models put around the line that they were asked for."""

from __future__ import annotations

WRAPPINGS = {
    "nothing": "{}",
    "bold": "**{}**",
    "italic": "_{}_",
    "boxed": "\\boxed{{\\text{{{}}}}}",
    "dollars": "$\\text{{{}}}$",
    "fence": "```\n{}\n```",
    "code": "`{}`",
    "quotes": "\u201c{}\u201d",
    "straight quotes": '"{}"',
    "tags": "<answer>{}</answer>",
    "block quote": "> {}",
    "bullet": "- {}",
    "heading": "### {}",
    "table cell": "| {} |",
    "full stop": "{}.",
    "end token": "{}<|im_end|>",
    "preface": "Let me think about what was seen so far.\n\nHere is my reply:\n{}",
    "postscript": "{}\n\nI hope this helps!",
    "trailing sentence": "{}. This follows from the evidence.",
    "think block": "<think>\nIt may be anything. ANSWER: nothing\n</think>\n\n{}",
    "channels": "<|channel|>analysis<|message|>Hm.<|end|><|channel|>final<|message|>{}",
}
