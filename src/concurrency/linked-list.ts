/** May stand in a line, in one at a time: it holds its neighbours itself, so that a line costs nothing besides. */
export interface ListNode<WorkerHandle> {
  before: WorkerHandle | undefined;
  after: WorkerHandle | undefined;
}

/** A queue out of which each member may be taken at once, wherever it stands. */
export class LinkedList<WorkerHandle extends ListNode<WorkerHandle>> {
  first: WorkerHandle | undefined;
  #last: WorkerHandle | undefined;
  length = 0;

  /** Puts one behind all others, which is to stand in no line yet. */
  add(member: WorkerHandle): void {
    member.before = this.#last;
    if (this.#last === undefined) this.first = member;
    else this.#last.after = member;
    this.#last = member;
    this.length += 1;
  }

  /** Takes out one that stands here. */
  remove(member: WorkerHandle): void {
    const { before, after } = member;
    if (before === undefined) this.first = after;
    else before.after = after;
    if (after === undefined) this.#last = before;
    else after.before = before;
    // Or each that has gone would keep those after it until a full collection of garbage.
    member.before = undefined;
    member.after = undefined;
    this.length -= 1;
  }

  /** Puts one that stands here behind all others. */
  moveLast(member: WorkerHandle): void {
    if (member.after === undefined) return;
    this.remove(member);
    this.add(member);
  }

  shift(): WorkerHandle | undefined {
    const { first } = this;
    if (first !== undefined) this.remove(first);
    return first;
  }
}
