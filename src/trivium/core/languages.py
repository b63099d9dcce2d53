"""The words of answers in other languages, so that the grammars have to know English only."""

from __future__ import annotations

import re

# Longer words first: a word may hold another one.
_WORDS = {
    "answer": (
        "antwort|endantwort|lösung|ergebnis|respuesta|solución|resultado|réponse|reponse|résultat"
        "|resposta|risposta|risultato|antwoord|resultaat|svar|odpowiedź|wynik|odpověď|cevap|jawaban"
        "|vastaus|válasz|răspuns|ответ|результат|відповідь|απάντηση|câu trả lời|đáp án|kết quả"
        "|答案|回答|答え|解答|结论|結論|结果|정답|답변|답|الإجابة|الجواب|उत्तर|תשובה|คำตอบ"
    ),
    "independent variable": (
        "variable indépendante|variable independiente|variável independente"
        "|variabile indipendente|unabhängige variable|независимая переменная"
        "|onafhankelijke variabele|zmienn[aą] niezależn[aą]|biến độc lập"
        "|自变量|自變量|独立变量|独立変数|독립 변수|독립변수"
    ),
    "dependent variable": (
        "variable dépendante|variable dependiente|variável dependente|variabile dipendente"
        "|afhankelijke variabele|zmienn[aą] zależn[aą]|biến phụ thuộc"
        "|abhängige variable|зависимая переменная|因变量|因變量|従属変数|종속 변수|종속변수"
    ),
    "control variables": (
        "variables de contrôle|variables de control|variáveis de controle|variabili di controllo"
        "|kontrollvariablen?|controlevariabelen?|zmienn(?:e|ą|a) kontroln(?:e|ą|a)"
        "|контрольные переменные|biến kiểm soát|控制变量|控制變量|対照変数"
        "|制御変数|統制変数|통제 변수|통제변수"
    ),
    "control": (
        "controlar|controlarse|contrôler|kontrollier(?:en|t)|controllare|controleren|kontrolować"
        "|контролировать|kiểm soát|控制|制御|통제"
    ),
    "vary": "fai(?:t|re) varier|variieren|variiert|variare|variar|variëren|zmieniać|改变|변화시",
    "measure": "mesure[rz]?|misurare|medir|messen|meten|mierzyć|измерять|đo|测量|測定|측정",
    "therefore": (
        "donc|por (?:lo )?tanto|quindi|portanto|daher|folglich|dus|zatem|поэтому|vì vậy|因此|所以"
        "|したがって|따라서"
    ),
    "hypothesis": (
        "hypothèse|hypothese|hipótesis|hipótese|ipotesi|hipotez[aęy]|гипотеза|giả thuyết|假设|假設"
        "|仮説|가설"
    ),
    "is not valid": (
        "n'est pas valide|no es válida|não é válida|non è valida|nicht gültig|niet geldig"
        "|nie jest (?:poprawna|prawidłowa|ważna)|неверна|không (?:hợp lệ|đúng)|不成立"
        "|成り立(?:たない|ちません)|성립하지 않\\w{0,3}|유효하지 않\\w{0,3}|타당하지 않\\w{0,3}"
    ),
    "invalid": (
        "invalide|inválida|invalida|ungültig|ongeldig|nieprawidłowa|niepoprawna|nieważna"
        "|недействительна|无效|無效|無効"
    ),
    "valid": (
        "valide|válida|valida|gültig|geldig|poprawna|prawidłowa|ważna|верна|действительна|hợp lệ"
        "|有效|有効|成立|成り立\\w{1,3}|유효|타당|성립"
    ),
    "true": "vrai|vraie|wahr|verdadero|verdadera|verdadeiro|verdadeira|vero|vera|истинно|真",
    "false": "faux|fausse|falsch|falso|falsa|ложно|ложь",
    "cannot tell": (
        "nicht (?:ganz )?sicher|no estoy segur[oa]|pas (?:sûre?|certaine?)|non sono sicur[oa]"
        "|não tenho certeza|niet zeker|nie jestem pew(?:ien|na)|не уверена?|không chắc(?: chắn)?"
        "|확실하지 않\\w{0,3}|nicht sagen|nicht (?:zu )?unterscheiden|nicht entscheiden"
        "|nicht bestimm\\w{1,4}"
        "|nicht feststell\\w{1,4}|nicht erkennen|unklar|ungewiss|unsicher|unbekannt"
        "|no se puede (?:saber|determinar|decir|distinguir)|es imposible (?:saber|determinar)"
        "|no es posible (?:saber|determinar)|indeterminad[oa]"
        "|on ne peut pas (?:savoir|dire|le dire|déterminer)|impossible (?:de|à) (?:savoir|dire"
        "|déterminer)|ne permet(?:tent)? pas de|indéterminée?|incertaine?"
        "|não (?:é possível|dá para|se pode) (?:saber|determinar|dizer)|non si può (?:sapere|dire)"
        "|нельзя (?:сказать|определить)|невозможно (?:сказать|определить)|неизвестно"
        "|无法(?:确定|判断|区分|得知)|不能(?:确定|判断)|不确定|無法(?:確定|判斷)"
        "|niet te (?:zeggen|bepalen)|niet (?:bepaald|vastgesteld) worden|onduidelijk|onzeker"
        "|nie (?:można|da się|potrafię|wiem|mogę)(?: \\w{4,14})?|nie wiadomo|nieustalon[aey]"
        "|nessuna certezza|incert[oa]|non è possibile (?:sapere|determinare|dire|stabilire)"
        "|не могу (?:сказать|определить)|не ясно|неясно|không (?:thể|rõ)(?: \\w{2,5}){0,2}"
        "|chưa (?:rõ|xác định)"
        "|(?:判断|区別|判別|特定|決定)(?:でき|は?不可)\\w{0,4}|わから\\w{1,3}|分から\\w{1,3}|不明"
        "|알 수 없\\w{0,3}|판단할 수 없\\w{0,3}|구별할 수 없\\w{0,3}"
    ),
    "maybe": (
        "vielleicht|möglicherweise|eventuell|quizás?|tal vez|posible(?:mente)?|peut-être"
        "|possiblement|forse|possibilmente|talvez|possivelmente|возможно|可能(?:是)?|也许|或许"
        "|puede[ns]? ser(?:lo)?|podrían? ser(?:lo)?|peu(?:t|vent) (?:l'|en )?être|könnten?"
        "|può essere|possono essere|pode[m]? ser|podem sê-lo|может быть|могут быть"
        "|misschien|mogelijk|może|mogą|być może|có thể(?: là)?(?=[^.;:]{0,60}blicket)|có lẽ"
        "|kan een|kunnen|かもしれ\\w{1,4}|可能性\\w{0,4}|아마도?"
    ),
    "definitely": (
        "sicher|mit sicherheit|bestimmt|definitiv|seguro|seguros|con certeza|definitivamente"
        "|forcément|certainement|sûrement|sicuramente|certamente|точно|обязательно|一定|必须"
        "|zeker|beslist|na pewno|z pewnością|chắc chắn|肯定|必ず|確実に|반드시|확실히"
    ),
    "blickets are": "blickety to",
    "blickets": "blicket(?:y|i|ami|ów)",
    "blicket": "blicket(?:em|a)|ブリケット|블리켓|блик[ке]т\\w{0,3}",
    "is not": (
        "n'est pas|ne sont pas|no es|no son|não é|não são|non è|non sono|ist kein\\w{0,2}"
        "|sind kein\\w{0,2}|ist nicht|sind nicht|не является|не являются|不是|并非"
        "|is geen|zijn geen|is niet|zijn niet|nie jest|nie są|không phải(?: là)?"
    ),
    # After what is denied.
    "is not,": "では(?:ありません|ない|なく)|じゃ(?:ない|なく)|[가이] 아[니닙]\\w{0,2}",
    "yes": "oui|ja|sí|sim|tak|はい|да|예",
    "none": (
        "aucune|aucun|ninguna|ninguno|nenhuma|nessuna|geen|brak|żadn[aey]|không có|нет|无|無|なし"
        "|없음"
    ),
    "no": "nein|não|否|いいえ|아니요|keine[rsn]?|kein",
    "not": "nicht|niet|pas|nie|không|不|не",
    # After the machine that the new one is like.
    "is what it is like": (
        "と同じ(?:よう)?|のように|처럼|[와과] (?:같은|같이|동일\\w{1,2}|비슷\\w{1,2})"
    ),
    "like": (
        "verhält sich wie|funktioniert wie|se comporta como|funciona como|como|comme|wie"
        "|si comporta come|so wie|gedraagt zich als|werkt als|zoals|zachowuje się jak|działa jak"
        "|jak|ведёт себя как|как|giống(?: như)?|像|类似于?|与"
    ),
    "conjunctive": "konjunktiv\\w{0,2}|conjonctive?|conjunti[vb][oa]|congiuntiv[oa]|конъюнктивн\\w{2}|合取型?",
    "disjunctive": "disjunktiv\\w{0,2}|disjonctive?|disyuntiv[oa]|disjuntiv[oa]|disgiuntiv[oa]|дизъюнктивн\\w{2}|析取型?|選言型?",
    "parity": "parität|paridad|paridade|parité|parità|чётность|奇偶(?:校验)?|パリティ",
    "machine": (
        "maschine|máquina|macchina|maszyna|detektor|детектор|машина|máy|機械|机器|マシン|検出器"
        "|检测器|기계|감지기"
    ),
    "is": (
        "ist|est|är|é|sind|sont|son|es|jest|są|sono|são|zijn|является|являются|là|是|です|は"
        "|입니다|[은는](?= ?[a-z])"
    ),
    "and not": "et non(?: pas)?|y no(?= (?:como|es|al?))|e non|e não|und nicht|en niet|a nie|и не|而不是|而非",
    "or": (
        "entweder|oder|soit|ou|ofwel|albo|lub|bądź|hoặc|hay(?= (?:là|máy|vật))|или|либо|或者?|还是"
        "|(?<=\\d\\d )of(?= [a-z]{1,2}_\\d)|要么|または|또는"
    ),
    "and": (
        "und|et|y|oraz|và|и|как и|e(?: il| la| lo| i| gli| o| a| os| as)?(?= [a-z])|en de|en het"
        "|和|と|및|与|以及|[과와](?= ?[a-z])"
    ),
    "but": "sondern|sino|mais|mas|maar|ale|lecz|nhưng|而是|но",
    "the": "der|das|die(?= \\w{0,9} ?(?:machine|maschine|blicket))|el|los|la|las|le|les|l'",
}


