"""Scripts that write: each line acknowledged, failed or unknown, as exit status and text say."""
from outcome import FAILED, OK, of_lines, of_status
from world import Actor

CREATED, COUNTER = "/f/created", "/f/counter"


class OneShots(Actor):
    """One command, one process."""

    kind = "one-shot"

    def __init__(self, world, name, far, book):
        super().__init__(world, name, far)
        self.book = book

    def act(self):
        if self.random.random() < 0.5:
            path, value = f"{CREATED}/{self.name}-{self.number}", f"{self.number}"
            self.book.created(path, of_status(self.zksh("create", path, value).status), value)
        else:
            ended = self.zksh("incr", COUNTER)
            outcome = of_status(ended.status)
            self.book.counted(COUNTER, outcome, int(ended.out) if outcome == OK else None)


class Scripts(Actor):
    """Several lines in one session, which stop at the first failure; with --pipe, all are sent."""

    kind = "script"

    def __init__(self, world, name, far, book, piped):
        super().__init__(world, name, far)
        self.book, self.piped = book, piped
        self.kind = "pipe" if piped else "script"

    def act(self):
        paths, lines = {}, []
        for i in range(self.random.randint(20, 60) if self.piped else self.random.randint(2, 6)):
            if self.random.random() < 0.8:
                paths[i] = f"{CREATED}/{self.name}-{self.number}-{i}"
                lines.append(f"create {paths[i]} {self.number}")
            else:
                lines.append(f"incr {COUNTER}")
        text = "".join(line + "\n" for line in lines).encode()
        attempt = self.world.start(self.who, self.kind, "-o", "json", *(["--pipe"] if self.piped else []),
                                   far=self.far)
        ended = self.world.finish(attempt, text)
        for i, (outcome, answer) in enumerate(of_lines(len(lines), ended)):
            if i in paths:
                if answer and answer.get("path") != paths[i]:
                    self.world.violate(f"{self.who}: {paths[i]} was answered by {answer}: {ended.brief()}")
                self.book.created(paths[i], outcome, str(self.number))
            else:
                self.book.counted(COUNTER, outcome, answer["value"] if outcome == OK else None)
        if outcome_is_odd(ended):
            self.world.violate(f"{self.who}: {ended.brief()}")


def outcome_is_odd(ended):
    """Statuses that no fault explains."""
    return ended.status not in (0, 3, 9, 10) and not (ended.status == -9 and ended.struck == "killed")


__all__ = ["COUNTER", "CREATED", "FAILED", "OneShots", "Scripts"]
