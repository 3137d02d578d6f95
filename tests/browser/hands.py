"""Three ways to work with the lab's page: by mouse, by keyboard, by touch. Each does the same things."""

from __future__ import annotations


def settled(page):
    """Wait for the answers about the scene that is shown, and until they are drawn."""
    page.wait_for_selector("html[data-ready]")
    frame(page)  # moves of the pointer arrive with the frames
    page.wait_for_selector("html[data-state=answered]")
    frame(page)


def frame(page):
    """Wait until what changed is drawn."""
    page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")


def be_the_perceptron(hand, wrong=False):
    """Name each mistake and type the new weights, until none is left; how many there were."""
    page = hand.page
    rows = [page.get_attribute(f"[data-index='{k}']", "aria-label") for k in range(6)]
    points = [(*(float(v) for v in text.split("at ")[1].split(", ")), 1 if "plus" in text else -1) for text in rows]
    w, updates, clean = [0.0, 0.0], 0, 0
    for k in range(600):
        x, y, label = points[k % 6]
        s = w[0] * x + w[1] * y
        if (s >= 0) == (label > 0):
            clean += 1
            if clean == 6:
                break
            continue
        if wrong and updates == 0:  # first a row that is none
            right = next(i for i, p in enumerate(points) if p[2] > 0)
            hand.choose(right)
            page.locator("#be-said", has_text="proves that it is no mistake").wait_for(timeout=3000)
        hand.choose(k % 6)
        page.locator("#be-said", has_text=f"Yes, row {k % 6} is a mistake").wait_for(timeout=3000)
        w = [w[0] + label * x, w[1] + label * y]
        for name, value in zip(("#be-w1", "#be-w2"), w, strict=True):
            page.focus(name)
            page.keyboard.type(f"{value:g}")
        page.keyboard.press("Enter")
        page.locator("#be-said", has_text="Right: ŵ").wait_for(timeout=3000)
        updates, clean = updates + 1, 0
    hand.press("#be-clean")
    return updates


class Hand:
    """What all have in common: where things are on the screen."""

    def __init__(self, page):
        self.page = page

    def middle(self, selector):
        self.page.locator(selector).scroll_into_view_if_needed()
        box = self.page.locator(selector).bounding_box()
        return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2

    def place(self, u, v):
        """Pixels of a place in the plane, given in 600ths of its square."""
        self.page.locator("#plane").scroll_into_view_if_needed()
        box = self.page.locator("#plane").bounding_box()
        side = min(box["width"], box["height"])
        left, top = box["x"] + (box["width"] - side) / 2, box["y"] + (box["height"] - side) / 2
        return left + side * u / 600, top + side * v / 600

    def on_slider(self, selector, share):
        self.middle(selector)
        box = self.page.locator(selector).bounding_box()
        thumb = 16
        return box["x"] + thumb / 2 + share * (box["width"] - thumb), box["y"] + box["height"] / 2

    def choose(self, index):
        """Click a point."""
        self.press(f"[data-index='{index}']")


class Mouse(Hand):
    def press(self, selector):
        self.page.mouse.click(*self.middle(selector))

    def add(self, u, v, label):
        self.press(f"input[name=label][value='{label}']")
        self.page.mouse.click(*self.place(u, v))

    def drag(self, index, du, dv):
        """Move a point by 600ths of the plane."""
        self.move(f"[data-index='{index}']", du, dv)

    def drag_handle(self, name, du, dv):
        self.move(f"[data-handle='{name}']", du, dv)

    def move(self, selector, du, dv):
        unit = self.place(1, 0)[0] - self.place(0, 0)[0]
        x, y = self.middle(selector)
        self.page.mouse.move(x, y)
        self.page.mouse.down()
        self.page.mouse.move(x + du * unit, y + dv * unit, steps=4)
        self.page.mouse.up()

    def slide(self, selector, share):
        self.page.mouse.click(*self.on_slider(selector, share))


