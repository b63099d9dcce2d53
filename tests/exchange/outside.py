"""An outside script: answers an exported file with the standard library alone.

python outside.py PROMPTS.jsonl REPLIES.jsonl
"""

import json
import re
import sys


def answer(prompt: str) -> str:
    """The end of the chain in a bag of facts, found by following lines."""
    facts = {(f, x): y for x, f, y in re.findall(r"^(\S+) ->(f\d+)-> (\S+)$", prompt, re.M)}
    question = re.search(r"What is ((?:f\d+ of )+)(\S+)\?", prompt)
    assert question is not None
    functions, token = question.groups()
    for function in reversed(functions.split(" of ")[:-1]):
        token = facts[function, token]
    return token


with open(sys.argv[1]) as prompts, open(sys.argv[2], "w") as replies:
    for number, line in enumerate(prompts):
        row = json.loads(line)
        reply = None if number % 4 == 3 else f"**Answer:** {answer(row['prompt'])}"
        replies.write(json.dumps({"id": row["id"], "reply": reply}) + "\n")
