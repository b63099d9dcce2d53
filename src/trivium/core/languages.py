"""The words of answers in other languages, so that the grammars have to know English only."""

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
    "cannot tell": (
        "nicht sagen|nicht (?:zu )?unterscheiden|nicht entscheiden|nicht bestimm\\w{1,4}"
        "|nicht feststell\\w{1,4}|nicht erkennen|unklar|ungewiss|unsicher|unbekannt"
        "|no se puede (?:saber|determinar|decir|distinguir)|es imposible (?:saber|determinar)"
        "|no es posible (?:saber|determinar)|indeterminad[oa]"
        "|on ne peut pas (?:savoir|dire|le dire|déterminer)|impossible (?:de|à) (?:savoir|dire"
        "|déterminer)|ne permet(?:tent)? pas de|indéterminée?|incertaine?"
        "|não (?:é possível|dá para|se pode) (?:saber|determinar|dizer)|non si può (?:sapere|dire)"
        "|нельзя (?:сказать|определить)|невозможно (?:сказать|определить)|неизвестно"
        "|无法(?:确定|判断|区分|得知)|不能(?:确定|判断)|不确定|無法(?:確定|判斷)"
        "|(?:判断|区別|判別|特定|決定)(?:でき|は?不可)\\w{0,4}|わから\\w{1,3}|分から\\w{1,3}|不明"
        "|알 수 없\\w{0,3}|판단할 수 없\\w{0,3}|구별할 수 없\\w{0,3}"
    ),
    "maybe": (
        "vielleicht|möglicherweise|eventuell|quizás?|tal vez|posible(?:mente)?|peut-être"
        "|possiblement|forse|possibilmente|talvez|possivelmente|возможно|可能(?:是)?|也许|或许"
        "|puede[ns]? ser(?:lo)?|podrían? ser(?:lo)?|peu(?:t|vent) (?:l'|en )?être|könnten?"
        "|può essere|possono essere|pode[m]? ser|podem sê-lo|может быть|могут быть"
        "|かもしれ\\w{1,4}|可能性\\w{0,4}|아마도?"
    ),
    "definitely": (
        "sicher|mit sicherheit|bestimmt|definitiv|seguro|seguros|con certeza|definitivamente"
        "|forcément|certainement|sûrement|sicuramente|certamente|точно|обязательно|一定|必须"
        "|肯定|必ず|確実に|반드시|확실히"
    ),
    "blicket": "ブリケット|블리켓|блик[ке]т\\w{0,2}",
    "is not": (
        "n'est pas|ne sont pas|no es|no son|não é|não são|non è|non sono|ist kein\\w{0,2}"
        "|sind kein\\w{0,2}|ist nicht|sind nicht|не является|не являются|不是|并非"
        "|ではあ?り?ません|では(?:ない|なく)|じゃない|(?:가|이) 아닙?니?다?"
    ),
    "yes": "oui|ja|sí|sim|はい|да|예",
    "none": "aucune|aucun|ninguna|ninguno|nenhuma|nessuna|无|無|なし|없음|нет",
    "no": "nein|não|否|いいえ|아니요|keine[rsn]?|kein",
    "not": "nicht|pas|不|не",
    "like": (
        "verhält sich wie|funktioniert wie|se comporta como|funciona como|como|comme|wie"
        "|si comporta come|so wie|как|像|类似于?|のように|と同じ(?:よう)?|처럼|与"
    ),
    "machine": "maschine|máquina|macchina|機械|机器|マシン|検出器|检测器|детектор|detektor|기계",
    "is": "ist|est|är|является|é|sind|sont|son|es|是|です|は",
    "or": "oder|ou|或|または|или|또는",
    "and": "und|et|y|как и|和|と|및|与|以及",
    "but": "sondern|sino|mais|mas|而是|но",
    "the": "der|das|die(?= \\w{0,9} ?(?:machine|maschine|blicket))|el|los|la|las|le|les|l'",
}


def _pattern(words: str) -> str:
    """The words, each on its own where its writing has spaces between words."""
    parts = re.split(r"\|(?![^(]*\))", words)
    spaced = [part for part in parts if ord(part.strip("()?")[0]) < 0x1100]
    joined = [part for part in parts if part not in spaced]
    together = [rf"(?<!\w)(?:{'|'.join(spaced)})(?!\w)"] * bool(spaced)
    return "|".join([*together, *joined])


_ENGLISH = list(_WORDS)
_FOREIGN = re.compile(
    "|".join(f"(?P<w{number}>{_pattern(words)})" for number, words in enumerate(_WORDS.values())),
    re.IGNORECASE,
)


def in_english(text: str) -> str:
    """The text with the words of an answer in English."""
    return _FOREIGN.sub(lambda found: f" {_ENGLISH[int(str(found.lastgroup)[1:])]} ", text)