class Keyboard(Hand):
    """Nothing but keys: Tab and the arrows find what is pressed, and focus must be visible on it."""

    def reach(self, selector):
        wanted = self.page.locator(selector)
        if wanted.get_attribute("role") == "tab" and wanted.get_attribute("aria-selected") == "false":
            self.reach("[role=tab][aria-selected=true]")  # one stop for all of them, and arrows between them
            while not wanted.evaluate("e => e === document.activeElement"):
                self.page.keyboard.press("ArrowRight")
            return
        self.page.evaluate(
            """selector => {
                const able = (e) => e.tabIndex >= 0 && !e.disabled && e.getClientRects().length > 0;
                const stops = 'a, button, input, select, summary, [tabindex]';
                const all = [...document.querySelectorAll(stops)].filter(able);
                const own = document.querySelector(selector);
                const before = all[all.indexOf(own) - 1];
                if (all.includes(own) && before) before.focus(); else document.body.focus();
            }""",
            selector,
        )
        for _ in range(60):
            self.page.keyboard.press("Tab")
            if wanted.evaluate("e => e === document.activeElement"):
                assert wanted.evaluate(
                    "e => getComputedStyle(e).outlineStyle !== 'none' || e.matches('.point, .handle')"
                )
                return
        raise AssertionError(f"Tab does not reach {selector}")

    def press(self, selector):
        self.reach(selector)
        self.page.keyboard.press("Space")

    def drag_handle(self, name, du, dv):
        self.reach(f"[data-handle='{name}']")
        for plus, minus, count in (("ArrowRight", "ArrowLeft", du), ("ArrowDown", "ArrowUp", dv)):
            for _ in range(round(abs(count) / 12)):
                self.page.keyboard.press(plus if count > 0 else minus)

    def add(self, u, v, label):
        self.reach("#plane")
        for key, count in (("ArrowRight", u - 300), ("ArrowUp", 300 - v)):
            other = {"ArrowRight": "ArrowLeft", "ArrowUp": "ArrowDown"}[key]
            for _ in range(round(abs(count) / 12)):  # a key press is a fiftieth of the plane
                self.page.keyboard.press(key if count > 0 else other)
        self.page.keyboard.press("p" if label > 0 else "n")

    def drag(self, index, du, dv):
        self.reach(f"[data-index='{index}']")
        for plus, minus, count in (("ArrowRight", "ArrowLeft", du), ("ArrowDown", "ArrowUp", dv)):
            for _ in range(round(abs(count) / 12)):
                self.page.keyboard.press(plus if count > 0 else minus)

    def slide(self, selector, share):
        self.reach(selector)
        lowest, highest, step = self.page.eval_on_selector(selector, "e => [+e.min, +e.max, +e.step || 1]")
        self.page.keyboard.press("Home")
        for _ in range(round(share * (highest - lowest) / step)):
            self.page.keyboard.press("ArrowRight")


class Touch(Hand):
    """A finger, by the events that a touch screen sends."""

    def __init__(self, page):
        super().__init__(page)
        self.finger = page.context.new_cdp_session(page)

    def middle(self, selector):
        """At the lower end of the screen, since the plane stays at the upper one."""
        script = "e => e.scrollIntoView({ block: e.closest('#plane') ? 'center' : 'end' })"
        self.page.locator(selector).evaluate(script)
        frame(self.page)
        box = self.page.locator(selector).bounding_box()
        return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2

    def touch(self, kind, *places):
        points = [{"x": x, "y": y} for x, y in places]
        self.finger.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})

    def tap(self, x, y):
        self.touch("touchStart", (x, y))
        self.touch("touchEnd")

    def press(self, selector):
        self.tap(*self.middle(selector))

    def add(self, u, v, label):
        self.press(f"input[name=label][value='{label}']")
        self.tap(*self.place(u, v))

    def drag(self, index, du, dv):
        self.move(f"[data-index='{index}']", du, dv)

    def drag_handle(self, name, du, dv):
        self.move(f"[data-handle='{name}']", du, dv)

    def move(self, selector, du, dv):
        unit = self.place(1, 0)[0] - self.place(0, 0)[0]
        x, y = self.middle(selector)
        self.touch("touchStart", (x, y))
        for k in (1, 2, 3, 4, 4):
            self.touch("touchMove", (x + du * unit * k / 4, y + dv * unit * k / 4))
            self.page.wait_for_timeout(30)
        self.page.wait_for_timeout(100)  # a finger that leaves before it rests flings, and the next tap ends the fling
        self.touch("touchEnd")

    def slide(self, selector, share):
        self.tap(*self.on_slider(selector, share))


WAYS = {"mouse": Mouse, "keyboard": Keyboard, "touch": Touch}
