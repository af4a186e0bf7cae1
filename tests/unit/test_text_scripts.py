"""Words of any script are found: those written without spaces, with accents, with other letters and their endings."""

from __future__ import annotations

import unicodedata

import pytest

from tests.unit.test_index_keyword import TEXTS, filled, found

SENTENCES = {
    1: "数据库迁移计划在下周三完成,负责人是王小明。",
    2: "办公室的打印机需要更换墨粉,备用墨粉在二楼的柜子里。",
    3: "会議は金曜日の午後三時に延期されました。資料は山田さんが準備します。",
    4: "サーバーの再起動は毎週日曜日の深夜に行います。",
    5: "กุญแจสำรองของห้องประชุมอยู่ในลิ้นชักโต๊ะของคุณสมชาย",
    6: "รถไฟไปเชียงใหม่ออกเวลาเก้าโมงเช้า",
    7: "В обсерватории сломался насос, и Илья заказал новый клапан.",
    8: "Ключи от подвала лежат у сторожа.",
    9: "مفتاح المختبر مع الحارس في الطابق الأول.",
    10: "تأجل اجتماع الفريق إلى يوم الخميس.",
    11: "La clé de l'entrepôt est chez Zoë, à côté du café.",
    12: "Der Schlüssel für die Garage hängt über der Tür.",
    13: "회의실 예약은 금요일까지 도서관에서 확인합니다.",
    14: "अतिरिक्त चाबी रसोई की अलमारी में रखी है।",
}
QUESTIONS = [
    ("数据库什么时候迁移?", 1),
    ("打印机墨粉", 2),
    ("会議はいつですか", 3),
    ("サーバー 再起動", 4),
    ("กุญแจห้องประชุมอยู่ที่ไหน", 5),
    ("รถไฟเชียงใหม่", 6),
    ("насосы обсерватория", 7),
    ("ключ подвал", 8),
    ("أين مفاتيح المختبر مفتاح", 9),
    ("اجتماع الخميس", 10),
    ("cle entrepot zoe", 11),
    ("SCHLUSSEL garage", 12),
    ("도서관 회의실", 13),
    ("चाबी कहाँ रखी", 14),
]


@pytest.mark.parametrize(("question", "number"), QUESTIONS)
def test_a_sentence_of_any_script_is_found_first_by_its_words(question: str, number: int) -> None:
    index = filled(SENTENCES | {n + 100: text for n, text in TEXTS.items()})
    assert found(index, question)[0] == number
    assert found(index, unicodedata.normalize("NFD", question))[0] == number


def test_one_character_is_found_and_another_word_is_not() -> None:
    index = filled(SENTENCES)
    assert found(index, "柜") == [2]
    assert found(index, "库据") == []
    assert found(index, "ＡＢＣ") == found(filled({1: "the abc"}), "xyz") == []
    assert found(filled({1: "the abc"}), "ＡＢＣ") == [1]
