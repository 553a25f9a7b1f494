"""Scripts that write: each line is acknowledged, failed or unknown, according to exit status and text."""
from outcome import EXPIRED, IN_DOUBT, NO_CONNECTION, OK, of_lines, of_status
from world import Actor

CREATED, COUNTER = "/f/created", "/f/counter"


class Writer(Actor):
    def __init__(self, world, name, far, book):
        super().__init__(world, name, far)
        self.book = book

    def check_status(self, ended):
        """Others than these no fault explains."""
        if ended.status not in (0, NO_CONNECTION, EXPIRED, IN_DOUBT) and ended.struck != "killed":
            self.world.violate(f"{self.who}: {ended.brief()}")


class OneShots(Writer):
    """One command, one process."""

    kind = "one-shot"

    def act(self):
        if self.random.random() < 0.5:
            path, value = f"{CREATED}/{self.name}-{self.number}", f"{self.number}"
            ended = self.zksh("create", path, value)
            self.book.created(path, of_status(ended.status), value)
        else:
            ended = self.zksh("incr", COUNTER)
            outcome = of_status(ended.status)
            self.book.counted(COUNTER, outcome, int(ended.out) if outcome == OK else None)
        self.check_status(ended)


class Scripts(Writer):
    """Several lines in one session. -c stops at the first failure, piped input runs on; with --pipe, all are sent."""

    def __init__(self, world, name, far, book, piped):
        super().__init__(world, name, far, book)
        self.piped = piped
        self.kind = "pipe" if piped else "script"

    def act(self):
        paths, lines = {}, []
        for i in range(self.random.randint(20, 60) if self.piped else self.random.randint(2, 6)):
            if self.random.random() < 0.8:
                paths[i] = f"{CREATED}/{self.name}-{self.number}-{i}"
                lines.append(f"create {paths[i]} {self.number}")
            else:
                lines.append(f"incr {COUNTER}")
        ended = self.execute("".join(line + "\n" for line in lines))
        for i, (outcome, answer) in enumerate(of_lines(len(lines), ended)):
            if i in paths:
                if answer and answer.get("path") != paths[i]:
                    self.world.violate(f"{self.who}: {paths[i]} was answered by {answer}: {ended.brief()}")
                self.book.created(paths[i], outcome, str(self.number))
            else:
                self.book.counted(COUNTER, outcome, answer["number"] if outcome == OK else None)
        self.check_status(ended)

    def execute(self, text):
        if self.piped:
            return self.zksh("-o", "json", "--pipe", text=text.encode())
        if self.random.random() < 0.5:
            return self.zksh("-o", "json", "-c", text)
        return self.zksh("-o", "json", text=text.encode())
