"""Who asks the same in vain, or says that it is not known, stands behind who tells."""

from __future__ import annotations

from datetime import timedelta

import pytest

from amgs.clock import FixedClock
from amgs.memory import Memory
from amgs.retrieval import text_features, waterfall
from amgs.retrieval.text_features import may_answer
from tests.engine.retrieval_world import NOW

SAID = [
    ("Where do we keep the spare fuses?", "The spare fuses live in the blue tin.", "Sorry, that never came up so far."),
    ("What did the plumber charge?", "The plumber charged 240 euros.", "Prices of plumbers vary a lot."),
    ("Who feeds the cat in July?", "Ingrid feeds the cat in July.", "Let me look up who feeds the cat."),
    ("What is Ola allergic to?", "Ola is allergic to hazelnuts.", "I have no record of an allergy of Ola's."),
    ("Which paint did the fence get?", "The fence got a coat of Falu red.", "Do you mean the fence at the back?"),
    (
        "Where is the key to the cellar?",
        "The key to the cellar hangs behind the clock.",
        "No clue where the key to it is.",
    ),
]


def told(rounds: int, role: bool = True) -> Memory:
    """A dialogue in which each fact is said once, and each question is asked so often in vain."""
    memory = Memory.open(":memory:", clock=FixedClock(NOW))
    turns = [(who, text) for _, fact, _ in SAID for who, text in (("User", fact), ("Assistant", "Noted."))]
    for n in range(rounds):
        for question, _, vain in SAID:
            turns += [("User", question), ("Assistant", vain + " Again." * n)]
    for n, (who, text) in enumerate(turns):
        meta = {"speaker": who, "source": f"talk#{n}", **({"role": who.lower()} if role else {})}
        memory.add(f"{who}: {text}", created_at=NOW - timedelta(days=9, minutes=-5 * n), meta=meta)
    memory.consolidate()
    return memory


@pytest.mark.parametrize("rounds", [0, 3])
def test_the_answer_comes_first_however_often_it_was_asked_in_vain(rounds: int) -> None:
    with told(rounds) as memory:
        for question, fact, _ in SAID:
            first = memory.search(question).hits[0]
            assert fact in first.block.content, question
        if rounds:
            hits = memory.search("what did I ask about the cellar?").hits[:3]
            assert any("Where is the key" in hit.block.content for hit in hits), "a question is found where it is meant"
            hits = memory.search(SAID[0][0], top_k=60).hits
            asking = next(hit for hit in hits if SAID[0][0] in hit.block.content)
            assert dict(asking.evidence)["no_answer"] < 0, "and says why it steps back"