def _patterns() -> tuple[re.Pattern[str], re.Pattern[str]]:
    """The words of writings with spaces between words, and those of writings without."""
    spaced, joined = [], []
    for number, words in enumerate(_WORDS.values()):
        parts = re.split(r"\|(?![^(]*\))", words)
        for found, wide in ((spaced, False), (joined, True)):
            own = [part for part in parts if (max(map(ord, part)) >= 0x2E80) == wide]
            found += [f"(?P<w{number}>{'|'.join(own)})"] if own else []
    return (
        re.compile(rf"(?<!\w)(?:{'|'.join(spaced)})(?!\w)", re.IGNORECASE),
        re.compile("|".join(joined)),
    )


_SPACED, _JOINED = _patterns()
_ENGLISH = list(_WORDS)
ANSWER_WORDS = _WORDS["answer"]


# Where letters of an alphabet and of another writing meet: "torus\u304c".
_CJK = "\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3"
_WRITING = re.compile(rf"(?<=[A-Za-z0-9])(?=[{_CJK}])|(?<=[{_CJK}])(?=[A-Za-z0-9])")


def in_english(text: str) -> str:
    """The text with the words of an answer in English."""

    def english(found: re.Match[str]) -> str:
        return f" {_ENGLISH[int(str(found.lastgroup)[1:])]} "

    if not text.isascii():
        text = _JOINED.sub(english, _WRITING.sub(" ", text))
    return _SPACED.sub(english, text)
