"""A class asks, few processes compute: equal requests are answered once, and only the newest of each reader."""

import json
import time
import zlib
from collections import OrderedDict, deque
from dataclasses import dataclass, field


def packed(event):
    "An event as it travels: the page unpacks it."
    return zlib.compress(json.dumps(event, ensure_ascii=False, separators=(",", ":")).encode(), 6)


def unpacked(payload):
    "The inverse of `packed`."
    return json.loads(zlib.decompress(payload))


FRESH, REST, LONG = range(3)  # a job begins; has a picture, and the rest may wait; takes long


@dataclass(eq=False)
class Job:
    "What is asked, who waits for it, and what is there of the answer."

    name: str  # of the page
    request: dict  # what a hand is told
    shared: bool = True  # whether equal requests are one job, which ends when nobody waits; or each must be done
    idle: bool = False  # whether nobody asked: computed in advance
    frames: list = field(default_factory=list)  # (kind, bytes) of events
    readers: dict = field(default_factory=dict)  # the readers who wait, as keys
    hand: object = None  # that computes it
    began: float = 0.0  # when its hand began, in seconds of the desk's clock
    spent: float = 0.0  # seconds of a processor that the hand had used when it began
    stage: int = 0  # FRESH, REST or LONG
    at: object = None  # the hand that has a part of it
    is_drawn: bool = False  # whether what the reader waits for is there
    n_losses: int = 0  # hands that ended while they computed it
    seen: set = field(default_factory=set)  # hashes of all events that came, those not kept included
    held: dict = field(default_factory=dict)  # {kind: bytes} of what readers have not heard yet
    told: float = float("-inf")  # when they heard the last that another may replace

    def __post_init__(self):
        self.key = json.dumps([self.name, self.request], sort_keys=True) if self.shared else id(self)

    @property
    def is_wanted(self):
        "Whether somebody waits for it, or it must be done in any case."
        return bool(self.readers) or not self.shared

    @property
    def since(self):
        "When the reader who waits longest began to."
        return min((reader.since for reader in self.readers), default=0.0)

    @property
    def n_bytes(self):
        "How much memory its messages take."
        return sum(len(payload) for _, payload in self.frames)

    def add(self, kind, payload, final=()):
        "One more event. Computed anew, the same events come again: readers have those."
        if hash(payload) in self.seen:
            return False
        self.seen.add(hash(payload))
        if kind in final:
            self.frames = [each for each in self.frames if each[0] != kind]
        self.frames.append((kind, payload))
        return True


class Reader:
    "Somebody who asks. Subclasses say what hearing is."

    job = None
    since = 0.0  # when the oldest request that is not answered came

    def hear(self, payload):
        "One event of the answer."
        raise NotImplementedError


LOST = "The process that computed this ended, twice: too much memory, perhaps. Take a smaller setting."
TOO_LONG = (
    "This takes more than {:g} seconds of a processor, too long while others wait. What is there stays; take a smaller"
    " setting, or open the page alone: comparison-hc dashboard {}."
)


