"""The Conversation pane: what a model would read, turn by turn; what was left out comes back; the gateway."""

from __future__ import annotations

from amgs.types.gateway import GatewayExchange, GatewayPrompt, Usage
from amgs_tui.dialogs.chooser import Chooser
from amgs_tui.dialogs.reader import TextReader
from amgs_tui.panes.context_asking import fate_of
from amgs_tui.panes.conversation import ConversationPane
from amgs_tui.widgets.arrangement import EMPTY_HEIGHT
from tests.engine.conversation_world import agent
from tests.tui.app_drive import drive
from tests.tui.app_world import NOW, World


def talking(*names: str, turns: int = 12) -> World:
    """A memory that holds conversations with an agent."""
    world = World(raw=0)
    with world.open() as session:
        for name in names:
            session.engine.memory.conversation.add(name, agent(turns))
    return world


async def test_what_a_model_would_read_is_shown_scrubbed_and_restored() -> None:
    async with drive(talking("ship"), (80, 24)) as driven:
        await driven.press("8")
        assert "49 kept" in driven.text and "everything fits" in driven.text
        assert "#2 " in driven.text, "what the list does not need is the chosen messages'"
        await driven.press("b")
        await driven.type("600", "enter")
        pane = driven.pane(ConversationPane)
        assert pane.context is not None and pane.context.budget == 600
        assert "dropped" in driven.text and f"ledger {pane.context.history:,}" in driven.text
        driven.app.run_line(f"conversation optimise {pane.wish.conversation} --budget 500")
        await driven.settle()
        pane.look()
        await driven.settle()
        assert pane.context.budget == 500  # what was typed stays when the pane looks again
        await driven.press("b")
        await driven.type("600", "enter")
        await driven.press("left_square_bracket", "left_curly_bracket")
        assert pane.wish.until == 38 and "after #38 of 49" in driven.text
        assert pane.context.spans[-1].last == 38
        await driven.press("L")
        assert driven.pane(ConversationPane).wish.until is None and pane.context.spans[-1].last == 49

        spans = pane.rows
        await driven.press("end", "m")
        assert pane.rows == 49 > spans and pane.span is not None and pane.span.handle == "#49"
        assert sum(one.tokens for one in pane.spans) == pane.context.history
        await driven.press("m", "v")
        assert pane.rows == spans and "one handle away: " in driven.text and "missing" in driven.text
        await driven.press("v")
        assert "topic" in driven.text and "chance" in driven.text
        await driven.press("v", "v")
        assert "entities with a confidence" in driven.text
        await driven.press("v")
        assert "short-term" in driven.text and "things open" in driven.text
        await driven.press("v", "end", "K")
        assert "kept in every context that has room" in driven.text

        gone = next(n for n, one in enumerate(pane.spans) if fate_of(one) == "dropped")
        await driven.press("home", *["down"] * gone, "w")
        assert isinstance(driven.app.screen, TextReader) and "a larger budget" in driven.text
        await driven.press("escape", "l", "enter")
        assert isinstance(driven.app.screen, TextReader) and "minimal" in driven.text
        await driven.press("escape", "S", "end", "enter")
        assert isinstance(driven.app.screen, TextReader) and "Conversation summary" in driven.text
        await driven.press("escape", "C")
        await driven.type("They met Zebulon in 1871.", "enter")
        assert isinstance(driven.app.screen, TextReader) and "Zebulon" in driven.text
        await driven.press("escape", "f", "end", "enter")
        assert driven.pane(ConversationPane).wish.configuration == "high-fidelity" and "high-fidelity ·" in driven.text
        await driven.press("f", "home", "enter")
        assert pane.context.strategy == "mask" and driven.pane(ConversationPane).wish.configuration == "default"
        await driven.press("a", "home", "enter")
        compared = pane.comparison
        assert compared is not None and (compared.a.strategy, compared.b.strategy) == ("extractive", "mask")
        assert "A extractive" in driven.text and "B mask" in driven.text and "differ" in driven.text
        await driven.press("left_square_bracket")
        assert pane.comparison is not compared and pane.comparison is not None
        await driven.press("a")
        assert driven.pane(ConversationPane).comparison is None and driven.pane(ConversationPane).wish.until == 48


async def test_the_gateway_is_followed_until_something_is_looked_at() -> None:
    world = talking("chat-1", "chat-2")
    async with drive(world, (120, 40)) as driven:
        memory = world.session.engine.memory
        world.session.engine.gateway = True

        def passes(number: int, said: str) -> None:
            """A request through the gateway, as it is kept."""
            asked = {"role": "user", "content": f"question {number}"}
            until = memory.conversation.add("chat-1", [asked]).last
            sent = memory.conversation.optimise("chat-1", until=until, budget=600)
            answer = memory.conversation.add("chat-1", [{"role": "assistant", "content": said}])
            memory.gateway.note(
                GatewayExchange(
                    *(number, NOW, "chat-1", "/v1/messages", "own", "", 49, sent, "", ""),
                    *("answered", 200, 0, 1.0, 1.0, 1.0),
                    until=until,
                    answered=answer.last,
                    tokens=sent.tokens,
                    tokens_before=sent.history,
                    usage=Usage(3, 50, 400, 7),
                    prompts=(GatewayPrompt("system prompt", said),),
                )
            )

        passes(1, "The keel.")
        pane = driven.pane(ConversationPane)

        async def look() -> None:
            driven.app.dispatcher.look()
            await driven.settle()

        await driven.press("8")
        await look()
        assert "request 1 ? question 1" in driven.text and "The keel." in driven.text
        passes(2, "The mast.")
        await look()
        assert "request 2 ? question 2" in driven.text and "The mast." in driven.text
        await driven.press("down")
        passes(3, "The sail.")
        await look()
        assert "The mast." in driven.text and "1 newer request" in driven.text
        await driven.press("left_square_bracket")
        assert "The keel." in driven.text
        await driven.press("L")
        assert "The sail." in driven.text and pane.gateway.follows
        await driven.press("s")
        assert "system prompt changed · 3 fresh, 50 written, 400 cached" in driven.text
        await driven.press("escape")
        gone = next(n for n, one in enumerate(pane.spans) if fate_of(one) == "dropped")
        await driven.press("home", *["down"] * gone, "r")
        assert pane.span is not None and memory.conversation.stats("chat-1").kept == (pane.span.handle,)
        await driven.press("escape")
        await driven.press("o")
        assert isinstance(driven.app.screen, Chooser)
        await driven.press("home", "down", "enter")
        assert pane.gateway.exchange is None and pane.context is not None and pane.context.conversation == "chat-2"


async def test_a_screen_with_all_panes_makes_room_for_a_conversation_when_there_is_one() -> None:
    world = talking()
    async with drive(world, (200, 60)) as driven:
        pane = driven.pane(ConversationPane)
        assert pane.region.height == EMPTY_HEIGHT
        await driven.press("colon")
        await driven.type("""conversation add tiny --messages '[{"role": "user", "content": "Ahoy"}]'""", "enter")
        await driven.press("escape")
        assert pane.region.height > EMPTY_HEIGHT and "Ahoy" in driven.text