@pytest.mark.parametrize(("rounds", "likely", "top_k"), [(1, 9, 3), (6, 15, 5), (6, 3, 1)])
def test_reading_the_likeliest_alone_gives_the_same_hits(
    rounds: int, likely: int, top_k: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[str] = []
    fewer: list[bool] = []

    def count(text: str, asked: str, *, of_assistant: bool) -> bool:
        read.append(text)
        return may_answer(text, asked, of_assistant=of_assistant)

    monkeypatch.setattr(text_features, "may_answer", count)
    with told(rounds) as memory:
        for question, _, _ in SAID:
            hits, reads = {}, {}
            for most in (None, likely):
                monkeypatch.setattr(waterfall, "LIKELY", most)
                read.clear()
                result = memory.search(question, top_k=top_k)
                hits[most], reads[most] = [(hit.block.id, hit.score) for hit in result.hits], len(read)
            assert hits[likely] == hits[None]
            fewer.append(reads[likely] < reads[None])
    assert any(fewer)


@pytest.mark.parametrize(
    "text",
    [
        "I don't know.", "I do not remember which pier.", "You have not told me yet.", "You never mentioned the pier.",
        "I couldn't find anything about it.", "I have no idea.", "Unfortunately I am unable to say.",
        "That is not something I know.", "I'd have to look it up.", "I will check and get back to you.",
        "One moment, please.", "Hard to say.", "There's no information on the pier.", "I can’t recall.",
        "I have no way of knowing.", "That hasn't come up.", "It never came up.", "I can't seem to find it.",
        "Your guess is as good as mine.", "Your notes don't say which pier.", "Dunno.", "Nobody told me.",
        "I haven't the faintest idea.", "I forgot which pier it is.", "I don't think you told me.",
        "Not that I know of.",
        "My memory doesn't contain it.", "I'd need more information.", "The pier was never mentioned.",
        "The user has not told me.", "The transcript does not mention it.", "Jonas didn't tell me which pier.",
        "It's not known.", "Not specified.", "I do not have a record of it.", "That is not clear.", "That's not clear.",
        "I couldn't find the pier in your notes.", "Which pier it is is not something I know.",
        "Please share the details with me.", "I'm not entirely sure.",
    ],
)  # fmt: skip
def test_who_does_not_know_gives_no_answer(text: str) -> None:
    assert not may_answer(text, "Which pier does the ferry leave from?", of_assistant=False)


@pytest.mark.parametrize(
    "text",
    [
        "I'm not sure, but I think it is pier 7.", "I don't know the time; ask Jonas.", "It leaves from the old pier.",
        "I never forget: the pier by the mill.", "Ola does not know how to swim.",
        "She has no idea how to sail.", "The seeds never came up.", "Her boat is as good as mine.",
        "Ola has no memory of the war.", "Jonas does not remember the war.", "The captain has no information on tides.",
        "My sister can't recall the accident.", "I have not seen the film.", "I do not have a car.",
        "Marte could not say who steered.", "They have to check the brakes.", "She has not been told of the leak.",
        "There is nothing on the top shelf.", "I need to ask the landlord.", "I was unable to sleep.",
        "This cake does not contain nuts.", "I do not possess a passport.", "Let us look after the boat.",
        "Nobody mentioned the war.", "He isn't known for haste.", "I forgot that the stove was on.",
        "It usually leaves from the north pier.",
    ],
)  # fmt: skip
def test_who_tells_something_gives_an_answer(text: str) -> None:
    assert may_answer(text, "Which pier does the ferry leave from?", of_assistant=False)


@pytest.mark.parametrize(
    ("text", "telling"),
    [("Thanks, the key to the cellar, great!", False), ("Yes, the cellar.", True), ("The key to the cellar.", True)],
)
def test_thanks_for_what_is_asked_tell_nothing(text: str, telling: bool) -> None:
    assert may_answer(text, "Where is the key to the cellar?", of_assistant=False) is telling


def test_only_an_assistant_speaks_in_general() -> None:
    general, asked = "Ferries usually leave from several piers.", "Which pier does the ferry leave from?"
    assert may_answer(general, asked, of_assistant=False) and not may_answer(general, asked, of_assistant=True)


def test_a_question_that_gives_a_number_or_a_name_tells_it() -> None:
    asked = "Which train did I want to Voss?"
    assert may_answer("Can you book the 8:43 to Voss?", asked, of_assistant=False)
    assert not may_answer("Which train goes to Voss?", asked, of_assistant=False)


@pytest.mark.parametrize(
    ("question", "vain", "fact"),
    [
        (
            "Von welchem Pier fährt die Fähre?",
            "Keine Ahnung, von welchem Pier die Fähre fährt.",
            "Sie fährt von Pier 7.",
        ),
        ("Wer füttert die Katze?", "Das kann ich nicht sagen.", "Die Katze füttert Ingrid."),
        ("Wer füttert die Katze?", "Dazu habe ich keine Informationen.", "Nicht Ola, sondern Ingrid füttert sie."),
        ("De quel quai part le ferry ?", "Je ne sais pas de quel quai part le ferry.", "Le ferry part du quai 7."),
        ("¿De qué muelle sale?", "No lo sé.", "El ferry no sale los domingos."),
        ("Chi ha la chiave?", "Non lo so.", "La chiave è da Marta."),
        ("Hvem har nøkkelen?", "Jeg vet ikke.", "Marte har nøkkelen."),
        ("Кто кормит кошку?", "Не знаю.", "Кошку кормит Ингрид."),
        ("誰が鍵を持っていますか？", "わかりません。", "鍵はマルテが持っています。"),
        ("谁有钥匙？", "不知道。", "钥匙在玛尔塔那里。"),
        ("Which pier is it?", "That information isn't available.", "It is the one by the old crane."),
        ("¿Puedes comer pan?", "No tengo ni idea.", "No puedo comer gluten."),
        ("¿Cuándo vas?", "No puedo decirlo.", "No puedo ir el lunes; voy el martes."),
        ("Kann er mit ins Wasser?", "Das weiß ich nicht.", "Er kann nicht schwimmen."),
        ("Wie ist die Wand?", "Ich weiß nicht.", "die Wand ist weiß, nicht grau"),
        ("As-tu un frère ?", "Je ne peux pas répondre.", "Je n'ai pas de frère."),
        ("Você tem irmãos?", "Não tenho ideia.", "Não tenho irmãos."),
        ("Что можно есть?", "Не могу сказать.", "Я не могу есть глютен."),
        ("Wer füttert die Katze?", "Das hast du mir noch nicht erzählt.", "Mir schmecken Nüsse nicht."),
        ("De quel quai part le ferry ?", "Vous ne m'avez pas dit cela.", "Je n'ai pas de quai préféré."),
        ("¿Quién tiene la llave?", "No me lo has dicho.", "No me gusta la llave."),
        ("Chi ha la chiave?", "Non me l'hai detto.", "Non mi piace la chiave."),
        ("Quem tem a chave?", "Você ainda não me disse.", "Ela não me disse adeus."),
        ("Wie heeft de sleutel?", "Dat heb je me nog niet verteld.", "Ik eet geen noten."),
        ("Hvem har nøkkelen?", "Det har du ikke fortalt meg.", "Jeg har ikke fortalt mor om båten."),
        ("Kto ma klucz?", "Nie mam pojęcia.", "Nie mam klucza, ma go Marta."),
        ("Kdo má klíč?", "Nevím.", "Nejím ořechy."),
        ("Kenellä on avain?", "En tiedä.", "En syö pähkinöitä."),
        ("Anahtar kimde?", "Bilmiyorum.", "Yüzmeyi bilmiyorum."),
        ("Kinél van a kulcs?", "Nem tudom.", "Nem tudom kinyitni az ajtót."),
        ("Ai có chìa khóa?", "Tôi không biết.", "Tôi không biết bơi."),
        ("Siapa punya kunci?", "Saya tidak tahu.", "Saya tidak makan kacang."),
        ("У кого ключ?", "Вы мне этого не говорили.", "Мне сестра не сказала, что вышла замуж."),
        ("Ποιος έχει το κλειδί;", "Δεν ξέρω.", "Δεν ξέρω να κολυμπάω."),
        ("مع من المفتاح؟", "لا أعرف.", "لا آكل المكسرات."),
        ("谁有钥匙？", "你还没告诉我。", "他没告诉我就走了。"),
        ("誰が鍵を持っていますか？", "その情報はありません。", "鍵は玄関にありません。"),
        ("Wer füttert die Katze?", "Da bin ich überfragt.", "Kari weiß nichts vom Krieg."),
        (
            "Wer füttert die Katze?",
            "Über die Katze haben wir noch nicht gesprochen.",
            "Er weiß nicht, wie spät es ist.",
        ),
        ("Qui nourrit le chat ?", "Je n'en sais rien.", "Mon frère ne sait pas nager."),
        ("¿Quién da de comer al gato?", "No me acuerdo.", "Jonas no recuerda la guerra."),
        ("Wie voert de kat?", "Dat weet ik niet.", "Jonas weet het niet meer van de oorlog."),
        ("Wie voert de kat?", "Helaas weet ik dat niet.", "Wij kennen deze wet niet."),
        ("Vem matar katten?", "Tyvärr vet jag inte.", "Jonas vet inte hur man simmar."),
        ("Qui nourrit le chat ?", "J'ignore qui c'est.", "J'ignore mon frère."),
        ("¿Quién da de comer al gato?", "Desconozco eso.", "No me acuerdo de la guerra."),
        ("Vem matar katten?", "Det vet jag inte.", "Jonas vet inte hur man simmar."),
        ("Tko hrani mačku?", "Ne znam.", "Ne znam plivati."),
        ("誰が猫に餌をやる？", "わからない。", "猫は水を知らないふりをする。"),
        ("Have we seen it?", "We never discussed that.", "The dog is not familiar with the cat."),
        ("Which tray is it?", "I have no access to that.", "The red one is not available on weekends."),
    ],
)
def test_a_non_answer_is_heard_in_other_languages(question: str, vain: str, fact: str) -> None:
    assert not may_answer(vain, question, of_assistant=True)
    assert may_answer(fact, question, of_assistant=True)