class Desk:
    "Who is answered next, by which hand; and what is kept. Nothing here waits."

    rest_after = 1.5  # seconds of work after which others come first, if the reader has a picture already
    long_after = 3.0  # the same, if not
    hushed_for = 3.0  # seconds after a reader came in which nothing is computed in advance: pages begin then
    idle_most = 12.0  # seconds that a setting may take that nobody asked for
    most = 90.0  # seconds of a processor that any setting may take, however many others work meanwhile
    stuck_after = 20.0  # seconds for a hand to notice that it should stop
    again_after = 5.0  # seconds before a hand is started again that ended at once
    apart = 1.0  # seconds between events of which only the last counts
    keep_bytes = 128_000_000  # of answers
    advance_bytes = 80_000_000  # of answers kept: with so many, nothing more is computed in advance
    most_megabytes = 400  # of a hand that rests, or computes in advance; a larger one is replaced

    def __init__(self, start, n_quick=2, final=(), clock=time.monotonic):
        self.start, self.final, self.clock = start, dict(final), clock
        self.jobs = {}  # what is waited for or computed, by key
        self.kept = OrderedDict()  # answered jobs, those used last at the end
        self.kept_bytes = 0
        self.usual = deque()  # jobs to compute in advance
        self.further = iter(())  # those after them
        self.hushed_until = 0.0
        self.n_computed = self.n_reused = self.n_dropped = self.n_lost = 0
        self.is_open = True
        self.hands = []
        self.empty = []  # (when to try again, is patient) of hands that ended before they said anything
        for is_patient in [False] * n_quick + [True]:
            self._new_hand(is_patient)

    def _new_hand(self, is_patient):
        hand = self.start(is_patient)
        hand.is_patient, hand.is_known, hand.job, hand.number, hand.stopped = is_patient, False, None, 0, None
        self.hands.append(hand)

    # readers

    def ask(self, reader, job):
        "This is what a reader wants now, and nothing that they wanted before."
        waits = reader.job is not None
        self._release(reader)
        if not waits:
            reader.since = self.clock()
        done = self.kept.get(job.key)
        if done:
            self.kept.move_to_end(job.key)
            self.n_reused += 1
            for _, payload in done.frames:
                reader.hear(payload)
            return self.go_on()
        if job.key in self.jobs:
            job = self._join(self.jobs[job.key])
        self.jobs[job.key] = job
        job.readers[reader], reader.job = None, job
        for _, payload in job.frames:
            reader.hear(payload)
        self.go_on()

    def _join(self, job):
        "A job that is there already; if it was done in advance, slowly, it is begun anew at the front."
        self._tell(job, at_once=True)
        self.n_reused += not job.idle
        if job.idle:
            job.idle = False
            self._put_off(job)
        return job

    def leave(self, reader):
        "A reader has gone."
        self._release(reader)
        self.go_on()

    def hush(self):
        "A reader comes in: what is computed in advance is put off, so that pages get the cores to begin."
        self.hushed_until = self.clock() + self.hushed_for
        for job in [job for job in self.jobs.values() if job.idle]:
            self._put_off(job)
            del self.jobs[job.key]
            self.usual.appendleft(job)

    def _release(self, reader):
        job, reader.job = reader.job, None
        if job is None:
            return
        job.readers.pop(reader, None)
        if not job.is_wanted:
            self._put_off(job)
            del self.jobs[job.key]
            self.n_dropped += 1

    # hands

    def _put_off(self, job):
        "Nobody computes this now."
        if job.hand:
            job.hand.stopped = self.clock()
            job.hand.number += 1
            job.hand.job = None
            job.hand.stop(job.hand.number)
            job.hand = None

    def go_on(self):
        "Work for every hand that has none."
        for hand in self.hands:
            if self.is_open and hand.job is None and hand.stopped is None:
                job = self._next(hand)
                if job:
                    hand.job, job.hand, job.began, job.spent = job, hand, self.clock(), hand.spent
                    hand.number += 1
                    pauses = job.stage == FRESH and bool(self._waiting(FRESH) or self._waiting(REST))
                    hand.begin(hand.number, job.request, pauses)

    def _waiting(self, stage):
        found = [job for job in self.jobs.values() if job.hand is None and job.is_wanted and job.stage == stage]
        return sorted(found, key=lambda job: job.since)

    def _next(self, hand):
        "The next job for a hand, or None."
        fresh, rest, long = (self._waiting(stage) for stage in (FRESH, REST, LONG))
        if hand.is_patient:
            return long[0] if long else self._usual()
        if fresh or rest:
            return fresh[0] if fresh else min(rest, key=lambda job: job.at is not hand)
        others = [each for each in self.hands if not each.is_patient and each is not hand]
        is_last = all(each.job and each.job.stage == LONG for each in others)
        return long[0] if long and not is_last else None

    def _usual(self):
        "A usual setting that is not there yet, while nobody waits."
        if self.clock() < self.hushed_until or any(job.is_wanted and not job.idle for job in self.jobs.values()):
            return None
        while self.kept_bytes < self.advance_bytes:
            job = self.usual.popleft() if self.usual else next(self.further, None)
            if job is None:
                break
            if job.key not in self.kept and job.key not in self.jobs:
                job.idle = True
                self.jobs[job.key] = job
                return job
        return None

    def heard(self, hand, number, kind, payload, drawn=False, megabytes=0):
        "An event from a hand."
        hand.is_known = True
        if number != hand.number or hand not in self.hands:
            return
        job = hand.job
        if job and drawn:
            job.is_drawn = True
        if kind == "paused":
            hand.job = hand.stopped = None
            if job:
                job.hand, job.stage, job.at = None, REST, hand
            return self.go_on()
        final = self.final.get(job.name, ()) if job else ()
        if job and (kind == "progress" or job.add(kind, payload, final)):
            if kind in final:
                job.held[kind] = payload
            self._tell(job, at_once=kind not in (*final, "progress"))
            for reader in list(job.readers) if kind not in final else ():
                reader.hear(payload)
        if kind == "done":
            hand.job = hand.stopped = None
            if job:
                self._finish(job)
            if megabytes > self.most_megabytes:
                self._replace(hand)
            self.go_on()

    def _tell(self, job, at_once=False):
        "What was held back, if it is time."
        if job.held and (at_once or self.clock() - job.told >= self.apart):
            held, job.held, job.told = job.held, {}, self.clock()
            for payload in held.values():
                for reader in list(job.readers):
                    reader.hear(payload)

    def _finish(self, job, keep=True):
        "The answer is whole."
        self.n_computed += 1
        job.hand = None
        del self.jobs[job.key]
        for reader in job.readers:
            reader.job = None
        job.readers.clear()
        job.held.clear()
        if keep and job.shared and all(kind != "sentence" for kind, _ in job.frames):
            self.kept[job.key] = job
            self.kept_bytes += job.n_bytes
            while self.kept_bytes > self.keep_bytes and len(self.kept) > 1:
                self.kept_bytes -= self.kept.popitem(last=False)[1].n_bytes

    def _say(self, job, sentence):
        "End a job with a sentence for its readers, beside what they have; keep nothing of it."
        self._put_off(job)
        self._tell(job, at_once=True)
        has_some = any(kind != "notes" for kind, _ in job.frames)
        last = dict(kind="notes", notes=[sentence]) if has_some else dict(kind="sentence", text=sentence)
        for event in (last, dict(kind="done")) if job.shared else ():
            for reader in job.readers:
                reader.hear(packed(event))
        self._finish(job, keep=False)

    def _replace(self, hand):
        self.hands.remove(hand)
        hand.end()
        self._new_hand(hand.is_patient)

    def lost(self, hand):
        "A hand has ended: another takes its place, and its job."
        if hand not in self.hands or not self.is_open:
            return
        self.n_lost += 1
        job, hand.job = hand.job, None
        if job:
            job.hand = None
            job.n_losses += 1
            if job.n_losses > 1 or job.idle:
                self._say(job, LOST)
        if hand.is_known:
            self._replace(hand)
        else:
            self.hands.remove(hand)
            self.empty.append((self.clock() + self.again_after, hand.is_patient))
        self.go_on()

    # time

    def tick(self):
        "What time brings: long jobs make room, those that take too long end, and who waits is told."
        now = self.clock()
        due = [each for each in self.empty if each[0] <= now]
        self.empty = [each for each in self.empty if each[0] > now]
        for _, is_patient in due:
            self._new_hand(is_patient)
        fresh = self._waiting(FRESH)
        for job in self.jobs.values():
            self._tell(job)
        for hand in list(self.hands):
            job = hand.job
            if hand.stopped is not None and now - hand.stopped > self.stuck_after:
                self._replace(hand)
            elif job and job.shared and self._takes_long(job, now):
                self._too_long(job)
            elif job and fresh and job.stage != LONG and not hand.is_patient and job.shared:
                if now - job.began > (self.rest_after if job.is_drawn else self.long_after):
                    self._put_off(job)
                    job.stage = LONG
        for number, job in enumerate(fresh + self._waiting(LONG)):
            text = f"waiting; requests of others before this one: {number}"
            for reader in job.readers:
                if now - reader.since > 0.5:
                    reader.hear(packed(dict(kind="progress", text=text, done=0, total=0)))
        self.go_on()

    def _takes_long(self, job, now):
        "Time and memory for what nobody asked for; else what a processor did: that does not depend on who is there."
        if job.idle:
            return now - job.began > self.idle_most or job.hand.megabytes > self.most_megabytes
        return job.hand.spent - job.spent > self.most

    def _too_long(self, job):
        "What nobody asked for is dropped; readers are told."
        if job.idle:
            hand = job.hand
            self._put_off(job)
            del self.jobs[job.key]
            if hand.megabytes > self.most_megabytes:
                self._replace(hand)
        else:
            self._say(job, TOO_LONG.format(self.most, job.name))

    def close(self):
        "End all hands."
        self.is_open = False
        for hand in self.hands:
            hand.end()
        self.hands = []
