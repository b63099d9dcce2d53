"""The words of an answer in other languages, so that the grammar has to know English only."""

from __future__ import annotations

import re

# Longer words first: a word may hold another one.
_WORDS = {
    "independent variable": (
        "variable indépendante|variable independiente|variável independente"
        "|variabile indipendente|unabhängige variable|независимая переменная"
        "|自变量|自變量|独立变量|独立変数|독립 변수|독립변수"
    ),
    "dependent variable": (
        "variable dépendante|variable dependiente|variável dependente|variabile dipendente"
        "|abhängige variable|зависимая переменная|因变量|因變量|従属変数|종속 변수|종속변수"
    ),
    "control variables": (
        "variables de contrôle|variables de control|variáveis de controle|variabili di controllo"
        "|kontrollvariablen|kontrollvariable|контрольные переменные|控制变量|控制變量|対照変数"
        "|制御変数|統制変数|통제 변수|통제변수"
    ),
    "hypothesis": "hypothèse|hypothese|hipótesis|hipótese|ipotesi|гипотеза|假设|假設|仮説|가설",
    "is not valid": (
        "n'est pas valide|no es válida|não é válida|non è valida|nicht gültig|неверна|不成立"
        "|유효하지 않"
    ),
    "invalid": "invalide|inválida|invalida|ungültig|无效|無效|無効|недействительна",
    "valid": "valide|válida|valida|gültig|有效|有効|成立|верна|действительна|유효",
    "true": "vrai|vraie|wahr|verdadero|verdadera|verdadeiro|verdadeira|vero|vera|истинно|真",
    "false": "faux|fausse|falsch|falso|falsa|ложно|ложь",
    "yes": "oui|ja|sí|sim|是|はい|да|예",
    "no": "non|nein|não|否|いいえ|нет|아니요",
    "none": "aucune|aucun|keine|ninguna|ninguno|nenhuma|nessuna|无|無|なし|없음",
    "is": "ist|est|är|является",
    "and": "und|et|как и|和|と|및",
}


def _pattern(words: str) -> str:
    """The words, each on its own where its writing has spaces between words."""
    parts = [
        word if ord(word[-1]) > 0x1100 else rf"(?<!\w){re.escape(word)}(?!\w)"
        for word in words.split("|")
    ]
    return "|".join(parts)


_ENGLISH = list(_WORDS)
_FOREIGN = re.compile(
    "|".join(f"(?P<w{number}>{_pattern(words)})" for number, words in enumerate(_WORDS.values())),
    re.IGNORECASE,
)


def in_english(text: str) -> str:
    """The text with the words of an answer in English."""
    return _FOREIGN.sub(lambda found: f" {_ENGLISH[int(str(found.lastgroup)[1:])]} ", text)
