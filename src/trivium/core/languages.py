"""The words of answers in other languages, so that the grammars have to know English only."""

from __future__ import annotations

import re

# Longer words first: a word may hold another one.
_WORDS = {
    "answer": (
        "antwort|endantwort|lösung|ergebnis|respuesta|solución|resultado|réponse|reponse"
        "|résultat|resposta|risposta|risultato|antwoord|resultaat|svar|odpowiedź|wynik|odpověď"
        "|cevap|jawaban|vastaus|válasz|răspuns|ответ|результат|відповідь|απάντηση|câu trả lời"
        "|đáp án|kết quả|答案|回答|答え|解答|结论|結論|结果|정답|답변|답|الإجابة|الجواب|उत्तर|תשובה|คำตอบ"
        "|jawabannya|svaret|cevabım|yanıt|الإجابة النهائية|απάντησή"
    ),
    "independent variable": (
        "variable indépendante|variable independiente|variável independente"
        "|variabile indipendente|unabhängige variable|независимая переменная"
        "|onafhankelijke variabele|zmienn[aą] niezależn[aą]|biến độc lập|自变量|自變量|独立变量|独立変数"
        "|독립 변수|독립변수|bağımsız değişken(?:i|dir)?|oberoende variabeln?|uafhængige? variabel"
        "|uavhengige? variabel|variabel (?:independen|bebas)|nezávisle proměnná"
        "|незалежна змінна|независимая(?= [—–:-])|المتغير المستقل|स्वतंत्र चर"
        "|ανεξάρτητη μεταβλητή|riippumaton muuttuja"
    ),
    "dependent variable": (
        "variable dépendante|variable dependiente|variável dependente|variabile dipendente"
        "|afhankelijke variabele|zmienn[aą] zależn[aą]|biến phụ thuộc|abhängige variable"
        "|зависимая переменная|因变量|因變量|従属変数|종속 변수|종속변수|bağımlı değişken(?:i|dir)?"
        "|beroende variabeln?|afhængige? variabel|avhengige? variabel"
        "|variabel (?:dependen|terikat)|závisle proměnná|залежна змінна|зависимая(?= [—–:-])"
        "|المتغير التابع|आश्रित चर|εξαρτημένη μεταβλητή|riippuva muuttuja"
    ),
    "control variables": (
        "variables de contrôle|variables de control|variáveis de controle"
        "|variabili di controllo|kontrollvariablen?|controlevariabelen?"
        "|zmienn(?:e|ą|a) kontroln(?:e|ą|a)|контрольные переменные|biến kiểm soát|控制变量|控制變量"
        "|対照変数|制御変数|統制変数|통제 변수|통제변수|variables? de contr[oô]le?|variável de controle"
        "|variabile di controllo|kontrol değişken(?:leri|i|ler)|kontrollvariable(?:r|l)"
        "|variabel kontrol|kontrolní proměnné|контрольні змінні|контролируемые(?: переменные)?"
        "|متغيرات? (?:التحكم|الضبط)|المتغيرات (?:الضابطة|المضبوطة)|नियंत्रण चर|नियंत्रित चर"
        "|μεταβλητές ελέγχου|变量控制"
    ),
    "hold constant": (
        "(?:maintenant|maintient|maintenir|garde|gardant) (?:constant(?:e?s)?|fixes?)"
        r"|(?:se )?mantien\w{0,3} (?:constantes?|fij[oa]s?)"
        "|manteniendo (?:constantes?|fij[oa]s?)|mant[eê]m-?(?:se)? (?:constantes?|fix[oa]s?)"
        "|mantendo (?:constantes?|fix[oa]s?)|manter (?:constantes?)"
        "|(?:mantenendo|tenendo|si mantengono|mantenere) costanti"
        "|konstant (?:zu )?(?:gehalten|halten|hält)|gehouden constant"
        r"|constant (?:gehouden|houden)|utrzymywać|постоянными|фиксируем|sabit (?:tut\w{1,6})"
        r"|håll\w{0,3} konstant\w?|保持(?=[^.;]{0,80}不变)|固定|一定に保\w{1,4}|일정하게|고정"
    ),
    "control": (
        "controlar|controlarse|contrôler|kontrollier(?:en|t)|controllare|controleren"
        "|kontrolować|контролировать|kiểm soát|控制|制御|통제|controla(?:ndo|mos)?|on contrôle"
        r"|contrôlant|controlliamo|контролируем|kontrol (?:et|edil)\w{1,5}|kontrollera\w{0,2}"
    ),
    "vary": (
        "fai(?:t|re) varier|variieren|variiert|variare|variar|variëren|zmieniać|改变|변화시"
        "|manipul(?:e|er|ons|iert|ieren|ar|a|amos|ando|iamo|are|iere)|manipula-se|se manipula"
        "|si manipola|variamos|变化|操纵|操作(?=し)?|操控|varia(?:r|mos)?-?(?:se)?|變動|изменяем|варьируем"
        r"|меняем|değiştir\w{0,5}|variera\w{0,2}|manipulera\w{0,2}|조작"
    ),
    "measure": (
        "mesure[rz]?|misurare|medir|messen|meten|mierzyć|измерять|đo|测量|測定|측정|gemessen|se mide"
        r"|mede-se|medimos|medir?|mesurons|mesurant|misuriamo|si misura|измеряем|ölç\w{1,6}"
        "|mät(?:a|er|s)|觀察|观察"
    ),
    "i'll test": (
        "ich (?:teste|prüfe|probiere|lege|stelle)|je (?:teste|place|mets"
        "|vais (?:tester|placer|mettre|essayer))|testons|voy a (?:probar|poner|colocar)|pruebo"
        "|probaré|probemos|vou (?:testar|colocar|pôr)|testarei|provo|testo|proviamo|metto"
        "|ik (?:test|probeer|plaats)|testuję|sprawdzę|sprawdzam|проверю|поставлю|протестирую"
        "|тестирую|положу|попробую|jag testar|jag (?:lägger|ställer)|test ediyorum|deneyeceğim"
        "|saya (?:akan )?(?:menguji|mencoba|tes)|aku tes|tôi (?:sẽ )?(?:thử|kiểm tra)"
        "|我?(?:来|要|想|先|将)?测试|我?(?:把|将)(?=[^.;]{1,30}放)|テスト(?:します|する)|試し(?:ます|てみます)|올려 ?보겠습니다"
        "|테스트(?:하겠습니다|합니다|해)|سأختبر|मैं परीक्षण"
    ),
    "therefore": (
        "donc|por (?:lo )?tanto|quindi|portanto|daher|folglich|dus|zatem|поэтому|vì vậy|因此|所以"
        "|したがって|따라서"
    ),
    "hypothesis": (
        "hypothèse|hypothese|hipótesis|hipótese|ipotesi|hipotez[aęy]|гипотеза|giả thuyết|假设|假設"
        "|仮説|가설|hipotez(?:i)?|hypotesen?|hipotesis(?:nya)?|hypotéza|гіпотеза|الفرضية|परिकल्पना"
        "|υπόθεση"
    ),
    "is not valid": (
        "n'est pas valide|no es válida|não é válida|non è valida|nicht gültig|niet geldig"
        "|nie jest (?:poprawna|prawidłowa|ważna)|неверна|không (?:hợp lệ|đúng)|不成立"
        r"|成り立(?:たない|ちません)|성립하지 않\w{0,3}|유효하지 않\w{0,3}|타당하지 않\w{0,3}|geçerli değil(?:dir)?"
        "|är inte giltig|er ikke gyldig|tidak (?:valid|sah|berlaku)|मान्य नहीं(?: है)?"
        "|غير (?:صحيحة|صالحة|مقبولة)|ليست (?:صحيحة|صالحة)|n'est pas (?:plausible|recevable)"
        "|no es plausible|não é plausível|nicht (?:zulässig|haltbar|plausibel)|недопустима"
        "|не верна|неправильна|没有成立|是无效的|妥当では(?:ない|ありません)"
    ),
    "invalid": (
        "invalide|inválida|invalida|ungültig|ongeldig|nieprawidłowa|niepoprawna|nieważna"
        "|недействительна|无效|無效|無効|geçersiz(?:dir)?|ogiltig|ugyldig|अमान्य|unzulässig"
        "|unplausibel|implausibile|implausible|inaceptable|不合理"
    ),
    "valid": (
        "valide|válida|valida|gültig|geldig|poprawna|prawidłowa|ważna|верна|действительна"
        r"|hợp lệ|有效|有効|成立|成り立\w{1,3}|유효|타당|성립|geçerli(?:dir)?|giltig|gyldig|मान्य|صحيحة|صالحة"
        "|مقبولة|zulässig|plausibel|plausível|plausibile|допустима|правдоподобна|妥当|合理"
        r"|sah(?= |\.)|platná"
    ),
    "true": "vrai|vraie|wahr|verdadero|verdadera|verdadeiro|verdadeira|vero|vera|истинно|真",
    "false": "faux|fausse|falsch|falso|falsa|ложно|ложь",
    "cannot tell": (
        "nicht (?:ganz )?sicher|no estoy segur[oa]|pas (?:sûre?|certaine?)|non sono sicur[oa]"
        "|não tenho certeza|niet zeker|nie jestem pew(?:ien|na)|не уверена?"
        r"|không chắc(?: chắn)?|확실하지 않\w{0,3}|nicht sagen|nicht (?:zu )?unterscheiden"
        r"|nicht entscheiden|nicht bestimm\w{1,4}|nicht feststell\w{1,4}|nicht erkennen|unklar"
        "|ungewiss|unsicher|unbekannt|no se puede (?:saber|determinar|decir|distinguir)"
        "|es imposible (?:saber|determinar)|no es posible (?:saber|determinar)|indeterminad[oa]"
        "|on ne peut pas (?:savoir|dire|le dire|déterminer)"
        "|impossible (?:de|à) (?:savoir|dire|déterminer)|ne permet(?:tent)? pas de"
        "|indéterminée?|incertaine?"
        "|não (?:é possível|dá para|se pode) (?:saber|determinar|dizer)"
        "|non si può (?:sapere|dire)|нельзя (?:сказать|определить)"
        "|невозможно (?:сказать|определить)|неизвестно|无法(?:确定|判断|区分|得知)|不能(?:确定|判断)|不确定"
        "|無法(?:確定|判斷)|niet te (?:zeggen|bepalen)|niet (?:bepaald|vastgesteld) worden"
        r"|onduidelijk|onzeker|nie (?:można|da się|potrafię|wiem|mogę)(?: \w{4,14})?|nie wiadomo"
        "|nieustalon[aey]|nessuna certezza|incert[oa]"
        "|non è possibile (?:sapere|determinare|dire|stabilire)|не могу (?:сказать|определить)"
        r"|не ясно|неясно|không (?:thể|rõ)(?: \w{2,5}){0,2}|chưa (?:rõ|xác định)"
        r"|(?:判断|区別|判別|特定|決定)(?:でき|は?不可)\w{0,4}|わから\w{1,3}|分から\w{1,3}|不明|알 수 없\w{0,3}"
        r"|판단할 수 없\w{0,3}|구별할 수 없\w{0,3}|on ne sait pas"
        "|no (?:hay|existe) (?:forma|manera|modo) de (?:saber|determinar|decirlo)"
        "|não há como (?:saber|determinar)|non c'è modo di (?:sapere|dire)|no se sabe"
        "|não se sabe|non si sa|man weiß nicht|kann (?:man )?nicht (?:wissen|gesagt werden)"
        "|nicht wissen|无法知道|不知道|無法知道|不得而知|bilinemez|belirlenemez|belirsiz|bilinmiyor"
        "|går inte att (?:säga|avgöra|veta)"
        "|tidak (?:bisa|dapat) (?:diketahui|dipastikan|ditentukan)|tidak jelas"
        "|لا يمكن (?:معرفة|تحديد|الجزم)|غير معروف|(?:पता|तय) नहीं|не (?:известно|понятно)"
        "|неопредел[её]нн?о"
    ),
    "maybe": (
        "vielleicht|möglicherweise|eventuell|quizás?|tal vez|posible(?:mente)?|peut-être"
        "|possiblement|forse|possibilmente|talvez|possivelmente|возможно|可能(?:是)?|也许|或许"
        "|puede[ns]? ser(?:lo)?|podrían? ser(?:lo)?|peu(?:t|vent) (?:l'|en )?être|könnten?"
        "|può essere|possono essere|pode[m]? ser|podem sê-lo|может быть|могут быть|misschien"
        "|mogelijk|może|mogą|być może|có thể(?: là)?(?=[^.;:]{0,60}blicket)|có lẽ|kan een"
        r"|kunnen|かもしれ\w{1,4}|可能性\w{0,4}|아마도?|belki|muhtemelen|olabilir|kanske|möjligen|måske"
        "|kanskje|mungkin|ربما|قد يكون|शायद|может"
    ),
    "definitely": (
        "sicher|mit sicherheit|bestimmt|definitiv|seguro|seguros|con certeza|definitivamente"
        "|forcément|certainement|sûrement|sicuramente|certamente|точно|обязательно|一定|必须|zeker"
        "|beslist|na pewno|z pewnością|chắc chắn|肯定|必ず|確実に|반드시|확실히|kesinlikle|definitivt|säkert"
        "|pasti|بالتأكيد|निश्चित रूप से"
    ),
    "blickets are": "blickety to",
    "blickets": (
        "blicket(?:y|i|ami|ów)|blicketlar(?:ı|dır)?|blicketler|blicket-?nya|blicketarna"
        "|blicketerna|бликеты|бликетами|البليكتات"
    ),
    "blicket": (
        r"blicket(?:em|a)|ブリケット|블리켓|блик[ке]т\w{0,3}|البليكت|بليكت|ब्लिकेट|blicket'?(?:tir|tır)"
    ),
    "is not": (
        r"n'est pas|ne sont pas|no es|no son|não é|não são|non è|non sono|ist kein\w{0,2}"
        r"|sind kein\w{0,2}|ist nicht|sind nicht|не является|не являются|不是|并非|is geen|zijn geen"
        "|is niet|zijn niet|nie jest|nie są|không phải(?: là)?|är inte|är ingen|er ikke"
        "|bukan(?: merupakan)?|bukanlah|tidak termasuk|ليس(?:ت|ا)?|فليس(?: كذلك)?|não o é"
        "|n'en (?:est|sont) pas(?: un)?|не"
    ),
    "is not,": (
        r"では(?:ありません|ない|なく)|じゃ(?:ない|なく)|[가이] 아[니닙]\w{0,2}|değil(?:dir|ler)?|नहीं (?:है|हैं)"
        "|bukan(?=[.,;]|$)|no lo (?:es|son)|non lo (?:è|sono)|ist keiner|sind keine|— нет"
        "|не является(?=[.,;]|$)"
    ),
    "yes": "oui|ja|sí|sim|tak|はい|да|예",
    "none": (
        "aucune|aucun|ninguna|ninguno|nenhuma|nessuna|geen|brak|żadn[aey]|không có|нет|无|無|なし"
        "|없음|aucun(?:e)? n'est (?:nécessaire|requise?)|yok|hiçbiri|ingen|inga|tidak ada"
        "|لا (?:يوجد|شيء)|कोई नहीं|keine nötig|无需|無需|不需要|nenhum"
    ),
    "no": "nein|não|否|いいえ|아니요|keine[rsn]?|kein",
    "not": "nicht|niet|pas|nie|không|不|не|inte|ikke|tidak|لا",
    "is what it is like": (
        r"と同じ(?:よう)?|のように|처럼|[와과] (?:같은|같이|동일\w{1,2}|비슷\w{1,2})|gibi|जैसा|की तरह|のと同じ|と同様"
    ),
    "like": (
        "verhält sich wie|funktioniert wie|se comporta como|funciona como|como|comme|wie"
        "|si comporta come|so wie|gedraagt zich als|werkt als|zoals|zachowuje się jak"
        "|działa jak|jak|ведёт себя как|как|giống(?: như)?|像|类似于?|与|igual que(?: el| la| los)?"
        "|come (?:quello|quella|il|la|lo|i)|fungerar som|beter sig som|virker som"
        "|oppfører seg som|bekerja seperti|seperti|berperilaku seperti|مثل"
        "|ressemble (?:au|à la|à)|est du même type que (?:le|la)?|como (?:o|a|el|la)(?= )"
        "|funziona come(?: il| la| lo)?|genauso wie|так же,? как|与(?=[^.;]{0,30}相同)"
        "|和(?=[^.;]{0,30}一样)|同(?=[^.;]{0,30}一样)"
    ),
    "conjunctive": (
        r"konjunktiv\w{0,2}|conjonctive?|conjunti[vb][oa]|congiuntiv[oa]|конъюнктивн\w{2}|合取型?"
    ),
    "disjunctive": (
        r"disjunktiv\w{0,2}|disjonctive?|disyuntiv[oa]|disjuntiv[oa]|disgiuntiv[oa]"
        r"|дизъюнктивн\w{2}|析取型?|選言型?"
    ),
    "parity": "parität|paridad|paridade|parité|parità|чётность|奇偶(?:校验)?|パリティ",
    "threshold": "schwellen?wert|umbral|seuil|soglia|limiar|порог|阈值型?|閾値型?",
    "inhibitor": (
        "inhibidor(?:es|a)?|inhibiteurs?|inibitor[ei]|inibidor(?:es)?|hemm(?:er|ende)"
        r"|ингибитор\w{0,2}|抑制(?:型|物|器)?|阻害(?:型|物)?"
    ),
    "form": "forme|forma|форма|形式|форму|biçim",
    "objects": "objekte?|objets?|objetos?|oggetti|объекты?|物体|对象|objek",
    "together": "zusammen|ensemble|junt[oa]s?|insieme|samen|razem|вместе|一起|同时|一緒に|함께|tillsammans"
    "|birlikte|bersama(?:an)?|sama-sama|cùng nhau",
    "on the machine": "на (?:машину|детектор)|auf (?:die|der) maschine|auf den detektor|sur la machine"
    "|sur le détecteur|en la máquina|na máquina|sulla macchina|op de machine|放(?:到|在)?机器上|放上去?",
    "machine": (
        "maschine|máquina|macchina|maszyna|detektor|детектор|машина|máy|機械|机器|マシン|検出器|检测器|기계"
        "|감지기|rilevatore|détecteur|dedektörü?|makine(?:si)?|detektorn?|mesin|الكاشف|الآلة|मशीन"
        "|डिटेक्टर|探测器|探測器|detector(?= )|maskinen?"
    ),
    "is": (
        "ist|est|är|é|sind|sont|son|es|jest|są|sono|são|zijn|является|являются|là|是|です|は|입니다"
        "|[은는](?= ?[a-z])|er|adalah|ialah|merupakan|هما|هي|هو|هم|है|हैं|è|son(?: los| las)?"
    ),
    "and not": (
        "et non(?: pas)?|y no(?= (?:como|es|al?))|e non|e não|und nicht|en niet|a nie|и не|而不是"
        "|而非"
    ),
    "or": (
        "entweder|oder|soit|ou|ofwel|albo|lub|bądź|hoặc|hay(?= (?:là|máy|vật))|или|либо|或者?|还是"
        r"|(?<=\d\d )of(?= [a-z]{1,2}_\d)|要么|または|또는|eller|veya|ya da|atau|أو|या"
    ),
    "and": (
        "und|et|y|oraz|và|и|как и|e(?: il| la| lo| i| gli| o| a| os| as)?(?= [a-z])|en de"
        "|en het|和|と|및|与|以及|[과와](?= ?[a-z])|och|og|ve|dan|و|और|ile(?= [a-z])"
    ),
    "but": (
        "sondern|sino|mais|mas|maar|ale|lecz|nhưng|而是|но|men|ama|fakat|sedangkan|tetapi|أما"
        "|lakin|mientras que|mentre|tandis que|während|enquanto"
    ),
    "": "を|置いて|置き|乗せて|載せて|の上に|를|을|위에|놓고",  # words that say nothing here
    "the": r"der|das|die(?= \w{0,9} ?(?:machine|maschine|blicket))|el|los|la|las|le|les|l'|il|quello|quella|lo|o(?= [a-z])|os(?= [a-z])",
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


def in_english(text: str) -> str:
    """The text with the words of an answer in English."""

    def english(found: re.Match[str]) -> str:
        return f" {_ENGLISH[int(str(found.lastgroup)[1:])]} "

    if not text.isascii():
        text = _JOINED.sub(english, text)
    return _SPACED.sub(english, text)
